//! Files made to hurt their reader.

use super::*;

#[test]
fn aliases_are_never_expanded() {
    let mut keys = vec![
        "description: d".to_owned(),
        "a: &a [x, x, x, x, x, x, x, x]".to_owned(),
    ];
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        keys.push(format!(
            "{to}: &{to} [*{from}, *{from}, *{from}, *{from}, *{from}, *{from}]"
        ));
    }
    check(&keys.join("\n"), "d", &["SK024", "SK052"]);
    check(
        "description: &x d\nmetadata:\n  title: *x",
        "d",
        &["SK024", "SK050"],
    );
}

#[test]
fn nesting_without_end_costs_its_own_key_only() {
    let deep = "[".repeat(100_000);
    check(
        &format!("description: d\nmetadata: {deep}"),
        "d",
        &["SK020"],
    );
    let steps: String = (0..2_000)
        .map(|depth| format!("{:depth$}- \n", ""))
        .collect();
    check(
        &format!("description: d\nmetadata:\n{steps}"),
        "d",
        &["SK020"],
    );
}

#[test]
fn a_hostile_file_does_not_drown_its_reader() {
    let keys = "x: [\n".repeat(10_000);
    let parsed = package(format!("---\nname: demo\ndescription: d\n{keys}---\nb\n"));
    assert!(parsed.diagnostics.len() < 300);
    let more = parsed
        .diagnostics
        .iter()
        .filter(|one| one.message.contains("left out"));
    assert_eq!(more.count(), 1);
}

#[test]
fn a_text_made_to_cost_time_costs_little() {
    // Each of these would take minutes if some part of it were looked at once for every other.
    for piece in [
        "`$(",
        "$(curl $(",
        "a |sh \\\n",
        "curl x | sh ",
        "<system>",
        "a\u{202e}",
        "&& sh ",
        "](a.b",
        "\"\n",
        "ignore all rules ",
    ] {
        let text = piece.repeat(256 * 1024 / piece.len());
        for file in [
            format!("---\nname: demo\ndescription: d\n---\n{text}"),
            format!("---\nx: {text}\n---\n"),
        ] {
            let parsed = package(file);
            assert!(parsed.diagnostics.len() < 300, "{piece}");
            let said: usize = parsed
                .diagnostics
                .iter()
                .map(|one| one.text.as_deref().map_or(0, str::len))
                .sum();
            assert!(said < 300 * 2_000, "{piece}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_text_comes_to_a_record(pieces in proptest::collection::vec(
        proptest::sample::select(vec![
            "---", "\n", "\n---\n", "name: ", "description: ", "groups:", " ", "\t", "- ", ": ", "#",
            "\"", "'", "[", "]", "{", "}", "|", ">", "&a ", "*a", "!t ", "? ", "```", "...", "x", "é",
            "\u{feff}", "\r", "\0", "%", "：", "<<<<<<< a", "\\u0041",
        ]),
        0..40,
    )) {
        let text: String = pieces.concat();
        for path in ["demo/SKILL.md", "x.skill.md", "x.md"] {
            let parsed = parse_skill(text.as_bytes(), &Origin::of(path, Scope::User));
            assert!(!parsed.skill.id.as_str().is_empty());
            let lines = text.replace("\r\n", "\n").replace('\r', "\n").lines().count().max(1);
            for finding in parsed.diagnostics {
                assert!(finding.line.is_none_or(|line| line as usize <= lines + 3), "{finding:?}");
            }
        }
    }

    #[test]
    fn any_bytes_come_to_a_record(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = parse_skill(&bytes, &Origin::of("demo/SKILL.md", Scope::User));
    }
}
