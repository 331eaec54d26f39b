//! One hermetic place for one test: a home, a workspace, and the binary in between.

use std::fmt;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The longest that anything here may take before its test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A home and a workspace that nobody else knows.
#[derive(Debug)]
pub(crate) struct World {
    root: TempDir,
}

impl World {
    /// Makes an empty home and an empty workspace.
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("tekne-it-").tempdir();
        let world = Self {
            root: root.unwrap(),
        };
        for folder in ["home", "work"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        world
    }

    /// Makes a workspace that holds a copy of the repository's `examples/`.
    pub(crate) fn with_examples() -> Self {
        let world = Self::new();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        copy(&examples, &world.work());
        world
    }

    /// Returns a path below the world's folder.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        // A canonical path, as the binary prints it.
        self.root.path().canonicalize().unwrap().join(relative)
    }

    /// Returns the workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Returns the journal's file.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path("home/.local/share/tekne/journal.db")
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) {
        write(&self.work().join(relative), text.as_ref());
    }

    /// Reads a file of the workspace, if it is there.
    pub(crate) fn read(&self, relative: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(relative)).ok()
    }

    /// Writes the user's configuration.
    pub(crate) fn configure(&self, text: &str) {
        write(
            &self.path("home/.config/tekne/config.yaml"),
            text.as_bytes(),
        );
    }

    /// Writes a skill of the project.
    pub(crate) fn skill(&self, name: &str, description: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}");
        self.write(&format!(".tekne/skills/{name}/SKILL.md"), text);
    }

    /// Returns the binary, about to run in the workspace with nothing else in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tekne"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("TZ", "UTC")
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(&mut self.command(arguments))
    }

    /// Runs a prepared command to its end.
    pub(crate) fn finish(&self, command: &mut Command) -> Ran {
        self.ran(&command.output().unwrap())
    }

    /// Runs the binary with text on its standard input.
    pub(crate) fn pipe(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // Whoever does not read to the end is not waited for.
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        self.ran(&output)
    }

    /// Returns what a process wrote and how it ended.
    pub(crate) fn ran(&self, output: &Output) -> Ran {
        Ran {
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
            code: code(output.status),
        }
    }

    /// Returns the id of the session used last.
    pub(crate) fn last_session(&self) -> String {
        let listed = self.run(&["sessions", "list", "--json"]);
        let id = &listed.json()["sessions"][0]["id"];
        id.as_str().unwrap().to_owned()
    }

    /// Returns the journal of the session used last.
    pub(crate) fn last_journal(&self) -> Vec<Value> {
        let shown = self.run(&["sessions", "show", &self.last_session(), "--json"]);
        let events = shown.json()["events"].as_array().unwrap().clone();
        events.iter().map(|entry| entry["event"].clone()).collect()
    }

    /// Returns text without what differs from run to run: paths, ids, digests.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let root = self.path("").display().to_string();
        let text = text.replace(root.trim_end_matches('/'), "[root]");
        let mut scrubbed = String::with_capacity(text.len());
        let mut word = String::new();
        for character in text.chars().chain(['\0']) {
            if character.is_ascii_alphanumeric() {
                word.push(character);
                continue;
            }
            let hexadecimal = word.chars().all(|c| c.is_ascii_hexdigit());
            scrubbed.push_str(match word.len() {
                32 if hexadecimal => "[id]",
                64 if hexadecimal => "[digest]",
                _ => &word,
            });
            word.clear();
            if character != '\0' {
                scrubbed.push(character);
            }
        }
        scrubbed
    }

    /// Returns JSON without what differs from run to run, or with every wording of a prompt.
    pub(crate) fn normal(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.scrub(text).into(),
            Value::Array(items) => items.iter().map(|item| self.normal(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| {
                    let value = match (measured(key), value) {
                        (Some(unit), Value::Number(_)) => unit.into(),
                        _ => self.normal(value),
                    };
                    (key.clone(), value)
                })
                .collect(),
            other => other.clone(),
        }
    }
}

/// Returns what stands for a number that is measured and not decided.
fn measured(key: &str) -> Option<&'static str> {
    match key {
        "duration_ms" | "at_ms" | "created_ms" | "updated_ms" => Some("[ms]"),
        "tokens" | "stable_prefix_tokens" | "stable_prefix" | "asked" | "given" | "total" => {
            Some("[tokens]")
        }
        _ => None,
    }
}

/// What a run of the binary came to.
#[must_use = "compare the output, or at least the exit code"]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The exit code; a signal counts as a shell counts it, 128 and its number.
    pub(crate) code: i32,
}

impl fmt::Debug for Ran {
    /// Shows the end of each stream: that is where it says why.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = |text: &str| {
            let skipped = text.chars().count().saturating_sub(3000);
            text.chars().skip(skipped).collect::<String>()
        };
        let (stdout, stderr) = (tail(&self.stdout), tail(&self.stderr));
        write!(
            formatter,
            "exit {}\n──── stdout\n{stdout}\n──── stderr\n{stderr}",
            self.code
        )
    }
}

impl Ran {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Asserts that standard error holds each of these.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in {self:?}");
        }
        self
    }

    /// Returns the one document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the documents on standard output, one a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line);
        let lines: Result<Vec<Value>, _> = self.stdout.lines().map(parse).collect();
        lines.unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the last event of a type.
    #[track_caller]
    pub(crate) fn event(&self, kind: &str) -> Value {
        let found = self.lines().into_iter().rfind(|line| line["type"] == kind);
        found.unwrap_or_else(|| panic!("no `{kind}` in {self:?}"))
    }
}

/// Returns an exit code the way a shell does.
pub(crate) fn code(status: ExitStatus) -> i32 {
    let signal = || 128 + status.signal().unwrap();
    status.code().unwrap_or_else(signal)
}

/// Waits until `ready` says so.
#[track_caller]
pub(crate) fn wait_until(what: &str, ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns events as lines that a person can compare, one event each.
pub(crate) fn event_lines(world: &World, events: &[Value]) -> String {
    let lines = events
        .iter()
        .map(|event| format!("{}\n", world.normal(event)));
    lines.collect()
}

fn write(path: &Path, text: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
