//! What goes wrong before a model is asked: each message names the thing and the way out.

use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};

const OFFLINE: [&str; 2] = ["--model", "offline"];

fn run(world: &World, options: &[&str]) -> Ran {
    world.run(&[options, &["run", "hello"]].concat())
}

/// Returns the verdict and the diagnostic codes of a file.
fn verdict(checked: &Ran, path: &str) -> (String, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let document = checked.json();
    let files = document["files"].as_array().unwrap();
    let file = files
        .iter()
        .find(|file| file["path"].as_str().unwrap().ends_with(path))
        .unwrap_or_else(|| panic!("no `{path}` in {document:#}"));
    let diagnostics = file["diagnostics"].as_array().unwrap().iter();
    let codes = diagnostics.map(|one| text(&one["code"])).collect();
    (text(&file["verdict"]), codes)
}

#[test]
fn a_workspace_without_skills_says_how_to_get_one_and_still_works() {
    let world = World::new();
    let listed = world.run(&["skills", "list"]).exits(0);
    let _ = listed.says(&["note: no skills of your own found", "`tekne init`"]);
    let ran = run(&world, &OFFLINE).exits(0);
    assert!(ran.stdout.contains("no skill fits"), "{ran:?}");
    let _ = world.run(&["init"]).exits(0);
    let listed = world.run(&["skills", "list"]).exits(0);
    assert!(listed.stdout.contains("first-skill"), "{listed:?}");
    assert_eq!(listed.stderr, "");
}

