//! Restrictions that are not written where a key belongs, or not clearly: they close.

use super::*;

fn check_closed(text: &str) {
    let parsed = package(text);
    assert!(
        codes(&parsed).contains(&"SK101"),
        "{text}: {:?}",
        codes(&parsed)
    );
    assert!(!parsed.skill.invocation.model, "{text}");
}

fn check_open(text: &str) {
    let parsed = package(text);
    assert!(
        !codes(&parsed).contains(&"SK101"),
        "{text}: {:?}",
        codes(&parsed)
    );
    assert!(parsed.skill.invocation.model, "{text}");
}

#[test]
fn a_restriction_behind_an_alias_or_a_merge_closes() {
    for keys in [
        "x-k: &k disable-model-invocation\n*k : true",
        "x-k: &k paths\n*k : src",
        "<<: {disable-model-invocation: true}",
        "x: &x {disable-model-invocation: true}\n<<: *x",
        "x: &x {groups: [a]}\ny: &y {<<: *x}\n<<: [*y]",
        "? [disable-model-invocation]\n: true",
        "? {disable-model-invocation: true}\n: x",
        "\"disable\u{200b}-model-invocation\": true",
        "<<: {metadata: {openclaw: {requires: {bins: [jq]}}}}",
    ] {
        check_closed(&format!(
            "---\nname: demo\ndescription: d\n{keys}\n---\nb\n"
        ));
    }
    for keys in [
        "<<: {license: MIT}",
        "x: &x {license: MIT}\n<<: *x",
        "x-k: &k license\n*k : MIT",
        "? [a]\n: b",
    ] {
        check_open(&format!(
            "---\nname: demo\ndescription: d\n{keys}\n---\nb\n"
        ));
    }
}

#[test]
fn merges_of_merges_without_end_close_and_cost_little() {
    let mut keys = "a: &a {x: y}\n".to_owned();
    for (from, to) in "abcdefghijklm".chars().zip("bcdefghijklmn".chars()) {
        let many = vec![format!("*{from}"); 9].join(", ");
        keys.push_str(&format!("{to}: &{to} {{<<: [{many}]}}\n"));
    }
    check_closed(&format!(
        "---\nname: demo\ndescription: d\n{keys}<<: *n\n---\nb\n"
    ));
}

#[test]
fn a_restriction_that_a_broken_value_swallows_closes() {
    for keys in [
        "\"disable\\u002dmodel-invocation\": true",
        "!!str disable-model-invocation: true",
        "&a disable-model-invocation: true",
        "? disable-model-invocation\n: true",
        "disable model invocation: true",
        "disable-model-invocation true",
        "disable-model-invocation:true",
        "disable-model-invocation：true",
        "\u{200b}disable-model-invocation: true",
        "  disable-model-invocation: true",
        "<<: {disable-model-invocation: true}",
        "y: &k disable-model-invocation\n*k : true",
        "\"meta\\u0064ata\": {openclaw: {requires: {bins: [jq]}}}",
        "!!map groups:\n- work",
    ] {
        check_closed(&format!(
            "---\nname: demo\ndescription: d\nx: a: b\n{keys}\n---\nb\n"
        ));
        check_closed(&format!(
            "---\nname: demo\ndescription: d: e\n{keys}\n---\nb\n"
        ));
    }
    check_closed(
        "---\n!!str disable-model-invocation: true\nname: demo\ndescription: d: e\n---\nb\n",
    );
    check_closed("---\n{name: demo, disable-model-invocation: true, x: a: b}\n---\nb\n");
    for keys in [
        "description: Use when: asked what disable-model-invocation does",
        "description: d: e\n  *note*: paths are relative",
        "description: d: e\n  - paths: a list of them",
        "description: |\n  paths: below src\nx: a: b",
        "description: d: e\nmore about the paths it takes",
        "description: d\nx: a: b\ny:\n  paths: of y",
    ] {
        check_open(&format!("---\nname: demo\n{keys}\n---\nb\n"));
    }
}

#[test]
fn a_restriction_below_a_damaged_fence_closes() {
    for text in [
        "---\nname: demo\ndescription: d\n---x\ndisable-model-invocation: true\n---\nb\n",
        "---\nname: demo\ndescription: d\n---x\ndisable-model-invocation: true\n\nb\n",
        "---\nname: demo\ndescription: d\n...\n\"groups\": [a]\n---\nb\n",
        "---\nname: demo\ndescription: d\n----\nlicense: MIT\npaths: src\n---\nb\n",
        "---\nname: demo\ndescription: d\n---\ndisable-model-invocation: true\n---\nb\n",
        "---\nname: demo\ndescription: d\n---\n---\nlicense: MIT\nroles: [a]\n---\nb\n",
    ] {
        check_closed(text);
    }
    for text in [
        "---\nname: demo\ndescription: d\n---# Demo\npaths: see below\n",
        "---\nname: demo\ndescription: d\n---\nPaths: see below\n",
        "---\nname: demo\ndescription: d\n---\nprose\n\nPaths: see below\n\n---\nmore\n",
        "---\nname: demo\ndescription: d\n---\n```yaml\ngroups: [a]\n---\n```\n",
    ] {
        check_open(text);
    }
}

