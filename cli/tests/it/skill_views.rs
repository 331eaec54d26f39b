//! Skills as an assistant sees them: listed, asked about, counted, and what is said of the rest.

use serde_json::{Value, json};

use crate::harness::World;
use crate::skill_files::{BROKEN, document, why};

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
    file(
        "for-nobody",
        "disable-model-invocation: true\nuser-invocable: false\n",
        "x",
    );
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
    assert_eq!(
        why(&world, "for-nobody").1,
        "its file lets neither a model nor a person start it"
    );
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

/// Returns the codes of findings, each with the skill or file that its message is about.
pub(crate) fn findings(list: &Value) -> Vec<String> {
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
        "skills and the index: 1 in it by name only, 1 not in it; `tekne skills warnings -v` says why",
        "1 skill left out, for this machine lacks something; `tekne skills warnings -v` says what",
    ]);
    let of_view = ["SK081 short", "SK082 manual", "SK100 needy"];
    let listed = world.run(&["skills", "list", "--json"]).json();
    let all = findings(&listed["diagnostics"]);
    for wanted in of_view.iter().chain(&["SK115 torn"]) {
        assert!(all.iter().any(|one| one == wanted), "{wanted}: {all:?}");
    }
    // A verdict is about a file, not about who looks at it.
    let checked = world.run(&["skills", "check", "--json"]).exits(0).json();
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
    let placed = ".tekne/skills/torn/SKILL.md:5: info[SK115]: the body refers to";
    assert!(ran.stdout.contains(placed), "{ran:?}");
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
