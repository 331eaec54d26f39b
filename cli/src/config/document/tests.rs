//! Documents: what text means, and what is refused where.

use serde_json::Value;

use super::*;

fn parsed(text: &str) -> Result<Value, String> {
    let tree = parse(text, Layer::User, &Arc::from(Path::new("f")));
    tree.map(|tree| tree.to_json())
        .map_err(|error| error.to_string())
}

#[test]
fn ordinary_files_mean_what_the_yaml_library_says() {
    for text in [
        "a: 1\nb: -2\nc: 1.5\nd: 1e3\ne: 18446744073709551615\n",
        "a: true\nb: False\nc: null\nd: ~\ne:\nf: yes\ng: on\n",
        "a: 0755\nb: 1_000\nc: 10m\nd: 1.2.3\ne: '1'\nf: \"true\"\n",
        "a: [x, 'y, z', {b: c}]\nd:\n- e\n-   f: g\n    h: i\n",
        "a: |\n  two\n  lines\nb: >-\n  folded\n  text\nc: plain\n  over lines\n",
        "# comment\na: b # comment\nc: d#e\nurl: http://x:1/y\n",
        "周报: 每周\n'quoted key': \"\\u5468\\n\"\n",
        "a: b\r\nc:\r\n  - d\r\n",
        "a: !!str 5\n",
    ] {
        let expected: Value = serde_yaml::from_str(text).unwrap();
        assert_eq!(parsed(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_has_two_meanings_is_refused_at_its_place() {
    for (text, message) in [
        (
            "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
            "f:5:3: the key `c` stands twice, first at f:3",
        ),
        (
            "a: &x 1\nb: *x\n",
            "f:2:4: aliases (`*name`) are not supported",
        ),
        (
            "a: !secret x\n",
            "f:1:4: the tag `!secret` is not supported",
        ),
        ("a: 1\n---\nb: 2\n", "f:2:1: a second document starts here"),
        ("? [a]\n: 1\n", "f:1:3: a key must be plain text"),
        ("- a\n", "f:1:1: expected a map of settings, found a list"),
        (
            "just text\n",
            "f:1:1: expected a map of settings, found the text `just text`",
        ),
    ] {
        assert_eq!(parsed(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn broken_text_is_an_error_with_a_line() {
    for (text, place) in [
        ("a: b: c\n", "f:1:5"),
        ("a:\n\tb: 1\n", "f:2:"),
        ("a: 'x\n", "f:1:4"),
    ] {
        let error = parsed(text).unwrap_err();
        assert!(
            error.starts_with(place) && error.contains("not valid YAML"),
            "{error}"
        );
    }
}

#[test]
fn a_text_that_goes_too_deep_or_on_too_long_is_refused() {
    let deep = "[".repeat(DEEPEST + 1);
    assert!(
        parsed(&deep)
            .unwrap_err()
            .contains("nested deeper than 32 levels")
    );
    let long = format!("a: [{}]", "1,".repeat(MOST_VALUES));
    assert!(
        parsed(&long)
            .unwrap_err()
            .contains("more than 20000 values")
    );
}

#[test]
fn a_key_without_a_value_is_not_there() {
    let tree = parse(
        "a:\nb: {c: , d: 1}\n",
        Layer::User,
        &Arc::from(Path::new("f")),
    )
    .unwrap();
    assert_eq!(
        tree.without_nulls().to_json(),
        serde_json::json!({"b": {"d": 1}})
    );
}
