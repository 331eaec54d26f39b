//! Tools from the command line and in a run: what is decided, what runs, what can be seen of it.

use serde_json::{Value, json};

use crate::harness::World;
use crate::server::{Answer, Server, run_calls};

fn explained(world: &World, tool: &str, arguments: &Value, rules: &[&str], exit: i32) -> Value {
    let arguments = arguments.to_string();
    let mut line = vec!["--json", "tools", "call", tool, &arguments, "--explain"];
    for rule in rules {
        line.extend(["--yes", rule]);
    }
    world.run(&line).exits(exit).json()
}

#[test]
fn a_call_is_explained_by_the_rule_that_decides() {
    let world = World::new();
    world.configure("tools:\n  policy:\n    - allow write(notes/**)\n    - deny run(rm)\n");
    let write = json!({"path": "notes/a.md", "content": "x"});
    let decided = explained(&world, "write_file", &write, &[], 0);
    assert_eq!(decided["effect"], "allow");
    assert_eq!(
        decided["why"],
        "allow write(notes/a.md): rule `allow write(notes/**)` (user)"
    );
    let run = |words: &[&str]| json!({"argv": words});
    let decided = explained(
        &world,
        "run_command",
        &run(&["env", "rm", "x"]),
        &["run(**)"],
        4,
    );
    assert_eq!(decided["why"], "deny run(rm x): rule `deny run(rm)` (user)");
    let decided = explained(
        &world,
        "run_command",
        &run(&["bash", "-c", "ls"]),
        &["run(bash)"],
        4,
    );
    assert_eq!(decided["effect"], "deny");
    let decided = explained(&world, "write_file", &json!({"path": 1}), &[], 4);
    assert_eq!(decided["effect"], "refuse");
    assert_eq!(world.read("notes/a.md"), None, "nothing runs");
    let text = world.run(&["tools", "call", "read_file", r#"{"path":"a"}"#, "--explain"]);
    assert_eq!(
        text.exits(0).stdout,
        "allow\n  allow read(a): default for reading in the workspace\n"
    );
}

#[test]
fn a_tool_is_called_as_a_model_would_call_it() {
    let world = World::new();
    world.write("a.md", "hello\n");
    let ran = world
        .run(&["tools", "call", "read_file", r#"{"path":"a.md"}"#])
        .exits(0);
    assert_eq!(ran.stdout, "hello\n");
    let _ = world
        .run(&["tools", "call", "delete", r#"{"path":"a.md"}"#])
        .exits(4);
    assert_eq!(world.read("a.md").as_deref(), Some("hello\n"));
    let _ = world
        .run(&[
            "tools",
            "call",
            "delete",
            r#"{"path":"a.md"}"#,
            "--yes",
            "delete(a.md)",
        ])
        .exits(0);
    assert_eq!(world.read("a.md"), None);
    let kept = world.path("home/.local/share/Trash/files/a.md");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "hello\n");
    let listed = world.run(&["--json", "tools", "list"]).exits(0).json();
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"run_command") && names.contains(&"run_skill"),
        "{names:?}"
    );
}

const YAML: &str = "skill_id: report.weekly\nname: 周报\ndescription: Weekly report.\nparameters:\n  to: {type: string, format: email}\n  metrics: {type: boolean, default: true}\nentry: {module: implement, function: report}\n";

const PYTHON: &str = "from tekne_skill import SkillResult\nasync def report(ctx, params):\n    ctx.memory.set('last', params['to'])\n    return SkillResult.ok(sent=params['to'], metrics=params['metrics'])\n";

#[test]
fn a_skill_of_the_project_runs_once_it_is_trusted_and_leaves_a_trace() {
    let world = World::new();
    std::fs::create_dir(world.work().join(".git")).unwrap();
    world.write(".tekne/skills/report/weekly/skill.yaml", YAML);
    world.write(".tekne/skills/report/weekly/implement.py", PYTHON);
    let calls = || {
        vec![(
            "run_skill",
            json!({"skill_id": "report.weekly", "params": {"to": "a@example.com"}}),
        )]
    };
    let rule = ["--yes", "skill(report.weekly)"];
    let ran = run_calls(&world, calls(), &rule).exits(0);
    assert_eq!(ran.event("tool.finished")["status"], "rejected");
    let _ = world.run(&["trust", "--yes"]).exits(0);
    let ran = run_calls(&world, calls(), &rule).exits(0);
    let finished = ran.event("tool.finished");
    assert_eq!(finished["status"], "success", "{finished}");
    assert_eq!(
        finished["content"],
        r#"{"ok":true,"value":{"sent":"a@example.com","metrics":true}}"#
    );
    let traces = world.run(&["--json", "trace", "list"]).exits(0).json();
    let trace = &traces["traces"][0];
    for (field, value) in [
        ("tool", json!("run_skill")),
        ("skill_id", json!("report.weekly")),
        ("query", json!("Do it")),
        ("status", json!("success")),
        (
            "given",
            json!({"skill_id": "report.weekly", "params": {"to": "a@example.com"}}),
        ),
    ] {
        assert_eq!(trace[field], value, "{field}");
    }
    assert_eq!(
        trace["arguments"]["params"],
        json!({"to": "a@example.com", "metrics": true})
    );
    assert_eq!(trace["arguments"]["filled"], json!(["metrics"]));
    assert!(trace["duration_ms"].is_u64() && trace["decision"].is_string());
    // Without a rule a person is asked, and nobody is there.
    let ran = run_calls(&world, calls(), &[]).exits(0);
    assert_eq!(ran.event("tool.finished")["status"], "rejected");
    // Other bytes wait again.
    world.write(
        ".tekne/skills/report/weekly/implement.py",
        format!("{PYTHON}#\n"),
    );
    let ran = run_calls(&world, calls(), &rule).exits(0);
    assert_ne!(ran.event("tool.finished")["status"], "success");
    let shown = world.run(&["trace", "show", "last"]).exits(0);
    assert!(shown.stdout.contains("run_skill"), "{}", shown.stdout);
}

#[test]
fn a_program_knows_no_key_of_the_user() {
    let world = World::new();
    let server = Server::start(vec![
        Answer::Calls(vec![("run_command", json!({"argv": ["env"]}))]),
        Answer::Text("done"),
    ]);
    let mut command = world.command(&[
        "--model",
        "mock/m",
        "--base-url",
        &server.base_url,
        "--json",
        "run",
        "--yes",
        "run(env)",
        "Do it",
    ]);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("OPENAI_API_KEY", "sk-secret")
        .env("AWS_SECRET_ACCESS_KEY", "s");
    let ran = world.finish(&mut command).exits(0);
    let content = ran.event("tool.finished")["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(content.contains("PATH=/usr/bin:/bin"), "{content}");
    assert!(
        !content.contains("SECRET") && !content.contains("KEY="),
        "{content}"
    );
}
