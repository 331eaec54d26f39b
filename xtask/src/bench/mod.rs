//! `bench`: whole processes of the release binary, each against a baseline that runs in turn with
//! it. Machines differ, so what counts is the ratio, and CPU time rather than the clock.

mod inputs;
mod looped;
mod measure;
mod report;
mod scenario;
mod server;

use std::error::Error;
use std::path::PathBuf;

use inputs::{Inputs, Workspace};
use measure::{Program, pairs};
use report::{Figures, Target};
use serde_json::Value;
use server::Server;

use crate::Outcome;
use crate::cargo::{cargo, output, root, succeed};

const PACKAGES: usize = 5_000;
const TOOL_CALLS: usize = 10;
const TASK: &str = "Read the ten notes, one after the other, and tell me what they have in common.";

/// Every measure, by the name that selects it.
const NAMES: &[&str] = &[
    "version", "ask", "run", "skills", "steps", "sessions", "open", "idle",
];

/// The benches that measure the loop alone, with a program that states what it found.
const LOOP: &[&str] = &["steps", "sessions", "open", "idle"];

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    only: Option<String>,
    json: bool,
}

impl Options {
    /// Reads `[NAME] [--json]`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        for word in words {
            match *word {
                "--json" => options.json = true,
                name if NAMES.contains(&name) => options.only = Some(name.to_owned()),
                other => {
                    return Err(format!(
                        "no bench `{other}`; there are {}",
                        NAMES.join(", ")
                    ));
                }
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == name)
    }
}

/// Builds, measures, prints; fails when a target is missed.
pub(crate) fn run(options: &Options) -> Outcome {
    let binaries = Binaries::build(options)?;
    let inputs = Inputs::create()?;
    let mut figures = Vec::new();
    for name in NAMES.iter().filter(|name| options.wants(name)) {
        eprintln!("measuring {name}");
        figures.push(match *name {
            "version" => version(&binaries, &inputs)?,
            "ask" => ask(&binaries, &inputs)?,
            "run" => ten_calls(&binaries, &inputs)?,
            "skills" => skills(&binaries, &inputs)?,
            "steps" => looped::steps(&binaries)?,
            "sessions" => looped::sessions(&binaries)?,
            "open" => looped::open(&binaries, &inputs)?,
            _ => looped::idle(&binaries)?,
        });
    }
    if options.json {
        println!("{}", report::json(&figures));
    } else {
        print!("{}", report::table(&figures));
    }
    match figures.iter().filter(|figures| !figures.met()).count() {
        0 => Ok(()),
        count => Err(format!("{count} of {} targets missed", figures.len()).into()),
    }
}

/// How the bare client is built: as reqwest does it unasked. `lean` leaves out certificates and
/// proxies, which costs it about half as much.
const CLIENT: &str = "default";

/// The programs to measure, all built with the profile `release`.
struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    fn build(options: &Options) -> Result<Self, Box<dyn Error>> {
        let build = ["build", "--locked", "--release", "--package"];
        succeed(cargo(&build).args(["tekne"]))?;
        succeed(cargo(&build).args(["xtask", "--examples"]))?;
        if options.wants("ask") {
            succeed(cargo(&build).args(["llm-providers", "--example", "baseline_client"]))?;
        }
        if options.wants("run") {
            succeed(cargo(&build).args(["tekne", "--example", "baseline_loop"]))?;
        }
        if LOOP.iter().any(|name| options.wants(name)) {
            let measure = [
                "loop-runtime",
                "--features",
                "sqlite",
                "--example",
                "measure",
            ];
            succeed(cargo(&build).args(measure))?;
        }
        let metadata = output(&mut cargo(&[
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
        ]))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let target = metadata
            .get("target_directory")
            .and_then(|target| target.as_str());
        let target = target.map_or_else(|| root().join("target"), PathBuf::from);
        Ok(Self {
            folder: target.join("release"),
        })
    }

    fn tekne(&self, arguments: &[&str]) -> Program {
        Program::new(self.folder.join("tekne"), arguments)
    }

    /// Returns the program that measures the loop alone.
    fn measure(&self, arguments: &[&str]) -> Program {
        self.baseline("measure", arguments)
    }

    fn baseline(&self, name: &str, arguments: &[&str]) -> Program {
        Program::new(self.folder.join("examples").join(name), arguments)
    }
}

fn version(binaries: &Binaries, inputs: &Inputs) -> Result<Figures, Box<dyn Error>> {
    let tekne = binaries.tekne(&["--version"]).within(&inputs.small);
    let empty = binaries
        .baseline("baseline_empty", &[])
        .within(&inputs.small);
    expect(&tekne, |printed| printed.starts_with("tekne "), "a version")?;
    let samples = pairs(&tekne, &empty)?;
    Ok(Figures::new(
        "version",
        "an empty program",
        samples,
        Target {
            ratio: 2.0,
            peak_mb: None,
        },
    ))
}

fn ask(binaries: &Binaries, inputs: &Inputs) -> Result<Figures, Box<dyn Error>> {
    let server = Server::start()?;
    let base = server.url("/v1");
    let question = "What did we decide about the release date?";
    let tekne = [
        "ask",
        "--model",
        "openai/test",
        "--base-url",
        &base,
        question,
    ];
    let tekne = binaries.tekne(&tekne).within(&inputs.small);
    let client = binaries
        .baseline("baseline_client", &[&base, "1", CLIENT])
        .within(&inputs.small);

    expect(
        &tekne,
        |printed| printed.contains(scenario::LAST_WORDS),
        "the server's answer",
    )?;
    server.requests(1, &tekne)?;
    client.output()?;
    server.requests(1, &client)?;
    let samples = pairs(&tekne, &client)?;
    let target = Target {
        ratio: 1.5,
        peak_mb: Some(25.0),
    };
    Ok(Figures::new(
        "ask",
        "reqwest as it builds itself, 1 request",
        samples,
        target,
    ))
}

