//! What a `skill.yaml` declares.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{AutoFill, Circuit, Declaration, EntryPoint, Policies, RateLimit, Retry};

const ABOUT: &str = "skill_id: report.weekly\ndescription: 生成周报时使用。不适用于日报。\n";
const ENTRY: &str = "entry: {module: implement, function: run}\n";

fn declared(text: &str) -> ParsedSkill {
    let origin = Origin::of("reports/weekly/skill.yaml", Scope::User);
    parse_skill(text.as_bytes(), &origin)
}

/// Parses a sound declaration with `keys` added.
fn with(keys: &str) -> ParsedSkill {
    let entry = if keys.contains("entry:") { "" } else { ENTRY };
    declared(&format!("{ABOUT}{entry}{keys}\n"))
}

fn declaration(parsed: &ParsedSkill) -> &Declaration {
    parsed.skill.declaration.as_deref().expect("it is declared")
}

#[test]
fn a_whole_declaration_is_read() {
    let parsed = declared(
        "skill_id: report.generator.weekly\n\
         name: 周报生成\n\
         description: 当用户要求生成周报时使用。不适用于日报或月报。\n\
         tasks: [查询工单记录, 生成总结文本]\n\
         parameters:\n\
         \x20 to: {type: string, format: email, description: 邮箱, nullable: false, example: ops@example.com}\n\
         \x20 metrics: {type: boolean, default: true}\n\
         \x20 now: {type: string, format: date-time, auto_fill: now}\n\
         \x20 key: {type: [string, \"null\"], nullable: true, auto_fill: \"config:report.key\"}\n\
         policies:\n\
         \x20 timeout: 90s\n\
         \x20 rate_limit: 60/min\n\
         \x20 retry: {max_attempts: 3, initial: 100ms, factor: 1.5, max: 2s, on: [transient]}\n\
         \x20 circuit: {failures: 2, open: 1m}\n\
         \x20 roles: [support]\n\
         \x20 contexts: [chat]\n\
         \x20 requires_approval: true\n\
         \x20 secrets: [TICKET_TOKEN]\n\
         entry: {module: implement, function: generate_weekly_report}\n\
         services: {ticket_client: services.py:make_ticket_client}\n\
         metadata: {version: 1.2.0, author: team, tags: [report, weekly], updated: 2026-11-01}\n",
    );
    assert_eq!(parsed.diagnostics, []);
    let skill = &parsed.skill;
    assert_eq!(
        (skill.id.as_str(), skill.name.as_str()),
        ("report.generator.weekly", "周报生成")
    );
    assert_eq!(
        (skill.version.as_deref(), skill.author.as_deref()),
        (Some("1.2.0"), Some("team"))
    );
    assert_eq!(
        (&skill.tags[..], &skill.roles[..], &skill.contexts[..]),
        (
            &["report".to_owned(), "weekly".to_owned()][..],
            &["support".to_owned()][..],
            &["chat".to_owned()][..]
        )
    );
    assert_eq!((skill.listed, parsed.body.as_str()), (true, ""));
    let declaration = declaration(&parsed);
    assert_eq!(declaration.tasks.len(), 2);
    assert_eq!(declaration.updated.as_deref(), Some("2026-11-01"));
    let parameters: Vec<_> = declaration
        .parameters
        .iter()
        .map(|one| {
            (
                one.name.as_str(),
                one.required,
                one.nullable,
                one.auto_fill.clone(),
            )
        })
        .collect();
    assert_eq!(
        parameters,
        [
            ("to", true, false, None),
            ("metrics", false, false, None),
            ("now", false, false, Some(AutoFill::Now)),
            (
                "key",
                false,
                true,
                Some(AutoFill::Config("report.key".to_owned()))
            ),
        ]
    );
    assert_eq!(
        declaration.parameters[0].schema,
        json!({"type": "string", "format": "email", "description": "邮箱"})
    );
    assert_eq!(declaration.parameters[1].default, Some(json!(true)));
    assert_eq!(
        declaration.policies,
        Policies {
            timeout: Duration::from_secs(90),
            rate_limit: Some(RateLimit {
                count: 60,
                per: Duration::from_secs(60)
            }),
            retry: Some(Retry {
                max_attempts: 3,
                initial: Duration::from_millis(100),
                factor: 1.5,
                max: Duration::from_secs(2),
                on: vec!["transient".to_owned()]
            }),
            circuit: Some(Circuit {
                failures: 2,
                open: Duration::from_secs(60)
            }),
            requires_approval: true,
            secrets: vec!["TICKET_TOKEN".to_owned()],
        }
    );
    assert_eq!(
        declaration.entry,
        Some(EntryPoint::Python {
            module: "implement".to_owned(),
            function: "generate_weekly_report".to_owned()
        })
    );
    assert_eq!(
        declaration.services["ticket_client"].function,
        "make_ticket_client"
    );
}

