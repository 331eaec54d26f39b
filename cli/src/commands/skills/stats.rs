//! `tekne skills stats`: what each skill costs in tokens, and what disclosure saves.

use std::path::PathBuf;

use clap::Args;
use prompt_compiler::{TokenCounter, VocabularyCounter};
use serde_json::{Value, json};
use skill_core::{LoadMode, ModelId, SkillView, ViewedSkill};

use super::findings::Index;
use crate::app::Context;
use crate::commands;
use crate::config::{Config, ModelChoice};
use crate::error::{CliError, Exit};
use crate::render::chart::{Bar, page};
use crate::render::table::table;
use crate::render::terminal::one_line;
use crate::setup::{self, Assistant};

/// Arguments of `tekne skills stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Draw it into this file as well
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// What one skill costs, in tokens.
#[derive(Debug)]
struct Cost {
    id: String,
    load: LoadMode,
    metadata: u64,
    /// What of the metadata the index of a request shows.
    shown: u64,
    body: u64,
    docs: u64,
}

/// What all of them cost.
#[derive(Debug, Default)]
struct Totals {
    metadata: u64,
    /// What of the metadata stands in a request.
    shown: u64,
    bodies: u64,
    docs: u64,
    /// Bodies that stand in every request.
    always: u64,
}

impl Totals {
    fn of(costs: &[Cost]) -> Self {
        let mut totals = Self::default();
        for cost in costs {
            totals.metadata += cost.metadata;
            totals.shown += cost.shown;
            totals.bodies += cost.body;
            totals.docs += cost.docs;
            if cost.load == LoadMode::Always {
                totals.always += cost.body;
            }
        }
        totals
    }

    /// Returns what stands in a request before a skill was opened.
    fn disclosed(&self) -> u64 {
        self.shown + self.always
    }

    /// Returns what would stand there if everything were shown at once.
    fn whole(&self) -> u64 {
        self.metadata + self.bodies + self.docs
    }

    fn saved(&self) -> u64 {
        self.whole() - self.disclosed()
    }

    /// Returns what is saved, in tenths of a per cent.
    fn share(&self) -> u64 {
        (self.saved() * 1_000)
            .checked_div(self.whole())
            .unwrap_or(0)
    }
}

/// Runs the command.
pub(super) fn run(context: &Context, arguments: &StatsArgs) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let assistant = Assistant::new(context, &loaded.config)?;
    let catalog = setup::catalog(context, &loaded.config, &[]);
    let view = catalog.view(&assistant.principal(&loaded.config));
    let index = Index::new(context, &loaded.config, &assistant, &view);
    let counter = VocabularyCounter::for_model(&model(context, &loaded.config, &assistant));
    let costs: Vec<Cost> = view
        .skills()
        .iter()
        .map(|viewed| cost(&view, viewed, &index, &counter))
        .collect();
    let totals = Totals::of(&costs);
    if let Some(path) = &arguments.html {
        draw(
            context,
            path,
            &costs,
            &sentence(&totals, counter.is_exact()),
            &totals,
        )?;
    }
    if context.output.is_json() {
        context
            .output
            .json_line(&document(&costs, &totals, counter.is_exact()))?;
    } else {
        context
            .output
            .data(&text(&costs, &totals, counter.is_exact()))?;
    }
    Ok(Exit::Done)
}

/// Returns the model whose tokens are counted; which one it is only matters for the vocabulary.
fn model(context: &Context, config: &Config, assistant: &Assistant) -> ModelId {
    match setup::named(context, config, assistant) {
        Some(ModelChoice::Remote { model, .. }) => ModelId::new(model),
        _ => ModelId::new("offline"),
    }
}

