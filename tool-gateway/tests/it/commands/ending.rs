//! However a program ends, nothing that it started goes on.

use std::path::Path;
use std::time::Duration;

use skill_core::CallStatus::{Aborted, Success};
use tokio_util::sync::CancellationToken;
use tool_gateway::{NoLog, ToolContext};

use super::{argv, gateway, run};
use crate::support::*;

/// Returns who of the processes that run has `word` in its command line.
fn running(word: &str) -> Vec<String> {
    let commands = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
    commands.filter(|line| line.contains(word)).collect()
}

/// Starts a shell line, waits until it says that it is ready, and cancels it.
async fn cancelled(root: &Path, line: &str) -> tool_gateway::CallRecord {
    let gateway = gateway(root, &["allow run(**)"]);
    let cancel = CancellationToken::new();
    let context = ToolContext::without_skills("agent", cancel.clone());
    let calls = [call("c1", "run_command", argv(&["sh", "-c", line]))];
    let ready = root.join("ready");
    let stop = async {
        for _ in 0..4_000 {
            if ready.exists() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (records, ()) = tokio::join!(gateway.dispatch(&calls, &context, &NoLog), stop);
    records.unwrap().remove(0)
}

#[tokio::test]
async fn a_cancelled_program_and_all_it_started_are_gone_when_the_call_ends() {
    // One that ignores to be asked, one in a session of its own, one whose parents are gone, and
    // one that hides behind both.
    let lines = [
        "sleep 301.$N & touch ready; wait",
        "trap '' TERM HUP; sleep 301.$N & touch ready; wait; sleep 301.$N",
        "setsid sleep 301.$N & touch ready; wait",
        "nohup setsid sh -c 'trap \"\" TERM; sleep 301.$N; sleep 301.$N' & touch ready; wait",
        "(setsid sh -c 'sleep 301.$N & sleep 301.$N' &) ; touch ready; sleep 301.$N",
    ];
    for (number, line) in lines.iter().enumerate() {
        let root = tempfile::tempdir().unwrap();
        let own = format!("{}{number}", std::process::id());
        let line = line.replace("$N", &own);
        let record = cancelled(root.path(), &line).await;
        assert_eq!(
            record.result.status, Aborted,
            "{line} {}",
            record.result.content
        );
        assert_eq!(
            running(&format!("301.{own}")),
            Vec::<String>::new(),
            "{line}"
        );
    }
}

#[tokio::test]
async fn what_a_program_leaves_running_is_ended_and_said() {
    let root = tempfile::tempdir().unwrap();
    let own = format!("302.{}", std::process::id());
    let line = format!("setsid sleep {own} & echo done");
    let record = run(root.path(), &["sh", "-c", &line]).await;
    assert_eq!(
        brief(&record),
        (
            Success,
            None,
            "exit status: 0\ndone\n[1 processes that it left running were ended]\n"
        )
    );
    assert_eq!(running(&own), Vec::<String>::new());
}

#[tokio::test]
async fn a_dispatch_that_is_dropped_leaves_nobody_behind() {
    let root = tempfile::tempdir().unwrap();
    let own = format!("303.{}", std::process::id());
    let line = format!("setsid sleep {own} & touch ready; sleep {own}");
    let gateway = gateway(root.path(), &["allow run(**)"]);
    let context = context();
    let calls = [call("c1", "run_command", argv(&["sh", "-c", &line]))];
    let ready = async {
        while !root.path().join("ready").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = gateway.dispatch(&calls, &context, &NoLog) => panic!("it sleeps"),
        () = ready => {}
    }
    // The task was told to stop; it is on its way.
    for _ in 0..400 {
        if running(&own).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{:?}", running(&own));
}

#[tokio::test]
async fn a_flood_of_output_neither_stops_nor_fills_anything() {
    let root = tempfile::tempdir().unwrap();
    let line = "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo the end";
    let record = run(root.path(), &["sh", "-c", line]).await;
    assert_eq!(record.result.status, Success);
    assert!(record.result.content.len() <= tool_gateway::MAX_OUTPUT_BYTES);
}
