//! Skills on disk: written, mended, registered, locked, counted, and asked about.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};
use crate::terminal::Terminal;

/// Returns the document of a command as it may be compared.
#[track_caller]
fn document(world: &World, ran: &Ran) -> Value {
    let document = world.normal(&ran.json());
    assert_eq!(document["v"], 1);
    document
}

fn why(world: &World, name: &str) -> (String, String) {
    let answer = world.run(&["skills", "why", name, "--json"]).json();
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    (text("status"), text("reason"))
}

#[test]
fn a_new_skill_is_written_where_it_belongs_and_is_sound() {
    let world = World::new();
    let description = "Use when: \"x\" --- [y] # z";
    let ran = world
        .run(&[
            "skills",
            "new",
            "mine",
            "--description",
            description,
            "--json",
        ])
        .exits(0);
    assert_eq!(
        document(&world, &ran),
        json!({"v": 1, "id": "mine", "path": "[root]/home/.config/tekne/skills/mine/SKILL.md"})
    );
    world.write(".tekne/skills/.keep", "");
    let ran = world
        .run(&["skills", "new", "weekly-report", "--always"])
        .exits(0);
    assert_eq!(ran.stdout, ".tekne/skills/weekly-report/SKILL.md\n");
    let _ = world
        .run(&[
            "skills",
            "check",
            "--strict",
            "--require",
            "mine,weekly-report",
        ])
        .exits(0);
    let shown = world.run(&["skills", "show", "mine", "--json"]).json();
    assert_eq!(shown["description"], description);
    // Neither a file that is there nor a name outside the standard.
    let before = world.read(".tekne/skills/weekly-report/SKILL.md");
    let _ = world
        .run(&["skills", "new", "weekly-report"])
        .exits(2)
        .says(&["hint: choose another"]);
    assert_eq!(world.read(".tekne/skills/weekly-report/SKILL.md"), before);
    let _ = world
        .run(&["skills", "new", "../x"])
        .exits(2)
        .says(&["`../x`", "hint: "]);
}

const BROKEN: &str =
    "---\nname: pdf\ndescription: Use when: PDFs   \nlicense: MIT # kept\n---\n\nBody: x\n";

#[test]
fn fixing_shows_the_change_first_and_writes_nothing_else() {
    let world = World::new();
    world.write(".tekne/skills/pdf/SKILL.md", BROKEN);
    let fixed = BROKEN.replace(
        "description: Use when: PDFs   ",
        "description: \"Use when: PDFs\"",
    );
    let file = || world.read(".tekne/skills/pdf/SKILL.md").unwrap();
    // Nobody to ask: shown, not written.
    let ran = world.run(&["skills", "check", "--fix"]).exits(4);
    assert!(
        ran.stdout
            .contains("-description: Use when: PDFs   \n+description: \"Use when: PDFs\"\n"),
        "{ran:?}"
    );
    assert_eq!(file(), BROKEN);
    let mut terminal = Terminal::start(&mut world.command(&["skills", "check", "--fix"]));
    terminal.sees("write this to 1 file? [y/N] ");
    terminal.types("n\n");
    assert_eq!((terminal.end().0, file().as_str()), (4, BROKEN));
    let ran = world
        .run(&["skills", "check", "--fix", "--yes", "--strict", "--json"])
        .exits(0);
    assert_eq!(ran.json()["fixes"][0]["written"], true);
    assert_eq!(file(), fixed);
    // There is nothing left to do.
    let ran = world.run(&["skills", "check", "--fix", "--json"]).exits(0);
    assert_eq!(ran.json()["fixes"], json!([]));
}