#[test]
fn a_file_that_cannot_be_read_is_named_beside_the_skills_that_can() {
    let world = World::new();
    world.skill("good", "The good one.", "Do.\n");
    world.skill("locked", "The locked one.", "Do.\n");
    let file = |name: &str| world.work().join(format!(".tekne/skills/{name}/SKILL.md"));
    for name in ["dangling", "pipe"] {
        std::fs::create_dir(file(name).parent().unwrap()).unwrap();
    }
    symlink("/nowhere/at/all", file("dangling")).unwrap();
    mknodat(CWD, file("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    std::fs::set_permissions(file("locked"), PermissionsExt::from_mode(0o000)).unwrap();

    let listed = world.run(&["skills", "list"]).exits(0);
    assert!(listed.stdout.contains("good"), "{listed:?}");
    let listed = listed.says(&[".tekne/skills/dangling/SKILL.md: error[SK065]: "]);
    let _ = listed.says(&[".tekne/skills/pipe/SKILL.md: error[SK065]: "]);
    let checked = world.run(&["skills", "check", "--json"]).exits(3);
    assert_eq!(verdict(&checked, "good/SKILL.md").0, "loaded");
    for name in ["dangling/SKILL.md", "pipe/SKILL.md"] {
        let refused = ("refused".to_owned(), vec!["SK065".to_owned()]);
        assert_eq!(verdict(&checked, name), refused);
    }
    // Root reads what nobody may.
    if !rustix::process::geteuid().is_root() {
        assert_eq!(verdict(&checked, "locked/SKILL.md").0, "refused");
    }
    let _ = run(&world, &OFFLINE).exits(0);
}

#[test]
fn broken_yaml_is_mended_or_refused_with_its_place() {
    let world = World::new();
    let skill = |name: &str| format!(".tekne/skills/{name}/SKILL.md");
    world.skill("good", "The good one.", "Do.\n");
    world.write(
        &skill("colon"),
        "---\nname: colon\ndescription: Use when: asked.\n---\nDo.\n",
    );
    world.write(
        &skill("open"),
        "---\nname: open\ndescription: Never closed.\n",
    );
    let checked = world.run(&["skills", "check"]).exits(3);
    for part in [
        "good/SKILL.md: loaded",
        "colon/SKILL.md: repaired",
        "colon/SKILL.md:3:14: warning[SK021]: ",
        "  fix: description: \"Use when: asked.\"",
        "open/SKILL.md: refused",
        "error[SK011]: ",
    ] {
        assert!(checked.stdout.contains(part), "no `{part}` in {checked:?}");
    }
    let listed = world.run(&["skills", "list"]).exits(0);
    assert!(listed.stdout.contains("Use when: asked."), "{listed:?}");
    let _ = listed.says(&[
        "error[SK011]",
        "note: 1 file mended on reading",
        "`tekne skills check`",
    ]);
    let strict = ["skills", "check", "--strict", ".tekne/skills/colon"];
    let _ = world.run(&strict).exits(3);
    let _ = world
        .run(&["skills", "check", ".tekne/skills/colon"])
        .exits(0);
}

#[test]
fn a_wrong_key_of_the_configuration_is_named_with_its_place_and_the_nearest_right_one() {
    let world = World::new();
    world.configure("limits:\n  max_step: 3\n");
    let place = world.path("home/.config/tekne/config.yaml:2:3");
    let message = format!("error: {}: unknown key `max_step`", place.display());
    for command in [
        &["run", "hello"][..],
        &["skills", "list"],
        &["config", "show"],
    ] {
        let ran = world.run(&[&OFFLINE, command].concat()).exits(2);
        let _ = ran.says(&[&message, "hint: did you mean `max_steps`?"]);
    }
    let _ = world.run(&["config", "schema"]).exits(0);
    // What looks for faults finds this one, and says where it is.
    let doctor = world.run(&["doctor"]).exits(3);
    let place = place.display().to_string();
    assert!(doctor.stdout.contains(&place), "{doctor:?}");

    world.configure("limits: {max_steps: 3\n");
    let ran = run(&world, &OFFLINE).exits(2);
    let _ = ran.says(&["config.yaml:", "not valid YAML", "hint: "]);
}

#[test]
fn a_configuration_file_that_was_named_must_be_there() {
    let ran = run(&World::new(), &["--config", "other.yaml"]).exits(2);
    let _ = ran.says(&["work/other.yaml", "No such file"]);
}

#[test]
fn an_unknown_model_is_named_with_what_there_is() {
    let world = World::new();
    let ran = run(&world, &["--model", "opnai/gpt-4o"]).exits(2);
    let _ = ran.says(&[
        "no provider named `opnai`",
        "hint: known are offline, openai, ",
    ]);
    let ran = run(&world, &["--model", "gpt-4o"]).exits(2);
    let _ = ran.says(&[
        "--model: ",
        "`gpt-4o` is neither `PROVIDER/MODEL`",
        "`offline`",
    ]);
    let ran = run(&world, &["--base-url", "http://127.0.0.1:1/v1"]).exits(2);
    let _ = ran.says(&["which model", "hint: add --model"]);
    let url = ["--model", "x/y", "--base-url", "localhost:8080"];
    let _ = run(&world, &url).exits(2).says(&["--base-url: ", "hint: "]);

    let unknown = "{\"error\":{\"message\":\"The model `gpt-9` does not exist\"}}";
    let server = Server::start(vec![Answer::Status(404, "", unknown)]);
    let options = ["--model", "local/gpt-9", "--base-url", &server.base_url];
    let ran = run(&world, &options).exits(1);
    let _ = ran.says(&[
        "The model `gpt-9` does not exist",
        "hint: check the model's name",
    ]);
}

#[test]
fn a_key_that_is_missing_is_named_before_anything_is_sent() {
    let world = World::new();
    let ran = run(&world, &["--model", "openai/gpt-4o"]).exits(2);
    let _ = ran.says(&["no key for provider `openai`", "hint: set `OPENAI_API_KEY`"]);
    world.configure(
        "providers:\n  acme: {base_url: 'https://acme.invalid/v1', api_key_env: ACME_KEY}\n",
    );
    let ran = run(&world, &["--model", "acme/large"]).exits(2);
    let _ = ran.says(&["no key for provider `acme`", "hint: set `ACME_KEY`"]);
    assert!(!world.journal().exists() || world.run(&["sessions", "list"]).stdout.is_empty());
}

#[test]
fn a_server_that_is_not_there_is_named_with_its_address() {
    // A port that was free a moment ago refuses.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let options = ["--json", "--model", "local/m", "--base-url", &address];
    let ran = run(&World::new(), &options).exits(1);
    assert_eq!(ran.event("turn.finished")["outcome"], "error(unavailable)");
    let _ = ran.says(&[
        &address,
        "cannot be reached",
        "hint: is the server running?",
    ]);
}

#[test]
fn a_task_of_ten_megabytes_does_not_fit_and_nothing_is_sent() {
    let server = Server::start(vec![Answer::Text("never")]);
    let world = World::new();
    let task = "one more word ".repeat(10 * 1024 * 1024 / 14 + 1);
    let options = ["--model", "mock/m", "--base-url", &server.base_url];
    let ran = world.pipe(
        &[&options[..], &["--json", "run", "-"]].concat(),
        task.as_bytes(),
    );
    let ran = ran.exits(5);
    assert_eq!(ran.event("turn.finished")["outcome"], "context_limit");
    let _ = ran.says(&[
        "does not fit",
        "the largest parts are the task with",
        "hint: shorten",
    ]);
    assert!(server.requests().is_empty());
}

#[test]
fn a_workspace_that_is_a_file_or_missing_is_named() {
    let world = World::new();
    world.write("notes.md", "a note");
    let ran = run(&world, &["-C", "notes.md"]).exits(2);
    let _ = ran.says(&["work/notes.md is a file, not a folder", "hint: "]);
    let ran = run(&world, &["-C", "missing"]).exits(2);
    let _ = ran.says(&["no folder", "work/missing", "hint: check the path after -C"]);
    let ran = run(&world, &["--json", "-C", "missing"]).exits(2);
    assert_eq!(ran.json()["error"]["code"], "workspace_missing");
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named_before_the_model_is_asked() {
    let world = World::new();
    let blocked = world.path("blocked");
    std::fs::write(&blocked, "a file where a folder should be").unwrap();
    let server = Server::start(vec![Answer::Text("never")]);
    let options = [
        "--model",
        "mock/m",
        "--base-url",
        &server.base_url,
        "run",
        "hello",
    ];
    let start = |folder: &std::path::Path| {
        world.finish(world.command(&options).env("XDG_DATA_HOME", folder))
    };
    let hint = "hint: make the folder writable, or set XDG_DATA_HOME to one that is";
    let ran = start(&blocked).exits(2);
    let _ = ran.says(&["cannot make the data folder", "blocked/tekne", hint]);

    // Neither root nor anybody else writes to a journal that is a folder.
    let folder = world.path("data");
    std::fs::create_dir_all(folder.join("tekne/journal.db")).unwrap();
    let _ = start(&folder)
        .exits(2)
        .says(&["tekne/journal.db", "hint: "]);
    assert!(server.requests().is_empty());

    let mut doctor = world.command(&["--model", "offline", "doctor"]);
    let doctor = world.finish(doctor.env("XDG_DATA_HOME", &blocked)).exits(3);
    assert!(doctor.stdout.contains("FAIL data folder"), "{doctor:?}");
}

#[test]
fn a_journal_that_is_none_is_left_alone() {
    let world = World::new();
    let journal = world.journal();
    std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
    let text = "this is somebody's diary and not a database, however long it may be\n".repeat(99);
    std::fs::write(&journal, &text).unwrap();
    let ran = run(&world, &OFFLINE).exits(2);
    let _ = ran.says(&["journal.db", "hint: move the file away"]);
    let _ = world
        .run(&["sessions", "list"])
        .exits(2)
        .says(&["journal.db", "hint: "]);
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), text);
}

#[test]
fn what_is_asked_for_and_not_there_is_named() {
    let world = World::with_examples();
    let missing = |arguments: &[&str], parts: &[&str]| {
        let ran = world.run(&[&OFFLINE, arguments].concat()).exits(2);
        let _ = ran.says(parts);
    };
    missing(
        &["skills", "show", "weekly-revue"],
        &[
            "skill not found: weekly-revue",
            "hint: did you mean weekly-review?",
        ],
    );
    missing(
        &["sessions", "show", "abc"],
        &["no session `abc`", "hint: `tekne sessions list`"],
    );
    missing(
        &["run", "--resume", "abc", "x"],
        &["no session `abc`", "hint: `tekne sessions list`"],
    );
    missing(
        &["--assistant", "bob", "run", "x"],
        &["no assistant named `bob`", "hint: there are: default"],
    );
    missing(
        &["--preset", "bob", "run", "x"],
        &["no preset named `bob`", "default"],
    );
    missing(
        &["run", "--skill", "nowhere", "x"],
        &["work/nowhere", "No such file", "hint: "],
    );
    missing(
        &["skills", "check", "nowhere"],
        &["work/nowhere", "No such file", "hint: "],
    );
    let required = ["skills", "check", "--require", "weekly-review,nobody"];
    let _ = world
        .run(&required)
        .exits(3)
        .says(&["not usable: nobody", "hint: "]);
}

#[test]
fn files_that_are_there_are_never_overwritten_by_init() {
    let world = World::new();
    world.write(".tekne/config.yaml", "# mine\n");
    let ran = world.run(&["init"]).exits(0);
    let _ = ran.says(&[
        "kept .tekne/config.yaml",
        "wrote .tekne/skills/first-skill/SKILL.md",
    ]);
    assert_eq!(world.read(".tekne/config.yaml").unwrap(), "# mine\n");
    let world = World::new();
    world.write(".tekne", "a file where a folder should be");
    let ran = world.run(&["init"]).exits(2);
    let _ = ran.says(&["cannot write", ".tekne/config.yaml", "hint: "]);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_costs_no_document() {
    use std::os::unix::ffi::OsStringExt as _;

    let world = World::new();
    world.skill("good", "The good one.", "Do.\n");
    let folder = std::ffi::OsString::from_vec(b"\xff\xfe".to_vec());
    let folder = world.work().join(".tekne/skills").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let text = "---\nname: odd\ndescription: d\n---\nx\n";
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    for command in [
        &["skills", "list", "--json"][..],
        &["skills", "check", "--json"],
        &["skills", "show", "odd", "--json"],
        &["skills", "why", "odd", "--json"],
    ] {
        let ran = world.run(command).exits(0);
        assert_eq!(ran.json()["v"], 1, "{command:?}");
    }
}

#[test]
fn a_skill_that_is_required_and_missing_is_named_in_the_one_document() {
    let world = World::new();
    let ran = world
        .run(&["skills", "check", "--json", "--require", "nosuch"])
        .exits(3);
    assert_eq!(ran.json()["missing"][0], "nosuch");
    assert_eq!(ran.lines().len(), 1);
}

#[test]
fn a_file_that_is_not_named_as_a_skill_is_none() {
    let world = World::new();
    world.write("notes.txt", "Some text.\n");
    let ran = world.run(&["skills", "check", "notes.txt"]).exits(3);
    assert!(ran.stdout.contains("notes.txt: refused"), "{ran:?}");
    let _ = world
        .run(&["skills", "register", "notes.txt"])
        .exits(2)
        .says(&["the name is none of a skill file"]);
    let _ = world
        .run(&["run", "--model", "offline", "--skill", "notes.txt", "x"])
        .exits(2)
        .says(&["there is no usable skill here"]);
}

#[test]
fn a_folder_of_skills_that_is_not_there_is_told_and_is_no_fault() {
    let world = World::new();
    world.configure("skills:\n  roots:\n    - {path: /no/such/folder}\nmodel: offline\n");
    let doctor = world.run(&["--json", "doctor"]).exits(0).json();
    let checks = doctor["checks"].as_array().unwrap();
    let found = checks.iter().find(|one| one["name"] == "skill root");
    let message = found.unwrap()["message"].as_str().unwrap();
    assert!(
        message.ends_with("config.yaml:3: `skills.roots[0].path`: /no/such/folder is no folder"),
        "{message}"
    );
}
