//! From a name and an address to a provider: the one place that builds them.

use std::sync::Arc;

use reqwest::Url;
use skill_core::Provider;

use crate::base_url::{BaseUrl, BaseUrlError, display, with_path};
use crate::dialects::{COMPATIBLE, DIALECTS, Dialect, Protocol, dialect};
use crate::http::{HttpClient, Origin, Timeouts};
use crate::offline::OfflineProvider;
use crate::openai_chat::OpenAiChat;
use crate::retry::{RetryPolicy, RetryProvider};
use crate::secret::Secret;

/// Whom to connect to, and how.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// `offline`, the name of a dialect, or any other name together with a base URL.
    pub provider: String,
    /// The address; `None` takes the dialect's.
    pub base_url: Option<String>,
    /// The protocol of a provider that is no dialect; `None` takes chat completions.
    pub protocol: Option<Protocol>,
    /// The key; `None` sends none.
    pub api_key: Option<Secret>,
    /// The variable that holds the key, for messages; `None` takes the dialect's.
    ///
    /// Where one is known, a key is needed unless the address is on this machine.
    pub key_env: Option<String>,
    /// How long each part of a request may take.
    pub timeouts: Timeouts,
    /// When and how often a request is repeated.
    pub retry: RetryPolicy,
    /// Where the jitter of the waits begins; any number will do, equal ones give equal waits.
    pub jitter_seed: u64,
}

impl ConnectOptions {
    /// Returns the options for `provider` with every default.
    pub fn new(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            base_url: None,
            protocol: None,
            api_key: None,
            key_env: None,
            timeouts: Timeouts::default(),
            retry: RetryPolicy::default(),
            jitter_seed: 0,
        }
    }
}

