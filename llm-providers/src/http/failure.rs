//! What a failed exchange is told as: one line that names address and status, never key or body.

use std::time::Duration;

use serde_json::Value;
use skill_core::{ProviderError, ProviderErrorKind};

use crate::secret::Secret;

/// The longest quotation of an API's own message, in characters.
const QUOTE_CHARS: usize = 300;

/// A status that is no success, as the cause of a [`ProviderError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("http status {status}{}", .code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default())]
pub(crate) struct StatusFailure {
    /// The status, or the number an error inside a stream carries instead.
    pub(crate) status: u16,
    /// The API's own code, such as `insufficient_quota`.
    pub(crate) code: Option<String>,
}

impl StatusFailure {
    /// Tells whether the same request may do better in a moment.
    pub(crate) fn is_transient(&self) -> bool {
        match self.status {
            408 => true,
            // A spent budget is answered like haste, but waiting does not fill it.
            429 => !self.code.as_deref().is_some_and(is_quota),
            status => status >= 500,
        }
    }
}

fn is_quota(code: &str) -> bool {
    [
        "insufficient_quota",
        "billing",
        "insufficient_balance",
        "credit",
    ]
    .iter()
    .any(|word| code.contains(word))
}

/// An `error` object of an API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) message: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) status: Option<u16>,
}

impl ApiError {
    /// Finds the error in a body, in the several shapes in use.
    pub(crate) fn from_body(body: &Value) -> Self {
        let body = match body {
            Value::Array(items) => items.first().unwrap_or(body),
            other => other,
        };
        match body.get("error") {
            Some(Value::String(message)) => Self {
                message: Some(message.clone()),
                ..Self::from_object(body)
            },
            Some(error @ Value::Object(_)) => Self::from_object(error),
            _ => Self::from_object(body),
        }
    }

    fn from_object(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = ["code", "status", "status_code"]
            .into_iter()
            .find_map(|key| {
                let value = error.get(key)?;
                value.as_u64().or_else(|| value.as_str()?.parse().ok())
            });
        Self {
            message: text("message").or_else(|| text("detail")),
            code: text("code")
                .filter(|code| code.parse::<u64>().is_err())
                .or_else(|| text("type").filter(|kind| kind != "error")),
            status: number
                .and_then(|number| u16::try_from(number).ok())
                .filter(|status| (400..600).contains(status)),
        }
    }

    /// Returns the status, guessed from the code where the error carries no number.
    fn status_or_guess(&self) -> u16 {
        let code = self.code.as_deref().unwrap_or_default();
        let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
        self.status.unwrap_or_else(|| {
            if has(&["rate_limit", "too_many"]) || is_quota(code) {
                429
            } else if has(&["auth", "api_key", "permission"]) {
                401
            } else if has(&["not_found"]) {
                404
            } else if has(&["invalid", "context_length", "bad_request", "content_filter"]) {
                400
            } else {
                500
            }
        })
    }
}

/// Who is asked and where: what every message of an exchange names.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) provider: String,
    /// The address without query, user or fragment.
    pub(crate) endpoint: String,
    pub(crate) key: Option<Secret>,
    pub(crate) key_env: Option<String>,
}

impl Origin {
    /// Returns an error of this exchange; `{endpoint} {what}` is its message.
    pub(crate) fn error(&self, kind: ProviderErrorKind, what: &str) -> ProviderError {
        let message = format!("`{}` {what}", self.endpoint);
        ProviderError::new(&self.provider, kind, message)
    }

    /// Returns the error for an answer whose status is no success.
    pub(crate) fn status(
        &self,
        status: u16,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> ProviderError {
        let api = serde_json::from_slice(body)
            .map(|body| ApiError::from_body(&body))
            .unwrap_or_default();
        self.answered(status, retry_after, &format!("answered {status}"), api)
    }

    /// Returns the error for an `error` object inside an answer that began as a success.
    pub(crate) fn in_stream(&self, api: ApiError) -> ProviderError {
        let status = api.status_or_guess();
        self.answered(status, None, "reported an error", api)
    }

    fn answered(
        &self,
        status: u16,
        retry_after: Option<Duration>,
        what: &str,
        api: ApiError,
    ) -> ProviderError {
        let quote = api.message.map(|message| self.quote(&message));
        let what = match quote.filter(|quote| !quote.is_empty()) {
            Some(quote) => format!("{what}: {quote}"),
            None => what.to_owned(),
        };
        let failure = StatusFailure {
            status,
            code: api.code.map(|code| self.quote(&code)),
        };
        let mut error = self.error(kind_of(status), &what);
        error.hint = self.hint_for(&failure, retry_after);
        error.retry_after = retry_after;
        error.source = Some(Box::new(failure));
        error
    }

    fn hint_for(&self, failure: &StatusFailure, wait: Option<Duration>) -> Option<String> {
        let hint = match failure.status {
            401 | 403 => self.key_hint(),
            402 => "the account has no credit left".into(),
            404 | 405 => {
                "check the model's name and the base URL; most base URLs end in `/v1`".into()
            }
            429 if !failure.is_transient() => {
                "the account's quota is used up; waiting does not help".into()
            }
            429 => match wait {
                Some(wait) => format!("the provider asks to wait {} s", wait.as_secs_f64().ceil()),
                None => "wait a moment, or take another model".into(),
            },
            300..=399 => "redirects are not followed, so that a key reaches no other host; \
                          set the base URL to the address that answers"
                .into(),
            500.. => "the provider has trouble on its own side; try again later".into(),
            _ => return None,
        };
        Some(hint)
    }

    fn key_hint(&self) -> String {
        match (&self.key, &self.key_env) {
            (Some(_), Some(variable)) => format!("check the key; it is usually in `{variable}`"),
            (Some(_), None) => "check the key".into(),
            (None, Some(variable)) => format!("no key was sent; set `{variable}`"),
            (None, None) => "no key was sent; configure one for this provider".into(),
        }
    }

    /// Returns `text` on one line, bounded, with what looks like the key taken out.
    pub(crate) fn quote(&self, text: &str) -> String {
        let key = self
            .key
            .as_ref()
            .map(Secret::expose)
            .filter(|key| !key.is_empty());
        let text = match key {
            Some(key) => text.replace(key, "[key]"),
            None => text.to_owned(),
        };
        let start = key.and_then(|key| key.get(..6));
        let mut line = String::new();
        let printable = |character: char| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        };
        let text: String = text
            .chars()
            .map(printable)
            .filter(|c| !skill_core::is_invisible(*c))
            .collect();
        for word in text.split_whitespace() {
            // Servers quote a wrong key with its middle starred out; its ends are still secret.
            let secret = start.is_some_and(|start| word.contains(start)) || word.contains("***");
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(if secret { "[key]" } else { word });
        }
        match line.char_indices().nth(QUOTE_CHARS) {
            Some((end, _)) => line.split_at(end).0.to_owned() + "…",
            None => line,
        }
    }
}

fn kind_of(status: u16) -> ProviderErrorKind {
    match status {
        300..=399 => ProviderErrorKind::Protocol,
        401..=403 => ProviderErrorKind::Unauthorized,
        404 | 405 | 410 => ProviderErrorKind::NotFound,
        408 => ProviderErrorKind::Timeout,
        429 => ProviderErrorKind::RateLimited,
        400..=499 => ProviderErrorKind::InvalidRequest,
        _ => ProviderErrorKind::Unavailable,
    }
}

#[cfg(test)]
mod tests;
