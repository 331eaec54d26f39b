//! What the loop itself costs; `cargo xtask bench` runs it.
//!
//! - `measure steps N` runs one turn of N steps, each with one call of a tool that does nothing, on a
//!   store in memory. It prints the CPU time of a step at the end over that at the beginning.
//! - `measure sessions N` runs N sessions of ten steps at once, and as many one after the other in a
//!   process of its own. It prints the CPU time of a step among N over that of a step alone, and what
//!   all of them add to the peak of memory.
//! - `measure make FILE` writes a session of 100 MB into a store; `measure open FILE` takes it up and
//!   `measure rows FILE` reads its rows and nothing else.
//! - `measure idle` holds a session open for two seconds while nothing happens, and prints the CPU
//!   time of that over the two seconds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program talks")]
#![expect(
    clippy::unwrap_used,
    reason = "a measure that cannot be taken is no measure"
)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use loop_runtime::{
    Agent, Compaction, JournalEntry, JournalEvent, MemoryStore, Profile, Projection, SessionHeader,
    SessionStore, SqliteStore, TurnLimits, TurnRequest,
};
use prompt_compiler::{Budget, ByteBound, Pipeline, Preset};
use rustix::time::{ClockId, clock_gettime};
use skill_core::testing::{CountingIds, SteppingClock, finished};
use skill_core::{
    CompletionEvent, CompletionRequest, CompletionStream, Message, ModelId, Principal, Provider,
    ProviderError, ScanLimits, SkillCatalog, StopReason, ToolResult,
};
use tokio_util::sync::CancellationToken;
use tool_gateway::{Gateway, Mode, Policy, Source, ToolOutput};

/// Nothing to say.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Nothing {
    number: u32,
}

/// Asks for one call, `steps` times, and notes the CPU time every so often.
#[derive(Debug)]
struct Caller {
    steps: u32,
    answered: AtomicU32,
    marks: std::sync::Mutex<Vec<Duration>>,
    wait: Option<Duration>,
}

/// The steps between two marks.
const STRETCH: u32 = 500;

#[async_trait::async_trait]
impl Provider for Caller {
    fn name(&self) -> &str {
        "caller"
    }

    async fn stream(&self, _request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        if let Some(wait) = self.wait {
            tokio::time::sleep(wait).await;
        }
        let answered = self.answered.fetch_add(1, Ordering::Relaxed);
        if answered.is_multiple_of(STRETCH) {
            self.marks.lock().unwrap().push(cpu());
        }
        let events = if answered < self.steps {
            let call = CompletionEvent::ToolCallDelta {
                index: 0,
                id: Some(format!("call-{answered}")),
                name: Some("nothing".to_owned()),
                arguments: format!("{{\"number\":{answered}}}"),
            };
            vec![call, finished(StopReason::ToolCalls)]
        } else {
            let text = CompletionEvent::TextDelta("done".to_owned());
            vec![text, finished(StopReason::EndTurn)]
        };
        Ok(stream::iter(events).map(Ok).boxed())
    }
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

fn agent(provider: Arc<Caller>, store: Arc<dyn SessionStore>) -> Agent {
    let tool = tool_gateway::function("nothing", "Does nothing.", |nothing: Nothing| async move {
        Ok(ToolOutput::text(format!(
            "nothing came of {}",
            nothing.number
        )))
    });
    let rule = (Source::User, "allow tool(nothing)".parse().unwrap());
    let (policy, _) = Policy::merge(Mode::Headless, [rule]);
    let gateway = Gateway::builder().tool(tool).policy(policy).build();
    Agent {
        profile: Profile {
            max_steps: provider.steps + 1,
            ..Profile::AGENT
        },
        provider,
        model: ModelId::new("test"),
        gateway: Arc::new(gateway.unwrap()),
        catalog: Arc::new(SkillCatalog::new(Vec::new(), ScanLimits::default())),
        principal: Principal::default(),
        preset: Preset::built_in("default").unwrap(),
        pipeline: Pipeline::standard(),
        limits: TurnLimits::default(),
        router: None,
        only_tools: None,
        assistants: std::collections::BTreeMap::new(),
        sources: Vec::new(),
        compaction: Compaction::default(),
        instructions: String::new(),
        session_context: Vec::new(),
        budget: Budget::default(),
        counter: Arc::new(ByteBound),
        store,
        clock: Arc::new(SteppingClock::default()),
        ids: Arc::new(CountingIds::default()),
        workspace: "/workspace".into(),
    }
}

fn caller(steps: u32, wait: Option<Duration>) -> Arc<Caller> {
    Arc::new(Caller {
        steps,
        answered: AtomicU32::new(0),
        marks: std::sync::Mutex::default(),
        wait,
    })
}

async fn run(agent: Agent) {
    let agent = Arc::new(agent);
    let mut sink = |_| {};
    let request = TurnRequest::task("go");
    let report = agent
        .run(request, CancellationToken::new(), &mut sink)
        .await;
    assert_eq!(report.unwrap().outcome.to_string(), "completed");
}

async fn steps(count: u32) {
    let caller = caller(count, None);
    run(agent(Arc::clone(&caller), Arc::new(MemoryStore::new()))).await;
    let marks = caller.marks.lock().unwrap();
    let costs: Vec<f64> = marks
        .windows(2)
        .filter_map(|pair| Some((*pair.last()? - *pair.first()?).as_secs_f64()))
        .map(|seconds| seconds * 1e6 / f64::from(STRETCH))
        .collect();
    let (first, last) = (costs.first().unwrap(), costs.last().unwrap());
    eprintln!("{costs:.0?} µs a step");
    println!("{:.3}", last / first);
}

async fn sessions(count: u32) {
    const STEPS: u32 = 10;
    // Everybody waits for the model at the same time, so that all are there at once.
    let wait = Some(Duration::from_millis(20));
    let started = cpu();
    for _ in 0..count.min(200) {
        run(agent(caller(STEPS, None), Arc::new(MemoryStore::new()))).await;
    }
    let alone = (cpu() - started).as_secs_f64() / f64::from(count.min(200) * STEPS);
    let (before, started) = (peak(), cpu());
    let all = (0..count).map(|_| {
        let agent = agent(caller(STEPS, wait), Arc::new(MemoryStore::new()));
        tokio::spawn(run(agent))
    });
    for ended in futures_util::future::join_all(all).await {
        ended.unwrap();
    }
    let together = (cpu() - started).as_secs_f64() / f64::from(count * STEPS);
    eprintln!(
        "alone {:.0} µs a step, together {:.0} µs",
        alone * 1e6,
        together * 1e6
    );
    println!("{:.3} {:.1}", together / alone, peak() - before);
}

/// Returns the peak of resident memory in megabytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.unwrap().parse::<f64>().unwrap() / 1e3
}

