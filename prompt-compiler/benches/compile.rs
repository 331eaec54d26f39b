//! What compiling costs, as ratios of tokenising the same text in the same run.
//!
//! `cargo bench -p prompt-compiler`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a bench measures time and prints it"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prompt_compiler::{
    Budget, CompileCache, CompileInput, Pipeline, Preset, SkillEntry, SkillInput, TokenCounter,
    VocabularyCounter,
};
use skill_core::{
    CallStatus, ContentBlock, LoadMode, Message, ModelId, Role, ToolCall, ToolDefinition,
    ToolResult,
};

const WORDS: &[&str] = &[
    "the", "importer", "reads", "every", "table", "of", "a", "month", "and", "writes", "what",
    "changed", "to", "notes", "which", "somebody", "looks", "at", "in", "morning", "review",
    "parser", "returns", "None", "if", "line", "ends", "early", "fn", "main", "let", "value",
];

/// Text that is different for each seed: made of words, numbers and punctuation.
fn text(seed: usize, words: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut text = String::new();
    for at in 0..words {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pick = (state >> 33) as usize;
        text.push_str(WORDS[pick % WORDS.len()]);
        match pick % 23 {
            0 => text.push_str(&format!(" {}", pick % 1_000)),
            1 => text.push_str(".\n"),
            _ => {}
        }
        if at + 1 < words {
            text.push(' ');
        }
    }
    text
}

/// A session of so many messages: questions, calls with results, answers.
fn session(messages: usize, words: usize) -> Vec<Arc<Message>> {
    let mut session: Vec<Arc<Message>> = Vec::with_capacity(messages + 4);
    let mut seed = 0;
    while session.len() < messages {
        seed += 4;
        let id = format!("call_{seed}");
        let call = ToolCall {
            id: id.clone(),
            name: "read_file".into(),
            arguments: format!(r#"{{"path":"notes/{seed}.md"}}"#),
        };
        let result = ToolResult {
            call_id: id,
            name: "read_file".into(),
            status: CallStatus::Success,
            content: text(seed + 2, words * 2),
        };
        let said = vec![
            ContentBlock::text(text(seed + 1, words / 2)),
            ContentBlock::ToolCall(call),
        ];
        session.push(Message::user(text(seed, words)).into());
        session.push(Arc::new(Message {
            role: Role::Assistant,
            content: said,
        }));
        session.push(Message::tool_results(vec![result]).into());
        session.push(Message::assistant(text(seed + 3, words / 2)).into());
    }
    session.push(Message::user("And now?").into());
    session
}

struct Bench {
    model: ModelId,
    preset: Preset,
    skills: SkillInput,
    tools: Arc<[ToolDefinition]>,
    budget: Budget,
    counter: VocabularyCounter,
}

impl Bench {
    fn new() -> Self {
        let model = ModelId::new("gpt-4o");
        Self {
            preset: Preset::built_in("default").unwrap(),
            skills: SkillInput::default(),
            tools: [ToolDefinition {
                name: "read_file".into(),
                description: "Reads a file.".into(),
                parameters: serde_json::json!({"type": "object"}),
            }]
            .into(),
            budget: Budget {
                window: 400_000,
                allow_bound: false,
                ..Budget::default()
            },
            counter: VocabularyCounter::for_model(&model),
            model,
        }
    }

    fn skills(mut self, preset: &str, count: usize) -> Self {
        self.preset = Preset::built_in(preset).unwrap();
        self.skills.visible = (0..count)
            .map(|number| SkillEntry {
                id: format!("skill-{number}"),
                name: format!("skill-{number}"),
                description: text(number, 16),
                load: LoadMode::Lazy,
                listed: true,
                tier: Default::default(),
            })
            .collect();
        self
    }

    fn compile(&self, messages: &[Arc<Message>], cache: &mut CompileCache) -> u64 {
        let input = CompileInput {
            model: &self.model,
            preset: &self.preset,
            instructions: "",
            session_context: &[],
            skills: &self.skills,
            messages,
            turn_context: &[],
            tools: &self.tools,
            budget: &self.budget,
            previous: None,
        };
        let prompt = Pipeline::standard().compile(&input, &self.counter, cache);
        black_box(prompt.unwrap()).report.total
    }

    fn cold(&self, messages: &[Arc<Message>]) -> Duration {
        best(9, || self.compile(messages, &mut CompileCache::default()))
    }

    /// Times single steps: a call and its result are new each time.
    fn step(&self, messages: &[Arc<Message>]) -> Duration {
        let mut cache = CompileCache::default();
        let mut messages = messages.to_vec();
        self.compile(&messages, &mut cache);
        let mut times = Vec::new();
        for number in 0..25 {
            let more = session(4, 60);
            let renamed = |message: &Arc<Message>| {
                let mut message = (**message).clone();
                for block in &mut message.content {
                    match block {
                        ContentBlock::ToolCall(call) => call.id = format!("new_{number}"),
                        ContentBlock::ToolResult(result) => {
                            result.call_id = format!("new_{number}")
                        }
                        _ => {}
                    }
                }
                Arc::new(message)
            };
            messages.extend(more[1..3].iter().map(renamed));
            let begin = Instant::now();
            self.compile(&messages, &mut cache);
            times.push(begin.elapsed());
        }
        times.sort();
        times[times.len() / 2]
    }
}

fn tokenising(counter: &VocabularyCounter, messages: &[Arc<Message>]) -> Duration {
    let mut whole = Vec::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        match block {
            ContentBlock::Text { text } => whole.push(text.as_str()),
            ContentBlock::ToolCall(call) => whole.push(call.arguments.as_str()),
            ContentBlock::ToolResult(result) => whole.push(result.content.as_str()),
            _ => {}
        }
    }
    let whole = whole.join("\n");
    best(9, || counter.count(&whole))
}

