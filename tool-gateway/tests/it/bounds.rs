//! What one reply may ask for, and that a long one never keeps the program from listening.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skill_core::CallStatus::{Aborted, Rejected, Success, TimedOut};
use skill_core::ToolDefinition;
use tool_gateway::{
    Access, DynTool, ErrorKind, Gateway, Limits, Mode, Preview, ToolContext, ToolError, ToolOutput,
};

use crate::support::*;

fn many(count: usize, name: &str) -> Vec<skill_core::ToolCall> {
    (0..count)
        .map(|index| call(&format!("c{index}"), name, json!({})))
        .collect()
}

#[tokio::test]
async fn of_very_many_calls_the_first_run_and_the_rest_is_told_why_not() {
    let gateway = open_gateway(vec![echo("t", vec![Access::read("a")])]);
    let records = gateway
        .dispatch(&many(1000, "t"), &context(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(records.len(), 1000);
    let ran = |record: &&tool_gateway::CallRecord| record.result.status == Success;
    assert_eq!(records.iter().take_while(ran).count(), 128);
    for record in &records[128..] {
        assert_eq!(
            brief(record),
            (
                Rejected,
                Some("rate_limited"),
                "`t` did not run: of 1000 calls in one reply only the first 128 are taken; call it again once these are done"
            )
        );
        assert!(!record.denied);
    }
}

#[tokio::test(start_paused = true)]
async fn only_so_many_calls_run_at_the_same_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counter = (now.clone(), most.clone());
    let slow = tool("slow", vec![Access::read("a")], move |_, _| {
        let (now, most) = counter.clone();
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolOutput::text("done"))
        }
    });
    let gateway = open_gateway(vec![slow]);
    let records = gateway
        .dispatch(&many(100, "slow"), &context(), &Recorder::default())
        .await
        .unwrap();
    assert!(records.iter().all(|record| record.result.status == Success));
    assert_eq!(most.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn a_cancellation_is_seen_between_two_calls() {
    let gateway = open_gateway(vec![echo("t", vec![Access::read("a")])]);
    let context = context();
    let cancel = context.cancel.clone();
    // On one thread this runs only if deciding gives way.
    tokio::spawn(async move { cancel.cancel() });
    let records = gateway
        .dispatch(&many(100, "t"), &context, &Recorder::default())
        .await
        .unwrap();
    assert!(
        records
            .iter()
            .skip(2)
            .all(|record| record.result.status == Aborted)
    );
}

/// A tool that is asked about and takes its time to say what it would do.
#[derive(Debug)]
struct SlowToShow(ToolDefinition);

#[async_trait::async_trait]
impl DynTool for SlowToShow {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn access(&self, _arguments: &Value) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::write("a")])
    }

    fn preview(&self, _arguments: &Value) -> Result<Preview, ToolError> {
        std::thread::sleep(Duration::from_millis(300));
        Ok(Preview::default())
    }

    async fn invoke(
        &self,
        _context: &ToolContext,
        _arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new(ErrorKind::Tool, "it ran"))
    }
}

#[tokio::test]
async fn a_slow_preview_does_not_keep_a_cancellation_waiting() {
    let definition = ToolDefinition {
        name: "slow".into(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    let gateway = Gateway::builder()
        .tool(Arc::new(SlowToShow(definition)))
        .policy(policy(Mode::Interactive, &[]))
        .approver(Answers::allow())
        .build()
        .unwrap();
    let context = context();
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    let started = std::time::Instant::now();
    let records = gateway
        .dispatch(&many(1, "slow"), &context, &Recorder::default())
        .await
        .unwrap();
    assert_eq!(records[0].result.status, Aborted);
    assert!(started.elapsed() < Duration::from_millis(250));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_call_that_only_reads_does_not_claim_an_effect() {
    for (access, says) in [
        (Access::read("a"), "it only reads, so nothing changed"),
        (Access::write("a"), "part of its effect may have happened"),
    ] {
        let hang = tool("hang", vec![access], |_, _| std::future::pending());
        let gateway = Gateway::builder()
            .tool(hang)
            .policy(policy(Mode::Interactive, &["allow write(**)"]))
            .limits(Limits {
                deadline: Duration::from_secs(5),
                ..Limits::default()
            })
            .build()
            .unwrap();
        let record = dispatch_one(&gateway, call("c1", "hang", json!({}))).await;
        let text = format!("`hang` did not finish within 5s and was stopped; {says}");
        assert_eq!(brief(&record), (TimedOut, None, text.as_str()));
    }
}

#[cfg(feature = "files")]
#[tokio::test]
async fn a_result_that_is_too_long_is_kept_whole_and_read_on_to_its_end() {
    use std::sync::Arc;
    use tool_gateway::{FolderSpill, Gateway, MAX_OUTPUT_BYTES, Mode};
    let folder = tempfile::tempdir().unwrap();
    // One line without an end, of characters of several bytes, as a minified answer may be.
    let whole: String = (0..60_000).map(|number| format!("{number}中")).collect();
    let text = whole.clone();
    let long = tool("long", vec![Access::read("a")], move |_, _| {
        let text = text.clone();
        async move { Ok(ToolOutput::text(text)) }
    });
    let gateway = Gateway::builder()
        .tool(long)
        .spill(Arc::new(FolderSpill::new(folder.path().join("spill"))))
        .policy(policy(Mode::Headless, &[]))
        .build()
        .unwrap();
    let shown = dispatch_one(&gateway, call("c1", "long", json!({})))
        .await
        .result
        .content;
    assert!(shown.len() <= MAX_OUTPUT_BYTES);
    let (head, rest) = shown.split_once("\n[").unwrap();
    assert!(whole.starts_with(head));
    let (notice, tail) = rest.split_once("]\n").unwrap();
    assert!(whole.ends_with(tail));
    let reading: serde_json::Value = {
        let at = notice.find('{').unwrap();
        serde_json::from_str(&notice[at..=notice.rfind('}').unwrap()]).unwrap()
    };
    let mut read = head.to_owned();
    for number in 0.. {
        let arguments = json!({"id": reading["id"], "offset": read.len()});
        let piece = dispatch_one(
            &gateway,
            call(&format!("r{number}"), "read_output", arguments),
        );
        let content = piece.await.result.content;
        let (piece, footer) = content.rsplit_once("\n[").unwrap();
        read.push_str(piece);
        if footer.ends_with("that is the end]") {
            break;
        }
    }
    assert_eq!(read, whole);
    let none = json!({"id": "0123456789abcdef"});
    let record = dispatch_one(&gateway, call("c3", "read_output", none)).await;
    assert_eq!(record.error_kind, Some("not_found"));
    let escape = json!({"id": "../../etc/passwd"});
    let record = dispatch_one(&gateway, call("c4", "read_output", escape)).await;
    assert_eq!(record.error_kind, Some("not_found"));
}