#[test]
fn a_registered_skill_is_there_in_every_project_and_every_attempt_is_recorded() {
    let world = World::new();
    let package = "packages/pdf/SKILL.md";
    let text = |version: &str| {
        format!("---\nname: pdf\ndescription: d\nversion: {version}\n---\nbody {version}\n")
    };
    world.write(package, text("1.9"));
    let ran = world
        .run(&["skills", "register", "packages/pdf", "--json"])
        .exits(0);
    insta::assert_json_snapshot!(
        "register",
        document(&world, &ran)["registered"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>()
    );
    world.write(package, text("1.10"));
    let _ = world
        .run(&["skills", "register", "packages/pdf"])
        .exits(0)
        .says(&["registered pdf@1.10"]);
    let ran = world
        .run(&["skills", "register", "packages/pdf", "--json"])
        .exits(2);
    assert_eq!(ran.json()["error"]["code"], "skill_conflict");
    std::fs::remove_dir_all(world.work().join("packages")).unwrap();
    let body = |name: &str| {
        let ran = world.run(&["skills", "show", name, "--json"]).exits(0);
        ran.json()["body"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (body("pdf"), body("pdf@1.9")),
        ("body 1.10".into(), "body 1.9".into())
    );
    let ran = world
        .run(&["skills", "unregister", "pdf@1.10", "--json"])
        .exits(0);
    assert_eq!(ran.json(), json!({"v": 1, "unregistered": 1}));
    assert_eq!(body("pdf"), "body 1.9");
    let _ = world
        .run(&["skills", "unregister", "missing"])
        .exits(0)
        .says(&["was not registered"]);
    let audit = std::fs::read(world.path("home/.local/share/tekne/audit.db")).unwrap();
    let audit = String::from_utf8_lossy(&audit).into_owned()
        + &String::from_utf8_lossy(
            &std::fs::read(world.path("home/.local/share/tekne/audit.db-wal")).unwrap_or_default(),
        );
    for part in ["conflict", "pdf@1.10", "unregister", "local user"] {
        assert!(audit.contains(part), "no `{part}`");
    }
}

#[test]
fn a_lock_holds_what_it_lists_and_a_change_is_shown_before_it_is_locked() {
    let world = World::new();
    world.skill("pdf", "Reads.", "one\n");
    let _ = world.run(&["skills", "lock", "--check"]).exits(3);
    let ran = world.run(&["skills", "lock", "--json"]).exits(0);
    insta::assert_json_snapshot!("lock", document(&world, &ran));
    let locked = world.read("skills.lock").unwrap();
    let _ = world.run(&["skills", "lock", "--check"]).exits(0);
    world.skill("pdf", "Reads.", "two\n");
    assert_eq!(why(&world, "pdf").0, "pending");
    let ran = world.run(&["skills", "lock"]).exits(4);
    assert!(
        ran.stdout.contains("-one\n") && ran.stdout.contains("+two\n"),
        "{ran:?}"
    );
    assert_eq!(world.read("skills.lock").unwrap(), locked);
    let _ = world.run(&["skills", "lock", "--yes"]).exits(0);
    assert_eq!(why(&world, "pdf").0, "listed");
    // The same files give the same lock.
    world.skill("pdf", "Reads.", "one\n");
    let _ = world.run(&["skills", "lock", "--yes"]).exits(0);
    assert_eq!(world.read("skills.lock").unwrap(), locked);
    // A new skill only adds to it.
    world.skill("new", "Writes.", "three\n");
    let _ = world
        .run(&["skills", "lock"])
        .exits(0)
        .says(&["locked 2 skills"]);
    world.write("skills.lock", "{");
    assert_eq!(why(&world, "pdf").0, "pending");
}

#[test]
fn why_has_an_answer_for_every_way_a_skill_can_stand() {
    let world = World::new();
    world.configure(
        "model: offline\nskills: {disabled: [off-one], exclude: [\"vendor-*\"]}\n\
         assistants: {default: {skills: {switched-off: {enabled: false}}}}\n",
    );
    world.skill("plain", "Says how.", "x\n");
    world.skill("off-one", "d", "x\n");
    world.skill("switched-off", "d", "x\n");
    let file = |name: &str, keys: &str, body: &str| {
        let text = format!("---\nname: {name}\ndescription: d\n{keys}---\n{body}\n");
        world.write(&format!(".tekne/skills/{name}/SKILL.md"), text);
    };
    file("for-staff", "groups: [staff]\n", "x");
    file("for-me", "disable-model-invocation: true\n", "x");
    file("for-rust", "paths: \"src/**/*.rs\"\n", "x");
    file("for-vms", "metadata:\n  openclaw: {os: [openvms]}\n", "x");
    let tools = "{requires: {bins: [no-such-tool], env: [NO_SUCH_KEY]}}";
    file(
        "with-tool",
        &format!("metadata:\n  openclaw: {tools}\n"),
        "x",
    );
    file("vendor-x", "", "x");
    file("no-description", "", "x");
    world.write(
        ".tekne/skills/no-description/SKILL.md",
        "---\nname: no-description\n---\nx\n",
    );
    world.write(".tekne/skills/refused/SKILL.md", "no frontmatter\n");
    world.write(
        ".claude/skills/plain/SKILL.md",
        "---\nname: plain\ndescription: other\n---\ny\n",
    );
    world.skill("long", &"Use when it is long. ".repeat(600), "x\n");
    for (name, status, said) in [
        (
            "plain",
            "listed",
            "the index shows it whole: - plain: Says how.",
        ),
        (
            "long",
            "shortened",
            "the index shows it shortened: - long: Use when",
        ),
        ("no-description", "unlisted", "the index does not show it"),
        ("for-me", "user_only", "only a person may start it"),
        ("for-rust", "user_only", "is for other files"),
        ("for-vms", "hidden", "it runs on openvms"),
        (
            "with-tool",
            "hidden",
            "the program `no-such-tool` is not found",
        ),
        (
            "with-tool",
            "hidden",
            "the variable `NO_SUCH_KEY` is not set",
        ),
        ("vendor-x", "hidden", "`skills.exclude`"),
        ("off-one", "hidden", "`skills.disabled`"),
        (
            "switched-off",
            "hidden",
            "this assistant has it switched off",
        ),
        (
            "for-staff",
            "hidden",
            "groups that this assistant is not in",
        ),
        ("refused", "refused", "its file is refused"),
        ("absent", "absent", "no file of any root declares it"),
    ] {
        let (answered, reason) = why(&world, name);
        assert_eq!(answered, status, "{name}: {reason}");
        assert!(reason.contains(said), "{name}: {reason}");
    }
    let ran = world.run(&["skills", "why", "plain"]).exits(0);
    assert!(
        ran.stdout
            .contains(".claude/skills/plain/SKILL.md is shadowed by .tekne/"),
        "{ran:?}"
    );
    let _ = world.run(&["skills", "why", "absent"]).exits(3);
    let ran = world.run(&["skills", "why", "plain", "--json"]).exits(0);
    insta::assert_json_snapshot!("why", document(&world, &ran));
}

#[test]
fn why_with_a_task_prints_the_very_block_that_a_model_gets() {
    let world = World::new();
    world.skill("plain", "Says how.", "x\n");
    let server = Server::start(vec![Answer::Text("done")]);
    let model = ["--model", "mock/m", "--base-url", server.base_url.as_str()];
    let ran = world.run(&[&model[..], &["run", "A task"]].concat());
    let _ = ran.exits(0);
    let request = server.requests()[0].clone();
    let ran = world
        .run(
            &[
                &model[..],
                &["skills", "why", "--prompt", "A task", "--json"],
            ]
            .concat(),
        )
        .exits(0);
    let shown = ran.json();
    let block = shown["block"].as_str().unwrap();
    assert!(
        block.starts_with("# Skills\n") && block.contains("- plain: Says how."),
        "{block}"
    );
    let system = request["messages"][0]["content"].to_string();
    let quoted = Value::from(block).to_string();
    assert!(system.contains(quoted.trim_matches('"')), "{system}");
    assert!(
        shown["tools"]
            .as_array()
            .unwrap()
            .contains(&json!("open_skill"))
    );
}

#[test]
fn warnings_name_what_was_shadowed_and_mended() {
    let world = World::new();
    world.skill("same", "One.", "x\n");
    world.write(
        ".claude/skills/same/SKILL.md",
        "---\nname: same\ndescription: Two.\n---\ny\n",
    );
    world.write(".tekne/skills/pdf/SKILL.md", BROKEN);
    let ran = world.run(&["skills", "warnings", "--json"]).exits(0);
    let warnings = ran.json()["warnings"].as_array().unwrap().clone();
    let codes: Vec<&str> = warnings
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["SK021", "SK070"]);
    let ran = world.run(&["skills", "warnings"]).exits(0);
    assert_eq!(ran.stdout.matches("SK070").count(), 1, "{ran:?}");
    assert!(
        ran.stdout.contains("fix: description: \"Use when: PDFs\""),
        "{ran:?}"
    );
}

#[test]
fn stats_count_what_disclosure_saves_and_draw_it_into_one_file() {
    let world = World::new();
    world.configure("model: openai/gpt-4o\n");
    world.skill("pdf", "Reads PDF files.", &"One step more. ".repeat(100));
    world.write(".tekne/skills/pdf/guide.md", "A guide. ".repeat(50));
    let ran = world
        .run(&["skills", "stats", "--json", "--html", "chart.html"])
        .exits(0);
    let stats = ran.json();
    assert_eq!((&stats["v"], &stats["exact"]), (&json!(1), &json!(true)));
    let skills = stats["skills"].as_array().unwrap();
    let pdf = skills.iter().find(|skill| skill["id"] == "pdf").unwrap();
    // Counted with the model's own vocabulary.
    assert_eq!(
        pdf,
        &json!({"id": "pdf", "load": "lazy", "metadata": 7, "body": 400, "docs": 151})
    );
    let number = |key: &str| stats["totals"][key].as_u64().unwrap();
    assert_eq!(number("saved"), number("whole") - number("disclosed"));
    assert_eq!(
        number("whole"),
        number("metadata") + number("bodies") + number("docs")
    );
    let page = world.read("chart.html").unwrap();
    assert!(
        page.contains("<svg") && page.contains("pdf: 400 body"),
        "{page}"
    );
    assert!(!page.contains("<script") && !page.contains("http"));
    let ran = world.run(&["skills", "stats"]).exits(0);
    assert!(ran.stdout.contains("disclosure saves "), "{ran:?}");
}

#[test]
fn a_model_writes_a_skill_that_the_next_run_lists() {
    let world = World::new();
    world.write(".tekne/skills/.keep", "");
    let arguments = json!({
        "id": "weekly-report", "name": "Weekly: report", "description": "Use when: a week ends.",
        "body": "# Steps\n\n1. Gather.\n", "load": "lazy",
    });
    let run = |options: &[&str]| {
        let call = ("create_skill", arguments.clone());
        let server = Server::start(vec![Answer::Calls(vec![call]), Answer::Text("done")]);
        let model = [
            "--model",
            "mock/m",
            "--base-url",
            server.base_url.as_str(),
            "run",
        ];
        world
            .run(&[&model[..], options, &["Keep this"]].concat())
            .exits(0)
    };
    let _ = run(&[]);
    assert_eq!(world.read(".tekne/skills/weekly-report/SKILL.md"), None);
    let _ = run(&["--yes", "tool(create_skill)"]);
    let ran = world
        .run(&["skills", "show", "weekly-report", "--json"])
        .exits(0);
    assert_eq!(ran.json()["description"], "Use when: a week ends.");
    let _ = world.run(&["skills", "check", "--strict"]).exits(0);
}

#[test]
fn a_list_says_which_skill_the_model_is_not_shown() {
    let world = World::new();
    world.skill("pdf", "the one that holds the name", "body");
    world.write(
        ".agents/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: the other\n---\nbody\n",
    );
    world.configure("assistants:\n  default:\n    skills:\n      pdf: {load: always}\n");
    let ran = world.run(&["skills", "list"]).exits(0);
    let columns = |line: &str| {
        line.split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let rows: Vec<String> = ran.stdout.lines().map(columns).collect();
    assert_eq!(
        rows,
        ["pdf always", "project/pdf unlisted", "skill-creator lazy"],
        "{ran:?}"
    );
}

#[test]
fn stats_count_with_the_vocabulary_of_the_assistant_s_model() {
    let world = World::new();
    world.skill(
        "pdf",
        "reads a paper",
        "One, two, three; internationalisation.",
    );
    let counted = |world: &World, arguments: &[&str]| world.run(arguments).exits(0).json();
    let named = counted(
        &world,
        &["skills", "stats", "--json", "--model", "openai/gpt-4o"],
    );
    let bound = counted(&world, &["skills", "stats", "--json"]);
    world.configure("assistants: {default: {model: openai/gpt-4o}}\n");
    assert_eq!(counted(&world, &["skills", "stats", "--json"]), named);
    assert_ne!(named, bound);
}

#[test]
fn a_check_that_mends_nothing_prints_one_document() {
    let world = World::new();
    world.write(
        ".tekne/skills/a/SKILL.md",
        "---\nname: a\ndescription: Use when: x\n---\nbody\n",
    );
    let ran = world.run(&["skills", "check", "--fix", "--json"]).exits(4);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("nothing was written"), "{ran:?}");
}

/// Returns the codes of findings, each with the skill or file that its message is about.
fn findings(list: &Value) -> Vec<String> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let list = list.as_array().unwrap().iter();
    let found = list.map(|one| {
        let path = text(one, "path");
        let folder = path.rsplit('/').nth(1).unwrap_or_default().to_owned();
        format!("{} {folder}", text(one, "code"))
    });
    found.collect()
}

