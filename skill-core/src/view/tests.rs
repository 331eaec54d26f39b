//! What a view shows, hides and opens.

mod properties;
mod settings;

use std::sync::Arc;

use super::*;
use crate::{MemorySource, ScanLimits, Scope, SkillCatalog, SkillId};

fn grouped(id: &str, groups: &[&str]) -> Skill {
    let mut skill = Skill::new(id, format!("about {id}"));
    skill.groups = groups.iter().map(|&group| group.to_owned()).collect();
    skill
}

fn scoped(id: &str, scope: Scope) -> Skill {
    let mut skill = Skill::new(id, "d");
    skill.scope = scope;
    skill.path = format!("{}/{id}", scope.as_str()).into();
    skill
}

fn catalog(source: MemorySource) -> SkillCatalog {
    SkillCatalog::new(vec![Arc::new(source)], ScanLimits::default())
}

fn member_of(groups: &[&str]) -> Principal {
    Principal {
        groups: groups.iter().map(|&group| group.to_owned()).collect(),
        ..Principal::default()
    }
}

fn ids(view: &SkillView) -> Vec<&str> {
    let ids = view.skills().iter();
    ids.map(|viewed| viewed.skill.id.as_str()).collect()
}

#[test]
fn a_skill_with_groups_is_seen_by_their_members_only() {
    let catalog = catalog(
        MemorySource::new()
            .with(grouped("global", &[]), "x")
            .with(grouped("private", &["a"]), "y"),
    );
    assert_eq!(
        ids(&catalog.view(&member_of(&["a"]))),
        ["global", "private"]
    );
    assert_eq!(ids(&catalog.view(&member_of(&["b"]))), ["global"]);
    assert_eq!(ids(&catalog.view(&Principal::default())), ["global"]);
}

#[test]
fn always_skills_come_first_then_ids() {
    let mut always = Skill::new("conventions", "d");
    always.load = LoadMode::Always;
    let catalog = catalog(
        MemorySource::new()
            .with(Skill::new("zeta", "d"), "")
            .with(always, "")
            .with(Skill::new("alpha", "d"), ""),
    );
    let view = catalog.view(&Principal::default());
    assert_eq!(ids(&view), ["conventions", "alpha", "zeta"]);
}

#[test]
fn disabled_for_all_beats_what_an_assistant_prefers() {
    let catalog = catalog(MemorySource::new().with(Skill::new("x", "d"), ""));
    let mut principal = Principal::default();
    principal.preferences.insert(
        "x".to_owned(),
        SkillPreference {
            enabled: Some(true),
            load: Some(LoadMode::Always),
        },
    );
    assert_eq!(catalog.view(&principal).skills()[0].load, LoadMode::Always);
    for written in [" x ", "X"] {
        principal.disabled = vec![written.to_owned()];
        let view = catalog.view(&principal);
        assert!(view.is_empty());
        assert!(view.find(Some("x"), None).is_none());
        assert!(view.nearest("x", 3).is_empty());
    }
}

#[test]
fn a_hidden_skill_gives_its_name_to_the_next_one() {
    let mut hidden = scoped("pdf", Scope::Project);
    hidden.groups = vec!["a".to_owned()];
    let catalog = catalog(
        MemorySource::new()
            .with(hidden, "project")
            .with(scoped("pdf", Scope::User), "user"),
    );
    let body = |principal| {
        let view = catalog.view(&principal);
        view.open(view.find(Some("pdf"), None).expect("visible"))
            .expect("opens")
            .body
    };
    assert_eq!(body(Principal::default()), "user");
    assert_eq!(body(member_of(&["a"])), "project");
}

#[test]
fn a_name_that_reads_as_a_qualified_id_opens_nothing() {
    let named = |name: &str, scope| Skill {
        name: name.to_owned(),
        ..scoped("mine", scope)
    };
    for name in ["user/deploy", "User/Deploy", "builtin/skill-creator"] {
        let catalog = catalog(
            MemorySource::new()
                .with(named(name, Scope::Project), "project")
                .with(scoped("deploy", Scope::User), "user"),
        );
        let view = catalog.view(&Principal::default());
        let id = |wanted: &str| Some(view.find(Some(wanted), None)?.skill.id.to_string());
        assert_eq!(id("User/deploy").as_deref(), Some("deploy"), "{name}");
        assert_eq!(id("user/deploy").as_deref(), Some("deploy"), "{name}");
        assert_eq!(id("builtin/skill-creator"), None, "{name}");
        assert_eq!(id("project/mine").as_deref(), Some("mine"), "{name}");
    }
}

