//! Tests of whole compilations.

use std::sync::Arc;

use skill_core::{
    CallStatus, ContentBlock, Message, ModelId, Role, ToolCall, ToolDefinition, ToolResult,
};

use super::*;
use crate::input::{Budget, ContextFragment, FragmentKind, Opening, SkillInput, SkillText};
use crate::output::{BlockMark, SectionReport};
use crate::preset::Preset;
use crate::tokens::ByteBound;
use crate::validate;

/// Owns what a [`CompileInput`] borrows.
struct Case {
    preset: Preset,
    skills: SkillInput,
    messages: Vec<Arc<Message>>,
    turn_context: Vec<ContextFragment>,
    tools: Arc<[ToolDefinition]>,
    budget: Budget,
    previous: Option<Vec<BlockMark>>,
}

impl Case {
    fn new(messages: Vec<Message>) -> Self {
        let tool = ToolDefinition {
            name: "read_file".into(),
            description: "Reads a file.".into(),
            parameters: serde_json::json!({"type": "object"}),
        };
        Self {
            preset: Preset::built_in("default").unwrap(),
            skills: SkillInput::default(),
            messages: messages.into_iter().map(Arc::new).collect(),
            turn_context: Vec::new(),
            tools: [tool].into(),
            budget: Budget::default(),
            previous: None,
        }
    }

    /// Compiles and holds the request against the strict validator.
    fn compile(&self) -> Result<CompiledPrompt, CompileError> {
        let model = ModelId::new("test");
        let compiled = compile(
            &CompileInput {
                model: &model,
                preset: &self.preset,
                instructions: "",
                session_context: &[],
                skills: &self.skills,
                messages: &self.messages,
                turn_context: &self.turn_context,
                tools: &self.tools,
                budget: &self.budget,
                previous: self.previous.as_deref(),
            },
            &ByteBound,
        )?;
        assert_eq!(
            validate(&compiled.request),
            Ok(()),
            "{:#?}",
            compiled.request.messages
        );
        Ok(compiled)
    }

    fn open(&mut self, id: &str, call_id: &str) {
        let digest = format!("{id:0<8}");
        self.skills.loaded.retain(|skill| skill.id != id);
        self.skills.loaded.push(SkillText {
            id: id.into(),
            name: id.into(),
            version: None,
            digest: digest.clone(),
            body: format!("BODY OF {id}"),
            docs: Vec::new(),
        });
        self.skills.openings.insert(
            call_id.into(),
            Opening {
                skill: id.into(),
                digest,
            },
        );
    }
}

fn group(id: &str, content: &str) -> [Message; 2] {
    let call = ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: "{}".into(),
    };
    let result = ToolResult {
        call_id: id.into(),
        name: "read_file".into(),
        status: CallStatus::Success,
        content: content.into(),
    };
    let content = vec![ContentBlock::ToolCall(call)];
    [
        Message {
            role: Role::Assistant,
            content,
        },
        Message::tool_results(vec![result]),
    ]
}

fn round(number: usize, size: usize) -> [Message; 2] {
    let text = format!("{number:03}{}", "x".repeat(size));
    [Message::user(text.clone()), Message::assistant(text)]
}

fn results(prompt: &CompiledPrompt) -> Vec<&str> {
    prompt
        .request
        .messages
        .iter()
        .flat_map(|message| message.results())
        .map(|result| result.content.as_str())
        .collect()
}

fn section<'a>(prompt: &'a CompiledPrompt, name: &str) -> &'a SectionReport {
    prompt
        .report
        .sections
        .iter()
        .find(|section| section.name == name)
        .unwrap()
}

#[test]
fn context_of_the_turn_stands_before_the_users_words_in_one_message() {
    let mut case = Case::new(vec![Message::user("summarise")]);
    case.turn_context.push(ContextFragment::new(
        FragmentKind::Mention,
        "file a.md",
        "A\n",
    ));
    let prompt = case.compile().unwrap();
    let [message] = prompt.request.messages.as_slice() else {
        panic!("one message")
    };
    assert!(
        message.content[0]
            .as_text()
            .unwrap()
            .starts_with("<context name=\"file a.md\">")
    );
    assert_eq!(message.content[1].as_text(), Some("summarise"));
}

#[test]
fn an_opened_body_stands_in_the_result_of_the_call_that_opened_it() {
    let mut case =
        Case::new([vec![Message::user("go")], group("1", "loaded: a").to_vec()].concat());
    case.open("a", "1");
    let prompt = case.compile().unwrap();
    assert_eq!(
        results(&prompt),
        ["<skill id=\"a\" digest=\"a0000000\">\nBODY OF a\n</skill:a0000000>"]
    );
    assert_eq!(section(&prompt, "open_skills").given, 0);
}

