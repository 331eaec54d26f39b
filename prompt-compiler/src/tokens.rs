//! Token counts: an exact one per OpenAI encoding, and a bound that needs no vocabulary.

use std::fmt;

use skill_core::ModelId;

/// Counts tokens of text.
///
/// Implementations never undercount: a count is exact or an upper bound, and says which.
pub trait TokenCounter: Send + Sync + fmt::Debug {
    /// Returns the tokens of `text`.
    fn count(&self, text: &str) -> u64;

    /// Tells whether counts are those of the model's own encoding.
    fn is_exact(&self) -> bool;
}

/// Counts a token a byte: the bound that holds for every byte-pair encoding.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByteBound;

impl TokenCounter for ByteBound {
    fn count(&self, text: &str) -> u64 {
        text.len() as u64
    }

    fn is_exact(&self) -> bool {
        false
    }
}

/// An encoding of OpenAI models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and later, o-series.
    O200k,
    /// `cl100k_base`: GPT-4, GPT-3.5.
    Cl100k,
}

/// Returns the encoding of an OpenAI model, or `None` for a model of somebody else.
///
/// A vendor prefix (`openai/gpt-4o`) is passed over.
pub fn encoding_for(model: &ModelId) -> Option<Encoding> {
    const CL100K: &[&str] = &["gpt-4-", "gpt-3.5", "text-embedding-"];
    const O200K: &[&str] = &[
        "gpt-4o", "gpt-4.", "gpt-5", "chatgpt-", "o1", "o3", "o4", "gpt-oss",
    ];
    let name = model
        .as_str()
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if O200K.iter().any(|prefix| name.starts_with(prefix)) {
        Some(Encoding::O200k)
    } else if name == "gpt-4" || CL100K.iter().any(|prefix| name.starts_with(prefix)) {
        Some(Encoding::Cl100k)
    } else {
        None
    }
}

/// Counts with a vocabulary, loaded at the first count.
///
/// For a model of [`encoding_for`] the count is exact. For any other it is the `o200k_base` count
/// and a quarter more, which is an estimate and says so.
#[cfg(feature = "tiktoken")]
#[derive(Clone, Copy, Debug)]
pub struct VocabularyCounter {
    encoding: Option<Encoding>,
}

#[cfg(feature = "tiktoken")]
impl VocabularyCounter {
    /// Returns the counter for `model`.
    pub fn for_model(model: &ModelId) -> Self {
        Self {
            encoding: encoding_for(model),
        }
    }
}

#[cfg(feature = "tiktoken")]
impl TokenCounter for VocabularyCounter {
    fn count(&self, text: &str) -> u64 {
        let name = match self.encoding {
            Some(Encoding::Cl100k) => "cl100k_base",
            Some(Encoding::O200k) | None => "o200k_base",
        };
        let Some(vocabulary) = tiktoken::get_encoding(name) else {
            // Both vocabularies are compiled in; were one missing, a bound is still right.
            return ByteBound.count(text);
        };
        let tokens = vocabulary.count(text) as u64;
        if self.encoding.is_some() {
            tokens
        } else {
            tokens.saturating_add(tokens.div_ceil(4))
        }
    }

    fn is_exact(&self) -> bool {
        self.encoding.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoding(name: &str) -> Option<Encoding> {
        encoding_for(&ModelId::new(name))
    }

    #[test]
    fn openai_models_are_told_by_their_name() {
        assert_eq!(encoding("gpt-4o-mini"), Some(Encoding::O200k));
        assert_eq!(encoding("openai/gpt-5"), Some(Encoding::O200k));
        assert_eq!(encoding("gpt-4.1"), Some(Encoding::O200k));
        assert_eq!(encoding("gpt-4"), Some(Encoding::Cl100k));
        assert_eq!(encoding("gpt-4-turbo"), Some(Encoding::Cl100k));
        assert_eq!(encoding("gpt-3.5-turbo"), Some(Encoding::Cl100k));
        assert_eq!(encoding("llama3.2"), None);
    }

    #[cfg(feature = "tiktoken")]
    #[test]
    fn known_texts_have_their_published_counts() {
        let o200k = VocabularyCounter::for_model(&ModelId::new("gpt-4o"));
        let cl100k = VocabularyCounter::for_model(&ModelId::new("gpt-4"));
        assert!(o200k.is_exact() && cl100k.is_exact());
        assert_eq!(cl100k.count("tiktoken is great!"), 6);
        assert_eq!(o200k.count("tiktoken is great!"), 6);
        assert_eq!(o200k.count(""), 0);
    }

    #[cfg(feature = "tiktoken")]
    #[test]
    fn text_that_looks_like_a_special_token_counts_as_text() {
        let counter = VocabularyCounter::for_model(&ModelId::new("gpt-4o"));
        assert!(counter.count("<|endoftext|>") > 1);
    }

    #[cfg(feature = "tiktoken")]
    #[test]
    fn a_bound_is_never_below_the_count() {
        let counter = VocabularyCounter::for_model(&ModelId::new("gpt-4o"));
        for text in [
            "a",
            "周报",
            "🙂🙂",
            "\u{0}\u{1}",
            "        ",
            "fn main() {}",
        ] {
            assert!(ByteBound.count(text) >= counter.count(text), "{text:?}");
        }
    }
}
