//! `search_files`: a regular expression over the files of a folder.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Access;
use crate::builtin::{blocking, granted, touched};
use crate::context::ToolContext;
use crate::output::cut;
use crate::tool::{ErrorKind, Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceErrorKind};

/// How many matching lines are shown.
const MAX_LINES: usize = 200;

/// How much of one line is shown.
const MAX_LINE_BYTES: usize = 300;

/// The longest line that is searched; a file with a longer one is left out.
const MAX_SEARCHED_LINE: usize = 4 * 1024 * 1024;

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
        matcher(&arguments.pattern)?;
        arguments.glob.as_deref().map(FileGlob::new).transpose()?;
        Ok(touched(&traced, Access::Read))
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let path = granted(context, &self.workspace, arguments.path(), Access::Read)?;
        let mut search = Search {
            workspace: self.workspace.clone(),
            context: context.clone(),
            matcher: matcher(&arguments.pattern)?,
            glob: arguments.glob.as_deref().map(FileGlob::new).transpose()?,
            found: Vec::new(),
            files: 0,
            full: false,
        };
        let text = blocking(move || {
            search.walk(&path)?;
            Ok(search.report())
        });
        Ok(ToolOutput::text(text.await?))
    }
}

/// A glob on the name of a file, or on its path if it holds a `/`.
struct FileGlob {
    matcher: GlobMatcher,
    on_path: bool,
}

impl FileGlob {
    fn new(glob: &str) -> Result<Self, ToolError> {
        let on_path = glob.contains('/');
        let built = GlobBuilder::new(glob.trim_start_matches("./"))
            .literal_separator(true)
            .build();
        let built = built.map_err(|error| {
            ToolError::new(
                ErrorKind::InvalidArguments,
                format!("the glob is not valid: {error}"),
            )
        })?;
        Ok(Self {
            matcher: built.compile_matcher(),
            on_path,
        })
    }

    fn matches(&self, path: &str) -> bool {
        let name = if self.on_path {
            path
        } else {
            path.rsplit('/').next().unwrap_or(path)
        };
        self.matcher.is_match(name)
    }
}

fn matcher(pattern: &str) -> Result<RegexMatcher, ToolError> {
    let invalid = |text: String| ToolError::new(ErrorKind::InvalidArguments, text);
    if let Err(error) = regex_syntax::Parser::new().parse(pattern) {
        return Err(invalid(format!(
            "the pattern is not a regular expression: {}",
            located(&error)
        )));
    }
    let built = RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(pattern);
    built.map_err(|error| invalid(format!("the pattern cannot be used: {error}")))
}

/// Returns what is wrong with a pattern, and the column where.
fn located(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} at column {}", error.kind(), error.span().start.column)
        }
        regex_syntax::Error::Translate(error) => {
            format!("{} at column {}", error.kind(), error.span().start.column)
        }
        other => other.to_string(),
    }
}

/// One search under way.
struct Search {
    workspace: Workspace,
    context: ToolContext,
    matcher: RegexMatcher,
    glob: Option<FileGlob>,
    found: Vec<String>,
    files: usize,
    full: bool,
}

impl Search {
    /// Walks a resolved path by name and opens each file through the workspace, which refuses
    /// whatever has become a link meanwhile.
    fn walk(&mut self, resolved: &str) -> Result<(), ToolError> {
        if self.workspace.look(resolved)?.is_none() {
            // Opening says what is missing, and what is near.
            self.workspace.open_folder(resolved)?;
        }
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_SEARCHED_LINE))
            .build();
        let walk = WalkBuilder::new(self.workspace.path().join(resolved))
            .follow_links(false)
            .hidden(false)
            .git_global(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_name(Ord::cmp)
            .build();
        for entry in walk.flatten() {
            if self.full || self.context.cancel.is_cancelled() {
                break;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            if let Some(path) = self.relative(entry.path()) {
                self.search(&mut searcher, &path)?;
            }
        }
        Ok(())
    }

    /// Returns the path below the root as text.
    fn relative(&self, path: &Path) -> Option<String> {
        let names: Option<Vec<&str>> = path
            .strip_prefix(self.workspace.path())
            .ok()?
            .iter()
            .map(|name| name.to_str())
            .collect();
        names
            .map(|names| names.join("/"))
            .filter(|path| !path.is_empty())
    }

    fn search(&mut self, searcher: &mut Searcher, path: &str) -> Result<(), ToolError> {
        if self.glob.as_ref().is_some_and(|glob| !glob.matches(path))
            || !self.context.may_read(path)
        {
            return Ok(());
        }
        let file = match self.workspace.open_file(path) {
            Ok(file) => file,
            // Gone, changed or forbidden: the other files still count.
            Err(error) if error.kind != WorkspaceErrorKind::Outside => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.files += 1;
        let before = self.found.len();
        let mut sink = Lines {
            path,
            found: &mut self.found,
            full: &mut self.full,
        };
        if searcher
            .search_reader(&self.matcher, file, &mut sink)
            .is_err()
        {
            // Unreadable, or with a line beyond the bound: what was found of it is not the whole.
            self.found.truncate(before);
        }
        Ok(())
    }

    fn report(self) -> String {
        let mut lines = self.found;
        if lines.is_empty() {
            lines.push(format!("[no match in {} files]", self.files));
        }
        if self.full {
            lines.push(format!(
                "[cut at {MAX_LINES} lines; narrow the pattern, the path or the glob]"
            ));
        }
        lines.join("\n")
    }
}

/// Collects matching lines as text.
struct Lines<'a> {
    path: &'a str,
    found: &'a mut Vec<String>,
    full: &'a mut bool,
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(
        &mut self,
        _searcher: &Searcher,
        found: &SinkMatch<'_>,
    ) -> Result<bool, Self::Error> {
        if self.found.len() >= MAX_LINES {
            *self.full = true;
            return Ok(false);
        }
        let text = String::from_utf8_lossy(found.bytes());
        let text = text.trim_end_matches(['\n', '\r']);
        let shown = cut(text, MAX_LINE_BYTES);
        let mark = if shown.len() < text.len() { "…" } else { "" };
        let number = found.line_number().unwrap_or_default();
        self.found
            .push(format!("{}:{number}: {shown}{mark}", self.path));
        Ok(true)
    }
}
