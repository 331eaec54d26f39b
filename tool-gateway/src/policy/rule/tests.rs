//! What rules match, and what is said of rules that cannot be read.

use super::*;

fn rule(text: &str) -> Rule {
    text.parse().unwrap()
}

fn argv(line: &str) -> Access {
    Access::Run(line.split(' ').map(str::to_owned).collect())
}

fn http(method: &str, host: &str, path: &str) -> Access {
    Access::Http {
        method: method.into(),
        host: host.into(),
        path: path.into(),
    }
}

fn mcp(server: &str, tool: &str) -> Access {
    Access::Mcp {
        server: server.into(),
        tool: tool.into(),
    }
}

#[test]
fn a_rule_is_written_as_it_was_read() {
    for text in [
        "allow read(**)",
        "ask write(notes/**)",
        "deny delete(**)",
        "allow run(git status)",
        "allow mcp(github:list_*)",
        "allow http(GET api.example.com/v1/**)",
        "allow skill(report.generator.weekly)",
        "ask tool(send_*)",
    ] {
        assert_eq!(rule(text).to_string(), text);
    }
    assert_eq!(
        rule("  deny   run( git   push )  ").to_string(),
        "deny run(git   push)"
    );
}

#[test]
fn a_granted_rule_leaves_its_effect_out() {
    assert_eq!(
        Rule::granted("write(notes/**)").unwrap(),
        rule("allow write(notes/**)")
    );
    assert_eq!(
        Rule::granted("allow write(**)").unwrap(),
        rule("allow write(**)")
    );
    assert_eq!(
        Rule::granted("wirte(x)").unwrap_err().message,
        "unknown capability `wirte`; did you mean `write`?"
    );
    assert!(Rule::granted("deny write(**)").is_err());
}

#[test]
fn a_rule_that_cannot_be_read_says_where_and_what_is_near() {
    let cases = [
        (
            "alow read(**)",
            1,
            "unknown effect `alow`; did you mean `allow`?",
        ),
        (
            "permit read(**)",
            1,
            "unknown effect `permit`; known are allow, ask, deny",
        ),
        (
            "allow raed(**)",
            7,
            "unknown capability `raed`; did you mean `read`?",
        ),
        (
            "allow  bash(**)",
            8,
            "unknown capability `bash`; known are read, write, delete, run, mcp, http, skill, tool",
        ),
        ("allow read", 11, "expected `(` after `read`"),
        ("allow read(**", 14, "expected `)` at the end"),
        (
            "allow read( )",
            13,
            "the pattern is empty; `**` means everything",
        ),
        (
            "ask read(中文/[a])",
            13,
            "`[` is not a wildcard here; write `\\[` for the character",
        ),
        ("allow mcp(github)", 11, "expected `SERVER:TOOL`"),
        (
            "allow http(api.example.com)",
            12,
            "expected `METHOD HOST/PATH`",
        ),
        (
            "allow write(/etc/**)",
            13,
            "paths are relative to the workspace root; drop the leading `/`",
        ),
        ("", 1, "unknown effect ``; known are allow, ask, deny"),
    ];
    for (text, column, message) in cases {
        let error = text.parse::<Rule>().unwrap_err();
        assert_eq!(
            (error.column, error.message.as_str()),
            (column, message),
            "{text}"
        );
    }
}

#[test]
fn a_program_rule_matches_whole_words_and_never_a_longer_word() {
    let status = rule("allow run(git status)");
    assert!(status.matches(&argv("git status")));
    assert!(status.matches(&argv("git status --short")));
    for other in [
        "git",
        "git statusx",
        "git status;",
        "git push",
        "xgit status",
        "./git status",
        "GIT status",
    ] {
        assert!(!status.matches(&argv(other)), "{other}");
    }
    assert!(!rule("allow run(npm test)").matches(&argv("npm test-evil")));
    let one_line = Access::Run(vec!["git status; touch p".into()]);
    assert!(!status.matches(&one_line));
}

#[test]
fn a_denied_program_is_denied_under_any_path_to_it() {
    let deny = rule("deny run(rm)");
    for line in ["rm x", "/bin/rm x", "./rm", "RM x"] {
        assert!(deny.matches(&argv(line)), "{line}");
    }
    assert!(!deny.matches(&argv("rmdir x")));
    assert!(rule("deny run(**)").matches(&argv("anything at all")));
    assert!(rule("allow run(git * --dry-run)").matches(&argv("git push --dry-run")));
}

#[test]
fn a_strict_rule_sees_through_case_and_an_allowing_one_does_not() {
    assert!(rule("deny write(secret/**)").matches(&Access::write("Secret/x")));
    assert!(!rule("allow write(secret/**)").matches(&Access::write("Secret/x")));
    assert!(rule("ask tool(send_*)").matches(&Access::Tool("Send_mail".into())));
    assert!(!rule("allow tool(send_*)").matches(&Access::Tool("Send_mail".into())));
}

#[test]
fn an_mcp_rule_judges_the_pair_and_never_a_joined_name() {
    let allow = rule("allow mcp(a:b_c)");
    assert!(allow.matches(&mcp("a", "b_c")));
    assert!(!allow.matches(&mcp("a_b", "c")));
    assert!(!allow.matches(&mcp("a:b_c", "")));
    assert!(rule("allow mcp(github:list_*)").matches(&mcp("github", "list_issues")));
    assert!(!rule("allow mcp(github:list_*)").matches(&mcp("github2", "list_issues")));
}

#[test]
fn an_http_rule_is_not_fooled_by_a_path_that_climbs() {
    let allow = rule("allow http(GET api.example.com/v1/**)");
    assert!(allow.matches(&http("GET", "API.example.com", "/v1/users")));
    for (method, host, path) in [
        ("POST", "api.example.com", "/v1/users"),
        ("GET", "api.example.com.evil.org", "/v1/users"),
        ("GET", "api.example.com", "/v1/../admin"),
        ("GET", "api.example.com", "/v1/%2e%2e/admin"),
        ("GET", "api.example.com", "/v1/..%2Fadmin"),
        ("GET", "api.example.com", "/v10/users"),
    ] {
        assert!(
            !allow.matches(&http(method, host, path)),
            "{method} {host}{path}"
        );
    }
}

#[test]
fn a_capability_is_matched_by_its_own_rules_only() {
    let everything = rule("allow read(**)");
    for access in [
        Access::write("a"),
        Access::delete("a"),
        argv("cat a"),
        Access::Tool("read".into()),
    ] {
        assert!(!everything.matches(&access), "{access}");
    }
    assert!(!rule("allow read(**)").matches(&Access::read("../x")));
    assert!(rule("deny read(**)").matches(&Access::read("../x")));
}
