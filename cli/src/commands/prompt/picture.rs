//! The picture of a ledger: what each section asked for, got and lost.

use std::path::Path;

use prompt_compiler::{BlockMark, CompiledPrompt, Report};

use super::diff::{Pair, rows};
use super::explain::summary;
use crate::app::Context;
use crate::commands::draw;
use crate::error::CliError;
use crate::render::chart::{Bar, page_with_notes};

/// Draws one ledger.
pub(super) fn draw_one(
    context: &Context,
    path: &Path,
    prompt: &CompiledPrompt,
) -> Result<(), CliError> {
    let report = &prompt.report;
    let limit = report.window.saturating_sub(report.reserve_output);
    let mut bars = vec![Bar::new("the request", &[report.total, 0])];
    bars.extend(
        report
            .sections
            .iter()
            .filter(|section| section.asked > 0)
            .map(|section| {
                let lost = section.asked.saturating_sub(section.given);
                Bar::new(&section.name, &[section.given, lost])
            }),
    );
    let sentence = format!("{} of {limit} tokens", report.total);
    let page = page_with_notes(
        "What a model would see, in tokens",
        &sentence,
        &["given", "left out"],
        &bars,
        &notes(report),
    );
    draw(context, path, &page)
}

/// Returns what a person should know beside the picture.
fn notes(report: &Report) -> Vec<String> {
    let cut = report.sections.iter().flat_map(|section| {
        let name = &section.name;
        section
            .cut
            .iter()
            .map(move |note| format!("{name}: {note}"))
    });
    cut.chain(summary(report).lines().map(str::to_owned))
        .collect()
}

/// Draws two ledgers side by side.
pub(super) fn draw_two(context: &Context, path: &Path, pair: &Pair) -> Result<(), CliError> {
    let [before, after] = &pair.prompts;
    let [one, other] = &pair.names;
    let shared = BlockMark::shared(&before.marks, &after.marks);
    let mut bars: Vec<Bar> = pair
        .prompts
        .iter()
        .zip(&pair.names)
        .map(|(prompt, name)| {
            let rest = prompt.report.total.saturating_sub(shared);
            Bar::new(name, &[shared, rest])
        })
        .collect();
    for (name, before, after) in rows(pair) {
        bars.push(Bar::new(&format!("{name}, {one}"), &[0, before]));
        bars.push(Bar::new(&format!("{name}, {other}"), &[0, after]));
    }
    let parting = BlockMark::parting(&before.marks, &after.marks);
    let sentence = match parting {
        Some(parting) => format!(
            "The requests share {shared} tokens and part in the section {}: {}",
            parting.section, parting.reason
        ),
        None => {
            format!("The requests share {shared} tokens; the second goes on where the first ends")
        }
    };
    let legend = ["shared", "of its own"];
    let page = page_with_notes("Two requests, in tokens", &sentence, &legend, &bars, &[]);
    draw(context, path, &page)
}