/// A provider that cannot be connected to as asked.
#[derive(Debug, thiserror::Error)]
#[error("{}", message(.provider, .kind))]
pub struct ConnectError {
    /// The name given.
    pub provider: String,
    /// What is wrong.
    pub kind: ConnectErrorKind,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What is wrong with [`ConnectOptions`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectErrorKind {
    /// There is no such provider, and no address was given for it.
    UnknownProvider,
    /// The base URL cannot be used; says why.
    BaseUrl(&'static str),
    /// There is no key, and the address is not on this machine; holds the usual variable.
    MissingKey(String),
    /// The key holds characters that no header can carry.
    Key,
    /// No HTTP client can be built, for example without any certificates on the system.
    Client,
}

fn message(provider: &str, kind: &ConnectErrorKind) -> String {
    match kind {
        ConnectErrorKind::UnknownProvider => format!("no provider named `{provider}`"),
        ConnectErrorKind::BaseUrl(why) => format!("the base URL of provider `{provider}` {why}"),
        ConnectErrorKind::MissingKey(_) => format!("no key for provider `{provider}`"),
        ConnectErrorKind::Key => {
            format!("the key of provider `{provider}` holds characters that cannot be sent")
        }
        ConnectErrorKind::Client => format!("no connection can be made for provider `{provider}`"),
    }
}

impl ConnectError {
    /// Returns the way out, where there is one to name.
    pub fn hint(&self) -> Option<String> {
        match &self.kind {
            ConnectErrorKind::UnknownProvider => {
                let known: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
                let known = known.join(", ");
                Some(format!(
                    "known are offline, {known}; any other needs a base URL"
                ))
            }
            ConnectErrorKind::BaseUrl(_) => {
                Some("a base URL looks like `https://api.example.com/v1`".into())
            }
            ConnectErrorKind::MissingKey(variable) => Some(format!("set `{variable}`")),
            ConnectErrorKind::Key => {
                Some("is it more than one line, or not the key at all?".into())
            }
            ConnectErrorKind::Client => None,
        }
    }
}

/// Returns the provider that `options` describe; nothing is sent yet.
///
/// What it returns needs a tokio runtime with I/O and time enabled (`offline` needs none).
///
/// # Errors
///
/// Fails when the options contradict each other or miss something; see [`ConnectErrorKind`].
pub fn connect(options: &ConnectOptions) -> Result<Arc<dyn Provider>, ConnectError> {
    if options.provider == OfflineProvider::NAME && options.base_url.is_none() {
        return Ok(Arc::new(OfflineProvider));
    }
    let fail = |kind| error(options, kind, None);
    let known = dialect(&options.provider);
    let base_url = match (&options.base_url, known) {
        (Some(base_url), _) => base_url.as_str(),
        (None, Some(dialect)) => dialect.base_url,
        (None, None) => return Err(fail(ConnectErrorKind::UnknownProvider)),
    };
    let dialect = known.unwrap_or(&COMPATIBLE);
    let base: BaseUrl = base_url
        .parse()
        .map_err(|error: BaseUrlError| fail(ConnectErrorKind::BaseUrl(error.reason)))?;
    let key_env = options.key_env.as_deref().or(dialect.key_env);
    if let (None, Some(variable)) = (&options.api_key, key_env)
        && !base.is_local()
    {
        return Err(fail(ConnectErrorKind::MissingKey(variable.to_owned())));
    }
    let provider = match options.protocol.unwrap_or(dialect.protocol) {
        Protocol::OpenAiChat => open_ai_chat(options, dialect, base.into_url())?,
    };
    Ok(Arc::new(RetryProvider::new(
        provider,
        options.retry,
        options.jitter_seed,
    )))
}

fn open_ai_chat(
    options: &ConnectOptions,
    dialect: &'static Dialect,
    base: Url,
) -> Result<Arc<dyn Provider>, ConnectError> {
    let url = with_path(base, "chat/completions");
    let client = HttpClient::new(&url, options.timeouts)
        .map_err(|cause| error(options, ConnectErrorKind::Client, Some(cause.into())))?;
    let origin = Origin {
        provider: options.provider.clone(),
        endpoint: display(&url),
        key: options.api_key.clone(),
        key_env: options
            .key_env
            .clone()
            .or_else(|| dialect.key_env.map(str::to_owned)),
    };
    let provider = OpenAiChat::new(origin, url, dialect, client)
        .map_err(|_| error(options, ConnectErrorKind::Key, None))?;
    Ok(Arc::new(provider))
}

fn error(
    options: &ConnectOptions,
    kind: ConnectErrorKind,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
) -> ConnectError {
    ConnectError {
        provider: options.provider.clone(),
        kind,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectErrorKind, ConnectOptions, connect};
    use crate::secret::Secret;

    fn refused(options: ConnectOptions) -> (ConnectErrorKind, String) {
        let error = connect(&options).unwrap_err();
        (error.kind.clone(), error.to_string())
    }

    #[test]
    fn an_unknown_provider_is_named_and_the_known_ones_are_listed() {
        let error = connect(&ConnectOptions::new("opnai")).unwrap_err();
        assert_eq!(error.to_string(), "no provider named `opnai`");
        insta::assert_snapshot!(error.hint().unwrap(), @"known are offline, openai, deepseek, openrouter, groq, mistral, qwen, ollama, llamacpp, lmstudio; any other needs a base URL");
    }

    #[test]
    fn any_name_with_a_base_url_is_a_provider() {
        let options = ConnectOptions {
            base_url: Some("http://10.0.0.7:8000/v1".into()),
            ..ConnectOptions::new("house")
        };
        assert_eq!(connect(&options).unwrap().name(), "house");
    }

    #[test]
    fn a_missing_key_names_its_variable_except_for_this_machine() {
        let (kind, text) = refused(ConnectOptions::new("openai"));
        assert_eq!(kind, ConnectErrorKind::MissingKey("OPENAI_API_KEY".into()));
        assert_eq!(text, "no key for provider `openai`");
        let local = ConnectOptions {
            base_url: Some("http://127.0.0.1:9/v1".into()),
            ..ConnectOptions::new("openai")
        };
        assert!(connect(&local).is_ok());
        let own = ConnectOptions {
            base_url: Some("https://a.test/v1".into()),
            key_env: Some("HOUSE_KEY".into()),
            ..ConnectOptions::new("house")
        };
        let (kind, _) = refused(own);
        assert_eq!(kind, ConnectErrorKind::MissingKey("HOUSE_KEY".into()));
    }

    #[test]
    fn a_base_url_that_cannot_work_is_refused_unquoted() {
        for url in [
            "no url",
            "ftp://a.test",
            "https://user:hunter2@a.test/v1",
            "http://a.test/#x",
        ] {
            let (kind, text) = refused(ConnectOptions {
                base_url: Some(url.into()),
                ..ConnectOptions::new("house")
            });
            assert!(matches!(kind, ConnectErrorKind::BaseUrl(_)), "{url}");
            assert!(!text.contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn a_key_of_two_lines_is_refused() {
        let (kind, text) = refused(ConnectOptions {
            api_key: Some(Secret::new("sk-1\nsk-2")),
            ..ConnectOptions::new("openai")
        });
        assert_eq!(kind, ConnectErrorKind::Key);
        assert!(!text.contains("sk-1"));
    }

    #[test]
    fn a_provider_prints_no_key() {
        let options = ConnectOptions {
            api_key: Some(Secret::new("sk-hidden")),
            ..ConnectOptions::new("openai")
        };
        let provider = connect(&options).unwrap();
        assert!(!format!("{provider:?} {options:?}").contains("sk-hidden"));
    }
}
