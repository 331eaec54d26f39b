//! One rule: `EFFECT CAPABILITY(PATTERN)`.

use std::fmt;
use std::str::FromStr;

use crate::access::{Access, PathTarget};
use crate::nearest::did_you_mean;
use crate::policy::glob::{Glob, GlobError, PathGlob};

/// What a rule, or the whole policy, says about a capability; the later is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It may run.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl Effect {
    const NAMES: [(&'static str, Self); 3] = [
        ("allow", Self::Allow),
        ("ask", Self::Ask),
        ("deny", Self::Deny),
    ];

    /// Returns the word used in rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// One rule of a policy.
///
/// Written `EFFECT CAPABILITY(PATTERN)`:
///
/// | capability | pattern |
/// |---|---|
/// | `read`, `write`, `delete` | a path below the root; `*`, `?`, and `**` for any depth |
/// | `run` | the first words of the argument vector, whole words; `*` is one word, `**` alone all |
/// | `mcp` | `SERVER:TOOL` |
/// | `http` | `METHOD HOST/PATH` |
/// | `skill` | the id of an executable skill |
/// | `tool` | the name of a tool |
///
/// `allow` matches exactly as written. `ask` and `deny` also match what a forgiving file system
/// takes for the same name, and what lies below a folder that they name.
///
/// ```
/// use tool_gateway::{Effect, Rule};
///
/// let rule: Rule = "deny write(secret/**)".parse()?;
/// assert_eq!(rule.effect(), Effect::Deny);
/// assert_eq!(
///     "alow read(**)".parse::<Rule>().unwrap_err().to_string(),
///     "rule `alow read(**)`, column 1: unknown effect `alow`; did you mean `allow`?"
/// );
/// # Ok::<(), tool_gateway::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    effect: Effect,
    capability: &'static str,
    text: String,
    pattern: Pattern,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Path(PathGlob),
    Run(Argv),
    Mcp {
        server: Glob,
        tool: Glob,
    },
    Http {
        method: Glob,
        host: Glob,
        path: PathGlob,
    },
    Name(Glob),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Argv {
    Any,
    Prefix(Vec<String>),
}

const CAPABILITIES: [&str; 8] = [
    "read", "write", "delete", "run", "mcp", "http", "skill", "tool",
];

/// A rule that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule `{rule}`, column {column}: {message}")]
pub struct RuleError {
    /// The rule as written.
    pub rule: String,
    /// Where, in characters from 1.
    pub column: usize,
    /// What is wrong, with the nearest right word where there is one.
    pub message: String,
}

impl Rule {
    /// Reads a rule whose effect is left out, which means `allow`: what a flag grants one run.
    ///
    /// `allow` may be written all the same; any other effect is an error, since a grant is none.
    pub fn granted(text: &str) -> Result<Self, RuleError> {
        let trimmed = text.trim_start();
        let reader = Reader::new(text);
        let start = text.len() - trimmed.len();
        match trimmed.split(['(', ' ']).next().unwrap_or_default() {
            "allow" => text.parse(),
            "ask" | "deny" => {
                let message = "this grants something, so only `allow` makes sense here";
                Err(reader.error(start, message.to_owned()))
            }
            _ => reader.rest(Effect::Allow, start),
        }
    }

    /// Returns what the rule says of what it matches.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Tells whether the rule speaks of `access`.
    pub(super) fn matches(&self, access: &Access) -> bool {
        let exact = self.effect == Effect::Allow;
        self.capability == capability(access)
            && match (&self.pattern, access) {
                (
                    Pattern::Path(glob),
                    Access::Read(target) | Access::Write(target) | Access::Delete(target),
                ) => {
                    match target {
                        PathTarget::Inside(path) if exact => glob.matches(path),
                        PathTarget::Inside(path) => glob.matches_folded(path),
                        // Patterns speak of paths below the root; a strict one that means
                        // everything means this too.
                        PathTarget::Outside(_) => !exact && self.text == "**",
                    }
                }
                (Pattern::Run(words), Access::Run(argv)) => words.matches(argv, exact),
                (Pattern::Mcp { server, tool }, Access::Mcp { server: s, tool: t }) => {
                    name_matches(server, s, exact) && name_matches(tool, t, exact)
                }
                (
                    Pattern::Http { method, host, path },
                    Access::Http {
                        method: m,
                        host: h,
                        path: p,
                    },
                ) => {
                    let path_matches = if exact {
                        is_plain(p) && path.matches(p)
                    } else {
                        path.matches_folded(p)
                    };
                    name_matches(method, m, exact)
                        && host.matches(&h.to_lowercase())
                        && path_matches
                }
                (Pattern::Name(glob), Access::Skill(name) | Access::Tool(name)) => {
                    name_matches(glob, name, exact)
                }
                _ => false,
            }
    }

    /// Returns how many of the first words of an argument vector the rule spells out.
    pub(super) fn words(&self) -> usize {
        match &self.pattern {
            Pattern::Run(Argv::Prefix(words)) => {
                words.iter().take_while(|word| *word != "*").count()
            }
            // Whoever writes that everything may run means everything.
            _ => usize::MAX,
        }
    }

    /// Tells whether the rule names one single thing, without a pattern.
    pub(super) fn is_literal(&self) -> bool {
        match &self.pattern {
            Pattern::Mcp { server, tool } => server.is_literal() && tool.is_literal(),
            Pattern::Name(name) => name.is_literal(),
            Pattern::Path(path) => path.is_literal(),
            Pattern::Run(_) | Pattern::Http { .. } => false,
        }
    }

    /// Tells whether the rule names one single path, so that it cannot cover another by accident.
    pub(super) fn names_one_path(&self) -> bool {
        matches!(&self.pattern, Pattern::Path(glob) if glob.is_literal())
    }
}

/// Matches a name; strict rules do not care for case.
fn name_matches(glob: &Glob, name: &str, exact: bool) -> bool {
    glob.matches(name) || (!exact && Glob::matches(&glob.lowercase(), &name.to_lowercase()))
}

/// Tells whether a request path is what it looks like: no climbing, nothing percent-encoded that
/// a server may read as a separator or a dot.
fn is_plain(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    !lower.split('/').any(|segment| segment == "..")
        && !["%2e", "%2f", "%5c", "\\"]
            .iter()
            .any(|trick| lower.contains(trick))
}

fn capability(access: &Access) -> &'static str {
    match access {
        Access::Read(_) => "read",
        Access::Write(_) => "write",
        Access::Delete(_) => "delete",
        Access::Run(_) => "run",
        Access::Mcp { .. } => "mcp",
        Access::Http { .. } => "http",
        Access::Skill(_) => "skill",
        Access::Tool(_) => "tool",
        // No rule speaks of them: visibility decides, what was returned before, or the sub-agent's
        // own calls, which are judged one by one.
        Access::OpenSkill | Access::Output | Access::Delegate | Access::Confirm(_) => "",
        Access::Within(_) | Access::Exactly(_) => "",
    }
}

