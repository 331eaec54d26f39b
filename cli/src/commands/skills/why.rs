//! `tekne skills why`: why a model sees a skill, or does not; and exactly what it would see.

use std::path::Path;

use clap::Args;
use loop_runtime::TurnRequest;
use prompt_compiler::CompiledPrompt;
use serde_json::{Value, json};
use skill_core::{
    CandidateReport, IndexCut, LoadMode, Principal, Skill, SkillCatalog, SkillView, Verdict,
    ViewedSkill,
};

use super::diagnostic_text;
use super::findings::{self, Index};
use crate::app::Context;
use crate::commands::prompt::preview;
use crate::error::{CliError, Exit};
use crate::render::terminal::visible;
use crate::setup::{self, Assistant, Wanted};
use crate::task;

/// Arguments of `tekne skills why`.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The skill's id or name
    #[arg(required_unless_present = "prompt")]
    name: Option<String>,
    /// Show the block about skills that a model would see with this task; `-` reads it
    #[arg(long, value_name = "TASK")]
    prompt: Option<String>,
}

/// What there is to say about a name.
#[derive(Debug)]
struct Answer {
    status: &'static str,
    reason: String,
    id: Option<String>,
    path: Option<std::path::PathBuf>,
    /// More, for a person.
    details: Vec<String>,
}

impl Answer {
    fn about(status: &'static str, reason: impl Into<String>, skill: &Skill) -> Self {
        Self {
            status,
            reason: reason.into(),
            id: Some(skill.id.as_str().to_owned()),
            path: Some(skill.path.clone()),
            details: Vec::new(),
        }
    }
}

/// Runs the command.
pub(super) fn run(context: &Context, arguments: &WhyArgs) -> Result<Exit, CliError> {
    let task = arguments.prompt.as_deref().map(task::text).transpose()?;
    let Some(name) = &arguments.name else {
        return show_block(context, &block(context, &task.unwrap_or_default())?);
    };
    let answer = answer(context, name, task.as_deref())?;
    let found = answer.status != "absent";
    show(context, name, &answer)?;
    Ok(if found { Exit::Done } else { Exit::Check })
}

/// What a request says about skills.
#[derive(Debug, Default)]
struct Block {
    text: String,
    /// What was cut from it, as the compiler says.
    cut: Vec<String>,
    tokens: u64,
    exact: bool,
    /// The names of the tools that the request offers.
    tools: Vec<String>,
}

/// Compiles the request of a task.
fn block(context: &Context, task: &str) -> Result<Block, CliError> {
    let wanted = Wanted {
        exact: true,
        ..Wanted::default()
    };
    let prompt = preview(context, &TurnRequest::task(task), &wanted)?;
    Ok(block_of(&prompt))
}

fn block_of(prompt: &CompiledPrompt) -> Block {
    // The first mark is that of the tools; those of the system blocks follow.
    let sections = prompt.marks.iter().skip(1).map(|mark| mark.section);
    let text: Vec<&str> = prompt
        .request
        .system
        .iter()
        .zip(sections)
        .filter(|(_, section)| matches!(*section, "always" | "index"))
        .map(|(text, _)| text.as_str())
        .collect();
    let sections = prompt.report.sections.iter();
    let sections: Vec<_> = sections
        .filter(|section| matches!(section.name.as_str(), "always" | "index"))
        .collect();
    Block {
        text: text.join("\n\n"),
        cut: sections.iter().flat_map(|one| one.cut.clone()).collect(),
        tokens: sections.iter().map(|one| one.given).sum(),
        exact: prompt.report.exact,
        tools: prompt
            .request
            .tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect(),
    }
}

fn show_block(context: &Context, block: &Block) -> Result<Exit, CliError> {
    if context.output.is_json() {
        context.output.json_line(&json!({
            "v": 1, "block": block.text, "tokens": block.tokens, "exact": block.exact,
            "cut": block.cut, "tools": block.tools,
        }))?;
        return Ok(Exit::Done);
    }
    if block.text.is_empty() {
        context
            .output
            .notice("the request says nothing about skills");
    } else {
        context
            .output
            .data(&format!("{}\n", visible(&block.text)))?;
    }
    let about = if block.exact { "" } else { "about " };
    context
        .output
        .talk(&format!("{about}{} tokens", block.tokens));
    for cut in &block.cut {
        context.output.talk(&format!("cut: {cut}"));
    }
    let tools: Vec<&str> = block.tools.iter().map(String::as_str).collect();
    context.output.talk(&format!("tools: {}", tools.join(", ")));
    Ok(Exit::Done)
}

