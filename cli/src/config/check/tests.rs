//! Checking: the words and the place of a mistake.

use std::sync::Arc;

use super::super::document::parse;
use super::super::origin::Layer;
use super::*;

fn said(text: &str) -> String {
    let path = Arc::from(std::path::Path::new("f"));
    let error = check(&parse(text, Layer::User, &path).unwrap()).unwrap_err();
    let hint = error.hint.as_deref().unwrap_or("-");
    format!("{error} | {hint}")
}

#[test]
fn a_wrong_key_is_named_with_its_place_and_the_nearest_right_one() {
    for (text, expected) in [
        (
            "model: a/b\nmodle: c/d\n",
            "f:2:1: unknown key `modle` | did you mean `model`?",
        ),
        (
            "limits:\n  tokens: 1\n  max-step: 2\n",
            "f:3:3: unknown key `max-step` in `limits` | did you mean `max_steps`?",
        ),
        (
            "max_steps: 3\n",
            "f:1:1: unknown key `max_steps` | `max_steps` is a key of `limits`",
        ),
        (
            "providers: {a.b: {models: {m: {windw: 1}}}}\n",
            "f:1:32: unknown key `windw` in `providers.\"a.b\".models.m` | did you mean `window`?",
        ),
        (
            "skills: {roots: [{path: a}, {pth: b}]}\n",
            "f:1:30: unknown key `pth` in `skills.roots[1]` | did you mean `path`?",
        ),
        (
            "context:\n  caps:\n    history: 5\n    mention: 6\n",
            "f:4:5: unknown key `mention` in `context.caps` | did you mean `mentions`?",
        ),
        (
            "trust: {zebra: 1}\n",
            "f:1:9: unknown key `zebra` in `trust` | known here: skills",
        ),
        (
            "limits: {max_steps: x}\nmodle: a\n",
            "f:2:1: unknown key `modle` | did you mean `model`?",
        ),
    ] {
        assert_eq!(said(text), expected);
    }
}

#[test]
fn a_wrong_value_is_named_with_its_place_and_what_is_right() {
    for (text, expected) in [
        (
            "limits:\n  max_steps: ten\n",
            "f:2:14: `limits.max_steps` takes a whole number above zero, found the text `ten` | -",
        ),
        (
            "limits: {tokens: -1}",
            "f:1:18: `limits.tokens` takes a whole number, not negative, found the number `-1` | -",
        ),
        (
            "limits: 3",
            "f:1:9: `limits` takes a map of settings, found the number `3` | -",
        ),
        (
            "skills: {disabled: x}",
            "f:1:20: `skills.disabled` takes a list, found the text `x` | a list of one is \
             written `[value]`, or `- value` on a line of its own",
        ),
        (
            "skills: {roots: [{path: x, lite: yes}]}",
            "f:1:34: `skills.roots[0].lite` takes `true` or `false`, found the text `yes` | -",
        ),
        (
            "skills: {roots: [{lite: true}]}",
            "f:1:18: `skills.roots[0]` has no `path` | -",
        ),
        (
            "assistants: {a: {profile: quik-ask}}",
            "f:1:27: `assistants.a.profile` can't be `quik-ask`; it is agent, quick-ask, \
             complete, routed | did you mean `quick-ask`?",
        ),
        (
            "model: gpt-4o",
            "f:1:8: `model`: `gpt-4o` is neither `PROVIDER/MODEL`, like `openai/gpt-4o`, nor `offline` | -",
        ),
        (
            "model: 5",
            "f:1:8: `model` takes text, found the number `5` | put it in quotes to make it text",
        ),
        (
            "skills: {include: [a, '[a']}",
            "f:1:23: `skills.include[1]`: the pattern `[a` has a `[` without its `]` | -",
        ),
        (
            "skills:\n  disabled:\n    - ''\n",
            "f:3:7: `skills.disabled[0]`: the pattern `` is empty and names nothing | -",
        ),
        (
            "skills: {exclude: ['{a']}",
            "f:1:20: `skills.exclude[0]`: the pattern `{a` has a `{` without its `}` | -",
        ),
        (
            "skills: {name_only: [' ']}",
            "f:1:22: `skills.name_only[0]`: the pattern ` ` is empty and names nothing | -",
        ),
        (
            "context: {caps: {history: x}}",
            "f:1:27: `context.caps.history` takes a whole number, not negative, found the text `x` | -",
        ),
        (
            "tools: {policy: [deny read(y), permit a(b)]}",
            "f:1:32: `tools.policy[1]`: rule `permit a(b)`, column 1: unknown effect `permit`; \
             known are allow, ask, deny | -",
        ),
    ] {
        assert_eq!(said(text), expected);
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_not_repeated() {
    for text in [
        "providers: {a: {api_key: sk-topsecret}}",
        "providers: {a: {api_key_env: sk-topsecret}}",
        "providers: {a: {base_url: 'https://me:topsecret@host/v1'}}",
        "mcp_servers: {a: {command: x, env: {TOKEN: [topsecret]}}}",
    ] {
        assert!(!said(text).contains("topsecret"), "{}", said(text));
    }
}

#[test]
fn every_key_of_the_documentation_is_accepted() {
    let text = "
model: openai/gpt-4o
providers:
  local: {protocol: openai-chat, base_url: 'http://127.0.0.1:8080/v1', api_key_env: KEY, models: {m: {window: 8192, max_output: 1024}}}
assistants:
  default: {profile: agent, preset: default, model: offline, system: Be brief., tools: [read_file], groups: [a], roles: [b], skills: {s: {enabled: false, load: always}}, residency: session, placement: tool_result, max_loaded: 8, budget: {tokens: 1, usd: 0.5}}
skills: {roots: [{path: x, lite: true, scope: user}], disabled: [a], include: ['*'], exclude: [b], name_only: [c], prefer: user}
tools: {allow: [read_file], policy: ['allow read(**)', 'allow http(GET api.example.com/v1/**)']}
mcp_servers: {a: {command: x, args: [y], env: {PORT: 8080}}, b: {url: 'https://x/mcp', headers: {Authorization: z}}}
limits: {max_steps: 50, tool_calls: 10, tokens: 1000, usd: 1, wall: 10m}
context: {window: 1000, reserve_output: 100, caps: {history: 5}}
router: {model: offline, top_k: 5, floor: 0.3}
trust: {skills: open}
";
    let path = Arc::from(std::path::Path::new("f"));
    let config = check(&parse(text, Layer::User, &path).unwrap()).unwrap();
    let written = serde_json::to_value(&config).unwrap();
    let again: Config = serde_json::from_value(written).unwrap();
    assert_eq!(again.limits, config.limits);
    assert_eq!(again.assistants, config.assistants);
}
