//! Entries of kind `http`: one request, with the parameters in their places.

use std::sync::Arc;

use serde_json::{Map, Value};
use skill_core::EntryPoint;

use crate::entry::host::{Host, HttpRequest};
use crate::entry::{Runner, SkillFailure, SkillJob, SkillResult};
use crate::output::cut;

/// How much of an answer is shown of a failure.
const SHOWN_BYTES: usize = 500;

struct Request {
    method: String,
    url: String,
    headers: std::collections::BTreeMap<String, String>,
    body: Value,
}

pub(super) fn runner(entry: &EntryPoint) -> Option<Arc<dyn Runner>> {
    match entry {
        EntryPoint::Http {
            method,
            url,
            headers,
            body,
        } => Some(Arc::new(Request {
            method: method.clone(),
            url: url.clone(),
            headers: headers.clone(),
            body: body.clone(),
        })),
        _ => None,
    }
}

#[async_trait::async_trait]
impl Runner for Request {
    async fn run(&self, host: &Host, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        let Some(client) = &host.given.http else {
            let text = format!(
                "`{}` needs the network, which is not available here",
                job.skill.id
            );
            return Err(SkillFailure::new(SkillFailure::BROKEN, text));
        };
        let headers = self.headers.iter();
        let request = HttpRequest {
            method: self.method.clone(),
            url: url(&self.url, &job.params),
            headers: headers
                .map(|(name, value)| (name.clone(), filled(value, job).replace(['\r', '\n'], " ")))
                .collect(),
            body: body(&self.body, &job.params),
        };
        let answer = client.send(request).await.map_err(|problem| {
            SkillFailure::new(SkillFailure::TRANSIENT, format!("no answer: {problem}"))
        })?;
        if (200..300).contains(&answer.status) {
            let value = serde_json::from_str(&answer.body).unwrap_or(Value::String(answer.body));
            return Ok(SkillResult::ok(value));
        }
        let kind = match answer.status {
            408 | 429 | 500.. => SkillFailure::TRANSIENT,
            _ => SkillFailure::BUSINESS,
        };
        let text = format!("the answer was status {}", answer.status);
        Err(SkillFailure::new(kind, text).with_detail(cut(&answer.body, SHOWN_BYTES)))
    }
}

/// Returns the address with parameters in their places, so encoded that none of them can leave its
/// place.
pub(super) fn url(template: &str, params: &Map<String, Value>) -> String {
    fill(template, |name| Some(encoded(&text(params.get(name)?))))
}

/// Returns a header with parameters and declared secrets in their places.
fn filled(template: &str, job: &SkillJob) -> String {
    fill(template, |name| match name.strip_prefix("secret:") {
        Some(secret) => job.secrets.get(secret).cloned(),
        None => job.params.get(name).map(text),
    })
}

/// Returns the body with parameters in their places; one that stands alone keeps its type.
fn body(template: &Value, params: &Map<String, Value>) -> Value {
    match template {
        Value::String(whole) => {
            let alone = whole
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            match alone.and_then(|name| params.get(name)) {
                Some(value) => value.clone(),
                None => Value::String(fill(whole, |name| params.get(name).map(text))),
            }
        }
        Value::Array(items) => items.iter().map(|item| body(item, params)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), body(value, params)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Puts a text in each place `{NAME}` that has one; an unknown place stays as it is.
fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after
            .split_once('}')
            .and_then(|(name, end)| Some((value(name)?, end)))
        {
            Some((value, end)) => {
                filled.push_str(&value);
                rest = end;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_parameter_leaves_its_place() {
        let params = json!({"id": "../../x?a=b#c", "n": 3, "list": [1], "none": null});
        let params = params.as_object().unwrap();
        assert_eq!(
            url("https://h/v1/{id}/{n}?q={none}&r={unknown}", params),
            "https://h/v1/..%2F..%2Fx%3Fa%3Db%23c/3?q=&r={unknown}"
        );
        assert_eq!(
            body(&json!({"a": "{n}", "b": "n={n}", "c": ["{list}"]}), params),
            json!({"a": 3, "b": "n=3", "c": [[1]]})
        );
    }
}
