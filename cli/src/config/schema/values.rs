//! Values that are text with a shape, read once and trusted after that.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tool_gateway::Rule;

/// A model with its provider, or the built-in stand-in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum ModelChoice {
    /// No language model: picks, opens and quotes skills without one.
    Offline,
    /// A model of a provider.
    Remote { provider: String, model: String },
}

impl FromStr for ModelChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "offline" {
            return Ok(Self::Offline);
        }
        // The model's own name may hold slashes: `openrouter/meta/llama`.
        match text.split_once('/') {
            Some((provider, model)) if is_word(provider) && is_word(model) => Ok(Self::Remote {
                provider: provider.to_owned(),
                model: model.to_owned(),
            }),
            _ => Err(format!(
                "`{text}` is neither `PROVIDER/MODEL`, like `openai/gpt-4o`, nor `offline`"
            )),
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offline => formatter.write_str("offline"),
            Self::Remote { provider, model } => write!(formatter, "{provider}/{model}"),
        }
    }
}

/// The address below which a provider answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct BaseUrl(llm_providers::BaseUrl);

impl BaseUrl {
    /// Returns the whole address: for sending, not for showing.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = text.parse::<llm_providers::BaseUrl>();
        url.map(Self).map_err(|error| error.to_string())
    }
}

impl fmt::Display for BaseUrl {
    /// A query may hold a key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query = if self.0.has_query() { "?(hidden)" } else { "" };
        write!(formatter, "{}{query}", self.0)
    }
}

/// The name of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct EnvironmentName(String);

impl EnvironmentName {
    /// Returns the name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EnvironmentName {
    type Err = String;

    /// A wrong value is most likely a key, so no message repeats it.
    fn from_str(text: &str) -> Result<Self, String> {
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if starts_well && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Ok(Self(text.to_owned()));
        }
        Err("expected the name of an environment variable, never the key itself".to_owned())
    }
}

/// Text that may be a secret: it is read, and shown nowhere.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Value")]
pub(crate) struct Hidden(String);

impl TryFrom<Value> for Hidden {
    type Error = &'static str;

    /// `PORT: 8080` is a number to YAML and text to an environment.
    fn try_from(value: Value) -> Result<Self, &'static str> {
        match value {
            Value::String(text) => Ok(Self(text)),
            Value::Number(_) | Value::Bool(_) => Ok(Self(value.to_string())),
            _ => Err("expected text"),
        }
    }
}

impl Hidden {
    fn mask(&self) -> &'static str {
        if self.0.is_empty() { "" } else { "(hidden)" }
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.mask())
    }
}

impl Serialize for Hidden {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.mask())
    }
}

/// An amount of US dollars, never negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub(crate) struct Dollars(#[schemars(range(min = 0.0))] f64);

impl Dollars {
    /// Returns the amount.
    pub(crate) fn amount(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Dollars {
    type Error = String;

    fn try_from(amount: f64) -> Result<Self, String> {
        if amount >= 0.0 {
            Ok(Self(amount))
        } else {
            Err(format!("`{amount}` is below zero"))
        }
    }
}

/// A rule of the policy, as the gateway reads it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PolicyRule(Rule);

impl PolicyRule {
    /// Returns the rule.
    pub(crate) fn rule(&self) -> &Rule {
        &self.0
    }
}

impl FromStr for PolicyRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = text.parse::<Rule>().map_err(|error| error.to_string())?;
        Ok(Self(rule))
    }
}

impl fmt::Display for PolicyRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A pattern of ids of skills.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SkillPattern(String);

impl FromStr for SkillPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match skill_core::glob_problem(text) {
            Some(problem) => Err(format!("the pattern `{text}` {problem}")),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for SkillPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A span of time such as `90s`, `10m` or `1h30m`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct WallTime {
    duration: Duration,
    text: String,
}

impl WallTime {
    /// Returns the time.
    pub(crate) fn duration(&self) -> Duration {
        self.duration
    }
}

impl FromStr for WallTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no time such as `90s`, `10m` or `1h30m`");
        let mut rest = text;
        let mut duration = Duration::ZERO;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, after) = rest.split_at(digits);
            let unit_end = after
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(after.len());
            let (unit, after) = after.split_at(unit_end);
            let number: u64 = number.parse().map_err(|_| wrong())?;
            let part = match unit {
                "ms" => Some(Duration::from_millis(number)),
                "s" => Some(Duration::from_secs(number)),
                "m" => number.checked_mul(60).map(Duration::from_secs),
                "h" => number.checked_mul(3_600).map(Duration::from_secs),
                _ => None,
            };
            duration = part
                .and_then(|part| duration.checked_add(part))
                .ok_or_else(wrong)?;
            rest = after;
        }
        if duration.is_zero() {
            Err(wrong())
        } else {
            Ok(Self {
                duration,
                text: text.to_owned(),
            })
        }
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Reads a type from text by its `FromStr`, and shows editors the pattern of the text.
macro_rules! read_from_text {
    ($($name:ident $pattern:literal)*) => {$(
        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    )*};
}

read_from_text! {
    ModelChoice r"^(offline|[^/\s]+/\S+)$"
    BaseUrl r"^https?://[^\s#@]+$"
    EnvironmentName "^[A-Za-z_][A-Za-z0-9_]*$"
    PolicyRule r"^(allow|ask|deny)\s+[a-z]+\(.*\)$"
    SkillPattern r"\S"
    WallTime "^([0-9]+(ms|s|m|h))+$"
}

macro_rules! write_as_text {
    ($($name:ident)*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

write_as_text! { BaseUrl ModelChoice PolicyRule SkillPattern WallTime }

#[cfg(test)]
mod tests;
