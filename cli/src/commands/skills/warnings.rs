//! `tekne skills warnings`: what was shadowed, mended, refused, kept back or not listed.

use serde_json::{Value, json};
use skill_core::{Diagnostic, Severity};

use super::findings::{self, Index};
use super::{diagnostic_json, diagnostic_text};
use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::setup::{self, Assistant};

/// Runs the command.
pub(super) fn run(context: &Context) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let assistant = Assistant::new(context, &loaded.config)?;
    let principal = assistant.principal(&loaded.config);
    let view = setup::catalog(context, &loaded.config, &[]).view(&principal);
    let snapshot = view.snapshot();
    let of_files = snapshot
        .reports()
        .iter()
        .flat_map(|report| &report.diagnostics);
    let verbose = context.options.verbose > 0;
    let index = Index::new(context, &loaded.config, &assistant, &view);
    let mut of_view = findings::of_view(&view, &principal, &index);
    if verbose {
        of_view.extend(findings::all_missing(&view));
    }
    let warnings: Vec<&Diagnostic> = of_files
        .chain(snapshot.diagnostics())
        .chain(&of_view)
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
