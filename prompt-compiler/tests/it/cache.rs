//! A cache changes what compiling costs, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prompt_compiler::{ByteBound, CompileCache, Opening, TokenCounter};
use proptest::prelude::*;
use skill_core::{ContentBlock, LoadMode, Message, Role};

use crate::support::{Case, entry, group, text};

/// Counts bytes, and how many of them it was asked about.
#[derive(Debug, Default)]
struct Watched(AtomicU64);

impl TokenCounter for Watched {
    fn count(&self, text: &str) -> u64 {
        self.0.fetch_add(text.len() as u64, Ordering::SeqCst);
        text.len() as u64
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn basis(&self) -> String {
        "watched".into()
    }
}

fn session(rounds: usize) -> Vec<Message> {
    let round = |number: usize| {
        let mut round = vec![Message::user(format!(
            "question {number} {}",
            "x".repeat(300)
        ))];
        round.extend(group(&number.to_string(), "{}", &"y".repeat(300)));
        round.push(Message::assistant("done"));
        round
    };
    (0..rounds).flat_map(round).collect()
}

#[test]
fn a_step_counts_nothing_but_what_is_new() {
    let counter = Watched::default();
    let mut cache = CompileCache::default();
    let mut case = Case::new("default", session(200));
    case.skills.visible = (0..40)
        .map(|number| entry(&format!("s{number}"), "does a thing", LoadMode::Lazy))
        .collect();
    case.messages.push(Message::user("now").into());
    case.with(&counter, &mut cache).unwrap();
    let cold = counter.0.swap(0, Ordering::SeqCst);
    assert!(cold > 100_000, "{cold}");
    case.messages
        .extend(group("new", "{}", "seventeen letters").map(Arc::new));
    case.with(&counter, &mut cache).unwrap();
    let warm = counter.0.swap(0, Ordering::SeqCst);
    assert!(warm < 60, "{warm} bytes were counted again");
}

#[test]
fn what_is_opened_later_changes_only_its_own_message() {
    let counter = Watched::default();
    let mut cache = CompileCache::default();
    let mut case = Case::new("default", session(20));
    case.messages.push(Message::user("now").into());
    case.messages
        .extend(group("open", "{}", "loaded: a").map(Arc::new));
    case.with(&counter, &mut cache).unwrap();
    let skill = text("a", "A BODY");
    let opening = Opening {
        skill: "a".into(),
        digest: skill.digest.clone(),
    };
    case.skills.openings.insert("open".into(), opening);
    case.skills.loaded.push(skill);
    let warm = case.with(&counter, &mut cache).unwrap();
    let cold = case.with(&counter, &mut CompileCache::default()).unwrap();
    assert_eq!(warm, cold);
}

/// One change of a conversation.
#[derive(Clone, Debug)]
enum Change {
    User(String),
    Say(String),
    Call {
        id: u8,
        answered: bool,
        arguments: String,
    },
    Result(u8),
    Reason,
    Drop(usize),
    Replace(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        "[a-z ]{0,40}".prop_map(Change::User),
        "[a-z ]{0,40}".prop_map(Change::Say),
        (any::<u8>(), any::<bool>(), "[{}a\":1]{0,6}").prop_map(|(id, answered, arguments)| {
            Change::Call {
                id,
                answered,
                arguments,
            }
        }),
        any::<u8>().prop_map(Change::Result),
        Just(Change::Reason),
        (0_usize..4).prop_map(Change::Drop),
        (0_usize..20).prop_map(Change::Replace),
    ]
}

fn apply(messages: &mut Vec<Arc<Message>>, change: &Change) {
    match change {
        Change::User(text) => messages.push(Message::user(text.clone()).into()),
        Change::Say(text) => messages.push(Message::assistant(text.clone()).into()),
        Change::Call {
            id,
            answered,
            arguments,
        } => {
            let pair = group(&(id % 8).to_string(), arguments, "result");
            let take = if *answered { 2 } else { 1 };
            messages.extend(pair.into_iter().take(take).map(Arc::new));
        }
        Change::Result(id) => {
            let [_, result] = group(&(id % 8).to_string(), "{}", "late");
            messages.push(result.into());
        }
        Change::Reason => messages.push(
            Message {
                role: Role::Assistant,
                content: vec![ContentBlock::Reasoning { text: "hm".into() }],
            }
            .into(),
        ),
        Change::Drop(count) => messages.truncate(messages.len().saturating_sub(*count)),
        Change::Replace(at) => {
            if let Some(message) = messages.get_mut(*at) {
                *message = Message::user("replaced").into();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn with_a_cache_the_bytes_are_those_without_one(
        changes in proptest::collection::vec(change(), 1..40),
        window in 900_u64..4_000,
        tools in any::<bool>(),
    ) {
        let mut cache = CompileCache::default();
        let mut case = Case::new("default", vec![]).window(window);
        if !tools {
            case.tools = [].into();
        }
        for change in &changes {
            apply(&mut case.messages, change);
            let warm = case.with(&ByteBound, &mut cache);
            let cold = case.with(&ByteBound, &mut CompileCache::default());
            prop_assert_eq!(warm, cold);
        }
    }
}