#[test]
fn without_an_id_it_is_refused_but_described() {
    let parsed = declared(&format!(
        "name: Weekly\ndescription: d, not for days\n{ENTRY}"
    ));
    assert_eq!(codes(&parsed), ["SK102"]);
    assert!(parsed.is_refused());
    assert_eq!(
        (
            parsed.skill.name.as_str(),
            parsed.skill.description.as_str()
        ),
        ("Weekly", "d, not for days")
    );
    let parsed = declared(&format!("description: d, not for days\n{ENTRY}"));
    assert_eq!(parsed.skill.name, "weekly");
    for id in ["a..b", "a/b", "../x", ".a"] {
        let parsed = declared(&format!(
            "skill_id: {id}\ndescription: x, not for y\n{ENTRY}"
        ));
        assert!(parsed.is_refused(), "{id}");
        assert_eq!(codes(&parsed), ["SK034"], "{id}");
    }
}

#[test]
fn a_description_chooses_an_executable_skill_and_is_short_and_says_its_limits() {
    let of = |description: &str| {
        declared(&format!(
            "skill_id: a.b\ndescription: {description}\n{ENTRY}"
        ))
    };
    let long = |count: usize| format!("{}不适用于日报", "字".repeat(count - 6));
    assert_eq!(codes(&of(&long(200))), [""; 0]);
    assert_eq!(codes(&of(&long(201))), ["SK041"]);
    assert_eq!(codes(&of("makes reports")), ["SK044"]);
    assert_eq!(
        codes(&of("makes weekly reports; not for daily ones")),
        [""; 0]
    );
}

#[test]
fn a_json_schema_of_an_object_declares_parameters_too() {
    let parsed = with(
        "parameters:\n  type: object\n  required: [a]\n  properties:\n    a: {type: integer}\n    b: {type: string}",
    );
    let required: Vec<_> = declaration(&parsed)
        .parameters
        .iter()
        .map(|one| (one.name.as_str(), one.required))
        .collect();
    assert_eq!(required, [("a", true), ("b", false)]);
    assert_eq!(parsed.diagnostics, []);
}

#[test]
fn a_wrong_shape_is_reported_where_it_stands() {
    let cases = [
        ("parameters: [a]", 4, 13),
        ("parameters:\n  a: string", 5, 6),
        ("parameters:\n  a: {type: text}", 5, 13),
        ("parameters:\n  a: {type: integer, default: x}", 5, 6),
        (
            "parameters:\n  a:\n    type: string\n    auto_fill: later",
            7,
            16,
        ),
        ("tasks: {a: b}", 4, 8),
        ("policies: {timeout: 11m}", 4, 21),
        ("policies: {retry: {tries: 3}}", 4, 19),
        ("services: {a: b}", 4, 15),
    ];
    for (keys, line, column) in cases {
        let parsed = with(keys);
        let places: Vec<_> = parsed
            .diagnostics
            .iter()
            .map(|one| (one.code, one.line, one.column))
            .collect();
        assert_eq!(places, [("SK053", Some(line), Some(column))], "{keys}");
        assert!(parsed.skill.invocation.model, "{keys}");
    }
    assert_eq!(
        declaration(&with("policies: {timeout: 11m}"))
            .policies
            .timeout,
        Policies::LONGEST_TIMEOUT
    );
}