#[test]
fn opening_again_gives_a_receipt_and_leaves_the_first_copy_where_it_is() {
    let mut case = Case::new(
        [
            vec![Message::user("go")],
            group("1", "stub").to_vec(),
            group("2", "stub").to_vec(),
        ]
        .concat(),
    );
    case.open("a", "1");
    case.open("a", "2");
    let prompt = case.compile().unwrap();
    let results = results(&prompt);
    assert!(results[0].contains("BODY OF a"));
    assert_eq!(results[1], "already loaded: a (its text stands above)");
}

#[test]
fn a_skill_that_is_not_open_any_more_shows_nothing_but_a_stub() {
    let mut case =
        Case::new([vec![Message::user("go")], group("1", "loaded: a").to_vec()].concat());
    case.open("a", "1");
    case.skills.loaded.clear();
    assert_eq!(results(&case.compile().unwrap()), ["loaded: a"]);
}

#[test]
fn an_open_skill_whose_result_is_gone_stands_once_in_the_fallback_block() {
    let mut case = Case::new(vec![Message::user("go")]);
    case.open("a", "1");
    let prompt = case.compile().unwrap();
    let all = serde_json::to_string(&prompt.request).unwrap();
    assert_eq!(all.matches("BODY OF a").count(), 1);
    assert!(
        prompt
            .request
            .system
            .last()
            .unwrap()
            .starts_with("# Open skills\n<skill id=\"a\"")
    );
}

#[test]
fn a_body_moves_to_the_fallback_block_when_the_window_drops_its_round() {
    let opening = [
        vec![Message::user("open")],
        group("1", "stub").to_vec(),
        vec![Message::assistant("ok")],
    ];
    let mut messages = opening.concat();
    messages.extend((0..40).flat_map(|number| round(number, 200)));
    messages.push(Message::user("now"));
    let mut case = Case::new(messages);
    case.open("a", "1");
    case.budget = Budget {
        window: 10_000,
        reserve_output: 0,
        allow_bound: false,
        ..Budget::default()
    };
    let prompt = case.compile().unwrap();
    assert!(results(&prompt).is_empty());
    assert!(prompt.request.system.last().unwrap().contains("BODY OF a"));
    assert!(!section(&prompt, "history").cut.is_empty());
}

#[test]
fn a_request_that_cannot_fit_names_its_largest_parts() {
    let mut case = Case::new(vec![Message::user("x".repeat(5_000))]);
    case.budget = Budget {
        window: 4_000,
        reserve_output: 500,
        ..Budget::default()
    };
    let CompileError::Limit(limit) = case.compile().unwrap_err() else {
        panic!("a limit")
    };
    assert_eq!(limit.limit, 3_500);
    assert_eq!(limit.largest[0], "the task with 5004");
}

#[test]
fn the_newest_tool_group_is_never_dropped_and_older_ones_are() {
    let groups = [
        group("1", &"x".repeat(1_000)),
        group("2", &"y".repeat(1_000)),
    ]
    .concat();
    let mut case = Case::new([vec![Message::user("go")], groups].concat());
    case.budget = Budget {
        window: 2_600,
        reserve_output: 0,
        ..Budget::default()
    };
    let prompt = case.compile().unwrap();
    assert_eq!(results(&prompt), ["y".repeat(1_000)]);
    assert_eq!(
        section(&prompt, "tool_groups").cut,
        ["oldest tool groups of this turn left out to fit the window: 1"]
    );
}

#[test]
fn a_bound_stands_for_a_count_only_below_half_the_window() {
    #[derive(Debug)]
    struct Exact;
    impl TokenCounter for Exact {
        fn count(&self, text: &str) -> u64 {
            text.len().div_ceil(4) as u64
        }
        fn is_exact(&self) -> bool {
            true
        }
        fn basis(&self) -> String {
            "quarters".into()
        }
    }
    let model = ModelId::new("test");
    let mut case = Case::new(vec![Message::user("x".repeat(2_000))]);
    for (window, exact) in [(100_000, false), (5_000, true)] {
        case.budget = Budget {
            window,
            reserve_output: 0,
            ..Budget::default()
        };
        let input = CompileInput {
            model: &model,
            preset: &case.preset,
            instructions: "",
            session_context: &[],
            skills: &case.skills,
            messages: &case.messages,
            turn_context: &[],
            tools: &case.tools,
            budget: &case.budget,
            previous: None,
        };
        assert_eq!(
            compile(&input, &Exact).unwrap().report.exact,
            exact,
            "window {window}"
        );
    }
}