async fn make(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    let header = SessionHeader {
        id: "long".into(),
        created_ms: 0,
        workspace: "/workspace".into(),
        assistant: "default".into(),
        title: "long".into(),
    };
    let text = "A line of a file that somebody read, with \"quotes\" and 中文.\n".repeat(60);
    let mut events = Vec::new();
    let mut push = |event| {
        let seq = events.len() as u64 + 1;
        events.push(JournalEntry {
            seq,
            at_ms: seq,
            event,
        });
    };
    push(JournalEvent::TurnStarted {
        turn: "t".into(),
        profile: "agent".into(),
        model: "m".into(),
        agent: "a".into(),
        max_loaded: None,
        input: Message::user("go"),
    });
    for step in 0..25_000_u32 {
        let id = format!("call-{step}");
        let call = skill_core::ToolCall {
            id: id.clone(),
            name: "read_file".into(),
            arguments: format!("{{\"path\":\"notes/{step}.md\"}}"),
        };
        push(JournalEvent::ModelReplied {
            step,
            message: Message {
                role: skill_core::Role::Assistant,
                content: vec![skill_core::ContentBlock::ToolCall(call)],
            },
            stop: Some(StopReason::ToolCalls),
            usage: skill_core::Usage::default(),
        });
        push(JournalEvent::ToolFinished {
            result: ToolResult {
                call_id: id,
                name: "read_file".into(),
                status: skill_core::CallStatus::Success,
                content: text.clone(),
            },
            state: Default::default(),
            opened: None,
            duration_ms: 1,
            denied: false,
        });
    }
    store.create(&header, &events).await.unwrap();
}

async fn open(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    let record = store.load("long").await.unwrap();
    let projection = Projection::of(&record.entries);
    println!("{} messages", projection.messages.len());
}

fn rows(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection
        .prepare("SELECT seq, at_ms, body FROM events WHERE session = 'long' ORDER BY seq")
        .unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows: Result<Vec<(u64, u64, String)>, _> = statement.query_map([], row).unwrap().collect();
    let rows = rows.unwrap();
    let bytes: usize = rows.iter().map(|(_, _, body)| body.len()).sum();
    println!("{} rows, {bytes} bytes", rows.len());
}

async fn idle() {
    let caller = caller(1, Some(Duration::from_secs(3_600)));
    let task = tokio::spawn(run(agent(caller, Arc::new(MemoryStore::new()))));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = cpu();
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("{:.6}", (cpu() - before).as_secs_f64() / 2.0);
    task.abort();
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = runtime.unwrap();
    match words.as_slice() {
        ["steps", count] => runtime.block_on(steps(count.parse().unwrap())),
        ["sessions", count] => runtime.block_on(sessions(count.parse().unwrap())),
        ["make", path] => runtime.block_on(make(Path::new(path))),
        ["open", path] => runtime.block_on(open(Path::new(path))),
        ["rows", path] => rows(Path::new(path)),
        ["idle"] => runtime.block_on(idle()),
        _ => println!(
            "usage: measure steps N | sessions N | make FILE | open FILE | rows FILE | idle"
        ),
    }
}
