//! What is searched for and where: a regular expression and a glob, both bounded.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::tool::{ErrorKind, ToolError};

/// The longest regular expression, in bytes.
const MAX_PATTERN_BYTES: usize = 4096;

/// The longest glob, in bytes.
const MAX_GLOB_BYTES: usize = 1024;

/// How much memory a compiled pattern may take, and its cache while it searches.
const MAX_COMPILED_BYTES: usize = 4 * 1024 * 1024;

fn invalid(text: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, text)
}

/// Refuses what is too long to be looked at.
pub(super) fn check_lengths(pattern: &str, glob: Option<&str>) -> Result<(), ToolError> {
    let check = |what: &str, text: &str, limit: usize| {
        let length = text.len();
        (length <= limit).then_some(()).ok_or_else(|| {
            invalid(format!(
                "the {what} has {length} bytes; at most {limit} are taken"
            ))
        })
    };
    check("pattern", pattern, MAX_PATTERN_BYTES)?;
    glob.map_or(Ok(()), |glob| check("glob", glob, MAX_GLOB_BYTES))
}

/// Compiles a regular expression; it takes time, so do it where blocking is fine.
pub(super) fn matcher(pattern: &str) -> Result<RegexMatcher, ToolError> {
    if let Err(error) = regex_syntax::Parser::new().parse(pattern) {
        return Err(invalid(format!(
            "the pattern is not a regular expression: {}",
            located(&error)
        )));
    }
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .build(pattern)
        .map_err(|error| invalid(format!("the pattern cannot be used: {error}")))
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

/// A glob on the name of a file, or on its path if it holds a `/`.
pub(super) struct FileGlob {
    set: GlobSet,
    on_path: bool,
}

impl FileGlob {
    pub(super) fn new(glob: &str) -> Result<Self, ToolError> {
        let on_path = glob.contains('/');
        let built = GlobBuilder::new(glob.trim_start_matches("./"))
            .literal_separator(true)
            .build();
        // A set of one, since a glob alone panics where its expression gets too large.
        let set = built.and_then(|glob| GlobSetBuilder::new().add(glob).build());
        let set = set.map_err(|error| invalid(format!("the glob is not valid: {error}")))?;
        Ok(Self { set, on_path })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let name = if self.on_path {
            path
        } else {
            path.rsplit('/').next().unwrap_or(path)
        };
        self.set.is_match(name)
    }
}
