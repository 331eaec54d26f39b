//! What vendors differ in, as data: one constant per vendor, one list of them all.

mod deepseek;
mod groq;
mod llamacpp;
mod lmstudio;
mod mistral;
mod ollama;
mod openai;
mod openrouter;
mod qwen;

use std::str::FromStr;

/// The known dialects, in the order in which a key in the environment is looked for.
pub const DIALECTS: &[&Dialect] = &[
    &openai::OPENAI,
    &deepseek::DEEPSEEK,
    &openrouter::OPENROUTER,
    &groq::GROQ,
    &mistral::MISTRAL,
    &qwen::QWEN,
    &ollama::OLLAMA,
    &llamacpp::LLAMACPP,
    &lmstudio::LMSTUDIO,
];

/// Returns the dialect called `name`.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    DIALECTS
        .iter()
        .copied()
        .find(|dialect| dialect.name == name)
}

/// The wire protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// `POST {base_url}/chat/completions` as OpenAI defined it, streamed.
    OpenAiChat,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: &[Self] = &[Self::OpenAiChat];

    /// Returns the name used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
        }
    }
}

/// A name that no protocol has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no protocol named `{name}`")]
pub struct UnknownProtocol {
    /// The name given.
    pub name: String,
}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.iter().find(|protocol| protocol.as_str() == name);
        known.copied().ok_or_else(|| UnknownProtocol {
            name: name.to_owned(),
        })
    }
}

/// How one vendor speaks a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name, as in `--model NAME/MODEL`.
    pub name: &'static str,
    /// The protocol.
    pub protocol: Protocol,
    /// The address that paths of the protocol are added to.
    pub base_url: &'static str,
    /// The environment variable that usually holds the key; `None` where no key is needed.
    pub key_env: Option<&'static str>,
    /// The model to take when none is named; `None` where the server says what it has.
    pub default_model: Option<&'static str>,
    /// The field that limits the answer's length.
    pub output_limit: OutputLimit,
    /// How the stream comes to report usage.
    pub stream_usage: StreamUsage,
    /// Which ids of tool calls are accepted.
    pub call_ids: CallIds,
    /// Whether earlier reasoning is sent back.
    pub reasoning: ReasoningReplay,
    /// Further headers.
    pub headers: &'static [(&'static str, &'static str)],
}

/// The field that limits the answer's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputLimit {
    /// `max_tokens`, which most servers know.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's newer models insist on.
    MaxCompletionTokens,
}

/// How a stream comes to report usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamUsage {
    /// When asked with `stream_options`.
    OnRequest,
    /// Always; asking is refused as an unknown field.
    Unasked,
}

/// Which ids of tool calls a server accepts in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallIds {
    /// Any text up to so many bytes.
    AtMost(usize),
    /// Exactly so many ASCII letters and digits.
    Alphanumeric(usize),
}

/// Whether a message's reasoning is sent back with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningReplay {
    /// Never.
    Never,
    /// With messages that call tools, where the field is even required when empty.
    WithCalls,
}

/// An OpenAI-compatible server of which nothing more is known; also the base of the constants.
pub(crate) const COMPATIBLE: Dialect = Dialect {
    name: "openai-compatible",
    protocol: Protocol::OpenAiChat,
    base_url: "",
    key_env: None,
    default_model: None,
    output_limit: OutputLimit::MaxTokens,
    stream_usage: StreamUsage::OnRequest,
    call_ids: CallIds::AtMost(40),
    reasoning: ReasoningReplay::Never,
    headers: &[],
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{DIALECTS, Protocol, dialect};

    #[test]
    fn every_dialect_is_found_by_its_own_name() {
        let names: BTreeSet<_> = DIALECTS.iter().map(|dialect| dialect.name).collect();
        assert_eq!(names.len(), DIALECTS.len());
        for expected in DIALECTS {
            assert_eq!(dialect(expected.name), Some(*expected));
        }
        assert_eq!(dialect("nobody"), None);
    }

    #[test]
    fn a_dialect_with_a_key_has_a_default_model_and_speaks_tls() {
        for dialect in DIALECTS.iter().filter(|dialect| dialect.key_env.is_some()) {
            assert!(dialect.default_model.is_some(), "{}", dialect.name);
            assert!(dialect.base_url.starts_with("https://"), "{}", dialect.name);
        }
    }

    #[test]
    fn protocols_are_read_by_the_name_they_print() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.as_str().parse(), Ok(*protocol));
        }
        let unknown = "gopher".parse::<Protocol>().unwrap_err();
        assert_eq!(unknown.to_string(), "no protocol named `gopher`");
    }
}