fn cost(view: &SkillView, viewed: &ViewedSkill, index: &Index, counter: &dyn TokenCounter) -> Cost {
    let skill = &viewed.skill;
    let line = format!("- {}: {}", skill.id, skill.summary());
    // What cannot be read now costs nothing now; `skills check` says why.
    let body = view.open(viewed).map(|opened| opened.body);
    let docs = view
        .docs(viewed)
        .iter()
        .filter_map(|doc| view.doc(viewed, doc).ok())
        .map(|text| counter.count(&text))
        .sum();
    Cost {
        id: skill.id.as_str().to_owned(),
        load: viewed.load,
        metadata: if viewed.listed {
            counter.count(&line)
        } else {
            0
        },
        shown: index
            .get(viewed)
            .and_then(|(_, listed)| listed.line.as_deref())
            .map_or(0, |line| counter.count(line)),
        body: counter.count(&body.unwrap_or_default()),
        docs,
    }
}

fn document(costs: &[Cost], totals: &Totals, exact: bool) -> Value {
    let skills: Vec<Value> = costs
        .iter()
        .map(|cost| {
            json!({"id": cost.id, "load": cost.load.as_str(), "metadata": cost.metadata,
                   "body": cost.body, "docs": cost.docs})
        })
        .collect();
    json!({"v": 1, "exact": exact, "skills": skills, "totals": {
        "metadata": totals.metadata, "bodies": totals.bodies, "docs": totals.docs,
        "always": totals.always, "listed": totals.shown, "disclosed": totals.disclosed(), "whole": totals.whole(),
        "saved": totals.saved(),
    }})
}

fn text(costs: &[Cost], totals: &Totals, exact: bool) -> String {
    let mut rows = vec![
        ["skill", "load", "metadata", "body", "docs"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let numbers = |metadata: u64, body: u64, docs: u64| {
        [metadata, body, docs].map(|number| number.to_string())
    };
    for cost in costs {
        let mut row = vec![one_line(&cost.id, 48), cost.load.as_str().to_owned()];
        row.extend(numbers(cost.metadata, cost.body, cost.docs));
        rows.push(row);
    }
    let mut row = vec!["total".to_owned(), String::new()];
    row.extend(numbers(totals.metadata, totals.bodies, totals.docs));
    rows.push(row);
    format!("{}\n{}\n", table(&rows), sentence(totals, exact))
}

fn sentence(totals: &Totals, exact: bool) -> String {
    let about = if exact { "" } else { "about " };
    let share = totals.share();
    format!(
        "in a request before a skill is opened: {about}{} tokens; with everything shown: {about}{}; \
         disclosure saves {about}{} ({}.{} %)",
        totals.disclosed(),
        totals.whole(),
        totals.saved(),
        share / 10,
        share % 10,
    )
}

fn draw(
    context: &Context,
    path: &std::path::Path,
    costs: &[Cost],
    sentence: &str,
    totals: &Totals,
) -> Result<(), CliError> {
    let mut bars = vec![
        Bar::new(
            "everything shown",
            &[totals.metadata, totals.bodies, totals.docs],
        ),
        Bar::new("with disclosure", &[totals.shown, totals.always, 0]),
    ];
    bars.extend(
        costs
            .iter()
            .map(|cost| Bar::new(&cost.id, &[cost.metadata, cost.body, cost.docs])),
    );
    let html = page(
        "What skills cost, in tokens",
        sentence,
        &["metadata", "body", "docs"],
        &bars,
    );
    commands::draw(context, path, &html)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(id: &str, load: LoadMode, numbers: [u64; 3]) -> Cost {
        let [metadata, body, docs] = numbers;
        Cost {
            id: id.to_owned(),
            load,
            metadata,
            shown: metadata,
            body,
            docs,
        }
    }

    #[test]
    fn what_is_saved_is_everything_that_waits_to_be_opened() {
        let costs = [
            cost("rules", LoadMode::Always, [10, 100, 0]),
            cost("pdf", LoadMode::Lazy, [20, 300, 570]),
        ];
        let totals = Totals::of(&costs);
        assert_eq!(
            (totals.disclosed(), totals.whole(), totals.saved()),
            (130, 1000, 870)
        );
        assert!(sentence(&totals, true).ends_with("saves 870 (87.0 %)"));
        assert!(sentence(&totals, false).contains("saves about 870 "));
        assert_eq!(Totals::default().share(), 0);
    }
}
