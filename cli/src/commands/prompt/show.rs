//! `tekne prompt show`: the whole request, and its ledger.

use std::fmt::Write as _;

use prompt_compiler::{CompiledPrompt, Report};
use serde_json::json;
use skill_core::{CompletionRequest, ContentBlock};

use crate::app::Context;
use crate::error::CliError;
use crate::render::table::table;

pub(super) fn show(context: &Context, prompt: &CompiledPrompt) -> Result<(), CliError> {
    if context.output.is_json() {
        let request = &prompt.request;
        return context.output.json_line(&json!({
            "v": 1,
            "request": {"system": request.system, "messages": request.messages, "tools": request.tools},
            "report": prompt.report,
        }));
    }
    let mut text = transcript(&prompt.request);
    text.push_str(&ledger(&prompt.report));
    context.output.data(&text)
}

/// Returns a request as a person reads it, block by block.
pub(super) fn transcript(request: &CompletionRequest) -> String {
    let mut text = String::new();
    for block in &request.system {
        section(&mut text, "system", block);
    }
    for message in &request.messages {
        let role = format!("{:?}", message.role).to_lowercase();
        for block in &message.content {
            match block {
                ContentBlock::Text { text: said } => section(&mut text, &role, said),
                ContentBlock::ToolCall(call) => {
                    section(
                        &mut text,
                        &format!("{role} calls {} {}", call.name, call.id),
                        &call.arguments,
                    );
                }
                ContentBlock::ToolResult(result) => {
                    section(
                        &mut text,
                        &format!("result of {}", result.call_id),
                        &result.content,
                    );
                }
                other => section(&mut text, &role, &format!("{other:?}")),
            }
        }
    }
    for tool in request.tools.iter() {
        section(
            &mut text,
            &format!("tool {}", tool.name),
            &format!("{}\n{}", tool.description, tool.parameters),
        );
    }
    text
}

fn section(text: &mut String, head: &str, body: &str) {
    let _ = writeln!(text, "──── {head}\n{}\n", body.trim_end());
}

/// Returns the ledger as a table, with one line for the whole.
pub(super) fn ledger(report: &Report) -> String {
    let mut rows = vec![
        ["section", "asked", "given", "cut"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for section in report.sections.iter().filter(|section| section.asked > 0) {
        rows.push(vec![
            section.name.clone(),
            section.asked.to_string(),
            section.given.to_string(),
            section.cut.join("; "),
        ]);
    }
    let counts = if report.exact {
        "exact counts"
    } else {
        "estimated counts"
    };
    format!(
        "──── tokens ({counts})\n{}total {} of {} ({} kept for the answer), stable prefix {}\n",
        table(&rows),
        report.total,
        report.window,
        report.reserve_output,
        report.stable_prefix,
    )
}
