//! `tekne prompt explain`: what each section asked for, got and lost, and why.

use std::fmt::Write as _;

use prompt_compiler::{CompiledPrompt, Report, SectionReport};
use serde_json::json;

use crate::app::Context;
use crate::error::CliError;
use crate::render::table::table;

/// What a section holds, in a few words.
const SECTIONS: &[(&str, &str)] = &[
    ("protocol", "what the provider adds to any request"),
    ("tools", "definitions of the tools on offer"),
    (
        "system",
        "the system prompt: the preset's text and the assistant's own",
    ),
    (
        "context",
        "instructions of the project, the same for the whole session",
    ),
    ("always", "skills that are always on, with their text"),
    ("index", "one line for each skill that can be opened"),
    (
        "open_skills",
        "open skills whose result is not in the request, and documents that had to go",
    ),
    ("history", "earlier rounds; the oldest go first, in blocks"),
    (
        "current_file",
        "the file that is open; it gives way to excerpts, a summary, its name",
    ),
    ("mentions", "what the task names; it never vanishes"),
    ("recalled", "passages that were found; they give way first"),
    ("user", "the task itself"),
    ("tool_groups", "calls of this turn with their results"),
];

pub(super) fn show(context: &Context, prompt: &CompiledPrompt) -> Result<(), CliError> {
    if context.output.is_json() {
        let breakpoints = &prompt.breakpoints;
        return context.output.json_line(&json!({
            "v": 1, "report": prompt.report, "breakpoints": breakpoints,
        }));
    }
    context.output.data(&text(&prompt.report))
}

/// Returns what a section holds.
fn about(name: &str) -> &'static str {
    let known = SECTIONS.iter().find(|(known, _)| *known == name);
    known.map_or("a section of this program's own", |(_, about)| about)
}

fn text(report: &Report) -> String {
    let mut rows = vec![
        ["section", "asked", "given", "lost", "share", "what it is"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(report.sections.iter().map(|section| row(section, report)));
    let mut text = table(&rows);
    for section in &report.sections {
        for note in &section.cut {
            let _ = writeln!(text, "cut from {}: {note}", section.name);
        }
        for source in &section.sources {
            let _ = writeln!(text, "{} comes from: {source}", section.name);
        }
    }
    text.push_str(&summary(report));
    text
}

fn row(section: &SectionReport, report: &Report) -> Vec<String> {
    let lost = section.asked.saturating_sub(section.given);
    let share = (section.given * 1_000)
        .checked_div(report.total)
        .unwrap_or(0);
    vec![
        section.name.clone(),
        section.asked.to_string(),
        section.given.to_string(),
        lost.to_string(),
        format!("{}.{} %", share / 10, share % 10),
        about(&section.name).to_owned(),
    ]
}

/// Returns what there is to say about the whole.
pub(super) fn summary(report: &Report) -> String {
    let limit = report.window.saturating_sub(report.reserve_output);
    let exact = if report.exact { "exact" } else { "estimated" };
    let mut text = format!(
        "total {} of {limit} tokens ({} in the window, {} kept for the answer)\n\
         counts are {exact}, made with {}\n\
         the first {} tokens are the same for every request of the session\n",
        report.total, report.window, report.reserve_output, report.basis, report.stable_prefix,
    );
    if let Some(cost) = report.cost {
        let dollars = |micros: u64| format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000);
        let _ = writeln!(
            text,
            "input {} ({} without a cache), an answer at most {}",
            dollars(cost.input),
            dollars(cost.input_uncached),
            dollars(cost.output_most),
        );
    }
    text
}
