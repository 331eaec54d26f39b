//! `list_skills`: every skill of the view, a page at a time.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use skill_core::{LoadMode, ViewedSkill};

use crate::access::Access;
use crate::builtin::skill_text::one_line;
use crate::context::ToolContext;
use crate::output::cut;
use crate::tool::{Tool, ToolError, ToolOutput};

/// The longest page, with its last line.
const MAX_PAGE_BYTES: usize = 4096;

/// Room for the last line of a page.
const FOOTER_BYTES: usize = 120;

/// The longest description in a list.
const MAX_DESCRIPTION_BYTES: usize = 400;

/// Lists the skills of the call's view; never a body.
#[derive(Debug)]
pub(super) struct ListSkills;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words to look for in ids, names and descriptions; the best matches come first.
    query: Option<String>,
    /// How many skills to skip.
    offset: Option<u32>,
    /// How many skills to list at most.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// The name of the tool that pages through the skills.
pub const LIST_SKILLS: &str = "list_skills";

impl Tool for ListSkills {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        LIST_SKILLS
    }

    fn description(&self) -> &str {
        "Lists the skills that can be opened, a page at a time. The last line says how to go on."
    }

    fn access(&self, _arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::OpenSkill])
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let skills = context.view.skills();
        let query = arguments
            .query
            .as_deref()
            .map(str::trim)
            .filter(|query| !query.is_empty());
        let found = query.map_or_else(|| skills.iter().collect(), |query| matching(skills, query));
        let offset = arguments.offset.unwrap_or_default() as usize;
        let limit = arguments.limit.map_or(usize::MAX, |limit| limit as usize);
        Ok(ToolOutput::text(page(&found, offset, limit, query)))
    }
}

/// Returns as many lines as fit a page, and how to go on.
fn page(found: &[&ViewedSkill], offset: usize, limit: usize, query: Option<&str>) -> String {
    let total = found.len();
    let mut page = String::new();
    let mut shown = 0;
    for skill in found.iter().skip(offset).take(limit) {
        let line = line(skill);
        if page.len() + line.len() + 1 > MAX_PAGE_BYTES - FOOTER_BYTES && shown > 0 {
            break;
        }
        page.push_str(&line);
        page.push('\n');
        shown += 1;
    }
    let end = offset.saturating_add(shown);
    let footer = match (shown, total) {
        (0, 0) if query.is_some() => {
            "[no skill matches; leave the query out to list all]".to_owned()
        }
        (0, 0) => "[no skills]".to_owned(),
        (0, _) => format!("[{total} skills in all; nothing from offset {offset}]"),
        _ if end < total => format!(
            "[skills {} to {end} of {total}; go on with offset {end}]",
            offset + 1
        ),
        _ => format!("[skills {} to {end} of {total}]", offset + 1),
    };
    page + &footer
}

/// Returns the line of one skill; its id is always whole, or it could not be opened.
fn line(viewed: &ViewedSkill) -> String {
    let skill = &viewed.skill;
    let id = one_line(skill.id.as_str());
    let mark = if viewed.load == LoadMode::Always {
        " (always on)"
    } else {
        ""
    };
    let description = one_line(cut(&skill.description, MAX_DESCRIPTION_BYTES));
    let more = if skill.description.len() > MAX_DESCRIPTION_BYTES {
        "…"
    } else {
        ""
    };
    if description.is_empty() {
        return format!("- {id}{mark}");
    }
    format!("- {id}: {description}{more}{mark}")
}

/// Returns the skills in which a word of `query` occurs, those with most words first.
fn matching<'v>(skills: &'v [ViewedSkill], query: &str) -> Vec<&'v ViewedSkill> {
    let words = words(query);
    let mut scored: Vec<(usize, &ViewedSkill)> = skills
        .iter()
        .map(|viewed| {
            let skill = &viewed.skill;
            let text =
                format!("{}\n{}\n{}", skill.id, skill.name, skill.description).to_lowercase();
            (
                words
                    .iter()
                    .filter(|word| text.contains(word.as_str()))
                    .count(),
                viewed,
            )
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    // Stable: equal scores keep the order of the view.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, viewed)| viewed).collect()
}

/// Returns the words of a query: runs of letters and digits, and the pairs of neighbours of
/// scripts that are written without spaces.
fn words(query: &str) -> BTreeSet<String> {
    let lower = query.to_lowercase();
    let mut words = BTreeSet::new();
    for run in lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|run| !run.is_empty())
    {
        let chars: Vec<char> = run.chars().collect();
        if run.is_ascii() || chars.len() <= 2 {
            words.insert(run.to_owned());
        } else {
            words.extend(chars.windows(2).map(String::from_iter));
        }
    }
    words
}
