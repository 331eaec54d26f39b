//! Asks the person at the terminal before something acts.

use std::io::{BufRead, Write};

use tool_gateway::{Approval, ApprovalRequest, Approver};

use crate::render::terminal::visible;

/// Asks on standard error and reads the answer from standard input.
#[derive(Debug)]
pub(crate) struct TerminalApprover;

#[async_trait::async_trait]
impl Approver for TerminalApprover {
    async fn decide(&self, request: &ApprovalRequest) -> Approval {
        let question = question(request);
        // Reading blocks a thread; the turn stays free to be cancelled meanwhile.
        let answer = tokio::task::spawn_blocking(move || ask(&question)).await;
        match answer {
            Ok(Some(answer)) => judge(&answer),
            Ok(None) | Err(_) => Approval::Defer,
        }
    }
}

fn question(request: &ApprovalRequest) -> String {
    let mut text = format!("\n{}\n", visible(&request.action));
    if let Some(details) = &request.details {
        for line in visible(details).lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text.push_str(&format!(
        "asked because: {}\nallow this once? [y/N] ",
        visible(&request.reason)
    ));
    text
}

/// Asks a question of yes or no; anything but a clear yes is a no.
pub(crate) fn confirm(question: &str) -> bool {
    ask(&format!("{} [y/N] ", visible(question)))
        .is_some_and(|answer| judge(&answer) == Approval::Allow)
}

/// Returns the line typed, or nothing when standard input has ended.
fn ask(question: &str) -> Option<String> {
    // What was typed before the question was read is no answer to it.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    let mut stderr = std::io::stderr().lock();
    stderr
        .write_all(question.as_bytes())
        .and_then(|()| stderr.flush())
        .ok()?;
    drop(stderr);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(length) if length > 0 => Some(line),
        _ => None,
    }
}

fn judge(answer: &str) -> Approval {
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Approval::Allow,
        "" | "n" | "no" => Approval::Deny {
            reason: "the user said no".to_owned(),
        },
        words => Approval::Deny {
            reason: format!("the user said: {words}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_allows() {
        assert_eq!(judge("Y\n"), Approval::Allow);
        assert_eq!(judge(" yes \n"), Approval::Allow);
        for answer in ["\n", "n\n", "yeah\n", "y\u{1b}\n"] {
            assert!(matches!(judge(answer), Approval::Deny { .. }), "{answer:?}");
        }
    }
}