#[test]
fn skills_in_memory_are_told_apart_whatever_path_they_name() {
    let of = |scope, groups: &[&str]| Skill {
        scope,
        ..grouped("pdf", groups)
    };
    let source = || {
        MemorySource::new()
            .with(of(Scope::Project, &["a"]), "project")
            .with_file("doc.md", "of the project")
            .with(of(Scope::User, &[]), "user")
            .with_file("doc.md", "of the user")
    };
    let other = MemorySource::new().with(of(Scope::Managed, &[]), "managed");
    let sources: Vec<Arc<dyn crate::SkillSource>> = vec![Arc::new(source()), Arc::new(other)];
    let catalog = SkillCatalog::new(sources, ScanLimits::default());
    let read = |principal: &Principal| -> Vec<(String, String)> {
        let view = catalog.view(principal);
        let body = |viewed| view.open(viewed).expect("opens").body;
        let each = view.skills().iter();
        each.map(|viewed| (viewed.skill.id.to_string(), body(viewed)))
            .collect()
    };
    let pair = |id: &str, body: &str| (id.to_owned(), body.to_owned());
    assert_eq!(
        read(&Principal::default()),
        [pair("managed/pdf", "managed"), pair("pdf", "user")]
    );
    assert_eq!(
        read(&member_of(&["a"])),
        [
            pair("managed/pdf", "managed"),
            pair("pdf", "project"),
            pair("user/pdf", "user")
        ]
    );
    let view = catalog.view(&Principal::default());
    let user = view.find(Some("pdf"), None).expect("found");
    assert_eq!(view.doc(user, "doc.md").expect("reads"), "of the user");
}

#[test]
fn a_shadowed_skill_keeps_its_qualified_id_and_is_not_listed() {
    let catalog = catalog(
        MemorySource::new()
            .with(scoped("pdf", Scope::Project), "project")
            .with(scoped("pdf", Scope::User), "user"),
    );
    let view = catalog.view(&Principal::default());
    assert_eq!(ids(&view), ["pdf", "user/pdf"]);
    let shadowed = view.find(Some("user/pdf"), None).expect("reachable");
    assert!(!shadowed.listed);
    assert_eq!(view.open(shadowed).expect("opens").body, "user");
    assert_eq!(
        view.find(Some("PDF"), None).expect("found").skill.id,
        SkillId::new("pdf")
    );
}

#[test]
fn the_qualified_id_reaches_a_skill_whether_it_holds_the_name_or_not() {
    let catalog = catalog(
        MemorySource::new()
            .with(scoped("pdf", Scope::Project), "project")
            .with(scoped("pdf", Scope::User), "user"),
    );
    let view = catalog.view(&Principal::default());
    let body = |id| {
        view.find(Some(id), None)
            .map(|one| view.open(one).expect("opens").body)
    };
    assert_eq!(body("project/pdf").as_deref(), Some("project"));
    assert_eq!(body("user/pdf").as_deref(), Some("user"));
    for absent in ["managed/pdf", "projectpdf", "project/", "user/user/pdf"] {
        assert_eq!(body(absent), None, "{absent}");
    }
}

#[test]
fn a_setting_for_a_name_leaves_the_shadowed_skill_lazy() {
    let shadowed = Skill {
        load: LoadMode::Always,
        ..scoped("pdf", Scope::User)
    };
    let catalog = catalog(
        MemorySource::new()
            .with(scoped("pdf", Scope::Project), "project")
            .with(shadowed, "user"),
    );
    let loads = |name: &str| {
        let mut principal = Principal::default();
        let always = SkillPreference {
            load: Some(LoadMode::Always),
            ..SkillPreference::default()
        };
        principal.preferences.insert(name.to_owned(), always);
        let view = catalog.view(&principal);
        let load = |id| view.find(Some(id), None).expect("found").load;
        (load("pdf"), load("user/pdf"))
    };
    assert_eq!(loads("pdf"), (LoadMode::Always, LoadMode::Lazy));
    assert_eq!(loads("user/pdf"), (LoadMode::Lazy, LoadMode::Always));
}

#[test]
fn names_that_clash_in_case_open_by_their_exact_id() {
    let catalog = catalog(
        MemorySource::new()
            .with(Skill::new("Deploy", "d"), "first")
            .with(Skill::new("deploy", "d"), "second"),
    );
    let view = catalog.view(&Principal::default());
    let opened = |text| {
        let found = view.find(Some(text), None).expect("found");
        (found.listed, view.open(found).expect("opens").body)
    };
    assert_eq!(opened("Deploy"), (true, "first".to_owned()));
    assert_eq!(opened("deploy"), (false, "second".to_owned()));
    assert_eq!(opened("DEPLOY"), (true, "first".to_owned()));
}

#[test]
fn an_id_and_a_name_must_mean_the_same_skill() {
    let catalog = catalog(
        MemorySource::new()
            .with(Skill::new("a", "d"), "")
            .with(Skill::new("b", "d"), ""),
    );
    let view = catalog.view(&Principal::default());
    assert!(view.find(Some("a"), Some("a")).is_some());
    assert!(view.find(Some("a"), Some("b")).is_none());
    assert!(view.find(None, None).is_none());
}

#[test]
fn what_only_a_person_may_start_is_not_there_for_the_model() {
    let mut skill = Skill::new("release", "d");
    skill.invocation.model = false;
    let view = catalog(MemorySource::new().with(skill, "body")).view(&Principal::default());
    assert!(view.is_empty());
    assert!(view.find(Some("release"), None).is_none());
    let found = view.find_for_user("release").expect("a person may");
    assert_eq!(view.open(found).expect("opens").body, "body");
}