#[test]
fn what_an_assistant_does_not_see_and_what_is_missing_is_said_by_every_command() {
    let world = World::new();
    world.configure("model: offline\nskills: {name_only: [short]}\n");
    let file = |name: &str, keys: &str, body: &str| {
        let text = format!("---\nname: {name}\ndescription: d\n{keys}---\n{body}\n");
        world.write(&format!(".tekne/skills/{name}/SKILL.md"), text);
    };
    file(
        "needy",
        "compatibility: Needs jq\nmetadata:\n  openclaw: {requires: {anyBins: [no-a, no-b]}}\n",
        "x",
    );
    file("manual", "disable-model-invocation: true\n", "x");
    file("short", "", "x");
    file("torn", "", "See [all](references/all.md) first.");
    let ran = world.run(&["skills", "list"]).exits(0);
    let first = |line: &str| {
        line.split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let rows: Vec<String> = ran.stdout.lines().map(first).collect();
    assert_eq!(
        rows,
        [
            "short lazy",
            "skill-creator lazy",
            "torn lazy",
            "manual manual"
        ],
        "{ran:?}"
    );
    let _ = ran.says(&[
        "1 skill not in the index; `tekne skills warnings` says why",
        "1 skill left out, for this machine lacks something; `tekne skills warnings -v` says what",
    ]);
    let of_view = ["SK081 short", "SK082 manual", "SK100 needy"];
    let listed = world.run(&["skills", "list", "--json"]).json();
    let all = findings(&listed["diagnostics"]);
    for wanted in of_view.iter().chain(&["SK115 torn"]) {
        assert!(all.iter().any(|one| one == wanted), "{wanted}: {all:?}");
    }
    // A verdict is about a file, not about who looks at it.
    let checked = world
        .run(&["skills", "check", "--strict", "--json"])
        .exits(0)
        .json();
    assert_eq!(findings(&checked["view"]), of_view);
    let torn = checked["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["id"] == "torn");
    let torn = torn.unwrap();
    assert_eq!(
        (torn["verdict"].as_str(), findings(&torn["diagnostics"])),
        (Some("loaded"), vec!["SK115 torn".into()])
    );
    let warned = world.run(&["skills", "warnings", "--json"]).json();
    assert_eq!(findings(&warned["warnings"]), of_view[..2]);
    let ran = world.run(&["skills", "warnings", "-v"]).exits(0);
    for said in [
        "none of the programs `no-a`, `no-b` is found",
        "`references/all.md`, which is not there",
    ] {
        assert!(ran.stdout.contains(said), "{ran:?}");
    }
    let ran = world.run(&["skills", "why", "torn"]).exits(0);
    assert!(ran.stdout.contains("info[SK115]"), "{ran:?}");
    // The model's request knows neither of those that are left out.
    let shown = world
        .run(&["prompt", "show", "a task", "--json"])
        .exits(0)
        .json();
    let system = shown["request"]["system"].to_string();
    assert!(system.contains("torn") && !system.contains("needy") && !system.contains("manual"));
    let _ = world
        .run(&["skills", "check", "--require", "needy"])
        .exits(3)
        .says(&["not usable: needy"]);
}