#[test]
fn a_damaged_policy_hides_the_skill_from_the_model() {
    for keys in [
        "policies: [a]",
        "policies: {timeout: soon}",
        "policies: {timeout: 0s}",
        "policies: {rate_limit: often}",
        "policies: {requires_approval: maybe}",
        "policies: {circuit: {failures: 0}}",
        "policies: {roles: {a: b}}",
        "policies: {requires_aproval: true}",
        "roles: [a]\npolicies: {roles: [b]}",
        "policies: {timeout",
        "policies:\n\ttimeout: 3s\n x: [",
    ] {
        let parsed = with(keys);
        assert!(
            codes(&parsed).contains(&"SK101"),
            "{keys} {:?}",
            codes(&parsed)
        );
        assert!(!parsed.skill.invocation.model, "{keys}");
        assert!(!parsed.is_refused(), "{keys}");
    }
}

#[test]
fn entries_of_every_kind_are_read() {
    let entry = |text: &str| declaration(&with(&format!("entry: {text}"))).entry.clone();
    let command = entry("{command: [./run.sh, --all]}").expect("a command");
    assert_eq!(
        command,
        EntryPoint::Command {
            argv: vec!["./run.sh".to_owned(), "--all".to_owned()]
        }
    );
    assert_eq!(command.files(), ["run.sh"]);
    assert_eq!(
        entry("{tool: \"mcp:github/list\"}"),
        Some(EntryPoint::Tool {
            name: "mcp:github/list".to_owned()
        })
    );
    assert_eq!(
        entry("{native: greet}"),
        Some(EntryPoint::Native {
            name: "greet".to_owned()
        })
    );
    let http = entry(
        "{http: {method: post, url: \"https://a.example/{id}\", headers: {X-A: b}, body: {n: 1}}}",
    );
    let Some(EntryPoint::Http { method, body, .. }) = http else {
        panic!("{http:?}")
    };
    assert_eq!((method.as_str(), body), ("POST", json!({"n": 1})));
    for wrong in [
        "run.py",
        "{module: a}",
        "{command: []}",
        "{command: run}",
        "{http: {url: file:///etc}}",
        "{tool: \"mcp:x\"}",
        "{module: a b, function: c}",
        "{native: x, tool: y}",
    ] {
        let parsed = with(&format!("entry: {wrong}"));
        assert_eq!(codes(&parsed), ["SK053"], "{wrong}");
        assert_eq!(declaration(&parsed).entry, None, "{wrong}");
    }
    assert_eq!(codes(&declared(ABOUT)), ["SK053"]);
}

#[test]
fn an_entry_outside_the_package_refuses_the_skill() {
    for keys in [
        "entry: {command: [../run.sh]}",
        "entry: {command: [/bin/sh, x]}",
        "entry: {command: [\"./a/../../b\"]}",
        "entry: {command: [python3, ../x.py]}",
        "entry: {module: ../implement, function: run}",
        "entry: {module: ..implement, function: run}",
        "services: {a: \"../s.py:make\"}",
        "services: {a: \"/s.py:make\"}",
    ] {
        let parsed = with(keys);
        assert_eq!(codes(&parsed), ["SK061"], "{keys}");
        assert!(parsed.is_refused(), "{keys}");
    }
}

#[test]
fn a_broken_declaration_keeps_its_sound_keys() {
    let parsed = with("name: Weekly: reports\nmetadata: {version: 2");
    assert_eq!(parsed.skill.id.as_str(), "report.weekly");
    assert_eq!(parsed.skill.name, "Weekly: reports");
    assert_eq!(codes(&parsed), ["SK020", "SK021"]);
}

#[test]
fn fences_around_a_declaration_leave_a_body() {
    let parsed = declared(&format!("---\n{ABOUT}{ENTRY}---\n# How\n"));
    assert_eq!(
        (parsed.diagnostics.len(), parsed.body.as_str()),
        (0, "# How")
    );
    let parsed = declared(&format!("---\n{ABOUT}{ENTRY}"));
    assert_eq!((codes(&parsed), parsed.body.as_str()), (vec![], ""));
}

#[test]
fn what_is_declared_is_part_of_the_digest() {
    let digest = |keys: &str| with(keys).skill.content_digest;
    let plain = digest("");
    for keys in [
        "parameters: {a: {type: string}}",
        "policies: {timeout: 31s}",
        "entry: {native: x}",
        "services: {a: b.py:c}",
        "tasks: [a]",
    ] {
        assert_ne!(plain, digest(keys), "{keys}");
    }
}
