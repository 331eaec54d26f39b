//! Golden prompts: one folder a rule, named after it; the snapshot is what the model sees.
//!
//! `cargo xtask golden` rewrites the snapshots, `cargo xtask golden --check` compares them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "the cases are files; what is compiled from them is not"
)]

#[path = "golden/case.rs"]
mod case;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use case::Case;
use prompt_compiler::{Budget, CompileInput, VocabularyCounter, compile, validate};
use skill_core::{CompletionRequest, ContentBlock, ModelId};

/// Compiles a case and writes down what the model sees, and the ledger.
fn transcript(case: &Case) -> String {
    let model = ModelId::new(&case.model);
    let preset = case.preset();
    let (skills, messages, tools) = (case.skills(), case.messages(), case.tools());
    let budget = Budget {
        window: case.window,
        reserve_output: case.reserve_output,
        caps: case.caps.clone(),
        allow_bound: false,
        ..Budget::default()
    };
    let input = CompileInput {
        model: &model,
        preset: &preset,
        instructions: &case.instructions,
        session_context: &case.session_context,
        skills: &skills,
        messages: &messages,
        turn_context: &case.turn_context,
        tools: &tools,
        budget: &budget,
        previous: None,
    };
    let mut text = format!("rule: {}\n", case.rule);
    match compile(&input, &VocabularyCounter::for_model(&model)) {
        Ok(prompt) => {
            assert_eq!(validate(&prompt.request), Ok(()));
            write_request(&mut text, &prompt.request);
            writeln!(text, "\n--- ledger").unwrap();
            for section in prompt
                .report
                .sections
                .iter()
                .filter(|section| section.asked > 0)
            {
                let (name, asked, given) = (&section.name, section.asked, section.given);
                writeln!(text, "{name:<13} asked {asked:>6}  given {given:>6}").unwrap();
                section
                    .sources
                    .iter()
                    .for_each(|source| writeln!(text, "    from: {source}").unwrap());
                section
                    .cut
                    .iter()
                    .for_each(|cut| writeln!(text, "    cut: {cut}").unwrap());
            }
            let limit = budget.request_limit();
            writeln!(text, "total {} of {limit}", prompt.report.total).unwrap();
        }
        Err(limit) => writeln!(text, "\n--- context_limit\n{limit}").unwrap(),
    }
    text
}

fn write_request(text: &mut String, request: &CompletionRequest) {
    let tools: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let tools = if tools.is_empty() {
        "none".to_owned()
    } else {
        tools.join(", ")
    };
    writeln!(text, "tools: {tools}").unwrap();
    for block in &request.system {
        writeln!(text, "\n--- system\n{block}").unwrap();
    }
    for message in &request.messages {
        let role = format!("{:?}", message.role).to_lowercase();
        message
            .content
            .iter()
            .for_each(|block| write_block(text, &role, block));
    }
}

fn write_block(text: &mut String, role: &str, block: &ContentBlock) {
    let (head, body) = match block {
        ContentBlock::Text { text } => (role.to_owned(), text.clone()),
        ContentBlock::ToolCall(call) => (
            format!("{role} calls {} [{}]", call.name, call.id),
            call.arguments.clone(),
        ),
        ContentBlock::ToolResult(result) => {
            let status = result.status.as_str();
            (
                format!("result [{}] {status}", result.call_id),
                result.content.clone(),
            )
        }
        other => (role.to_owned(), format!("{other:?}")),
    };
    writeln!(text, "\n--- {head}\n{body}").unwrap();
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("case.yaml").is_file())
        .collect();
    cases.sort();
    cases
}

#[test]
fn every_golden_prompt_is_what_its_case_compiles_to() {
    let cases = cases();
    assert!(!cases.is_empty());
    for folder in cases {
        let text = fs::read_to_string(folder.join("case.yaml")).unwrap();
        let case: Case = serde_yaml::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!("prompt", transcript(&case));
        });
    }
}
