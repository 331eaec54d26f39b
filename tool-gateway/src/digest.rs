//! The digest that binds an approval to exactly what will run.

use std::io::{self, Write};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::access::Access;

/// Keeps these digests apart from every other SHA-256 of the same bytes.
const DOMAIN: &[u8] = b"tool-gateway arguments 1\n";

/// Returns the SHA-256, in lower-case hex, of a call and of what it resolves to.
///
/// The arguments go in as canonical JSON: keys sorted, no white space. Each part is prefixed by
/// its length, so that no two different calls can give the same bytes.
pub fn arguments_digest(tool: &str, arguments: &Value, access: &[Access]) -> String {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(tool.as_bytes());
    part(canonical_json(arguments).as_bytes());
    for access in access {
        part(format!("{access:?}").as_bytes());
    }
    hex(&hash.finalize())
}

/// Returns the digest of a call that also binds what its preview was made from.
pub(crate) fn with_basis(digest: &str, basis: Option<&str>) -> String {
    basis.map_or_else(
        || digest.to_owned(),
        |basis| sha256_hex(format!("tool-gateway basis 1\n{digest}\n{basis}").as_bytes()),
    )
}

/// Returns canonical JSON: keys sorted by bytes, no white space.
pub(crate) fn canonical_json(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and what is written is UTF-8.
    let _ = write_canonical(value, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Returns the SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns bytes in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| {
        DIGITS
            .get(usize::from(nibble))
            .copied()
            .map_or('0', char::from)
    };
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn write_canonical(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.cmp(b.0));
            out.write_all(b"{")?;
            for (index, (key, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.write_all(b",")?;
                }
                serde_json::to_writer(&mut *out, key)?;
                out.write_all(b":")?;
                write_canonical(value, out)?;
            }
            out.write_all(b"}")
        }
        Value::Array(items) => {
            out.write_all(b"[")?;
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.write_all(b",")?;
                }
                write_canonical(item, out)?;
            }
            out.write_all(b"]")
        }
        scalar => Ok(serde_json::to_writer(out, scalar)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_and_white_space_do_not_change_the_digest_and_anything_else_does() {
        let parse = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        let digest = |text: &str| arguments_digest("t", &parse(text), &[Access::read("a")]);
        let base = digest(r#"{"b":[1,{"y":2,"x":3}],"a":"é"}"#);
        assert_eq!(
            base,
            digest("{ \"a\": \"\\u00e9\", \"b\": [1, {\"x\": 3, \"y\": 2}] }")
        );
        assert_ne!(base, digest(r#"{"b":[1,{"y":2,"x":4}],"a":"é"}"#));
        assert_ne!(
            base,
            arguments_digest(
                "u",
                &parse(r#"{"b":[1,{"y":2,"x":3}],"a":"é"}"#),
                &[Access::read("a")]
            )
        );
        assert_ne!(
            base,
            arguments_digest(
                "t",
                &parse(r#"{"b":[1,{"y":2,"x":3}],"a":"é"}"#),
                &[Access::read("b")]
            )
        );
        assert_eq!(base.len(), 64);
    }

    #[test]
    fn canonical_json_sorts_keys_at_every_depth() {
        let value = json!({"b": {"d": null, "c": [true, 1.5]}, "a": "line\n"});
        assert_eq!(
            canonical_json(&value),
            r#"{"a":"line\n","b":{"c":[true,1.5],"d":null}}"#
        );
    }
}
