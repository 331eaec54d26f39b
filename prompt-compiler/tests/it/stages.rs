//! Stages: their order, and those that a program brings along.

use std::sync::Arc;

use prompt_compiler::{
    ByteBound, CompileCache, CompileInput, Draft, Pipeline, PipelineError, Section, Slot, Stage,
};
use skill_core::{Message, ToolResult};

use crate::support::{Case, group, section};

#[derive(Debug)]
struct House;

impl Stage for House {
    fn name(&self) -> &'static str {
        "house"
    }

    fn gather(&self, _input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        draft.add(Section::new("house", Slot::System, "Prices are in euros."));
        let clock = Section::new("today", Slot::Turn, "It is Sunday.");
        draft.add(clock.cut("the hour is left out: it would change the request each time"));
        draft.add(Section::new("nothing", Slot::System, ""));
    }

    fn settle(&self, result: &mut ToolResult) {
        result.content = result.content.replace("hunter2", "[secret]");
    }
}

#[test]
fn stages_run_in_the_order_of_the_pipeline() {
    assert_eq!(
        Pipeline::standard().names(),
        [
            "system",
            "context",
            "skills",
            "history",
            "post_tool",
            "skill_results"
        ]
    );
}

#[test]
fn a_program_adds_a_stage_of_its_own() {
    let pipeline = Pipeline::standard()
        .insert_after("system", Arc::new(House))
        .unwrap();
    let messages = [
        vec![Message::user("go")],
        group("1", "{}", "password hunter2").to_vec(),
    ];
    let mut case = Case::new("trpc", messages.concat());
    case.instructions = "BASE".into();
    let prompt = case
        .through(&pipeline, &ByteBound, &mut CompileCache::default())
        .unwrap();
    assert_eq!(prompt.request.system, ["BASE", "Prices are in euros."]);
    let user = &prompt.request.messages[0];
    assert_eq!(user.joined_text(), "It is Sunday.go");
    let results: Vec<&str> = prompt.request.messages[2]
        .results()
        .map(|result| result.content.as_str())
        .collect();
    assert_eq!(results, ["password [secret]"]);
    assert_eq!(
        section(&prompt, "house").given,
        "Prices are in euros.".len() as u64 + 1
    );
    assert_eq!(section(&prompt, "today").cut.len(), 1);
}

#[test]
fn a_stage_needs_a_place_and_a_name_of_its_own() {
    let unknown = Pipeline::standard().insert_after("nowhere", Arc::new(House));
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "no stage named `nowhere` (there are: system, context, skills, history, post_tool, \
         skill_results)"
    );
    let once = Pipeline::standard()
        .insert_after("system", Arc::new(House))
        .unwrap();
    let twice = once.insert_after("system", Arc::new(House));
    assert_eq!(
        twice.unwrap_err(),
        PipelineError::Duplicate { name: "house" }
    );
}