fn answer(context: &Context, name: &str, task: Option<&str>) -> Result<Answer, CliError> {
    let loaded = setup::configuration(context)?;
    let assistant = Assistant::new(context, &loaded.config)?;
    let mut principal = assistant.principal(&loaded.config);
    principal.files = task.map_or_else(Vec::new, |task| {
        setup::files_of(&context.environment, [task], None)
    });
    let catalog = setup::catalog(context, &loaded.config, &[]);
    let view = catalog.view(&principal);
    let mut answer = if let Some(viewed) = view.find(Some(name), None) {
        let index = Index::new(context, &loaded.config, &assistant, &view);
        seen(viewed, &index)
    } else if let Some(viewed) = view.find_for_user(name) {
        let why = viewed.finding().map(|finding| finding.message);
        let reason = format!(
            "only a person may start it; no model sees it: {}",
            why.unwrap_or_default()
        );
        Answer::about("user_only", reason, &viewed.skill)
    } else {
        unseen(context, name, &catalog, &view, &principal)
    };
    if let Some(path) = answer.path.clone() {
        let missing = findings::missing(&view, &path);
        let missing = missing.iter().map(|one| diagnostic_text(context, one));
        answer.details.extend(missing);
    }
    let others = catalog.snapshot();
    let others = others.reports().iter().filter(|report| {
        answers_to(report, name) && Some(report.path.as_path()) != answer.path.as_deref()
    });
    for report in others {
        let shown = context.environment.shown(&report.path);
        answer.details.push(match &report.verdict {
            Verdict::Shadowed { by } => {
                format!("{shown} is shadowed by {}", context.environment.shown(by))
            }
            verdict => format!("{shown} answers to the name too: {}", verdict.as_str()),
        });
    }
    Ok(answer)
}

/// Says how a visible skill stands in the index.
fn seen(viewed: &ViewedSkill, index: &Index) -> Answer {
    let found = index.get(viewed);
    let line = found.and_then(|(_, one)| one.line.as_deref());
    let cut = found.and_then(|(_, one)| one.cut);
    let (status, reason) = match (line, cut) {
        _ if !viewed.listed => {
            let why = viewed
                .finding()
                .map(|finding| format!(": {}", finding.message));
            let why = why.unwrap_or_default();
            let reason = format!("the index does not show it; it opens by its exact id{why}");
            ("unlisted", reason)
        }
        _ if viewed.load == LoadMode::Always && line.is_none() => {
            ("listed", "its text stands in every request".to_owned())
        }
        _ if !index.is_there() => {
            let reason = "the index is not in the request; `list_skills` finds it";
            ("unlisted", reason.to_owned())
        }
        (Some(line), None) if viewed.name_only => {
            let why = viewed.finding().map(|finding| finding.message);
            let why = why.unwrap_or_default();
            ("shortened", format!("{why}: {line}"))
        }
        (Some(line), None) => ("listed", format!("the index shows it whole: {line}")),
        (Some(line), Some(IndexCut::Shortened)) => {
            ("shortened", format!("the index shows it shortened: {line}"))
        }
        (Some(line), Some(_)) => {
            let what = "the index shows its name without the description";
            ("shortened", format!("{what}: {line}"))
        }
        (None, _) => {
            let reason = "the index has no room for it; `list_skills` finds it";
            ("unlisted", reason.to_owned())
        }
    };
    let mut answer = Answer::about(status, reason, &viewed.skill);
    let load = format!("load: {}", viewed.load.as_str());
    answer.details.push(load);
    if let Some((position, _)) = found {
        let of = index.len();
        answer
            .details
            .push(format!("position in the index: {position} of {of}"));
    }
    answer
}

/// Says why a skill is not there for this principal.
fn unseen(
    context: &Context,
    name: &str,
    catalog: &SkillCatalog,
    view: &SkillView,
    principal: &Principal,
) -> Answer {
    let snapshot = catalog.snapshot();
    let mut candidates: Vec<&CandidateReport> = snapshot
        .reports()
        .iter()
        .filter(|report| answers_to(report, name))
        .collect();
    // What could be had comes before what cannot.
    candidates.sort_by_key(|report| report.verdict == Verdict::Refused);
    let Some(report) = candidates.first() else {
        return switched_off(context, name).unwrap_or_else(|| absent(name, view));
    };
    let findings = report
        .diagnostics
        .iter()
        .map(|finding| diagnostic_text(context, finding));
    let findings: Vec<String> = findings.collect();
    let path = report.path.clone();
    let Some(skill) = &report.skill else {
        return Answer {
            status: "refused",
            reason: "its file is refused".to_owned(),
            id: None,
            path: Some(path),
            details: findings,
        };
    };
    let (status, reason) = match &report.verdict {
        _ if report.pending => (
            "pending",
            "it waits for trust; `tekne trust` shows it".to_owned(),
        ),
        Verdict::Refused => ("refused", "its file is refused".to_owned()),
        Verdict::Shadowed { by } => {
            let by = context.environment.shown(by);
            ("shadowed", format!("the name is taken by {by}"))
        }
        _ => ("hidden", hidden_because(catalog, principal, skill)),
    };
    Answer {
        details: findings,
        ..Answer::about(status, reason, skill)
    }
}

