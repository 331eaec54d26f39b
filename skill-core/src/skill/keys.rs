//! Lines that look like `key: value`, and the spelling of keys.

use std::borrow::Cow;

/// Keys of the Agent Skills standard.
pub(crate) const STANDARD: &[&str] = &[
    "name",
    "description",
    "license",
    "allowed-tools",
    "metadata",
    "compatibility",
];

/// Keys that are believed to be keys where the text around them is damaged.
pub(crate) const COMMON: &[&str] = &["name", "description", "version", "license", "author", "id"];

/// Keys that narrow who may use a skill and what may run meanwhile, in their normal spelling.
pub(crate) const RESTRICTING: &[&str] = &[
    "groups",
    "roles",
    "contexts",
    "paths",
    "restricttools",
    "disallowedtools",
    "disablemodelinvocation",
    "userinvocable",
    "hooks",
    "policy",
];

/// Keys that grant something, in their normal spelling.
pub(crate) const GRANTING: &[&str] = &["allowedtools", "always", "mode"];

/// Tells whether a key is one that skill files have, so that a line with it is hardly prose.
pub(crate) fn is_known(key: &str) -> bool {
    let normal = normal(key);
    let lists = [COMMON, RESTRICTING, GRANTING, &["skillid", "tags"]];
    STANDARD.contains(&key) || lists.iter().any(|list| list.contains(&&*normal))
}

/// Keys whose value is prose, which may go on over unindented lines.
pub(crate) fn is_prose(key: &str) -> bool {
    matches!(
        &*normal(key),
        "name" | "description" | "whentouse" | "compatibility" | "argumenthint"
    )
}

/// Returns the spelling in which keys are compared: lower case, without `-` and `_`.
pub(crate) fn normal(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(key);
    }
    let joins = |letter: &char| matches!(letter, '-' | '_' | ' ');
    let letters = key.chars().filter(|letter| !joins(letter));
    if key.is_ascii() {
        let mut normal = String::with_capacity(key.len());
        normal.extend(letters.map(|letter| letter.to_ascii_lowercase()));
        return Cow::Owned(normal);
    }
    letters.flat_map(char::to_lowercase).collect()
}

/// A line of the form `key: value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyLine<'a> {
    pub(crate) key: &'a str,
    /// What stands after the colon, as it was written.
    pub(crate) rest: &'a str,
    /// The colon, or the blank after it, is one that YAML does not take for one.
    pub(crate) odd: bool,
}

/// Returns the key at the very beginning of `line`, if it has one.
pub(crate) fn key_line(line: &str) -> Option<KeyLine<'_>> {
    let (key, after) = quoted_key(line).or_else(|| plain_key(line))?;
    let after = after.trim_start_matches([' ', '\t']);
    if let Some(rest) = after.strip_prefix(':') {
        let odd = rest.starts_with('\u{a0}');
        let separate = odd || rest.is_empty() || rest.starts_with([' ', '\t']);
        return separate.then_some(KeyLine { key, rest, odd });
    }
    let rest = after.strip_prefix('：')?;
    COMMON.contains(&&*normal(key)).then_some(KeyLine {
        key,
        rest,
        odd: true,
    })
}

/// Tells whether `line` begins with a key.
pub(crate) fn begins_key(line: &str) -> bool {
    key_line(line).is_some()
}

fn quoted_key(line: &str) -> Option<(&str, &str)> {
    let quote = line
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))?;
    let (key, after) = line.get(1..)?.split_once(quote)?;
    is_key(key).then_some((key, after))
}

fn plain_key(line: &str) -> Option<(&str, &str)> {
    let end = line
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')))
        .unwrap_or(line.len());
    let (key, after) = line.split_at_checked(end)?;
    is_key(key).then_some((key, after))
}

fn is_key(key: &str) -> bool {
    key.len() <= 48
        && key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_line_is_told_from_prose() {
        let key = |line| key_line(line).map(|found| (found.key, found.rest));
        assert_eq!(key("name: a"), Some(("name", " a")));
        assert_eq!(key("'name': a"), Some(("name", " a")));
        assert_eq!(key("name:\ta"), Some(("name", "\ta")));
        assert_eq!(key("name:"), Some(("name", "")));
        assert_eq!(key("description：说明"), Some(("description", "说明")));
        assert_eq!(key("name:\u{a0}a"), Some(("name", "\u{a0}a")));
        for prose in [
            "https://example.com",
            "second line of prose",
            "- item: x",
            "  name: indented",
            "**Name:** a",
            "地址：街",
            "See also: nothing",
            "",
        ] {
            assert_eq!(key(prose), None, "{prose}");
        }
    }
}
