//! `tekne doctor`: what works on this machine, what does not, and how to mend it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use skill_core::Verdict;

use crate::app::Context;
use crate::config::{Loaded, Notice};
use crate::error::{CliError, Exit};
use crate::render::terminal::{counted, visible};
use crate::setup::{self, Assistant, ChosenModel};

/// One thing that was looked at.
#[derive(Debug)]
struct Finding {
    name: &'static str,
    ok: bool,
    message: String,
    hint: Option<String>,
}

impl Finding {
    fn good(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            message: message.into(),
            hint: None,
        }
    }

    fn bad(name: &'static str, error: &CliError) -> Self {
        Self {
            name,
            ok: false,
            message: error.placed_message(),
            hint: error.hint.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(context: &Context) -> Result<Exit, CliError> {
    let findings = findings(context);
    let healthy = findings.iter().all(|finding| finding.ok);
    if context.output.is_json() {
        let checks: Vec<Value> = findings
            .iter()
            .map(|one| json!({"name": one.name, "ok": one.ok, "message": one.message, "hint": one.hint}))
            .collect();
        context
            .output
            .json_line(&json!({"v": 1, "ok": healthy, "checks": checks}))?;
    } else {
        for finding in &findings {
            let mark = if finding.ok { "ok  " } else { "FAIL" };
            context.output.data(&format!(
                "{mark} {:<14} {}\n",
                finding.name, finding.message
            ))?;
            if let Some(hint) = &finding.hint {
                context
                    .output
                    .data(&format!("     {:<14} hint: {hint}\n", ""))?;
            }
        }
    }
    Ok(if healthy { Exit::Done } else { Exit::Check })
}

fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = vec![workspace(context), data(context)];
    let loaded = match setup::configuration(context) {
        Ok(loaded) => loaded,
        Err(error) => {
            findings.push(Finding::bad("configuration", &error));
            return findings;
        }
    };
    let files = loaded.files.iter().filter(|file| file.found).count();
    findings.push(Finding::good(
        "configuration",
        configuration(files, &loaded.notices),
    ));
    findings.extend(missing_roots(&loaded));
    match Assistant::new(context, &loaded.config) {
        Ok(assistant) => {
            findings.push(skills(context, &loaded.config, &assistant));
            findings.push(model(context, &loaded.config, &assistant));
        }
        Err(error) => findings.push(Finding::bad("assistant", &error)),
    }
    findings
}

fn configuration(files: usize, notices: &[Notice]) -> String {
    let read = format!("{} read", counted(files, "file"));
    match notices.len() {
        0 => read,
        without => format!(
            "{read}, {} without effect (`tekne config show` says which)",
            counted(without, "value")
        ),
    }
}

/// Says which folders of skills are not there: no fault, as a folder may come later.
fn missing_roots(loaded: &Loaded) -> Vec<Finding> {
    let roots = loaded.config.skills.roots.iter().enumerate();
    roots
        .filter(|(_, root)| !Path::new(&root.path).is_dir())
        .map(|(index, root)| {
            let key = format!("skills.roots[{index}].path");
            let place = loaded.origins.get(&key);
            let place = place
                .map(|origin| format!("{origin}: "))
                .unwrap_or_default();
            let message = format!("{place}`{key}`: {} is no folder", root.path);
            Finding {
                hint: Some("make the folder, or take the line out".to_owned()),
                ..Finding::good("skill root", visible(&message))
            }
        })
        .collect()
}

fn workspace(context: &Context) -> Finding {
    let folder = &context.environment.cwd;
    match std::fs::read_dir(folder) {
        Ok(_) => Finding::good("workspace", folder.display().to_string()),
        Err(error) => Finding::bad(
            "workspace",
            &CliError::usage(format!("{} cannot be read", folder.display()))
                .with_hint("choose another folder with -C")
                .with_source(error),
        ),
    }
}

fn data(context: &Context) -> Finding {
    const NAME: &str = "data folder";
    let folder = context.environment.data_dir.display().to_string();
    let checked = setup::journal(context).and_then(|store| {
        store
            .check()
            .map_err(|error| CliError::usage(error.to_string()))
    });
    match checked {
        Ok(damage) if damage.is_empty() => Finding::good(NAME, folder),
        Ok(damage) => {
            let message = format!("{folder}: {}", damage.join("; "));
            let hint = "the other sessions are not affected; to begin anew, move journal.db away";
            Finding::bad(NAME, &CliError::usage(message).with_hint(hint))
        }
        Err(error) => Finding::bad(NAME, &error),
    }
}

fn skills(context: &Context, config: &crate::config::Config, assistant: &Assistant) -> Finding {
    let catalog = setup::catalog(context, config, &[]);
    let view = catalog.view(&assistant.principal(config));
    let refused = catalog
        .snapshot()
        .reports()
        .iter()
        .filter(|report| report.verdict == Verdict::Refused)
        .count();
    let message = format!(
        "{} usable, {} refused",
        view.len(),
        counted(refused, "file")
    );
    if refused > 0 {
        let error =
            CliError::usage(message).with_hint("`tekne skills check` says what is wrong with them");
        return Finding::bad("skills", &error);
    }
    Finding::good("skills", message)
}

fn model(context: &Context, config: &crate::config::Config, assistant: &Assistant) -> Finding {
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return Finding::bad("model", &error),
    };
    let chosen = runtime.block_on(async {
        let chosen = setup::choose(context, config, assistant).await?;
        chosen.connect()?;
        reach(&chosen).await?;
        Ok::<_, CliError>(chosen)
    });
    match chosen {
        Ok(chosen) => {
            let at = chosen
                .address()
                .map(|address| format!(" at {address}"))
                .unwrap_or_default();
            let why = chosen
                .reason
                .as_ref()
                .map(|reason| format!(" ({reason})"))
                .unwrap_or_default();
            Finding::good("model", format!("{}{at}{why}", chosen.spelled()))
        }
        Err(error) => Finding::bad("model", &error),
    }
}

/// Tries whether something listens where a server on this machine is said to be.
async fn reach(chosen: &ChosenModel) -> Result<(), CliError> {
    let Some(address) = chosen.local_address() else {
        return Ok(());
    };
    let connecting = tokio::net::TcpStream::connect(&address);
    let reached = tokio::time::timeout(Duration::from_secs(1), connecting).await;
    match reached {
        Ok(Ok(_)) => Ok(()),
        _ => Err(CliError::usage(format!(
            "{}: nothing answers at {address}",
            chosen.spelled()
        ))
        .with_hint("start the server, or name another with --base-url")),
    }
}