fn best<T>(times: usize, mut run: impl FnMut() -> T) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..times {
        let begin = Instant::now();
        black_box(run());
        least = least.min(begin.elapsed());
    }
    least
}

fn main() {
    let bench = Bench::new();
    bench.counter.count("load the vocabulary");
    let session_1k = session(1_000, 195);
    let tokens = bench.compile(&session_1k, &mut CompileCache::default());
    let (mut base, mut cold) = (Duration::MAX, Duration::MAX);
    // In turns, so that both meet the same machine.
    for _ in 0..5 {
        base = base.min(tokenising(&bench.counter, &session_1k));
        cold = cold.min(bench.cold(&session_1k));
    }
    let step = bench.step(&session_1k);
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!("session of {} messages, {tokens} tokens", session_1k.len());
    println!("  tokenising its text once      {base:>10.1?}");
    println!(
        "  cold compile                  {cold:>10.1?}  {:.2} of tokenising",
        ratio(cold, base)
    );
    println!(
        "  one step with a cache         {step:>10.1?}  {:.2} % of a cold compile",
        100.0 * ratio(step, cold)
    );
    for count in [2_500, 5_000, 10_000] {
        let longer = session(count, 195);
        let (cold, step) = (bench.cold(&longer), bench.step(&longer));
        println!(
            "  {count:>6} messages: cold {cold:>10.1?}, step {step:>10.1?}  {:.2} % of cold",
            100.0 * ratio(step, cold)
        );
    }
    for preset in ["default", "yolo"] {
        let (none, many) = (
            Bench::new().skills(preset, 0),
            Bench::new().skills(preset, 1_000),
        );
        let (mut without, mut with) = (Duration::MAX, Duration::MAX);
        // In turns, so that both meet the same machine.
        for _ in 0..25 {
            without = without.min(best(1, || {
                none.compile(&session_1k, &mut CompileCache::default())
            }));
            with = with.min(best(1, || {
                many.compile(&session_1k, &mut CompileCache::default())
            }));
        }
        println!(
            "  1,000 visible skills, {preset:<8}{with:>10.1?}  {:+.2} % of a cold compile",
            100.0 * (ratio(with, without) - 1.0)
        );
    }
    for (name, letter) in [("one letter", "a"), ("blanks", " "), ("emoji", "🙂")] {
        let sizes = [1 << 18, 1 << 19, 1 << 20];
        let times = sizes.map(|size| {
            let text = letter.repeat(size / letter.len());
            best(3, || bench.counter.count(&text))
        });
        println!(
            "  256 KB, 512 KB, 1 MB of {name:<11} {:>10.1?} {:>10.1?} {:>10.1?}",
            times[0], times[1], times[2]
        );
    }
}