#[test]
fn a_lite_file_that_lost_a_fence_stays_closed() {
    for text in [
        "---\ndescription: d\ndisable-model-invocation: true\n\nbody\n",
        "description: d\ndisable-model-invocation: true\n---\nbody\n",
    ] {
        let parsed = lite(text);
        assert!(!parsed.skill.invocation.model, "{text}");
        assert!(codes(&parsed).contains(&"SK101"), "{text}");
    }
    assert!(
        lite("Paths: a note about them\n\nand more\n")
            .skill
            .invocation
            .model
    );
}

#[test]
fn requirements_that_are_written_unclearly_close() {
    for metadata in [
        "metadata:\n  openclaw:\n    - requires: {bins: [jq]}",
        "metadata: '{\"openclaw\": {\"requires\": {\"bins\": [\"jq\"]}'",
        "metadata: '{\"openclaw\": {\"requires\": {\"bins\": [\"jq\"]}}, \"openclaw\": {}}'",
        "x: &x [jq]\nmetadata:\n  openclaw:\n    requires:\n      bins: *x",
        "x: &x {openclaw: {requires: {bins: [jq]}}}\nmetadata: *x",
        "x: &x {requires: {bins: [jq]}}\nmetadata:\n  openclaw:\n    <<: *x",
        "metadata:\n  <<: {openclaw: {requires: {bins: [jq]}}}",
        "metadata:\n  openclaw:\n    requires: {bins: [jq]}\nmetadata:\n  author: me",
        "metadata:\n  openclaw: {requires: {bins: [jq]}}\n  openclaw: {}",
        "metadata:\n  openclaw:\n    requires: {bins: [jq], bins: []}",
        "metadata:\n  openclaw: requires jq",
    ] {
        check_closed(&format!(
            "---\nname: demo\ndescription: d\n{metadata}\n---\nb\n"
        ));
    }
    let parsed = package(
        "---\nname: demo\ndescription: d\nmetadata:\n  OpenClaw:\n    Requires: {Bins: [jq]}\n---\nb\n",
    );
    let requires = parsed.skill.requires.expect("some");
    assert_eq!(requires.programs, ["jq"]);
    for metadata in [
        "metadata: {openclaw: {emoji: x}}",
        "metadata: {author: me, author: you}",
        "metadata: {broken JSON in a text}",
        "metadata: '{not json'",
        "metadata: {openclaw: null}",
        "metadata:\n  author: me\nmetadata:\n  author: you",
        "description: &x d\nmetadata:\n  title: *x",
    ] {
        check_open(&format!(
            "---\nname: demo\ndescription: d\n{metadata}\n---\nb\n"
        ));
    }
}

#[test]
fn a_grant_that_is_taken_back_elsewhere_grants_nothing() {
    let read = |keys: &str| {
        let parsed = package(format!("---\nname: demo\ndescription: d\n{keys}\n---\nb\n"));
        {
            let codes = codes(&parsed);
            (parsed.skill.load, parsed.skill.allowed_tools, codes)
        }
    };
    for keys in [
        "always: false\nalways: true",
        "always: true\nalways: false",
        "mode: lazy\nmode: always",
        "mode: lazy\nalways: true",
        "always: no\nmode: always",
        "always: no\nmetadata:\n  mode: always",
        "metadata:\n  mode: lazy\n  mode: always",
        "always: true\n<<: {always: false}",
    ] {
        let (load, _, codes) = read(keys);
        assert_eq!(load, LoadMode::Lazy, "{keys}");
        assert!(codes.contains(&"SK053"), "{keys}: {codes:?}");
    }
    for keys in [
        "mode: always\nalways: true",
        "mode: always\nmode: always",
        "always: yes\nalways: true",
    ] {
        assert_eq!(read(keys).0, LoadMode::Always, "{keys}");
    }
    let (_, tools, codes) = read("allowed-tools: Read\nallowedTools: Read Bash");
    assert_eq!((tools.len(), codes.contains(&"SK053")), (0, true));
    assert_eq!(
        read("allowed-tools: Read\nallowed-tools: [Read]").1,
        ["Read"]
    );
}
