//! Tests of the trail: loops are caught within ten calls, honest work is not.

use super::*;

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: "c".into(),
        name: tool.into(),
        arguments: arguments.into(),
    }
}

fn result(status: CallStatus, content: &str) -> ToolResult {
    ToolResult {
        call_id: "c".into(),
        name: "x".into(),
        status,
        content: content.into(),
    }
}

/// What became of a script: after how many calls it was stopped, and how; and the advice given.
#[derive(Debug, Default, PartialEq)]
struct Played {
    ran: usize,
    outcome: Option<TurnOutcome>,
    advised_after: Vec<usize>,
}

/// Plays calls one a reply: tool, arguments, whether it works, what comes back.
fn play(script: impl IntoIterator<Item = (String, String, bool, String)>) -> Played {
    let (mut trail, mut played) = (Trail::default(), Played::default());
    for (tool, arguments, works, content) in script {
        let call = call(&tool, &arguments);
        if let Err(stop) = trail.admit(std::slice::from_ref(&call)) {
            played.outcome = Some(stop.outcome);
            return played;
        }
        played.ran += 1;
        let status = if works {
            CallStatus::Success
        } else {
            CallStatus::Error
        };
        match trail.observe([(&call, &result(status, &content))]) {
            Ok(Some(_)) => played.advised_after.push(played.ran),
            Ok(None) => {}
            Err(stop) => {
                played.outcome = Some(stop.outcome);
                return played;
            }
        }
    }
    played
}

fn step(tool: &str, arguments: &str, works: bool, content: &str) -> (String, String, bool, String) {
    (tool.into(), arguments.into(), works, content.into())
}

#[test]
fn d_087_after_three_identical_reads_the_model_is_warned_and_the_fourth_does_not_run() {
    // The order of keys makes no difference.
    let script = (0..9).map(|number| {
        let arguments = [
            "{\"path\":\"a\",\"limit\":1}",
            "{\"limit\":1,\"path\":\"a\"}",
        ];
        step("read_file", arguments[number % 2], true, "same")
    });
    let expected = Played {
        ran: 3,
        outcome: Some(TurnOutcome::RepeatedCall),
        advised_after: vec![3],
    };
    assert_eq!(play(script), expected);
}

#[test]
fn d_087_the_third_failure_of_a_tool_in_a_row_warns_and_the_fourth_ends_the_turn() {
    let script = (0..9).map(|number| step("edit", &format!("{{\"n\":{number}}}"), false, "no"));
    let expected = Played {
        ran: 4,
        outcome: Some(TurnOutcome::RepeatedFailure),
        advised_after: vec![3],
    };
    assert_eq!(play(script), expected);
}

#[test]
fn d_087_success_or_another_tool_between_failures_begins_the_count_again() {
    let script = (0..30).map(|number| {
        let arguments = format!("{{\"n\":{number}}}");
        step("edit", &arguments, number % 3 == 2, "x")
    });
    assert_eq!(play(script).outcome, None);
}

#[test]
fn failing_with_one_tool_after_the_other_is_caught_too() {
    let script = (0..30).map(|number| {
        let tool = ["a", "b", "c"][number % 3];
        step(tool, &format!("{{\"n\":{number}}}"), false, "no")
    });
    let played = play(script);
    assert_eq!(played.outcome, Some(TurnOutcome::RepeatedFailure));
    assert_eq!(played.ran, 8);
}

#[test]
fn p23_every_cycle_of_up_to_five_calls_is_caught_within_ten() {
    for cycle in 1..=5 {
        let script =
            (0..40).map(|number| step("t", &format!("{{\"n\":{}}}", number % cycle), true, "same"));
        let played = play(script);
        assert_eq!(
            played.outcome,
            Some(TurnOutcome::RepeatedCall),
            "cycle of {cycle}"
        );
        assert!(played.ran < 10, "cycle of {cycle}: {}", played.ran);
        assert!(!played.advised_after.is_empty(), "cycle of {cycle}");
    }
}

#[test]
fn p23_asking_again_and_again_is_caught_though_the_answers_differ() {
    for cycle in 1..=2 {
        let script = (0..40).map(|number| {
            let arguments = format!("{{\"n\":{}}}", number % cycle);
            step("status", &arguments, true, &format!("at {number}"))
        });
        let played = play(script);
        assert_eq!(played.outcome, Some(TurnOutcome::RepeatedCall));
        assert_eq!(played.ran, 9);
    }
}

#[test]
fn p23_a_loop_that_begins_after_honest_work_is_caught_as_fast() {
    let honest = (0..20).map(|number| step("read", &format!("{{\"n\":{number}}}"), true, "x"));
    let looping = (0..20).map(|_| step("read", "{\"n\":1}", true, "x"));
    assert_eq!(play(honest.chain(looping)).ran, 23);
}

#[test]
fn p23_honest_batch_work_goes_on() {
    type Script = Vec<(String, String, bool, String)>;
    let many = |make: &dyn Fn(usize) -> Vec<(String, String, bool, String)>| -> Script {
        (0..60).flat_map(make).collect()
    };
    let numbered = |number: usize| format!("{{\"path\":\"{number}\"}}");
    let scripts = [
        // The same tool over many files, with the same result for each.
        many(&|number| vec![step("write", &numbered(number), true, "written")]),
        // Read, then write, file by file.
        many(&|number| {
            vec![
                step("read", &numbered(number), true, "text"),
                step("write", &numbered(number), true, "written"),
            ]
        }),
        // Change something, then run the same check, which fails the same way for a while.
        many(&|number| {
            vec![
                step("edit", &numbered(number), true, "changed"),
                step("check", "{}", true, "1 failed"),
            ]
        }),
        // Looking for something that is mostly not there.
        many(&|number| {
            vec![
                step("read", &numbered(number), false, "not found"),
                step("list", &numbered(number), true, "nothing"),
            ]
        }),
        // Waiting for something a few times between other work.
        many(&|number| {
            vec![
                step("status", "{}", true, "running"),
                step("status", "{}", true, "running"),
                step("read", &numbered(number), true, "log"),
            ]
        }),
    ];
    for (position, script) in scripts.into_iter().enumerate() {
        let calls = script.len();
        let played = play(script);
        assert_eq!(
            (played.ran, played.outcome),
            (calls, None),
            "script {position}"
        );
    }
}

#[test]
fn calls_of_one_reply_that_fail_together_are_one_attempt() {
    let mut trail = Trail::default();
    let calls: Vec<ToolCall> = (0..6)
        .map(|n| call("read", &format!("{{\"n\":{n}}}")))
        .collect();
    let gone = result(CallStatus::Error, "not found");
    assert_eq!(trail.admit(&calls), Ok(()));
    assert_eq!(
        trail.observe(calls.iter().map(|call| (call, &gone))),
        Ok(None)
    );
}

#[test]
fn four_identical_calls_in_one_reply_do_not_run() {
    let calls = vec![call("note", "{}"); 4];
    let stop = Trail::default().admit(&calls).unwrap_err();
    assert_eq!(stop.outcome, TurnOutcome::RepeatedCall);
    assert_eq!(Trail::default().admit(&calls[..3]), Ok(()));
}