#[test]
fn a_skill_of_another_view_does_not_open() {
    let first = catalog(MemorySource::new().with(Skill::new("x", "d"), ""));
    let second = catalog(MemorySource::new().with(Skill::new("x", "d"), ""));
    let view = first.view(&Principal::default());
    let other = second.view(&Principal::default());
    let error = view.open(&other.skills()[0]).expect_err("not ours");
    assert_eq!(error.kind, OpenErrorKind::NotFound);
}

#[test]
fn docs_are_the_texts_below_the_folder_in_order() {
    let source = MemorySource::new()
        .with(Skill::new("x", "d"), "")
        .with_file("sub/REF.TXT", "ref")
        .with_file("guide.md", "guide")
        .with_file("x.json", "{}");
    let view = catalog(source).view(&Principal::default());
    let skill = &view.skills()[0];
    assert_eq!(view.docs(skill), ["guide.md", "sub/REF.TXT"]);
    assert_eq!(view.doc(skill, "guide.md").expect("reads"), "guide");
    assert_eq!(view.resource(skill, "x.json").expect("reads").bytes, b"{}");
    let error = view.doc(skill, "none.md").expect_err("absent");
    assert_eq!(error.kind, OpenErrorKind::NotFound);
}

#[test]
fn the_digest_follows_what_is_seen_and_nothing_else() {
    let source = || MemorySource::new().with(Skill::new("x", "d"), "body");
    let digest = |source| {
        catalog(source)
            .view(&Principal::default())
            .digest()
            .to_owned()
    };
    let plain = digest(source());
    assert_eq!(plain, digest(source().with(grouped("hidden", &["a"]), "")));
    assert_ne!(
        plain,
        digest(MemorySource::new().with(Skill::new("x", "d"), "other"))
    );
    let mut always = Skill::new("x", "d");
    always.load = LoadMode::Always;
    assert_ne!(plain, digest(MemorySource::new().with(always, "body")));
}

#[test]
fn an_untrusted_project_never_takes_a_name_from_the_user() {
    let view = |trusted: bool| {
        let project = MemorySource::new().with(scoped("pdf", Scope::Project), "project");
        let user = MemorySource::new().with(scoped("pdf", Scope::User), "user");
        let sources: Vec<Arc<dyn crate::SkillSource>> =
            vec![Arc::new(Yielding(project, !trusted)), Arc::new(user)];
        SkillCatalog::new(sources, ScanLimits::default()).view(&Principal::default())
    };
    assert_eq!(ids(&view(true)), ["pdf", "user/pdf"]);
    let untrusted = view(false);
    assert_eq!(ids(&untrusted), ["pdf", "project/pdf"]);
    let pdf = untrusted.find(Some("pdf"), None).expect("found");
    assert_eq!(untrusted.open(pdf).expect("opens").body, "user");
}

/// A source whose skills may have to leave their names to others.
#[derive(Debug)]
struct Yielding(MemorySource, bool);

impl crate::SkillSource for Yielding {
    fn scan(&self, limits: &ScanLimits) -> crate::SourceScan {
        let mut scan = self.0.scan(limits);
        for candidate in &mut scan.candidates {
            Arc::make_mut(candidate).yields = self.1;
        }
        scan
    }

    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
        self.0.open(skill, limits)
    }

    fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        self.0.files(skill, limits)
    }

    fn read_file(&self, skill: &Skill, path: &str, limits: &ScanLimits) -> io::Result<Resource> {
        self.0.read_file(skill, path, limits)
    }
}

#[test]
fn a_built_in_that_is_off_is_switched_on_by_a_preference() {
    let catalog = SkillCatalog::scan(&[], &ScanLimits::default());
    assert_eq!(ids(&catalog.view(&Principal::default())), ["skill-creator"]);
    let mut principal = Principal::default();
    let on = SkillPreference {
        enabled: Some(true),
        load: None,
    };
    principal
        .preferences
        .insert("obsidian-output-format".to_owned(), on);
    let view = catalog.view(&principal);
    assert_eq!(ids(&view), ["output-format", "skill-creator"]);
    assert_eq!(view.skills()[0].load, LoadMode::Always);
    assert!(view.find(None, Some("Obsidian-Output-Format")).is_some());
}

#[test]
fn an_alias_answers_while_no_name_does() {
    let mut skill = Skill::new("pdf-tools", "d");
    skill.aliases = vec!["pdf".to_owned()];
    let alone = catalog(MemorySource::new().with(skill.clone(), ""));
    let found = |catalog: &SkillCatalog| {
        let view = catalog.view(&Principal::default());
        let found = view.find(None, Some("PDF")).expect("found");
        found.skill.id.to_string()
    };
    assert_eq!(found(&alone), "pdf-tools");
    let both = MemorySource::new()
        .with(skill, "")
        .with(Skill::new("pdf", "d"), "");
    assert_eq!(found(&catalog(both)), "pdf");
}
