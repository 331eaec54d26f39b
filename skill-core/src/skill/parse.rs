//! Bytes to a skill: pure, never failing, with a finding for everything that is not as it should.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::digest::content_digest;
use crate::safety;
use crate::skill::companion::{self, Companion};
use crate::skill::decode::decode;
use crate::skill::document::{self, Document, Lost};
use crate::skill::fence::{self, FenceState, Split};
use crate::skill::fields;
use crate::skill::findings::Findings;
use crate::skill::{Diagnostic, Scope, Severity, Skill, SkillFormat};
use crate::skill::{plain, repair, restricting};

/// Where a skill's bytes come from: all that the bytes themselves do not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The entry file; its name and its folder's stand in for a missing name.
    pub path: PathBuf,
    /// The form of the file.
    pub format: SkillFormat,
    /// Whose it is.
    pub scope: Scope,
}

impl Origin {
    /// Returns the origin of a file of the form that its name says.
    ///
    /// `SKILL.md` in any case is a package, `*.skill.md` has the suffix form, `*.yaml` and `*.yml`
    /// are declared, everything else is read as in a lite root.
    pub fn of(path: impl Into<PathBuf>, scope: Scope) -> Self {
        let path = path.into();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        let format = if name.eq_ignore_ascii_case("SKILL.md") {
            SkillFormat::Package
        } else if name.len() > ".skill.md".len() && name.to_ascii_lowercase().ends_with(".skill.md")
        {
            SkillFormat::Suffix
        } else if name.ends_with(".yaml") || name.ends_with(".yml") {
            SkillFormat::Declared
        } else {
            SkillFormat::Lite
        };
        Self {
            path,
            format,
            scope,
        }
    }
}

/// A skill as its bytes declare it.
#[derive(Clone, Debug)]
pub struct ParsedSkill {
    /// The record, as far as it could be read; also for a file that is refused.
    pub skill: Skill,
    /// The Markdown below the frontmatter.
    pub body: String,
    /// What was found, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedSkill {
    /// Tells whether some finding forbids to load it.
    pub fn is_refused(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Parses the bytes of a skill file.
///
/// ```
/// use skill_core::{Origin, Scope, parse_skill};
///
/// let text = "---\nname: pdf\ndescription: Use when: PDFs\n---\n# PDF\n";
/// let parsed = parse_skill(text.as_bytes(), &Origin::of("pdf/SKILL.md", Scope::User));
/// assert_eq!(parsed.skill.description, "Use when: PDFs");
/// assert_eq!(parsed.diagnostics[0].code, "SK021");
/// assert_eq!(parsed.diagnostics[0].fix.as_deref(), Some("description: \"Use when: PDFs\""));
/// ```
pub fn parse_skill(bytes: &[u8], origin: &Origin) -> ParsedSkill {
    parse_with(bytes, origin, None)
}

/// Parses a skill file beside which a file of another dialect may lie.
pub(crate) fn parse_with(
    bytes: &[u8],
    origin: &Origin,
    companion: Option<&Companion>,
) -> ParsedSkill {
    let text = Text::decode(bytes);
    let (skill, body, diagnostics) = text.parse(origin, companion);
    ParsedSkill {
        skill,
        body: body.to_owned(),
        diagnostics,
    }
}

/// Parses a file for its record alone; its body is looked at, not kept.
pub(crate) fn parse_record(
    bytes: &[u8],
    origin: &Origin,
    companion: Option<&Companion>,
) -> (Skill, Vec<Diagnostic>) {
    let (skill, _, diagnostics) = Text::decode(bytes).parse(origin, companion);
    (skill, diagnostics)
}

/// Returns the body of `skill`, a record of a reading before, if the file's bytes still end with it.
///
/// Where a frontmatter broke, nobody knows where it ends; a body that has the length and gives the
/// digest is the same one.
pub(crate) fn body_within(bytes: &[u8], skill: &Skill) -> Option<String> {
    let text = decode(bytes, &mut Findings::default());
    let text = text.trim_end();
    let length = usize::try_from(skill.body_bytes).ok()?;
    let body = text.get(text.len().checked_sub(length)?..)?;
    (content_digest(skill, body) == skill.content_digest).then(|| body.to_owned())
}

/// A file's decoded text and what its bytes were like.
struct Text<'a> {
    text: Cow<'a, str>,
    findings: Findings,
}

impl<'a> Text<'a> {
    fn decode(bytes: &'a [u8]) -> Self {
        let mut findings = Findings::default();
        let decoded = decode(bytes, &mut findings);
        let text = fence::unfold(&decoded, &mut findings).map_or(decoded, Cow::Owned);
        Self { text, findings }
    }

