//! `tekne skills warnings`: what was shadowed, mended, refused or kept back.

use serde_json::{Value, json};
use skill_core::{Diagnostic, Severity};

use super::{diagnostic_json, diagnostic_text};
use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::setup;

/// Runs the command.
pub(super) fn run(context: &Context) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let snapshot = setup::catalog(context, &loaded.config, &[]).snapshot();
    let of_files = snapshot
        .reports()
        .iter()
        .flat_map(|report| &report.diagnostics);
    let verbose = context.options.verbose > 0;
    let warnings: Vec<&Diagnostic> = of_files
        .chain(snapshot.diagnostics())
        .filter(|finding| verbose || finding.severity != Severity::Info)
        .collect();
    if context.output.is_json() {
        let warnings: Vec<Value> = warnings.into_iter().map(diagnostic_json).collect();
        context
            .output
            .json_line(&json!({"v": 1, "warnings": warnings}))?;
        return Ok(Exit::Done);
    }
    for warning in &warnings {
        let text = diagnostic_text(context, warning);
        context.output.data(&format!("{text}\n"))?;
    }
    if warnings.is_empty() {
        context.output.notice("no warnings");
    }
    Ok(Exit::Done)
}