impl Argv {
    /// Matches the first words; a strict rule also means the program under a path to it.
    fn matches(&self, argv: &[String], exact: bool) -> bool {
        let Self::Prefix(words) = self else {
            return true;
        };
        let same = |index: usize, word: &String| {
            argv.get(index).is_some_and(|arg| {
                let program = arg.rsplit(['/', '\\']).next().unwrap_or(arg);
                word == "*"
                    || word == arg
                    || (!exact && index == 0 && word.eq_ignore_ascii_case(program))
            })
        };
        words
            .iter()
            .enumerate()
            .all(|(index, word)| same(index, word))
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        Reader::new(text).rule()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}({})",
            self.effect.as_str(),
            self.capability,
            self.text
        )
    }
}

/// Reads one rule and knows where it is.
struct Reader<'a> {
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text }
    }

    fn rule(&self) -> Result<Rule, RuleError> {
        let start = self.text.len() - self.text.trim_start().len();
        let word = self.word(start);
        let names = Effect::NAMES.map(|(name, _)| name);
        let Some((_, effect)) = Effect::NAMES.into_iter().find(|(name, _)| *name == word) else {
            let hint = did_you_mean(word, names);
            return Err(self.error(
                start,
                format!("unknown effect `{word}`{}", or_list(hint, &names)),
            ));
        };
        let after = start + word.len();
        let gap = self.tail(after).len() - self.tail(after).trim_start().len();
        self.rest(effect, after + gap)
    }

    /// Reads `CAPABILITY(PATTERN)` from the byte `start`.
    fn rest(&self, effect: Effect, start: usize) -> Result<Rule, RuleError> {
        let word = self.word(start);
        let Some(capability) = CAPABILITIES.into_iter().find(|name| *name == word) else {
            let hint = did_you_mean(word, CAPABILITIES);
            return Err(self.error(
                start,
                format!(
                    "unknown capability `{word}`{}",
                    or_list(hint, &CAPABILITIES)
                ),
            ));
        };
        let open = start + word.len();
        let Some(inner) = self.tail(open).strip_prefix('(') else {
            return Err(self.error(open, format!("expected `(` after `{capability}`")));
        };
        let Some(pattern) = inner.trim_end().strip_suffix(')') else {
            return Err(self.error(
                self.text.trim_end().len(),
                "expected `)` at the end".to_owned(),
            ));
        };
        let text = pattern.trim();
        let at = open + 1 + (pattern.len() - pattern.trim_start().len());
        if text.is_empty() {
            return Err(self.error(at, "the pattern is empty; `**` means everything".to_owned()));
        }
        let pattern = self.pattern(capability, text, at)?;
        Ok(Rule {
            effect,
            capability,
            text: text.to_owned(),
            pattern,
        })
    }

    fn pattern(&self, capability: &str, text: &str, at: usize) -> Result<Pattern, RuleError> {
        let glob =
            |text: &str, at: usize| Glob::parse(text).map_err(|error| self.glob_error(at, error));
        let path = |text: &str, at: usize| {
            PathGlob::parse(text).map_err(|error| self.glob_error(at, error))
        };
        match capability {
            "read" | "write" | "delete" => Ok(Pattern::Path(path(text, at)?)),
            "run" if matches!(text, "*" | "**") => Ok(Pattern::Run(Argv::Any)),
            "run" => Ok(Pattern::Run(Argv::Prefix(
                text.split_whitespace().map(str::to_owned).collect(),
            ))),
            "mcp" => {
                let Some((server, tool)) = text.split_once(':') else {
                    return Err(self.error(at, "expected `SERVER:TOOL`".to_owned()));
                };
                Ok(Pattern::Mcp {
                    server: glob(server, at)?,
                    tool: glob(tool, at + server.len() + 1)?,
                })
            }
            "http" => {
                let Some((method, url)) = text.split_once(' ') else {
                    return Err(self.error(at, "expected `METHOD HOST/PATH`".to_owned()));
                };
                let url_at = at + method.len() + 1;
                let (host, below) = url
                    .trim_start()
                    .split_once('/')
                    .unwrap_or((url.trim_start(), ""));
                let path_at = self.text.len().min(url_at + host.len() + 1);
                Ok(Pattern::Http {
                    method: glob(&method.to_ascii_uppercase(), at)?,
                    host: glob(&host.to_lowercase(), url_at)?,
                    path: path(below, path_at)?,
                })
            }
            _ => Ok(Pattern::Name(glob(text, at)?)),
        }
    }

    fn word(&self, start: usize) -> &'a str {
        let tail = self.tail(start);
        let end = tail
            .find(|c: char| c == '(' || c == ')' || c.is_whitespace())
            .unwrap_or(tail.len());
        tail.get(..end).unwrap_or_default()
    }

    fn tail(&self, start: usize) -> &'a str {
        self.text.get(start..).unwrap_or_default()
    }

    fn glob_error(&self, at: usize, error: GlobError) -> RuleError {
        let mut rule_error = self.error(at, error.message);
        rule_error.column += error.at;
        rule_error
    }

    /// Returns an error at the byte `at`.
    fn error(&self, at: usize, message: String) -> RuleError {
        let before = self.text.get(..at).map_or(0, |text| text.chars().count());
        RuleError {
            rule: self.text.to_owned(),
            column: before + 1,
            message,
        }
    }
}

/// Returns the hint, or the list of words where none is near.
fn or_list(hint: String, words: &[&str]) -> String {
    if hint.is_empty() {
        format!("; known are {}", words.join(", "))
    } else {
        hint
    }
}

#[cfg(test)]
mod tests;
