//! Generated workspaces for the benches, in a folder that goes away with its value.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::TOOL_CALLS;

/// Stands in every note, so that a tool result can be told from an error.
pub(super) const NOTE_MARK: &str = "Decided by all present.";

/// The generated files; dropping it deletes them.
pub(super) struct Inputs {
    top: PathBuf,
    /// Three skills and ten notes.
    pub(super) small: Workspace,
}

/// A folder to work in, and a home of its own.
pub(super) struct Workspace {
    pub(super) folder: PathBuf,
    home: PathBuf,
}

impl Inputs {
    pub(super) fn create() -> io::Result<Self> {
        let top = std::env::temp_dir().join(format!("tekne-bench-{}", std::process::id()));
        let small = Workspace::create(&top.join("small"))?;
        small.add_skills(3)?;
        small.add_notes()?;
        Ok(Self { top, small })
    }

    /// Creates a workspace with the ten notes and no skills, for a loop written by hand.
    pub(super) fn by_hand(&self) -> io::Result<Workspace> {
        let workspace = Workspace::create(&self.top.join("hand"))?;
        workspace.add_notes()?;
        Ok(workspace)
    }

    /// Creates a workspace with many skills.
    pub(super) fn many(&self, packages: usize) -> io::Result<Workspace> {
        let workspace = Workspace::create(&self.top.join("many"))?;
        workspace.add_skills(packages)?;
        Ok(workspace)
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        // Left-overs in the temporary folder do no harm, and there is nobody to tell.
        let _left_over = fs::remove_dir_all(&self.top);
    }
}

impl Workspace {
    fn create(top: &Path) -> io::Result<Self> {
        let workspace = Self {
            folder: top.join("workspace"),
            home: top.join("home"),
        };
        fs::create_dir_all(&workspace.folder)?;
        fs::create_dir_all(&workspace.home)?;
        Ok(workspace)
    }

    /// Returns the whole environment of a program that runs here.
    pub(super) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let below = |name: &str| self.home.join(name).into_os_string();
        vec![
            ("HOME", self.home.clone().into_os_string()),
            ("LANG", "C.UTF-8".into()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("XDG_CACHE_HOME", below(".cache")),
            ("XDG_CONFIG_HOME", below(".config")),
            ("XDG_DATA_HOME", below(".local/share")),
        ]
    }

    /// Writes a file beside the workspace's folder and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<String> {
        let path = self.path(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns the path of a file beside the workspace's folder.
    pub(super) fn path(&self, name: &str) -> String {
        self.home.join(name).to_string_lossy().into_owned()
    }

    /// Returns the path of the journal of whatever runs here; its folder is made.
    pub(super) fn journal(&self) -> io::Result<String> {
        let folder = self.home.join(".local/share/tekne");
        fs::create_dir_all(&folder)?;
        Ok(folder.join("journal.db").to_string_lossy().into_owned())
    }

    fn add_skills(&self, count: usize) -> io::Result<()> {
        for number in 0..count {
            let name = skill_name(number);
            let folder = self.folder.join(".tekne/skills").join(&name);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("SKILL.md"), skill(&name, number))?;
        }
        Ok(())
    }

    fn add_notes(&self) -> io::Result<()> {
        let folder = self.folder.join("notes");
        fs::create_dir_all(&folder)?;
        (0..TOOL_CALLS)
            .try_for_each(|number| fs::write(folder.join(note_name(number)), note(number)))
    }
}

/// Returns the file name of a note, counted from 0.
pub(super) fn note_name(number: usize) -> String {
    format!("week-{:02}.md", number + 1)
}

fn note(number: usize) -> String {
    let item = "- The migration rehearsal ran on the copy of the database; two steps still need a \
                hand, and the owner of each writes down why.\n";
    format!("# Week {}\n\n{}\n{NOTE_MARK}\n", number + 1, item.repeat(8))
}

const ACTIONS: &[&str] = &[
    "review",
    "summarise",
    "translate",
    "convert",
    "check",
    "plan",
    "compare",
    "draft",
];
const SUBJECTS: &[&str] = &[
    "invoices",
    "minutes",
    "contracts",
    "logs",
    "releases",
    "tickets",
    "surveys",
    "budgets",
    "recipes",
    "manuals",
    "letters",
    "slides",
];

fn pick<'a>(words: &[&'a str], number: usize) -> &'a str {
    words.get(number % words.len()).copied().unwrap_or_default()
}

fn skill_name(number: usize) -> String {
    let action = pick(ACTIONS, number);
    format!(
        "{action}-{}-{number:05}",
        pick(SUBJECTS, number / ACTIONS.len())
    )
}

/// Returns a package's text, of about four kilobytes, a usual size.
fn skill(name: &str, number: usize) -> String {
    let (action, subject) = (
        pick(ACTIONS, number),
        pick(SUBJECTS, number / ACTIONS.len()),
    );
    let step = format!(
        "1. Read what the user names, and the folder `{subject}/` when nothing is named. Say which \
         files were read, and stop when one is missing instead of guessing what it held.\n"
    );
    format!(
        "---\nname: {name}\ndescription: Use this to {action} {subject} that arrived since the last \
         run, and to list what is missing in them. Not for archives.\nlicense: MIT\n\
         metadata:\n  version: \"1.{number}\"\n  author: bench\n---\n\n# {action} {subject}\n\n{}",
        step.repeat(18)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_its_own_name_and_a_usual_size() {
        let names: std::collections::BTreeSet<String> = (0..5_000).map(skill_name).collect();
        assert_eq!(names.len(), 5_000);
        let size = skill(&skill_name(4_999), 4_999).len();
        assert!((3_000..5_000).contains(&size), "{size}");
    }
}
