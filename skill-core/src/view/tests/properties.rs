//! The visibility rule, held against one written apart from it.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const NAMES: [&str; 6] = ["a", "b", "B", "c/d", "pdf", "Pdf"];
const GROUPS: [&str; 3] = ["x", "y", "z"];

fn words() -> impl Strategy<Value = Vec<String>> {
    vec(proptest::sample::select(GROUPS.to_vec()), 0..3)
        .prop_map(|words| words.into_iter().map(str::to_owned).collect())
}

prop_compose! {
    fn any_skill()(
        name in proptest::sample::select(NAMES.to_vec()),
        place in 0..3u32,
        groups in words(),
        roles in words(),
        contexts in words(),
        model in any::<bool>(),
    ) -> Skill {
        let mut skill = Skill::new(name, "d");
        skill.path = format!("{place}/{name}").into();
        skill.groups = groups;
        skill.roles = roles;
        skill.contexts = contexts;
        skill.invocation.model = model;
        skill
    }
}

prop_compose! {
    fn any_principal()(
        groups in words(),
        roles in words(),
        contexts in words(),
        disabled in vec(proptest::sample::select(NAMES.to_vec()), 0..2),
        off in proptest::option::of(proptest::sample::select(NAMES.to_vec())),
    ) -> Principal {
        let preference = |name: &str| {
            let off = SkillPreference { enabled: Some(false), load: None };
            (name.to_owned(), off)
        };
        Principal {
            groups: groups.into_iter().collect(),
            roles: roles.into_iter().collect(),
            contexts: contexts.into_iter().collect(),
            disabled: disabled.into_iter().map(str::to_owned).collect(),
            preferences: off.map(preference).into_iter().collect(),
            ..Principal::default()
        }
    }
}

/// The rule as the specification words it, written apart from the one under test.
fn permitted(skill: &Skill, principal: &Principal) -> bool {
    let named = |name: &str| name.to_lowercase() == skill.name.to_lowercase();
    let meets = |wanted: &[String], held: &std::collections::BTreeSet<String>| {
        wanted.is_empty() || wanted.iter().any(|word| held.contains(word))
    };
    !principal.disabled.iter().any(|name| named(name))
        && !principal.preferences.keys().any(|name| named(name))
        && meets(&skill.groups, &principal.groups)
        && meets(&skill.roles, &principal.roles)
        && meets(&skill.contexts, &principal.contexts)
}

proptest! {
    #[test]
    fn a_view_never_shows_what_its_predicate_denies(
        skills in vec(any_skill(), 0..12),
        principal in any_principal(),
    ) {
        let mut source = MemorySource::new();
        for (at, skill) in skills.iter().enumerate() {
            source.add(skill.clone(), format!("body {at}"));
        }
        let view = catalog(source).view(&principal);
        for viewed in view.skills() {
            prop_assert!(permitted(&viewed.skill, &principal));
            prop_assert!(viewed.skill.invocation.model);
            prop_assert!(view.open(viewed).is_ok());
        }
        for viewed in view.user_only() {
            prop_assert!(permitted(&viewed.skill, &principal));
        }
        for name in NAMES {
            let shown = |id: &str| view.skills().iter().any(|one| one.skill.id.as_str() == id);
            prop_assert!(view.nearest(name, 5).into_iter().all(shown));
            if let Some(found) = view.find(None, Some(name)) {
                prop_assert!(permitted(&found.skill, &principal));
            }
        }
        let mut ids = ids(&view);
        let count = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), count, "an id occurs twice");
    }

    #[test]
    fn hidden_skills_leave_no_trace_in_a_view(
        skills in vec(any_skill(), 0..12),
        principal in any_principal(),
    ) {
        let (mut all, mut permitted_only) = (MemorySource::new(), MemorySource::new());
        for (at, skill) in skills.into_iter().enumerate() {
            let body = format!("body {at}");
            if permitted(&skill, &principal) {
                permitted_only.add(skill.clone(), body.clone());
            }
            all.add(skill, body);
        }
        let all = catalog(all).view(&principal);
        let permitted_only = catalog(permitted_only).view(&principal);
        prop_assert_eq!(all.digest(), permitted_only.digest());
        prop_assert_eq!(ids(&all), ids(&permitted_only));
    }
}