    /// Returns the record, the body and the findings.
    fn parse(
        &self,
        origin: &Origin,
        companion: Option<&Companion>,
    ) -> (Skill, &str, Vec<Diagnostic>) {
        let mut findings = self.findings.clone();
        let (split, mut document) = read(&self.text, origin.format, &mut findings);
        document
            .lost
            .extend(below(&self.text, &split, origin.format));
        let complete = split.state == FenceState::Closed || origin.format == SkillFormat::Lite;
        let mut skill = fields::skill(&document, origin, complete, &mut findings);
        let body = split.body.trim_start_matches('\u{feff}');
        let body = body.trim_start_matches('\n').trim_end();
        if complete && origin.format != SkillFormat::Declared {
            check_body(body, split.yaml.is_some(), &mut findings);
        }
        if let Some(companion) = companion {
            skill.invocation.model &= companion::allows_model(companion, &mut findings);
        }
        let above = self.text.len().saturating_sub(split.body.len());
        safety::check(&self.text, above, &mut findings);
        if split.yaml.is_some_and(|yaml| yaml.contains('\\')) {
            document.each_text(&mut |text| safety::check_value(&self.text, text, &mut findings));
        }
        look_alike(&skill, &mut findings);
        skill.body_bytes = body.len() as u64;
        skill.content_digest = content_digest(&skill, body);
        (skill, body, findings.into_list(&origin.path))
    }
}

/// Finds the frontmatter of `text` and reads its keys.
fn read<'a>(
    text: &'a str,
    format: SkillFormat,
    findings: &mut Findings,
) -> (Split<'a>, Document<'a>) {
    if format != SkillFormat::Declared
        && let Some(split) = fence::plain(text)
        && let Some(document) = split
            .yaml
            .and_then(|yaml| plain::document(yaml, split.yaml_line))
    {
        return (split, document);
    }
    let mut split = match format {
        SkillFormat::Declared => fence::undivided(text),
        _ => fence::split(text, findings),
    };
    let mut whole = split.yaml.and_then(document::whole);
    if let Some(yaml) = split.yaml.filter(|_| split.state == FenceState::Closed)
        && whole.is_none()
        && format != SkillFormat::Declared
        && let Some(end) = fence::body_within(yaml)
    {
        split = runs_on(&split, text, end, findings);
        whole = split.yaml.and_then(document::whole);
    }
    if format == SkillFormat::Lite && split.state != FenceState::Closed {
        findings.soften(&["SK010"], None);
        findings.soften(&["SK011"], Some(Severity::Warning));
        split.yaml = None;
        split.body = text;
    }
    let document = match (split.yaml, whole) {
        (None, _) => Document::default(),
        (Some(yaml), Some(root)) => document::from_root(root, yaml, split.yaml_line, findings),
        (Some(yaml), None) => repair::by_key(yaml, split.yaml_line, findings),
    };
    (split, document)
}

/// Returns the restriction that stands at the top of the body, where a fence that is not sound, or
/// one that is one too many, put it.
fn below<'a>(text: &'a str, split: &Split<'a>, format: SkillFormat) -> Option<Lost<'a>> {
    let above = text.get(..text.len().checked_sub(split.body.len())?)?;
    let sound = above.ends_with('\n') && above.trim_end().ends_with("\n---");
    let ended = match (format, split.state) {
        (SkillFormat::Declared, _) => return None,
        (_, FenceState::Closed) => sound,
        (SkillFormat::Lite, FenceState::Unclosed) => false,
        (SkillFormat::Lite, FenceState::Missing) => true,
        // It is refused.
        _ => return None,
    };
    // What stands on the line of a fence is no key; a heading there begins the body.
    let glued = !above.is_empty() && !above.ends_with('\n');
    let (rest, keys) = match split.body.split_once('\n') {
        Some((rest, keys)) if glued => (rest, keys),
        _ => ("", split.body),
    };
    let keys = Some(keys).filter(|_| !rest.starts_with('#'))?;
    let (at, key) = restricting::at_the_top(keys, ended)?;
    let line = above.matches('\n').count() + usize::from(glued) + at + 1;
    Some(Lost {
        key: Cow::Borrowed(key),
        text: split.body,
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: 1,
    })
}

/// Takes back the end of a frontmatter that is no YAML and runs on into the body.
fn runs_on<'a>(split: &Split<'a>, text: &'a str, end: usize, findings: &mut Findings) -> Split<'a> {
    let place = Some((split.yaml_line.saturating_sub(1), 1));
    findings
        .add(
            "SK011",
            place,
            "the frontmatter is not closed before the body",
        )
        .fix("put `---` on a line of its own below the last key");
    Split {
        yaml: split.yaml.and_then(|yaml| yaml.get(..end)),
        body: text.get(split.yaml_start + end..).unwrap_or_default(),
        state: FenceState::Unclosed,
        ..*split
    }
}

/// Reports a name that passes for another.
fn look_alike(skill: &Skill, findings: &mut Findings) {
    if let Some(seen) = safety::mixed_scripts(&skill.name) {
        let message = format!("the name looks like `{seen}` and is not that");
        findings
            .add("SK111", None, message)
            .text(&skill.name)
            .fix("use letters of one script");
    }
}

/// A body longer than this is more than the standard recommends.
const LONG_BODY_TOKENS: usize = 5_000;

fn check_body(body: &str, has_frontmatter: bool, findings: &mut Findings) {
    if body.is_empty() {
        findings.add("SK042", None, "the body is empty");
        return;
    }
    // Four bytes a token is what English prose comes to.
    let tokens = body.len() / 4;
    if tokens > LONG_BODY_TOKENS {
        findings
            .add(
                "SK043",
                None,
                format!("the body is long: about {tokens} tokens"),
            )
            .fix("move parts of it into files it refers to");
    }
    if has_frontmatter && fence::begins_with_frontmatter(body) {
        findings
            .add(
                "SK014",
                None,
                "the body begins with a second frontmatter, which is not read",
            )
            .text(body.lines().next().unwrap_or_default())
            .fix("merge it into the first");
    }
}

#[cfg(test)]
mod tests;
