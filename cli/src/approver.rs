//! Asks the person at the terminal before something acts.

use std::io::{BufRead, Write};

use tool_gateway::{Approval, ApprovalRequest, Approver};

use crate::app::Context;
use crate::render::terminal::{counted, visible};

/// How many lines of the details are shown.
const MAX_LINES: usize = 200;

/// How much of one of these lines is shown, in characters.
const MAX_COLUMNS: usize = 500;

/// How much of the action is shown, in characters.
const MAX_ACTION: usize = 4_000;

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

/// Returns what is shown: the details first, so that the action and the question stand together
/// at the end, however long the details are.
fn question(request: &ApprovalRequest) -> String {
    let mut text = String::from("\n");
    if let Some(details) = &request.details {
        text.push_str(&shortened(&visible(details)));
        text.push('\n');
    }
    text.push_str(&format!(
        "{}\nasked because: {}\nallow this once? [y/N] ",
        middle_cut(&visible(&request.action), MAX_ACTION),
        visible(&request.reason)
    ));
    text
}

/// Tells whether somebody agrees: by a flag, or asked at a terminal; where nobody can be asked, no.
pub(crate) fn agreed(context: &Context, yes: bool, question: &str) -> bool {
    let interactive = context.environment.is_interactive(context.output.is_json());
    yes || (interactive && confirm(question))
}

/// Asks a question of yes or no; anything but a clear yes is a no.
pub(crate) fn confirm(question: &str) -> bool {
    ask(&format!("{} [y/N] ", visible(question)))
        .is_some_and(|answer| judge(&answer) == Approval::Allow)
}

/// Returns indented lines; of very many the first and the last, and how many are left out.
fn shortened(details: &str) -> String {
    let lines: Vec<&str> = details.lines().collect();
    let left_out = lines.len().saturating_sub(MAX_LINES);
    let kept = lines.len() - left_out;
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index == kept.div_ceil(2) && left_out > 0 {
            text.push_str(&format!(
                "  [{} left out here]\n",
                counted(left_out, "line")
            ));
        }
        if index < kept.div_ceil(2) || index >= kept.div_ceil(2) + left_out {
            text.push_str(&format!("  {}\n", middle_cut(line, MAX_COLUMNS)));
        }
    }
    text
}

/// Returns a line; of a very long one the start and the end, and how much is left out.
fn middle_cut(line: &str, limit: usize) -> String {
    let characters: Vec<char> = line.chars().collect();
    let left_out = characters.len().saturating_sub(limit);
    if left_out == 0 {
        return line.to_owned();
    }
    let half = limit / 2;
    let start: String = characters.iter().take(half).collect();
    let end: String = characters.iter().skip(half + left_out).collect();
    format!(
        "{start} [{} left out here] {end}",
        counted(left_out, "character")
    )
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

    fn request(action: &str, details: Option<&str>) -> ApprovalRequest {
        ApprovalRequest {
            call_id: "c1".into(),
            tool: "t".into(),
            action: action.into(),
            details: details.map(str::to_owned),
            arguments_digest: "d".into(),
            reason: "r".into(),
        }
    }

    #[test]
    fn the_action_and_the_question_stand_together_at_the_end() {
        assert_eq!(
            question(&request("write a", Some("-old\n+new\n"))),
            "\n  -old\n  +new\n\nwrite a\nasked because: r\nallow this once? [y/N] "
        );
        assert_eq!(
            question(&request("run", None)),
            "\nrun\nasked because: r\nallow this once? [y/N] "
        );
    }

    #[test]
    fn long_details_are_cut_in_the_middle_and_say_by_how_much() {
        let details: String = (1..=1_000).map(|line| format!("{line}\n")).collect();
        let text = question(&request("write a", Some(&details)));
        assert!(text.starts_with("\n  1\n  2\n"), "{text}");
        assert!(
            text.contains("\n  100\n  [800 lines left out here]\n  901\n"),
            "{text}"
        );
        assert!(text.contains("\n  1000\n\nwrite a\n"), "{text}");
        assert_eq!(shortened("x\n").lines().count(), 1);
    }

    #[test]
    fn a_long_line_is_cut_in_the_middle_and_says_by_how_much() {
        assert_eq!(
            middle_cut("周报生成器", 4),
            "周报 [1 character left out here] 成器"
        );
        let long = "x".repeat(1_000_000);
        let text = question(&request(&long, Some(&long)));
        assert!(text.len() < 10_000);
        assert!(
            text.contains("x [999500 characters left out here] x"),
            "{text}"
        );
        assert!(
            text.contains("x [996000 characters left out here] x"),
            "{text}"
        );
    }

    #[test]
    fn only_a_clear_yes_allows() {
        assert_eq!(judge("Y\n"), Approval::Allow);
        assert_eq!(judge(" yes \n"), Approval::Allow);
        for answer in ["\n", "n\n", "yeah\n", "y\u{1b}\n"] {
            assert!(matches!(judge(answer), Approval::Deny { .. }), "{answer:?}");
        }
    }
}
