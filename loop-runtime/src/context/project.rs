//! Instructions of the project: `AGENTS.md` and its kin, and the rules that editors keep.

use async_trait::async_trait;
use prompt_compiler::{ContextFragment, FragmentKind};
use skill_core::{ContextFile, parse_context};

use super::reader::{ContextReader, Found, blocking};
use super::{ContextError, ContextQuery, ContextSource, Gathered};

/// Files that say the same for different clients; the first that is there is taken.
const INSTRUCTIONS: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
];

/// The folder of rules, one a file.
const RULES: &str = ".cursor/rules";

/// How many rules are looked at.
const MOST_RULES: usize = 100;

/// Brings the instructions at the root of the workspace.
///
/// Rules for certain files come with a turn that is about one of those files; rules that only have
/// a description are left to whoever opens the file.
#[derive(Clone, Debug)]
pub struct ProjectInstructions {
    reader: ContextReader,
}

impl ProjectInstructions {
    /// Returns the source over what `reader` reads.
    pub fn new(reader: ContextReader) -> Self {
        Self { reader }
    }

    fn read(&self, query: &ContextQuery) -> Gathered {
        let mut gathered = Gathered::default();
        let found = INSTRUCTIONS.iter().find_map(|path| self.file(path));
        if let Some(file) = found {
            gathered
                .fragments
                .push(fragment(&file, FragmentKind::Instructions));
        }
        let Ok(Found::Folder(names)) = self.reader.read_now(RULES) else {
            return gathered;
        };
        let rules = names.iter().filter(|name| name.ends_with(".mdc"));
        for name in rules.take(MOST_RULES) {
            let Some(rule) = self.file(&format!("{RULES}/{name}")) else {
                continue;
            };
            if rule.always {
                gathered
                    .fragments
                    .push(fragment(&rule, FragmentKind::Instructions));
            } else if is_for(&rule, query) {
                gathered
                    .fragments
                    .push(fragment(&rule, FragmentKind::Mention));
            }
        }
        gathered
    }

    fn file(&self, path: &str) -> Option<ContextFile> {
        match self.reader.read_now(path) {
            Ok(Found::Text(text, _)) => {
                let file = parse_context(text.as_bytes(), path);
                (!file.body.trim().is_empty()).then_some(file)
            }
            _ => None,
        }
    }
}

#[async_trait]
impl ContextSource for ProjectInstructions {
    fn name(&self) -> &str {
        "project instructions"
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError> {
        let (source, query) = (self.clone(), query.clone());
        blocking(move || source.read(&query)).await
    }
}

fn fragment(file: &ContextFile, kind: FragmentKind) -> ContextFragment {
    let path = file.path.display().to_string();
    ContextFragment {
        provenance: path.clone(),
        ..ContextFragment::new(kind, format!("instructions {path}"), file.body.clone())
    }
}

/// Tells whether a rule is for the current file, or for one that the task names.
fn is_for(rule: &ContextFile, query: &ContextQuery) -> bool {
    let named = query
        .text
        .split(|letter: char| letter.is_whitespace() || "@,;:`'\"()".contains(letter));
    let mut files = named.chain(query.file.as_deref());
    files.any(|file| rule.is_for(file))
}
