//! The cache of a provider: what two requests share, where they part, and what that costs.

use std::sync::Arc;

use prompt_compiler::{
    BlockMark, Breakpoint, ContextFragment, Cost, FragmentKind, Opening, Prices,
};
use skill_core::{LoadMode, Message};

use crate::support::{Case, entry, group, text};

fn step(case: &mut Case, id: &str) {
    let prompt = case.compile().unwrap();
    case.previous = Some(prompt.marks);
    case.messages
        .extend(group(id, "{}", "loaded: a").map(Arc::new));
}

#[test]
fn over_twenty_steps_with_a_skill_load_each_request_begins_with_all_of_the_one_before() {
    let mut case = Case::new("default", vec![Message::user("go")]);
    case.skills.visible = vec![entry("a", "does a", LoadMode::Lazy)];
    for number in 0..20 {
        step(&mut case, &number.to_string());
        if number == 3 {
            let skill = text("a", "BODY");
            let opening = Opening {
                skill: "a".into(),
                digest: skill.digest.clone(),
            };
            case.skills.openings.insert("3".into(), opening);
            case.skills.loaded.push(skill);
        }
        let before: u64 = case.previous.iter().flatten().map(|mark| mark.tokens).sum();
        let report = case.compile().unwrap().report;
        assert_eq!(report.stable_prefix, before, "step {number}");
        assert_eq!(report.parted, None);
    }
}

#[test]
fn ten_turns_without_a_change_of_skills_share_all_of_the_request_before() {
    let mut case = Case::new("default", vec![]);
    for turn in 0..10 {
        case.messages
            .push(Message::user(format!("question {turn}")).into());
        let prompt = case.compile().unwrap();
        assert_eq!(prompt.report.parted, None, "turn {turn}");
        case.previous = Some(prompt.marks);
        case.messages.push(Message::assistant("answer").into());
    }
}

#[test]
fn the_index_never_depends_on_the_task() {
    let mut case = Case::new("default", vec![Message::user("write a poem")]);
    case.skills.visible = (0..30)
        .map(|number| entry(&format!("s{number}"), &"words ".repeat(80), LoadMode::Lazy))
        .collect();
    let one = case.compile().unwrap().request.system;
    case.messages = vec![Message::user("审查代码").into()];
    assert_eq!(case.compile().unwrap().request.system, one);
}

/// Compiles before and after a change and returns the section that parts, and why.
fn parting(mut case: Case, change: impl FnOnce(&mut Case)) -> (String, String) {
    let before = case.compile().unwrap().marks;
    case.previous = Some(before);
    change(&mut case);
    let parted = case.compile().unwrap().report.parted.unwrap();
    (parted.section, parted.reason)
}

#[test]
fn the_report_says_where_a_request_parts_from_the_one_before_and_why() {
    let base = || {
        let mut case = Case::new("default", vec![Message::user("go")]).window(3_000);
        case.skills.visible = vec![entry("a", "does a", LoadMode::Lazy)];
        case
    };
    let index = parting(base(), |case| {
        case.skills
            .visible
            .push(entry("b", "does b", LoadMode::Lazy));
    });
    assert_eq!(index, ("index".into(), "other skills are visible".into()));
    let system = parting(base(), |case| case.instructions = "Be brief.".into());
    assert_eq!(system, ("system".into(), "the system text changed".into()));
    let mut with_file = base();
    let kind = FragmentKind::CurrentFile;
    with_file.turn_context = vec![ContextFragment::new(kind, "a.md", "A")];
    let user = parting(with_file, |case| {
        case.turn_context.clear();
        case.messages.push(Message::assistant("done").into());
        case.messages.push(Message::user("next").into());
    });
    assert_eq!(
        user,
        (
            "history".into(),
            "what was put beside the last message stands there no more".into()
        )
    );
    let rounds = |from: usize, to: usize| {
        (from..to).flat_map(|number| {
            let text = format!("{number} {}", "x".repeat(100));
            [Message::user(text.clone()), Message::assistant(text)].map(Arc::new)
        })
    };
    let mut long = base();
    long.messages = rounds(0, 5).chain([Message::user("now").into()]).collect();
    let window = parting(long, |case| {
        case.messages.extend([Message::assistant("ok").into()]);
        case.messages.extend(rounds(5, 12));
        case.messages.push(Message::user("now").into());
    });
    assert_eq!(
        window,
        (
            "history".into(),
            "the window moved: older rounds were left out".into()
        )
    );
}

#[test]
fn a_first_request_parts_from_nothing() {
    assert_eq!(BlockMark::parting(&[], &[]), None);
    let case = Case::new("default", vec![Message::user("go")]);
    assert_eq!(case.compile().unwrap().report.parted, None);
}

#[test]
fn what_the_cache_has_is_charged_at_its_own_price() {
    let mut case = Case::new("default", vec![Message::user("go")]);
    case.budget.prices = Some(Prices {
        input: 2_500_000,
        cached: 250_000,
        output: 10_000_000,
    });
    case.budget.reserve_output = 1_000;
    let first = case.compile().unwrap();
    let total = first.report.total;
    assert_eq!(
        first.report.cost,
        Some(Cost {
            input: total * 2_500_000 / 1_000_000,
            input_uncached: total * 2_500_000 / 1_000_000,
            output_most: 10_000,
        })
    );
    case.previous = Some(first.marks);
    let again = case.compile().unwrap().report;
    let shared = again.stable_prefix;
    assert!(shared > 0);
    let rest = total - shared;
    assert_eq!(
        again.cost.unwrap().input,
        shared * 250_000 / 1_000_000 + rest * 2_500_000 / 1_000_000
    );
}

#[test]
fn breakpoints_stand_behind_what_the_session_the_past_and_the_turn_share() {
    let past = [Message::user("one"), Message::assistant("two")];
    let mut case = Case::new("default", past.to_vec());
    case.messages.push(Message::user("three").into());
    case.messages.extend(group("1", "{}", "r").map(Arc::new));
    case.skills.visible = vec![entry("a", "does a", LoadMode::Lazy)];
    case.skills.loaded = vec![text("a", "BODY")];
    let prompt = case.compile().unwrap();
    assert_eq!(prompt.request.system.len(), 3);
    assert_eq!(
        prompt.breakpoints,
        [
            Breakpoint::System(1),
            Breakpoint::Message(1),
            Breakpoint::Message(4)
        ]
    );
}
