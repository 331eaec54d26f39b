//! A run as it happens: JSON Lines for programs, answer and progress for people.

use std::collections::BTreeMap;

use loop_runtime::{AgentEvent, EventKind, Profile, TurnOutcome};
use serde_json::Value;

use crate::error::CliError;
use crate::output::Output;
use crate::render::terminal::{counted, one_line, visible};

/// The width of a line of progress, in columns.
const WIDTH: usize = 100;

/// Shows events; keeps the first failure to write, after which nothing more is written.
#[derive(Debug)]
pub(crate) struct RunView<'a> {
    output: &'a Output,
    /// Whether the answer is shown while it comes, which only a person wants.
    live: bool,
    verbose: bool,
    /// Whether the answer is put out as it is: it goes between other text.
    exact: bool,
    open_line: bool,
    /// Names of tools by call id.
    tools: BTreeMap<String, String>,
    failure: Option<CliError>,
}

impl<'a> RunView<'a> {
    pub(crate) fn new(output: &'a Output, live: bool, verbose: bool) -> Self {
        Self {
            output,
            live,
            verbose,
            exact: false,
            open_line: false,
            tools: BTreeMap::new(),
            failure: None,
        }
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, event: &AgentEvent) {
        if self.failure.is_some() {
            return;
        }
        let shown = if self.output.is_json() {
            self.output.json_line(event)
        } else {
            self.text(&event.kind)
        };
        self.failure = shown.err();
    }

    /// Tells whether writing failed, so that the run should end.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Returns the failure to write, if there was one.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        self.failure.map_or(Ok(()), Err)
    }

    fn text(&mut self, event: &EventKind) -> Result<(), CliError> {
        match event {
            EventKind::TurnStarted { profile, .. } => {
                self.exact = profile == Profile::COMPLETE.name;
            }
            EventKind::TextDelta { text } if self.live => {
                self.output.data(&visible(text))?;
                self.open_line = !text.ends_with('\n');
            }
            EventKind::ToolPending {
                id,
                name,
                arguments,
            } => {
                self.close_line()?;
                self.tools.insert(id.clone(), name.clone());
                self.output.talk(&one_line(
                    &format!("• {name} {}", summary(arguments)),
                    WIDTH,
                ));
            }
            EventKind::ToolFinished {
                id,
                status,
                content,
                is_error,
                ..
            } if *is_error || self.verbose => {
                let name = self.tools.get(id).map_or("", String::as_str);
                self.output.talk(&one_line(
                    &format!("  {name} {status}: {content}"),
                    2 * WIDTH,
                ));
            }
            EventKind::SkillOpened { id, version, .. } => {
                let version = version.as_ref().map(|version| format!(" {version}"));
                self.output.talk(&visible(&format!(
                    "  opened skill {id}{}",
                    version.unwrap_or_default()
                )));
            }
            EventKind::PromptCompiled {
                tokens,
                budget,
                exact,
                ..
            } if self.verbose => {
                let about = if *exact {
                    ""
                } else {
                    "at most (not counted exactly) "
                };
                self.output
                    .talk(&format!("  request: {about}{tokens} of {budget} tokens"));
            }
            EventKind::Notice { message, .. } => self.output.notice(&visible(message)),
            EventKind::TurnFinished {
                text,
                usage,
                denied,
                outcome,
                cost_usd,
            } => {
                self.answer(text)?;
                let silent = text.trim().is_empty() && !self.exact;
                if silent && *outcome == TurnOutcome::Completed {
                    self.output.notice("the model ended without an answer");
                }
                if *denied > 0 {
                    self.output.notice(&format!(
                        "{} denied; allow what is needed with --yes RULE, or in `tools.policy` of your configuration",
                        counted(*denied as usize, "call")
                    ));
                }
                if self.verbose {
                    self.output.talk(&format!(
                        "  tokens: {} in, {} out, {} cached{}",
                        usage.input,
                        usage.output,
                        usage.cached,
                        cost_usd
                            .map(|usd| format!(", ${usd:.4}"))
                            .unwrap_or_default()
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the answer: a person has seen it, a pipe gets it whole and nothing else.
    fn answer(&mut self, text: &str) -> Result<(), CliError> {
        if self.live {
            return self.close_line();
        }
        if text.is_empty() {
            return Ok(());
        }
        let ended = self.exact || text.ends_with('\n');
        let line_break = if ended { "" } else { "\n" };
        self.output.data(&format!("{text}{line_break}"))
    }

    fn close_line(&mut self) -> Result<(), CliError> {
        if std::mem::take(&mut self.open_line) {
            self.output.data("\n")
        } else {
            Ok(())
        }
    }
}

/// Returns arguments in a few words: the values, without what is long.
fn summary(arguments: &Value) -> String {
    match arguments {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) => format!("{key}={text}"),
                other => format!("{key}={other}"),
            })
            .collect::<Vec<_>>()
            .join(" "),
        other => other.to_string(),
    }
}
