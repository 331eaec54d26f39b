//! What is known of models whose vocabulary is not: factors, overheads, and learning from answers.

use skill_core::ModelId;

/// Models that cut text into tokens alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Models of OpenAI, counted exactly.
    OpenAi,
    /// Claude up to 4.6.
    Claude4,
    /// Claude from Opus 4.7 on.
    Claude5,
    /// Gemini.
    Gemini,
    /// Any other.
    Other,
}

/// How a family is measured.
struct Traits {
    name: &'static str,
    /// Tokens for 1,000 of `o200k_base`: for Latin text and code, and for other scripts.
    latin: u64,
    other: u64,
    overhead: Overhead,
}

/// Tokens that a provider adds to what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// A request.
    pub base: u64,
    /// A message, a call or a result.
    pub per_message: u64,
    /// What joins a system block to the next.
    pub per_block: u64,
    /// The tools, if there are any.
    pub tools: u64,
    /// A tool.
    pub per_tool: u64,
}

const GENERAL: Overhead = Overhead {
    base: 8,
    per_message: 4,
    per_block: 1,
    tools: 16,
    per_tool: 8,
};

const CLAUDE: Overhead = Overhead {
    tools: 549,
    per_tool: 66,
    ..GENERAL
};

impl Family {
    /// Returns the family of a model, told by its name; a vendor prefix is passed over.
    pub fn of(model: &ModelId) -> Self {
        let name = model.as_str().to_ascii_lowercase();
        let name = name.rsplit('/').next().unwrap_or_default();
        if crate::tokens::encoding_for(model).is_some() {
            Self::OpenAi
        } else if name.starts_with("gemini") || name.starts_with("gemma") {
            Self::Gemini
        } else if !name.contains("claude") {
            Self::Other
        } else if is_old_claude(name) {
            Self::Claude4
        } else {
            Self::Claude5
        }
    }

    /// Returns tokens for 1,000 of `o200k_base` in `text`.
    ///
    /// The factors of Latin and of other scripts are weighed by the bytes of either.
    pub fn factor(self, text: &str) -> u64 {
        let traits = self.traits();
        let bytes = text.len().max(1) as u64;
        let other = text.bytes().filter(|byte| !byte.is_ascii()).count() as u64;
        if traits.other == traits.latin || other == 0 {
            return traits.latin;
        }
        // Rounded up: an estimate errs upwards.
        ((bytes - other) * traits.latin + other * traits.other).div_ceil(bytes)
    }

    /// Returns the name for people, another one for each family: counts are kept under it.
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// Factors are what was measured and about a tenth more, so that an estimate errs upwards.
    fn traits(self) -> Traits {
        let (name, latin, other, overhead) = match self {
            Self::OpenAi => ("OpenAI", 1_000, 1_000, GENERAL),
            Self::Claude4 => ("Claude up to 4.6", 1_350, 1_700, CLAUDE),
            Self::Claude5 => ("Claude from 4.7 on", 1_700, 2_200, CLAUDE),
            Self::Gemini => ("Gemini", 1_300, 1_100, GENERAL),
            Self::Other => ("an unknown vocabulary", 1_250, 1_250, GENERAL),
        };
        Traits {
            name,
            latin,
            other,
            overhead,
        }
    }
}

impl Overhead {
    /// Returns what the provider of `model` adds.
    pub fn of(model: &ModelId) -> Self {
        Family::of(model).traits().overhead
    }
}

impl Default for Overhead {
    fn default() -> Self {
        GENERAL
    }
}

/// Tells whether a Claude is one with the vocabulary of before Opus 4.7.
fn is_old_claude(name: &str) -> bool {
    let numbers: Vec<u64> = name
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|digits| (1..=2).contains(&digits.len()))
        .filter_map(|digits| digits.parse().ok())
        .collect();
    match numbers.as_slice() {
        [] => false,
        [major] => *major < 5,
        [major, minor, ..] => (*major, *minor) < (4, 7),
    }
}

/// How far estimates were below what a provider counted, learned from its answers.
///
/// A value: keep it with a session, and pass it on. It only ever raises an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    per_mille: u64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { per_mille: 1_000 }
    }
}

impl Calibration {
    /// Takes in that a request of `estimated` tokens was counted as `actual` by the provider.
    ///
    /// What is above the estimate is learned at once; what is below it fades by a quarter a time.
    pub fn observe(self, estimated: u64, actual: u64) -> Self {
        if estimated == 0 || actual == 0 {
            return self;
        }
        let seen = actual.saturating_mul(self.per_mille).div_ceil(estimated);
        let per_mille = if seen > self.per_mille {
            seen
        } else {
            self.per_mille - (self.per_mille - seen) / 4
        };
        Self {
            // More than three times the estimate is no calibration but another kind of request.
            per_mille: per_mille.clamp(1_000, 3_000),
        }
    }

    /// Returns what 1,000 estimated tokens are taken for.
    pub fn factor(self) -> u64 {
        self.per_mille
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str) -> Family {
        Family::of(&ModelId::new(name))
    }

    #[test]
    fn each_family_has_a_name_of_its_own_since_counts_are_kept_under_it() {
        let models = [
            "gpt-4o",
            "claude-3-5-sonnet",
            "claude-sonnet-5",
            "gemini-3",
            "x",
        ];
        let names: std::collections::BTreeSet<&str> =
            models.iter().map(|model| family(model).name()).collect();
        assert_eq!(names.len(), models.len());
    }

    #[test]
    fn a_family_is_told_by_the_name_of_the_model() {
        assert_eq!(family("openai/gpt-4o"), Family::OpenAi);
        assert_eq!(family("claude-3-5-sonnet-20241022"), Family::Claude4);
        assert_eq!(family("anthropic/claude-sonnet-4-6"), Family::Claude4);
        assert_eq!(family("claude-opus-4-7"), Family::Claude5);
        assert_eq!(family("claude-sonnet-5"), Family::Claude5);
        assert_eq!(family("gemini-2.5-pro"), Family::Gemini);
        assert_eq!(family("llama3.2"), Family::Other);
    }

    #[test]
    fn scripts_are_weighed_by_their_bytes() {
        assert_eq!(Family::Claude4.factor("plain text"), 1_350);
        assert_eq!(Family::Claude4.factor("周报"), 1_700);
        assert_eq!(Family::Claude4.factor("abc周"), 1_525);
        assert_eq!(Family::OpenAi.factor("周报"), 1_000);
    }

    #[test]
    fn a_calibration_rises_at_once_and_falls_slowly_but_never_below_the_estimate() {
        let learned = Calibration::default().observe(1_000, 1_400);
        assert_eq!(learned.factor(), 1_400);
        assert_eq!(learned.observe(1_400, 1_000).factor(), 1_300);
        assert_eq!(Calibration::default().observe(1_000, 10).factor(), 1_000);
        assert_eq!(
            Calibration::default().observe(0, 10),
            Calibration::default()
        );
    }
}
