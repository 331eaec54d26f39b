//! Bytes, fences and bodies: what a file is made of.

use super::*;

#[test]
fn bytes_are_decoded_whatever_wrote_them() {
    let text = "---\nname: demo\ndescription: dé\n---\nb\n";
    let utf16: Vec<u16> = text.encode_utf16().collect();
    let little = utf16.iter().flat_map(|unit| unit.to_le_bytes());
    let big = utf16.iter().flat_map(|unit| unit.to_be_bytes());
    let cases: [(Vec<u8>, &[&str]); 6] = [
        (text.replace('\n', "\r\n").into(), &[]),
        (text.replace('\n', "\r").into(), &["SK004"]),
        (format!("\u{feff}{text}").into(), &["SK001"]),
        (format!("\u{feff}\u{feff}{text}").into(), &["SK001"]),
        ([0xff, 0xfe].into_iter().chain(little).collect(), &["SK002"]),
        ([0xfe, 0xff].into_iter().chain(big).collect(), &["SK002"]),
    ];
    let plain = package(text);
    for (bytes, expected) in cases {
        let parsed = package(bytes);
        assert_eq!(codes(&parsed), expected);
        assert_eq!(parsed.skill, plain.skill);
        assert_eq!(parsed.body, "b");
    }
    let latin = package(b"---\nname: demo\ndescription: caf\xe9\n---\nb\n");
    assert_eq!(latin.skill.description, "caf\u{fffd}");
    let finding = &latin.diagnostics[0];
    assert_eq!(
        (finding.code, finding.line, finding.column),
        ("SK003", Some(3), Some(17))
    );
}

#[test]
fn fences_are_found_in_every_dress() {
    let keys = "name: demo\ndescription: d";
    let cases = [
        (format!("\n\n---\n{keys}\n---\n# Body\n"), "SK012"),
        (
            format!("<!-- made -->\n---\n{keys}\n---\n# Body\n"),
            "SK012",
        ),
        (format!("%YAML 1.2\n---\n{keys}\n---\n# Body\n"), "SK012"),
        (
            format!("```yaml\n---\n{keys}\n---\n```\n\n# Body\n"),
            "SK012",
        ),
        (format!("---  \n{keys}\n---\t\n# Body\n"), "SK013"),
        (format!("---\n{keys}\n...\n# Body\n"), "SK015"),
        (format!("----\n{keys}\n----\n# Body\n"), "SK015"),
        (format!(" ---\n{keys}\n ---\n# Body\n"), "SK015"),
        (format!("---\n{keys}\n---# Body\n"), "SK015"),
        (
            "---\n  name: demo\n  description: d\n  ---\n# Body\n".to_owned(),
            "SK015",
        ),
        (
            "--- name: demo description: d ---\n# Body\n".to_owned(),
            "SK015",
        ),
    ];
    for (text, code) in cases {
        let parsed = package(&text);
        assert_eq!(codes(&parsed), [code], "{text}");
        assert_eq!(parsed.skill.description, "d", "{text}");
        assert_eq!(parsed.body, "# Body", "{text}");
    }
}

#[test]
fn rules_and_tables_of_the_body_are_no_fences() {
    let parsed = package("---\nname: demo\ndescription: d\n---\n# Body\n\n---\n\n|---|\n");
    assert_eq!(parsed.body, "# Body\n\n---\n\n|---|");
    assert_eq!(codes(&parsed), [""; 0]);
}

#[test]
fn a_second_frontmatter_is_body_and_reported() {
    let parsed = package("---\nname: demo\ndescription: d\n---\nname: b\n---\n# Body\n");
    assert_eq!(codes(&parsed), ["SK014"]);
    assert_eq!(parsed.skill.name, "demo");
}

#[test]
fn a_package_without_frontmatter_is_refused_but_described() {
    let parsed = package("# Just body\n");
    assert_eq!(codes(&parsed), ["SK010"]);
    assert_eq!(parsed.skill.name, "demo");
    assert_eq!(parsed.body, "# Just body");
    let parsed = package("name: x\ndescription: d\n\n---\n# Body\n");
    assert_eq!(codes(&parsed), ["SK010"]);
    assert_eq!(
        (parsed.skill.name.as_str(), parsed.body.as_str()),
        ("x", "# Body")
    );
}

#[test]
fn an_unclosed_frontmatter_is_refused_but_described() {
    for text in [
        "---\nname: x\ndescription: d\n# Body\n",
        "---\nname: x\ndescription: d\n\n# Body\n",
        "---\nname: x\ndescription: **d\n\n# Body\nprose\n\n---\n",
    ] {
        let parsed = package(text);
        assert!(parsed.is_refused(), "{text}");
        assert!(codes(&parsed).contains(&"SK011"), "{text}");
        assert_eq!(parsed.skill.name, "x", "{text}");
        assert!(parsed.body.starts_with("# Body"), "{text}");
    }
}

#[test]
fn a_lite_file_is_a_skill_without_any_frontmatter() {
    let parsed = lite("Do it every week.\n");
    assert_eq!(parsed.skill.id.as_str(), "weekly");
    assert_eq!(parsed.skill.name, "weekly");
    assert_eq!(parsed.skill.description, "No description provided.");
    assert_eq!(parsed.skill.load, LoadMode::Lazy);
    assert_eq!(codes(&parsed), [""; 0]);
    assert!(parsed.skill.listed);
    let parsed = lite("---\n---\n\n# Body");
    assert_eq!(
        (parsed.skill.id.as_str(), parsed.body.as_str()),
        ("weekly", "# Body")
    );
    let parsed = lite("---\nid: plan\n---\nb");
    assert_eq!(
        (parsed.skill.id.as_str(), parsed.skill.name.as_str()),
        ("plan", "plan")
    );
}

#[test]
fn an_unclosed_lite_file_is_all_body() {
    let text = "---\nname: x\ntext goes on\n";
    let parsed = lite(text);
    assert_eq!(parsed.skill.name, "weekly");
    assert_eq!(parsed.body, text.trim_end());
    assert!(!parsed.is_refused());
}
