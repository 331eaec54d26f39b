//! `tekne skills list`: the catalogue as this assistant sees it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use skill_core::{
    CandidateReport, Diagnostic, LoadMode, Scope, Severity, Skill, SkillView, Verdict, ViewedSkill,
    project_root,
};

use super::findings::{self, Index};
use super::{diagnostic_json, diagnostic_text};
use crate::app::Context;
use crate::config::Config;
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::render::terminal::{counted, one_line};
use crate::roots;
use crate::setup::{self, Assistant};

/// Columns a description may take.
const DESCRIPTION: usize = 72;

/// Runs the command.
pub(crate) fn run(context: &Context) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let assistant = Assistant::new(context, &loaded.config)?;
    let catalog = setup::catalog(context, &loaded.config, &[]);
    let principal = assistant.principal(&loaded.config);
    let view = catalog.view(&principal);
    let index = Index::new(context, &loaded.config, &assistant, &view);
    let found = findings::of_view(&view, &principal, &index);
    if context.output.is_json() {
        context.output.json_line(&document(&view, &found))?;
        return Ok(Exit::Done);
    }
    let row = |viewed: &ViewedSkill, shown: &str| {
        let skill = &viewed.skill;
        vec![
            one_line(skill.id.as_str(), 48),
            shown.to_owned(),
            skill.scope.as_str().to_owned(),
            one_line(&skill.description, DESCRIPTION),
        ]
    };
    let of_model = view
        .skills()
        .iter()
        .map(|viewed| row(viewed, shown(viewed)));
    let of_people = view.user_only().iter().map(|viewed| row(viewed, "manual"));
    let rows: Vec<Vec<String>> = of_model.chain(of_people).collect();
    context.output.data(&table(&rows))?;
    if context.options.verbose > 0 {
        talk_of_places(context, &loaded.config);
    }
    talk(context, &view);
    talk_of_view(context, &found);
    Ok(Exit::Done)
}

/// Returns how the model comes to a skill: `unlisted` is one it has to know by its id.
fn shown(viewed: &ViewedSkill) -> &'static str {
    match viewed.load {
        LoadMode::Lazy if !viewed.listed => "unlisted",
        load => load.as_str(),
    }
}

/// Says where skills were looked for, and how far up: to the top of the project.
fn talk_of_places(context: &Context, config: &Config) {
    let environment = &context.environment;
    let top = project_root(&roots::places(environment));
    context.output.talk(&match top {
        Some(top) => format!("the project is {}", environment.shown(&top)),
        None => "there is no project here".to_owned(),
    });
    for root in roots::roots(environment, config, &[]) {
        let there = if root.path.exists() {
            ""
        } else {
            " (not there)"
        };
        let shown = environment.shown(&root.path);
        context.output.talk(&format!("  looked in {shown}{there}"));
    }
}

/// Says how many skills the model does not see as they stand in their files.
fn talk_of_view(context: &Context, found: &[Diagnostic]) {
    let count = |code: &str| found.iter().filter(|one| one.code == code).count();
    let parts = [
        ("SK080", "shortened in the index"),
        ("SK081", "in it by name only"),
        ("SK082", "not in it"),
    ];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(code, _)| count(code) > 0)
        .map(|(code, what)| format!("{} {what}", count(code)))
        .collect();
    if !told.is_empty() {
        context.output.notice(&format!(
            "skills and the index: {}; `tekne skills warnings -v` says why",
            told.join(", ")
        ));
    }
    let lacking: BTreeSet<_> = found
        .iter()
        .filter(|one| one.code == "SK100")
        .map(|one| &one.path)
        .collect();
    if !lacking.is_empty() {
        context.output.notice(&format!(
            "{} left out, for this machine lacks something; `tekne skills warnings -v` says what",
            counted(lacking.len(), "skill")
        ));
    }
}

/// Says what the table does not: that it is empty, and which files did not make it.
fn talk(context: &Context, view: &SkillView) {
    let snapshot = view.snapshot();
    let mut usable = view.skills().iter().chain(view.user_only());
    // What is built in is there before anybody has written a skill.
    if usable.all(|viewed| viewed.skill.scope == Scope::Builtin) {
        context
            .output
            .notice("no skills of your own found; `tekne init` writes a first one");
    }
    let refused = snapshot
        .reports()
        .iter()
        .filter(|report| report.verdict == Verdict::Refused);
    for diagnostic in refused
        .flat_map(|report| &report.diagnostics)
        .chain(snapshot.diagnostics())
        .filter(|diagnostic| {
            // What was registered and is damaged is nobody's file to look after but ours.
            diagnostic.severity == Severity::Error
                || diagnostic.path.starts_with(&context.environment.data_dir)
        })
    {
        context.output.talk(&diagnostic_text(context, diagnostic));
    }
    let waiting = snapshot.waiting();
    if waiting > 0 {
        context.output.notice(&format!(
            "{} waiting for trust; `tekne trust` shows what there is",
            counted(waiting, "skill")
        ));
    }
    let repaired = snapshot
        .reports()
        .iter()
        .filter(|report| report.verdict == Verdict::Repaired && !report.pending);
    let repaired = repaired.count();
    if repaired > 0 {
        context.output.notice(&format!(
            "{} mended on reading; `tekne skills check` says what",
            counted(repaired, "file")
        ));
    }
}

fn document(view: &SkillView, found: &[Diagnostic]) -> Value {
    let snapshot = view.snapshot();
    let visible: BTreeMap<_, _> = view
        .skills()
        .iter()
        .map(|viewed| (viewed.skill.path.as_path(), viewed))
        .collect();
    // A skill whose name another one holds can still be reached by its qualified id.
    let shadowed: BTreeMap<_, _> = snapshot
        .reports()
        .iter()
        .filter_map(|report| match &report.verdict {
            Verdict::Shadowed { by } => Some((report.path.as_path(), by.display().to_string())),
            _ => None,
        })
        .collect();
    let mut skills: Vec<Value> = view
        .skills()
        .iter()
        .chain(view.user_only())
        .map(|viewed| {
            let skill = &viewed.skill;
            let by = shadowed.get(skill.path.as_path()).cloned();
            entry(skill, viewed.load.as_str(), viewed.listed, true, by)
        })
        .collect();
    let diagnostics: Vec<Value> = snapshot
        .reports()
        .iter()
        .flat_map(|report| &report.diagnostics)
        .chain(snapshot.diagnostics())
        .chain(found)
        .chain(&findings::all_missing(view))
        .map(diagnostic_json)
        .collect();
    let hidden = |report: &&CandidateReport| !visible.contains_key(report.path.as_path());
    for report in snapshot.reports().iter().filter(hidden) {
        let by = shadowed.get(report.path.as_path()).cloned();
        if let Some(skill) = &report.skill
            && (by.is_some() || report.pending)
        {
            skills.push(entry(skill, skill.load.as_str(), false, false, by));
        }
    }
    json!({"v": 1, "skills": skills, "diagnostics": diagnostics})
}

fn entry(
    skill: &Skill,
    load: &str,
    listed: bool,
    visible: bool,
    shadowed_by: Option<String>,
) -> Value {
    json!({
        "id": skill.id.as_str(),
        "name": skill.name,
        "description": skill.description,
        "format": skill.format.as_str(),
        "load": load,
        "scope": skill.scope.as_str(),
        "path": skill.path.display().to_string(),
        "version": skill.version,
        "digest": skill.content_digest,
        "listed": listed,
        "visible": visible,
        "shadowed_by": shadowed_by,
    })
}
