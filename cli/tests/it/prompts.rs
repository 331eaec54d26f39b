//! Presets from end to end, and the commands that show what a model would see.

use serde_json::{Value, json};

use crate::harness::World;
use crate::server::{Answer, Server};

/// What is built in is left out, so that an index can be told byte for byte.
const WITHOUT_BUILT_IN: &str = "skills: {disabled: [skill-creator]}\n";

const BODY: &str = "## Steps\nRead it twice.";

fn world() -> World {
    let world = World::new();
    world.skill("code-review", "Reviews code.", BODY);
    world.write(".tekne/skills/code-review/guide.md", "GUIDE\n");
    world.skill("week-plan", "Plans a week.", "Plan it.\n");
    world.configure(WITHOUT_BUILT_IN);
    world
}

/// Returns the system text of a request.
fn system(request: &Value) -> &str {
    request["messages"][0]["content"].as_str().unwrap()
}

fn tools(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

fn last_result(request: &Value) -> &str {
    let messages = request["messages"].as_array().unwrap();
    let mut results = messages
        .iter()
        .rev()
        .filter(|message| message["role"] == "tool");
    results.next().unwrap()["content"].as_str().unwrap()
}

/// Runs a task in which the model opens a skill, and returns the requests it got.
fn opened(world: &World, options: &[&str], call: (&'static str, Value)) -> Vec<Value> {
    let server = Server::start(vec![Answer::Calls(vec![call]), Answer::Text("Done.")]);
    let mut arguments = vec!["--model", "test/m", "--base-url", &server.base_url];
    arguments.extend(options);
    arguments.extend(["run", "Review this"]);
    let _ = world.run(&arguments).exits(0);
    server.requests()
}

#[test]
fn yolo_opens_a_skill_into_its_tool_result() {
    let call = ("open_skill", json!({"id": "code-review"}));
    let requests = opened(&world(), &["--preset", "yolo"], call);
    let shown = system(&requests[0]);
    assert!(
        shown.starts_with("<always_on_skills><skill id=\"output-format\""),
        "{shown}"
    );
    let line = |id: &str, says: &str| format!("- id: {id} | name: {id} | description: {says}\n");
    for (id, says) in [
        ("code-review", "Reviews code."),
        ("week-plan", "Plans a week."),
    ] {
        assert!(shown.contains(&line(id, says)), "{shown}");
    }
    assert!(shown.ends_with("</available_skills>"), "{shown}");
    assert!(last_result(&requests[1]).contains(BODY), "{requests:#?}");
    assert_eq!(system(&requests[1]), system(&requests[0]));
}

#[test]
fn trpc_loads_a_skill_with_its_documents_into_the_system_text_for_one_turn() {
    let world = world();
    let reviewer = "assistants:\n  reviewer: {preset: trpc, system: BASE}\n";
    world.configure(&format!("{WITHOUT_BUILT_IN}{reviewer}"));
    let call = (
        "skill_load",
        json!({"skill": "code-review", "include_all_docs": true}),
    );
    let requests = opened(&world, &["--assistant", "reviewer"], call);
    let index =
        "BASE\n\nAvailable skills:\n- code-review: Reviews code.\n- week-plan: Plans a week.";
    assert_eq!(system(&requests[0]), index);
    assert!(tools(&requests[0]).contains(&"skill_load"), "{requests:#?}");
    assert!(
        !tools(&requests[0]).contains(&"open_skill"),
        "{requests:#?}"
    );
    assert_eq!(last_result(&requests[1]), "loaded: code-review");
    assert_eq!(
        system(&requests[1]),
        format!(
            "{index}\n\n[Loaded] code-review\n\n{BODY}\n\nDocs loaded: guide.md\n[Doc] guide.md\nGUIDE"
        )
    );
    // The next turn begins without it.
    let server = Server::start(vec![Answer::Text("Again.")]);
    let model = ["--model", "test/m", "--base-url", &server.base_url];
    let again = [
        "--assistant",
        "reviewer",
        "run",
        "--resume",
        "last",
        "Go on",
    ];
    let _ = world.run(&[&model[..], &again].concat()).exits(0);
    assert_eq!(system(&server.requests()[0]), index);
}

#[test]
fn trpc_selects_documents_of_what_is_open() {
    let world = world();
    let server = Server::start(vec![
        Answer::Calls(vec![("skill_load", json!({"skill": "code-review"}))]),
        Answer::Calls(vec![("skill_list_docs", json!({"skill": "code-review"}))]),
        Answer::Calls(vec![(
            "skill_select_docs",
            json!({"skill": "code-review", "docs": ["guide.md"]}),
        )]),
        Answer::Text("Done."),
    ]);
    let model = ["--model", "test/m", "--base-url", &server.base_url];
    let run = ["--preset", "trpc", "run", "Review this"];
    let _ = world.run(&[&model[..], &run].concat()).exits(0);
    let requests = server.requests();
    assert!(
        system(&requests[1]).ends_with("Docs loaded: none"),
        "{requests:#?}"
    );
    assert_eq!(last_result(&requests[2]), "guide.md");
    let shown = "Docs loaded: guide.md\n[Doc] guide.md\nGUIDE";
    assert!(system(&requests[3]).ends_with(shown), "{requests:#?}");
}

#[test]
fn each_preset_answers_for_a_missing_skill_in_its_own_words() {
    for (preset, call, answer) in [
        (
            "trpc",
            ("skill_load", json!({"skill": "gone"})),
            "error: skill not found",
        ),
        (
            "halfpi",
            ("view_skill", json!({"name": "gone"})),
            "skill not found: gone",
        ),
        (
            "yolo",
            ("open_skill", json!({"id": "gone"})),
            "skill not found: gone",
        ),
        // A skill's name is no tool's, and the way to open it is told in the preset's spelling.
        (
            "halfpi",
            ("week-plan", json!({})),
            "`week-plan` is a skill, not a tool; call `view_skill` with {\"name\": \"week-plan\"}",
        ),
    ] {
        let requests = opened(&world(), &["--preset", preset], call);
        assert_eq!(last_result(&requests[1]), answer, "{preset}");
    }
}

#[test]
fn halfpi_views_a_skill_by_its_name() {
    let call = ("view_skill", json!({"name": "code-review"}));
    let requests = opened(&world(), &["--preset", "halfpi"], call);
    assert_eq!(
        system(&requests[0]),
        "可用技能：\n  code-review          — Reviews code.\n  week-plan            — Plans a week."
    );
    assert!(last_result(&requests[1]).contains(BODY), "{requests:#?}");
}

#[test]
fn why_shows_the_block_about_skills_of_any_preset() {
    for preset in ["default", "yolo", "trpc", "halfpi"] {
        let why = |arguments: &[&str]| {
            let model = ["--model", "offline", "--preset", preset, "skills", "why"];
            world()
                .run(&[&model[..], arguments].concat())
                .exits(0)
                .stdout
        };
        let block = why(&["--prompt", "a task"]);
        assert!(
            block.contains("code-review") && block.contains("Reviews code."),
            "{block}"
        );
        assert!(
            why(&["code-review"]).starts_with("code-review: listed"),
            "{preset}"
        );
    }
}

#[test]
fn explain_says_what_each_section_asked_for_got_and_lost() {
    let world = world();
    let explain = ["--model", "offline", "prompt", "explain", "a task"];
    let ran = world
        .run(&[&explain[..], &["--html", "ledger.html"]].concat())
        .exits(0);
    for said in [
        "section",
        "lost",
        "one line for each skill that can be opened",
        "counts are estimated, made with o200k_base, scaled for an unknown vocabulary",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
    let page = world.read("ledger.html").unwrap();
    assert!(page.contains("<svg") && page.contains("index") && !page.contains("http"));
    let document = world
        .run(&[&explain[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(document["v"], 1);
    assert_eq!(document["breakpoints"][0], json!({"system": 1}));
    assert!(document["report"]["sections"].as_array().unwrap().len() > 3);
}

#[test]
fn explain_says_what_a_request_is_expected_to_cost() {
    let world = world();
    world.configure("providers: {test: {models: {m: {price: {input: 2.5, output: 10}}}}}\n");
    let model = ["--model", "test/m", "--base-url", "http://127.0.0.1:9/v1"];
    let explain = ["prompt", "explain", "a task", "--json"];
    let report = world.run(&[&model[..], &explain].concat()).exits(0).json()["report"].clone();
    let total = report["total"].as_u64().unwrap();
    assert_eq!(
        report["cost"]["input"],
        json!(total * 2_500_000 / 1_000_000)
    );
    assert_eq!(report["cost"]["output_most"], 40_960);
}

#[test]
fn diff_says_where_two_requests_part_and_why() {
    let world = world();
    let diff = |arguments: &[&str]| {
        let diff = ["--model", "offline", "prompt", "diff"];
        world.run(&[&diff[..], arguments].concat()).exits(0)
    };
    let tasks = diff(&["one task", "--with-task", "another task"]).stdout;
    assert!(tasks.contains("part in the section user"), "{tasks}");
    assert!(tasks.contains("-one task\n+another task"), "{tasks}");
    let presets = diff(&[
        "a task",
        "--with-preset",
        "trpc",
        "--json",
        "--html",
        "d.html",
    ])
    .json();
    assert_eq!(presets["names"], json!(["preset default", "preset trpc"]));
    assert_eq!(presets["parted"]["section"], "tools");
    assert!(world.read("d.html").unwrap().contains("of its own"));
}

#[test]
fn diff_compares_two_requests_of_a_session() {
    let world = world();
    let call = ("open_skill", json!({"id": "code-review"}));
    let _ = opened(&world, &[], call);
    let diff = |steps: [&str; 2]| {
        let arguments = [
            "--model",
            "offline",
            "prompt",
            "diff",
            "--session",
            "last",
            "--steps",
        ];
        world.run(&[&arguments[..], &steps].concat())
    };
    let ran = diff(["1", "2"]).exits(0);
    assert!(
        ran.stdout
            .contains("the second goes on where the first ends"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("+Read it twice."), "{ran:?}");
    let _ = diff(["1", "9"]).exits(2).says(&["has no request number 9"]);
}

#[test]
fn the_offline_model_follows_a_skill_in_any_preset() {
    for preset in ["default", "yolo", "trpc", "halfpi"] {
        let world = world();
        let task = [
            "--model",
            "offline",
            "--preset",
            preset,
            "run",
            "Plan my week: week-plan",
        ];
        let ran = world.run(&task).exits(0);
        assert!(ran.stdout.contains("Plan it."), "{preset}: {ran:?}");
    }
}

#[test]
fn a_skill_that_the_task_names_stands_in_the_request_that_is_shown() {
    let world = World::new();
    world.skill("plan", "Use when plans are asked for.", "Plan it so.\n");
    let shown = world.run(&["--model", "offline", "prompt", "show", "/plan my week"]);
    assert!(shown.stdout.contains("Plan it so."), "{shown:?}");
    let _ = world
        .run(&["--model", "offline", "prompt", "show", "/nope my week"])
        .exits(2)
        .says(&["skill not found: nope"]);
}

#[test]
fn a_comparison_needs_something_to_compare_with_and_names_what_is_compared() {
    let world = World::new();
    world.configure("model: offline\nassistants: {default: {preset: halfpi}}\n");
    let _ = world.run(&["prompt", "diff", "x"]).exits(2);
    let names = |options: &[&str]| {
        let arguments = [&["prompt", "diff", "x", "--json"], options].concat();
        world.run(&arguments).exits(0).json()["names"].clone()
    };
    let presets = names(&["--with-preset", "trpc"]);
    assert_eq!(presets, json!(["preset halfpi", "preset trpc"]));
    let both = names(&["--with-preset", "trpc", "--with-task", "y"]);
    let expected = [
        "the first task, preset halfpi",
        "the second task, preset trpc",
    ];
    assert_eq!(both, json!(expected));
}