fn ten_calls(binaries: &Binaries, inputs: &Inputs) -> Result<Figures, Box<dyn Error>> {
    let server = Server::start()?;
    let base = server.url("/steps/v1");
    let tekne = ["run", "--model", "openai/test", "--base-url", &base, TASK];
    let tekne = binaries.tekne(&tekne).within(&inputs.small);
    expect(
        &tekne,
        |printed| printed.contains(scenario::LAST_WORDS),
        "the server's answer",
    )?;
    let sent = server.requests(TOOL_CALLS + 1, &tekne)?;
    if sent.iter().any(|body| scenario::failed_tools(body) > 0) {
        return Err(format!("a tool result of `{tekne}` does not hold a note").into());
    }

    let hand = inputs.by_hand()?;
    let first = hand.write(
        "request.json",
        &sent.first().map(Value::to_string).unwrap_or_default(),
    )?;
    let journal = hand.journal()?;
    let by_hand = binaries
        .baseline("baseline_loop", &[&base, &first, &journal])
        .within(&hand);
    by_hand.output()?;
    if server.requests(TOOL_CALLS + 1, &by_hand)? != sent {
        return Err(format!("`{by_hand}` sent other requests than `{tekne}`").into());
    }
    expect_same_rows(binaries, &inputs.small, &hand)?;
    let samples = pairs(&tekne, &by_hand)?;
    let target = Target {
        ratio: 1.5,
        peak_mb: None,
    };
    Ok(Figures::new(
        "run",
        "a loop by hand: same requests, same durable rows",
        samples,
        target,
    ))
}

/// Makes sure that the last session of two workspaces has the same events, by their kinds.
fn expect_same_rows(binaries: &Binaries, one: &Workspace, other: &Workspace) -> Outcome {
    let read = |workspace: &Workspace, words: &[&str]| -> Result<Value, Box<dyn Error>> {
        let printed = binaries.tekne(words).within(workspace).output()?;
        Ok(serde_json::from_str(&printed)?)
    };
    let at = |value: &Value, path: &str| value.pointer(path).cloned().unwrap_or_default();
    let kinds = |workspace: &Workspace| -> Result<Vec<Value>, Box<dyn Error>> {
        let list = read(workspace, &["sessions", "list", "--json"])?;
        let id = at(&list, "/sessions/0/id");
        let id = id.as_str().unwrap_or_default();
        let shown = read(workspace, &["sessions", "show", id, "--json"])?;
        let events = at(&shown, "/events");
        let events = events.as_array().into_iter().flatten();
        Ok(events.map(|event| at(event, "/event/kind")).collect())
    };
    let (ours, by_hand) = (kinds(one)?, kinds(other)?);
    if ours.len() > TOOL_CALLS && ours == by_hand {
        return Ok(());
    }
    Err(format!("the loop by hand keeps other rows: {by_hand:?}, not {ours:?}").into())
}

fn skills(binaries: &Binaries, inputs: &Inputs) -> Result<Figures, Box<dyn Error>> {
    let workspace = inputs.many(PACKAGES)?;
    let folder = workspace.folder.join(".tekne/skills");
    let tekne = binaries.tekne(&["skills", "list"]).within(&workspace);
    let read = [folder.to_string_lossy().into_owned()];
    let read = binaries
        .baseline("baseline_read", &[read[0].as_str()])
        .within(&workspace);

    let json = binaries
        .tekne(&["skills", "list", "--json"])
        .within(&workspace);
    expect(
        &json,
        |printed| listed(printed) >= PACKAGES,
        "every package in the list",
    )?;
    let start = format!("{PACKAGES} files, ");
    expect(
        &read,
        |printed| printed.starts_with(&start),
        "every file read",
    )?;
    let samples = pairs(&tekne, &read)?;
    let target = Target {
        ratio: 2.5,
        peak_mb: None,
    };
    Ok(Figures::new(
        "skills",
        "reading the same 5,000 files",
        samples,
        target,
    ))
}

fn listed(document: &str) -> usize {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let skills = document.get("skills").and_then(|skills| skills.as_array());
    skills.map_or(0, Vec::len)
}

/// Runs a program once and makes sure that it does the work that is to be measured.
fn expect(program: &Program, good: impl Fn(&str) -> bool, wanted: &str) -> Outcome {
    let printed = program.output()?;
    if good(&printed) {
        return Ok(());
    }
    let start: String = printed.chars().take(400).collect();
    Err(format!("`{program}` did not print {wanted} but:\n{start}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_one_bench_and_a_wrong_one_lists_them() {
        let options = Options::parse(&["ask", "--json"]).unwrap();
        assert!(options.json && options.wants("ask") && !options.wants("run"));
        assert!(NAMES.iter().all(|name| Options::default().wants(name)));
        let error = Options::parse(&["asks"]).unwrap_err();
        assert_eq!(
            error,
            "no bench `asks`; there are version, ask, run, skills, steps, sessions, open, idle"
        );
    }
}