/// Finds a skill that is registered and that no snapshot holds.
fn switched_off(context: &Context, name: &str) -> Option<Answer> {
    let registered = setup::registered(context);
    let off = registered.iter().filter(|one| !one.enabled);
    let mut meant = off.filter(|one| one.id.as_str() == name || one.reference() == name);
    let one = meant.next()?;
    let reason = format!(
        "it is registered and switched off; `tekne skills enable {}`",
        one.reference()
    );
    Some(Answer::about("hidden", reason, &one.skill))
}

fn absent(name: &str, view: &SkillView) -> Answer {
    let near = view.nearest(name, 5);
    Answer {
        status: "absent",
        reason: "no file of any root declares it".to_owned(),
        id: None,
        path: None,
        details: if near.is_empty() {
            Vec::new()
        } else {
            vec![format!("similar: {}", near.join(", "))]
        },
    }
}

/// Finds which rules hide a skill.
fn hidden_because(catalog: &SkillCatalog, principal: &Principal, skill: &Skill) -> String {
    let sees = |principal: &Principal| {
        let view = catalog.view(principal);
        view.skills()
            .iter()
            .chain(view.user_only())
            .any(|viewed| viewed.skill.path == skill.path)
    };
    // A rule counts if the skill cannot be seen even with every other one lifted.
    let hides = |(_, restore): &&Rule| {
        let mut others = everything(principal, skill);
        restore(&mut others, principal);
        !sees(&others)
    };
    // What nobody sees is hidden by none of them.
    let seen_by_some = sees(&everything(principal, skill));
    let hiding = RULES.iter().filter(|rule| seen_by_some && hides(rule));
    let mut reasons: Vec<String> = hiding.map(|(what, _)| (*what).to_owned()).collect();
    let unmet = findings::unmet(principal, skill).into_iter();
    reasons.extend(unmet.map(|finding| finding.message));
    if !skill.invocation.model && !skill.invocation.user {
        reasons.push("its file lets neither a model nor a person start it".to_owned());
    }
    if reasons.is_empty() {
        reasons.push("this assistant does not see it".to_owned());
    }
    reasons.join("; ")
}

/// A rule that can hide a skill: what is said of it, and how one principal takes it from another.
type Rule = (&'static str, fn(&mut Principal, &Principal));

const RULES: &[Rule] = &[
    ("it is disabled in `skills.disabled`", |to, from| {
        to.disabled.clone_from(&from.disabled);
    }),
    ("it is not among those in `skills.include`", |to, from| {
        to.include.clone_from(&from.include);
    }),
    ("it is among those in `skills.exclude`", |to, from| {
        to.exclude.clone_from(&from.exclude);
    }),
    (
        "this assistant has it switched off, or has not switched it on",
        |to, from| to.preferences.clone_from(&from.preferences),
    ),
    (
        "it is for groups that this assistant is not in",
        |to, from| to.groups.clone_from(&from.groups),
    ),
    (
        "it is for roles that this assistant does not have",
        |to, from| to.roles.clone_from(&from.roles),
    ),
    ("it is for other contexts", |to, from| {
        to.contexts.clone_from(&from.contexts);
    }),
];

/// Returns the principal with every rule lifted that could hide `skill`.
fn everything(principal: &Principal, skill: &Skill) -> Principal {
    let mut all = principal.clone();
    all.disabled.clear();
    all.include.clear();
    all.exclude.clear();
    all.machine = None;
    all.groups.extend(skill.groups.clone());
    all.roles.extend(skill.roles.clone());
    all.contexts.extend(skill.contexts.clone());
    all.preferences.clear();
    let on = skill_core::SkillPreference {
        enabled: Some(true),
        load: None,
    };
    all.preferences.insert(skill.id.as_str().to_owned(), on);
    all
}

/// Tells whether a candidate goes by `name`: its id, name, alias, qualified id, or its place.
fn answers_to(report: &CandidateReport, name: &str) -> bool {
    let wanted = name.trim().to_lowercase();
    let is = |text: &str| text.to_lowercase() == wanted;
    let by_record = report.skill.as_ref().is_some_and(|skill| {
        is(skill.id.as_str())
            || is(&skill.name)
            || skill.aliases.iter().any(|alias| is(alias))
            || is(skill.qualified_id().as_str())
    });
    let folder = report.path.parent().and_then(Path::file_name);
    by_record || folder.is_some_and(|folder| is(&folder.to_string_lossy()))
}

fn show(context: &Context, name: &str, answer: &Answer) -> Result<(), CliError> {
    if context.output.is_json() {
        let document: Value = json!({
            "v": 1, "name": name, "status": answer.status, "reason": answer.reason,
            "id": answer.id, "path": answer.path.as_ref().map(|path| path.display().to_string()), "details": answer.details,
        });
        return context.output.json_line(&document);
    }
    let mut text = format!("{name}: {}\n  {}\n", answer.status, answer.reason);
    if let Some(path) = &answer.path {
        text.push_str(&format!("  file: {}\n", context.environment.shown(path)));
    }
    for detail in &answer.details {
        text.push_str(&format!("  {detail}\n"));
    }
    context.output.data(&visible(&text))
}
