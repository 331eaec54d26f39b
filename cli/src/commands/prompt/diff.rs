//! `tekne prompt diff`: two requests, where they part and why.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use loop_runtime::TurnRequest;
use prompt_compiler::{BlockMark, CompiledPrompt, Parting};
use serde_json::{Value, json};

use super::{agent, compile, failure, picture, show, wanted};
use crate::app::Context;
use crate::commands::sessions;
use crate::error::CliError;
use crate::render::diff::unified;
use crate::render::table::table;
use crate::task;

/// Arguments of `tekne prompt diff`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("other").required(true).multiple(true)))]
pub(crate) struct DiffArgs {
    /// The task; `-` reads it from standard input
    #[arg(required_unless_present = "session")]
    task: Option<String>,
    /// Compare with the request of the same task in this preset
    #[arg(long, value_name = "NAME", group = "other", conflicts_with = "session")]
    with_preset: Option<String>,
    /// Compare with the request of this task
    #[arg(long, value_name = "TASK", group = "other", conflicts_with = "session")]
    with_task: Option<String>,
    /// Compare two requests of this session, compiled with the skills and settings of now and
    /// without the files that came with a turn
    #[arg(long, value_name = "ID", group = "other", requires = "steps")]
    session: Option<String>,
    /// Which requests of the session, counted from 1
    #[arg(long, num_args = 2, value_names = ["N", "M"], requires = "session")]
    steps: Option<Vec<usize>>,
    /// Draw both ledgers into this file as well
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Two requests, and what each is.
pub(super) struct Pair {
    pub(super) names: [String; 2],
    pub(super) prompts: [CompiledPrompt; 2],
}

pub(super) fn run(context: &Context, arguments: &DiffArgs) -> Result<(), CliError> {
    let pair = super::super::runtime()?.block_on(pair(context, arguments))?;
    if let Some(path) = &arguments.html {
        picture::draw_two(context, path, &pair)?;
    }
    let [before, after] = &pair.prompts;
    let parting = BlockMark::parting(&before.marks, &after.marks);
    let shared = BlockMark::shared(&before.marks, &after.marks);
    if context.output.is_json() {
        return context
            .output
            .json_line(&document(&pair, parting.as_ref(), shared));
    }
    context.output.data(&text(&pair, parting.as_ref(), shared))
}

async fn pair(context: &Context, arguments: &DiffArgs) -> Result<Pair, CliError> {
    if let (Some(session), Some(steps)) = (&arguments.session, &arguments.steps) {
        return of_session(context, session, steps).await;
    }
    let task = task::text(arguments.task.as_deref().unwrap_or_default())?;
    let mut other = context.clone();
    if let Some(preset) = &arguments.with_preset {
        other.options.preset = Some(preset.clone());
    }
    let other_task = match &arguments.with_task {
        Some(text) => task::text(text)?,
        None => task.clone(),
    };
    let (one, before) = compiled(context, task).await?;
    let (two, after) = compiled(&other, other_task).await?;
    let [mut first, mut second] = ["the first task", "the second task"].map(str::to_owned);
    if arguments.with_task.is_none() {
        (first, second) = (format!("preset {one}"), format!("preset {two}"));
    } else if one != two {
        first.push_str(&format!(", preset {one}"));
        second.push_str(&format!(", preset {two}"));
    }
    Ok(Pair {
        names: [first, second],
        prompts: [before, after],
    })
}

/// Compiles the request of a task, and returns the name of the preset it is shown in.
async fn compiled(context: &Context, task: String) -> Result<(String, CompiledPrompt), CliError> {
    let agent = agent(context, &wanted(false)).await?;
    let preset = agent.preset.name.clone();
    let prompt = compile(context, agent, &TurnRequest::task(task)).await?;
    Ok((preset, prompt))
}

/// Compiles two requests of a session again, with the skills and settings of now.
async fn of_session(context: &Context, session: &str, steps: &[usize]) -> Result<Pair, CliError> {
    let agent = agent(context, &wanted(true)).await?;
    let id = sessions::resolve(context, &*agent.store, session).await?;
    context.output.notice("compiled with the skills and settings of now, and without the files and instructions that came with the turns");
    let mut prompts = Vec::new();
    for step in steps {
        let prompt = agent.preview_step(&id, *step).await.map_err(failure)?;
        prompts.push(prompt.ok_or_else(|| {
            CliError::usage(format!("session `{id}` has no request number {step}"))
                .with_hint("`tekne sessions show` lists them")
        })?);
    }
    let names = steps.iter().map(|step| format!("request {step}"));
    match (
        <[CompiledPrompt; 2]>::try_from(prompts),
        names.collect::<Vec<_>>().try_into(),
    ) {
        (Ok(prompts), Ok(names)) => Ok(Pair { names, prompts }),
        _ => Err(CliError::usage("two requests are compared: `--steps N M`")),
    }
}

fn document(pair: &Pair, parting: Option<&Parting>, shared: u64) -> Value {
    let [before, after] = &pair.prompts;
    let sections: Vec<Value> = rows(pair)
        .into_iter()
        .map(|(name, before, after)| json!({"name": name, "before": before, "after": after}))
        .collect();
    json!({
        "v": 1, "names": pair.names, "shared_tokens": shared, "parted": parting,
        "sections": sections, "before": before.report, "after": after.report,
    })
}

/// Returns the tokens of each section of either request, in the order in which they stand there.
pub(super) fn rows(pair: &Pair) -> Vec<(String, u64, u64)> {
    let mut names: Vec<&str> = Vec::new();
    for section in pair
        .prompts
        .iter()
        .flat_map(|prompt| &prompt.report.sections)
    {
        if !names.contains(&section.name.as_str()) {
            names.push(&section.name);
        }
    }
    let given = |prompt: &CompiledPrompt, name: &str| {
        let mut sections = prompt.report.sections.iter();
        sections
            .find(|section| section.name == name)
            .map_or(0, |section| section.given)
    };
    let [before, after] = &pair.prompts;
    names
        .into_iter()
        .map(|name| (name.to_owned(), given(before, name), given(after, name)))
        .collect()
}

fn text(pair: &Pair, parting: Option<&Parting>, shared: u64) -> String {
    let [before, after] = &pair.prompts;
    let mut lines = vec![vec!["section".to_owned()]];
    if let Some(head) = lines.first_mut() {
        head.extend(pair.names.clone());
        head.push("difference".to_owned());
    }
    let total = ("total".to_owned(), before.report.total, after.report.total);
    for (name, before, after) in rows(pair).into_iter().chain([total]) {
        if before + after > 0 {
            let change = i128::from(after) - i128::from(before);
            lines.push(vec![
                name,
                before.to_string(),
                after.to_string(),
                format!("{change:+}"),
            ]);
        }
    }
    let parts = match parting {
        Some(parting) => format!(
            "they share {shared} tokens and part in the section {}: {}\n",
            parting.section, parting.reason
        ),
        None => format!("they share {shared} tokens; the second goes on where the first ends\n"),
    };
    let [one, other] = [before, after].map(|prompt| show::transcript(&prompt.request));
    let changes = unified("request", &one, &other);
    format!("{}{parts}{changes}", table(&lines))
}
