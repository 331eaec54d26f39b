//! Token counts: an exact one per OpenAI encoding, and a bound that needs no vocabulary.

use std::fmt;

use skill_core::ModelId;

#[cfg(feature = "tiktoken")]
use crate::family::{Calibration, Family};

/// Counts tokens of text.
///
/// Implementations do not undercount: a count is exact, an upper bound, or an estimate with a margin,
/// and says which.
pub trait TokenCounter: Send + Sync + fmt::Debug {
    /// Returns the tokens of `text`.
    fn count(&self, text: &str) -> u64;

    /// Tells whether counts are those of the model's own encoding.
    fn is_exact(&self) -> bool;

    /// Says what counts are made with; counts of one basis are the same for the same text.
    fn basis(&self) -> String;

    /// Returns the tokens of `text`, or any number above `ceiling` once that is exceeded.
    ///
    /// What is far too long need not be counted to its end.
    fn count_up_to(&self, text: &str, ceiling: u64) -> u64 {
        let _ = ceiling;
        self.count(text)
    }
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

    fn basis(&self) -> String {
        "bytes".to_owned()
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
/// times the factor of its family ([`Family::factor`]), which is an estimate and says so.
#[cfg(feature = "tiktoken")]
#[derive(Clone, Copy, Debug)]
pub struct VocabularyCounter {
    encoding: Option<Encoding>,
    family: Family,
    calibration: Calibration,
}

#[cfg(feature = "tiktoken")]
impl VocabularyCounter {
    /// Returns the counter for `model`.
    pub fn for_model(model: &ModelId) -> Self {
        Self {
            encoding: encoding_for(model),
            family: Family::of(model),
            calibration: Calibration::default(),
        }
    }

    /// Returns the counter with estimates raised by what `calibration` learned; exact counts stay.
    pub fn calibrated(mut self, calibration: Calibration) -> Self {
        self.calibration = calibration;
        self
    }

    fn name(&self) -> &'static str {
        match self.encoding {
            Some(Encoding::Cl100k) => "cl100k_base",
            Some(Encoding::O200k) | None => "o200k_base",
        }
    }
}

#[cfg(feature = "tiktoken")]
impl TokenCounter for VocabularyCounter {
    fn count(&self, text: &str) -> u64 {
        let Some(vocabulary) = tiktoken::get_encoding(self.name()) else {
            // Both vocabularies are compiled in; were one missing, a bound is still right.
            return ByteBound.count(text);
        };
        let tokens = vocabulary.count(text) as u64;
        if self.encoding.is_some() {
            return tokens;
        }
        let estimate = per_mille(tokens, self.family.factor(text));
        // No byte-pair encoding has more tokens than bytes.
        per_mille(estimate, self.calibration.factor()).min(text.len() as u64)
    }

    fn is_exact(&self) -> bool {
        self.encoding.is_some()
    }

    fn basis(&self) -> String {
        let (name, family) = (self.name(), self.family.name());
        match (self.encoding, self.calibration.factor()) {
            (Some(_), _) => name.to_owned(),
            (None, 1_000) => format!("{name}, scaled for {family}"),
            (None, factor) => format!("{name}, scaled for {family} and by {factor}/1000"),
        }
    }

    fn count_up_to(&self, text: &str, ceiling: u64) -> u64 {
        if text.len() <= LONG {
            return self.count(text);
        }
        // Cut anywhere, the parts cost a token or two more than the whole, never less; that is
        // only said of texts of which a good part is above the ceiling already.
        let (mut rest, mut tokens) = (text, 0_u64);
        while !rest.is_empty() {
            let (part, after) = rest.split_at(boundary(rest, LONG));
            tokens = tokens.saturating_add(self.count(part));
            if tokens > ceiling {
                return tokens;
            }
            rest = after;
        }
        self.count(text)
    }
}

/// Returns `tokens` times `factor` thousandths, rounded up.
#[cfg(feature = "tiktoken")]
fn per_mille(tokens: u64, factor: u64) -> u64 {
    tokens.saturating_mul(factor).div_ceil(1_000)
}

/// Texts up to this many bytes are counted at once.
#[cfg(feature = "tiktoken")]
const LONG: usize = 128 * 1024;

/// Returns the last character boundary at or before `position`.
#[cfg(feature = "tiktoken")]
fn boundary(text: &str, position: usize) -> usize {
    let mut position = position.min(text.len());
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    position
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
    fn a_text_above_the_ceiling_is_not_counted_to_its_end() {
        let counter = VocabularyCounter::for_model(&ModelId::new("gpt-4o"));
        let text = "some words of a task ".repeat(100_000);
        let found = counter.count_up_to(&text, 1_000);
        assert!(found > 1_000 && found < 100_000, "{found}");
        assert_eq!(counter.count_up_to(&text, u64::MAX), counter.count(&text));
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
