//! Tests of declared loads: checked together, applied at once.

use skill_core::{MemorySource, Principal, ScanLimits, Skill, SkillCatalog};

use super::*;
use crate::skill_state::DocsSelection;

fn view() -> SkillView {
    let mut hidden = Skill::new("by-hand", "Only a person starts it.");
    hidden.invocation.model = false;
    let skills = MemorySource::new()
        .with(Skill::new("review", "Reviews."), "Review.\n")
        .with(Skill::new("notes", "Notes."), "Note.\n")
        .with(hidden, "By hand.\n");
    let catalog = SkillCatalog::new(vec![std::sync::Arc::new(skills)], ScanLimits::default());
    catalog.view(&Principal::default())
}

fn check(names: &[&str], most: Option<usize>) -> Result<Declared, LoadError> {
    let loads: Vec<SkillLoad> = names.iter().map(|name| SkillLoad::new(*name)).collect();
    Declared::check(&loads, &view(), most)
}

fn with(skills: &[&str]) -> State {
    let mut state = State::new();
    for skill in skills {
        let mut delta = StateDelta::default();
        delta.set(loaded_key("main", skill), "1");
        apply(&mut state, "main", &delta, None);
    }
    state
}

fn after(mut state: State, declared: &Declared, expire: bool, most: Option<usize>) -> State {
    let delta = declared.delta(&state, "main", expire, most);
    merge(&mut state, &delta);
    state
}

#[test]
fn d_061_what_is_left_goes_and_what_is_declared_comes_in_one_change() {
    let declared = check(&["review"], None).unwrap();
    let state = after(with(&["old"]), &declared, true, None);
    assert_eq!(loaded(&state, "main"), ["review"]);
    assert_eq!(state["temp:skill:loaded:main/old"], "");
    assert_eq!(state["temp:skill:order:main"], "[\"review\"]");
}

#[test]
fn d_061_over_the_cap_the_oldest_goes() {
    let declared = check(&["notes"], Some(2)).unwrap();
    let state = after(with(&["a", "b"]), &declared, false, Some(2));
    assert_eq!(loaded(&state, "main"), ["b", "notes"]);
}

#[test]
fn d_061_one_that_is_not_there_stops_all_of_them() {
    let error = check(&["review", "reviews"], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "skill not found: reviews; did you mean review?"
    );
}

#[test]
fn d_061_documents_selected_earlier_stay_where_none_are_declared() {
    let mut state = with(&["review"]);
    state.insert(docs_key("main", "review"), "[\"guide.md\"]".into());
    let state = after(state, &check(&["review"], None).unwrap(), false, None);
    assert_eq!(
        crate::skill_state::docs(&state, "main", "review"),
        Some(DocsSelection::Some(vec!["guide.md".into()]))
    );
}

#[test]
fn equal_declarations_count_once_and_different_ones_contradict() {
    let declared = check(&["review", " review "], Some(1)).unwrap();
    assert_eq!(declared.opened().len(), 1);
    let loads = [
        SkillLoad::new("review"),
        SkillLoad {
            all_docs: true,
            ..SkillLoad::new("review")
        },
    ];
    let error = Declared::check(&loads, &view(), None).unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Conflict);
}

#[test]
fn more_than_may_be_open_are_refused() {
    let error = check(&["review", "notes"], Some(1)).unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::TooMany { most: 1 });
}

#[test]
fn a_document_that_is_not_there_is_named_with_those_that_are() {
    let loads = [SkillLoad {
        docs: vec!["gone.md".into()],
        ..SkillLoad::new("review")
    }];
    let error = Declared::check(&loads, &view(), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no document `gone.md` in skill `review`; it has none"
    );
}

#[test]
fn a_person_may_load_what_the_model_may_not() {
    assert_eq!(check(&["by-hand"], None).unwrap().opened()[0].id, "by-hand");
}

#[test]
fn a_task_names_skills_with_a_slash() {
    let found = |text: &str| {
        loads_in(text, &view()).map(|loads| {
            let names = loads.into_iter().map(|load| load.skill);
            names.collect::<Vec<_>>()
        })
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(found("/review /notes do it").unwrap(), ["review", "notes"]);
    assert_eq!(
        found("do /review, then /notes and /review").unwrap(),
        ["notes", "review"]
    );
    assert_eq!(found("look at /etc/hosts and /tmp").unwrap(), none);
    assert_eq!(found("/etc/hosts is broken").unwrap(), none);
    assert_eq!(found("1 / 2 and // are no skills").unwrap(), none);
    let error = found("/revew this").unwrap_err();
    assert!(
        error.to_string().contains("did you mean review?"),
        "{error}"
    );
}
