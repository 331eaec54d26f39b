//! `search_files`: a regular expression over the files of a folder.

mod ignored;
mod lines;
mod notes;
mod pattern;

use cap_std::fs::{Dir, FileType};
use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use schemars::JsonSchema;
use serde::Deserialize;

use ignored::Ignored;
use lines::{Found, MAX_LINES, Searched, search, searcher};
use notes::Notes;
use pattern::{FileGlob, check_lengths, matcher};

use crate::access::Access;
use crate::builtin::{blocking, granted, touched, within};
use crate::context::ToolContext;
use crate::tool::{Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError, WorkspaceErrorKind};

/// How deep folders are searched.
const MAX_DEPTH: usize = 100;

/// How many names of one folder are read.
const MAX_NAMES: usize = 100_000;

/// Searches files below the workspace root.
#[derive(Debug)]
pub(super) struct SearchFiles {
    workspace: Workspace,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Regular expression, matched line by line; start it with (?i) to ignore case.
    pattern: String,
    /// Folder or file to search, relative to the workspace root; the root itself if left out.
    path: Option<String>,
    /// Only files whose name, or path if the glob holds a `/`, matches, such as *.rs or src/**.
    glob: Option<String>,
}

impl Arguments {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

impl SearchFiles {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Tool for SearchFiles {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "search_files"
    }

    fn description(&self) -> &str {
        "Searches the text files of the workspace for a regular expression. Each match is `path:line: text`. Ignored and binary files are left out."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        let traced = self.workspace.trace(arguments.path())?;
        check_lengths(&arguments.pattern, arguments.glob.as_deref())?;
        Ok(touched(&traced, Access::Read))
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let path = granted(context, &self.workspace, arguments.path(), Access::Read).await?;
        let (workspace, context) = (self.workspace.clone(), context.clone());
        let text = blocking(move || {
            let mut search = Search::new(workspace, context, &arguments)?;
            search.start(&path)?;
            Ok(search.report())
        });
        Ok(ToolOutput::text(text.await?))
    }
}

/// One search under way.
///
/// It walks by name through the workspace, which opens nothing that is or became a link, and holds
/// no folder open while it is in another one.
struct Search {
    workspace: Workspace,
    context: ToolContext,
    matcher: RegexMatcher,
    searcher: Searcher,
    glob: Option<FileGlob>,
    ignored: Ignored,
    notes: Notes,
    found: Found,
    files: usize,
}

impl Search {
    fn new(
        workspace: Workspace,
        context: ToolContext,
        arguments: &Arguments,
    ) -> Result<Self, ToolError> {
        if context.cancel.is_cancelled() {
            return Err(ToolError::failed("the search was stopped before it began"));
        }
        let mut notes = Notes::default();
        Ok(Self {
            matcher: matcher(&arguments.pattern)?,
            searcher: searcher(),
            glob: arguments.glob.as_deref().map(FileGlob::new).transpose()?,
            ignored: Ignored::around(&workspace, &mut notes),
            workspace,
            context,
            notes,
            found: Found::default(),
            files: 0,
        })
    }

    /// Searches what is at a resolved path; what was named is searched even if it is ignored.
    fn start(&mut self, path: &str) -> Result<(), ToolError> {
        if self
            .workspace
            .look(path)?
            .is_some_and(|found| found.is_file())
        {
            return self.file(path);
        }
        let folder = self.workspace.open_folder(path)?;
        let ends = path.match_indices('/').map(|(end, _)| end);
        let above = ends.filter_map(|end| path.get(..end));
        for above in std::iter::once(".").chain(above).filter(|_| path != ".") {
            let dir = self.workspace.open_folder(above)?;
            self.ignored.enter(&dir, above, &mut self.notes);
        }
        self.folder(path, folder, 0)
    }

    fn folder(&mut self, path: &str, folder: Dir, depth: usize) -> Result<(), ToolError> {
        let entries = self.entries(path, &folder);
        self.ignored.enter(&folder, path, &mut self.notes);
        drop(folder);
        for (name, kind) in entries {
            if self.found.full || self.context.cancel.is_cancelled() {
                break;
            }
            let below = within(path, &name);
            if self.ignored.leaves_out(&below, kind.is_dir()) {
                continue;
            }
            if kind.is_file() {
                self.file(&below)?;
            } else if kind.is_dir() {
                self.below(&below, depth + 1)?;
            }
        }
        self.ignored.leave();
        Ok(())
    }

    fn below(&mut self, path: &str, depth: usize) -> Result<(), ToolError> {
        if depth > MAX_DEPTH {
            self.notes.add(path, "searched", "it lies too deep");
            return Ok(());
        }
        match self.workspace.open_folder(path) {
            Ok(folder) => self.folder(path, folder, depth),
            Err(error) => {
                self.leave_out(path, &error);
                Ok(())
            }
        }
    }

    /// Returns names and kinds, sorted by name, without git's own folder.
    fn entries(&mut self, path: &str, folder: &Dir) -> Vec<(String, FileType)> {
        let mut names = Vec::new();
        let Ok(entries) = folder.entries() else {
            self.notes.add(path, "searched", "it cannot be read");
            return names;
        };
        for (index, entry) in entries.flatten().enumerate() {
            if index >= MAX_NAMES {
                let why = format!("it has more than {MAX_NAMES} names; some of them were");
                self.notes.add(path, "searched whole", &why);
                break;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            match entry.file_name().into_string() {
                Ok(name) if name == ".git" => {}
                Ok(name) => names.push((name, kind)),
                Err(name) => {
                    let shown = name.to_string_lossy();
                    self.notes.add(&shown, "searched", "its name is not UTF-8");
                }
            }
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names
    }

    fn file(&mut self, path: &str) -> Result<(), ToolError> {
        if self.glob.as_ref().is_some_and(|glob| !glob.matches(path))
            || !self.context.may_read(path)
        {
            return Ok(());
        }
        let file = match self.workspace.open_file(path) {
            Ok(file) => file,
            Err(error) => {
                self.leave_out(path, &error);
                return Ok(());
            }
        };
        let cancel = &self.context.cancel;
        let (searcher, matcher) = (&mut self.searcher, &self.matcher);
        match search(searcher, matcher, path, file, cancel, &mut self.found) {
            Searched::Whole => self.files += 1,
            Searched::Binary => {}
            Searched::LongLine => {
                self.notes.add(path, "searched", "it has a line over 4 MiB");
            }
            Searched::Unreadable => self.notes.add(path, "searched", "it cannot be read"),
        }
        Ok(())
    }

    /// Notes what could not be opened, unless it is gone: the rest still counts.
    fn leave_out(&mut self, path: &str, error: &WorkspaceError) {
        let why = match error.kind {
            WorkspaceErrorKind::NotFound(_) => return,
            WorkspaceErrorKind::Changed | WorkspaceErrorKind::Not { .. } => {
                "it changed while it was searched"
            }
            _ => "it cannot be read",
        };
        self.notes.add(path, "searched", why);
    }

    fn report(self) -> String {
        let mut lines = self.found.lines;
        if lines.is_empty() {
            let plural = if self.files == 1 { "" } else { "s" };
            lines.push(format!("[no match in {} file{plural}]", self.files));
        }
        if self.found.full {
            lines.push(format!(
                "[cut at {MAX_LINES} lines; narrow the pattern, the path or the glob]"
            ));
        }
        lines.extend(self.notes.into_lines());
        lines.join("\n")
    }
}
