//! What a refresh sees, what it reads, and what it leaves as it was.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{Diagnostic, OpenErrorKind, Principal, Root, ScanLimits, Scope, Skill, Verdict};

fn write(folder: &Path, relative: &str, text: &str) {
    let path = folder.join(relative);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn skill(folder: &Path, path: &str, body: &str) {
    let name = path.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: about {name}\n---\n{body}\n");
    write(folder, &format!("{path}/SKILL.md"), &text);
}

fn catalog(folder: &Path) -> SkillCatalog {
    SkillCatalog::new(
        crate::directory_sources(&[Root::new(folder, Scope::User)]),
        ScanLimits::default(),
    )
}

fn ids(snapshot: &Snapshot) -> Vec<&str> {
    let mut ids: Vec<&str> = snapshot.skills().map(|skill| skill.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

fn record(snapshot: &Snapshot, id: &str) -> Arc<Skill> {
    let mut skills = snapshot.skills();
    Arc::clone(skills.find(|skill| skill.id.as_str() == id).unwrap())
}

fn open(catalog: &SkillCatalog, id: &str) -> Result<String, OpenErrorKind> {
    let view = catalog.view(&Principal::default());
    let viewed = view.find(Some(id), None).unwrap();
    view.open(viewed)
        .map(|opened| opened.body)
        .map_err(|error| error.kind)
}

#[test]
fn what_changes_is_seen_at_the_next_refresh_and_a_view_stays_what_it_was() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a", "old");
    let catalog = catalog(folder.path());
    let first = catalog.snapshot();
    let view = catalog.view(&Principal::default());
    skill(folder.path(), "a", "new text");
    skill(folder.path(), "group/b", "new");
    let second = catalog.refresh();
    assert_eq!((ids(&first), ids(&second)), (vec!["a"], vec!["a", "b"]));
    assert_eq!((first.revision(), second.revision()), (1, 2));
    assert_eq!(open(&catalog, "a").unwrap(), "new text");
    // The pinned view neither shows the new skill nor mixes in the new body.
    assert!(view.find(Some("b"), None).is_none());
    let old = view.find(Some("a"), None).unwrap();
    assert_eq!(view.open(old).unwrap_err().kind, OpenErrorKind::Changed);
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    assert_eq!(ids(&catalog.refresh()), ["b"]);
}

#[test]
fn a_root_that_appears_later_is_found() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("later/skills");
    let catalog = catalog(&root);
    assert!(ids(&catalog.refresh()).is_empty());
    skill(&root, "a", "x");
    assert_eq!(ids(&catalog.refresh()), ["a"]);
}

#[test]
fn only_the_files_that_changed_are_read_again() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b", "c"] {
        skill(folder.path(), name, "x");
    }
    write(
        folder.path(),
        "flat.skill.md",
        "---\nname: flat\ndescription: d\n---\nx\n",
    );
    let catalog = catalog(folder.path());
    let before = catalog.snapshot();
    let kept = |after: &Snapshot, id: &str| Arc::ptr_eq(&record(&before, id), &record(after, id));
    // In place: the folders are the same.
    skill(folder.path(), "b", "longer than before");
    let edited = catalog.refresh();
    let same = ["a", "b", "c", "flat"].map(|id| kept(&edited, id));
    assert_eq!(same, [true, false, true, true]);
    // A new folder: everything is listed again, nothing else is read.
    skill(folder.path(), "d", "x");
    let added = catalog.refresh();
    let same = ["a", "c", "flat"].map(|id| kept(&added, id));
    assert_eq!((ids(&added).len(), same), (5, [true; 3]));
}

#[test]
fn a_policy_beside_a_skill_that_comes_changes_or_goes_is_seen() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a", "x");
    write(
        folder.path(),
        "flat.skill.md",
        "---\nname: flat\ndescription: d\n---\nx\n",
    );
    let catalog = catalog(folder.path());
    let policy = |allowed: bool| {
        let text = format!("policy:\n  allow_implicit_invocation: {allowed}\n");
        write(folder.path(), "a/agents/openai.yaml", &text);
    };
    let seen = || {
        catalog.refresh();
        let view = catalog.view(&Principal::default());
        view.find(Some("a"), None).is_some()
    };
    assert!(seen());
    policy(false);
    assert!(!seen());
    policy(true);
    assert!(seen());
    policy(false);
    assert!(!seen());
    fs::remove_dir_all(folder.path().join("a/agents")).unwrap();
    assert!(seen());
    // A folder of that name beside a skill of one file says nothing about it.
    write(folder.path(), "agents/openai.yaml", "x");
    let before = catalog.refresh();
    assert!(Arc::ptr_eq(&before, &catalog.refresh()));
}

/// Asks so often that the system is asked to tell of changes, where it can.
fn watched(folder: &Path) -> SkillCatalog {
    let catalog = catalog(folder);
    for _ in 0..3 {
        catalog.refresh();
    }
    catalog
}

#[cfg(unix)]
#[test]
fn whatever_way_a_watched_file_changes_it_is_read_again() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b", "c"] {
        skill(folder.path(), name, "x");
    }
    let elsewhere = TempDir::new_in(folder.path().parent().unwrap()).unwrap();
    let (path, other) = (folder.path().join("a/SKILL.md"), elsewhere.path().join("x"));
    let catalog = watched(folder.path());
    // In place, by another file put in its place, and by another name of the same file.
    skill(folder.path(), "a", "in place");
    catalog.refresh();
    assert_eq!(open(&catalog, "a").unwrap(), "in place");
    let replaced = "---\nname: a\ndescription: d\n---\nreplaced\n";
    fs::write(folder.path().join("a/new"), replaced).unwrap();
    fs::rename(folder.path().join("a/new"), &path).unwrap();
    catalog.refresh();
    assert_eq!(open(&catalog, "a").unwrap(), "replaced");
    fs::hard_link(&path, &other).unwrap();
    catalog.refresh();
    fs::write(
        &other,
        "---\nname: a\ndescription: d\n---\nby another name\n",
    )
    .unwrap();
    catalog.refresh();
    assert_eq!(open(&catalog, "a").unwrap(), "by another name");
    fs::remove_file(folder.path().join("b/SKILL.md")).unwrap();
    assert_eq!(ids(&catalog.refresh()), ["a", "c"]);
    // A file that links lead to lies in a folder that is not watched.
    fs::write(&other, "---\nname: d\ndescription: d\n---\none\n").unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    std::os::unix::fs::symlink(&other, folder.path().join("d/SKILL.md")).unwrap();
    for _ in 0..3 {
        catalog.refresh();
    }
    fs::write(&other, "---\nname: d\ndescription: d\n---\nanother\n").unwrap();
    catalog.refresh();
    assert_eq!(open(&catalog, "d").unwrap(), "another");
}

#[test]
fn a_watched_catalogue_reads_what_changed_alone_and_rests_otherwise() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b"] {
        skill(folder.path(), name, "x");
    }
    let catalog = watched(folder.path());
    let before = catalog.snapshot();
    assert!(Arc::ptr_eq(&before, &catalog.refresh()));
    skill(folder.path(), "b", "longer than before");
    let after = catalog.refresh();
    let same = ["a", "b"].map(|id| Arc::ptr_eq(&record(&before, id), &record(&after, id)));
    assert_eq!(same, [true, false]);
    assert!(Arc::ptr_eq(&after, &catalog.refresh()));
}

#[test]
fn several_events_are_one_change_and_an_event_elsewhere_is_none() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("skills");
    skill(&root, "a", "x");
    let catalog = catalog(&root);
    for body in ["one", "two", "three"] {
        skill(&root, "a", body);
    }
    let after = catalog.refresh();
    assert_eq!(
        (after.revision(), open(&catalog, "a").unwrap()),
        (2, "three".into())
    );
    write(folder.path(), "elsewhere/x.md", "x");
    write(&root, "a/references/doc.md", "not an entry file");
    assert!(Arc::ptr_eq(&after, &catalog.refresh()));
}

#[test]
fn the_revision_grows_only_if_content_changes() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a", "x");
    let catalog = catalog(folder.path());
    let before = catalog.snapshot();
    let path = folder.path().join("a/SKILL.md");
    let text = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, text).unwrap();
    let after = catalog.refresh();
    assert_eq!(after.revision(), before.revision());
    assert_eq!(after.digest(), before.digest());
}

#[test]
fn a_file_that_breaks_keeps_what_it_held_until_it_is_mended() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a", "good body");
    skill(folder.path(), "b", "never opened");
    let catalog = catalog(folder.path());
    let before = catalog.snapshot();
    open(&catalog, "a").unwrap();
    for name in ["a", "b"] {
        write(
            folder.path(),
            &format!("{name}/SKILL.md"),
            "---\nname: half",
        );
    }
    let broken = catalog.refresh();
    assert_eq!(
        (ids(&broken), broken.digest()),
        (vec!["a", "b"], before.digest())
    );
    let report = &broken.reports()[0];
    let codes: Vec<&str> = report.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(
        (&report.verdict, codes),
        (&Verdict::Repaired, vec!["SK011", "SK104"])
    );
    // What was opened goes on; what never was is not made up.
    assert_eq!(open(&catalog, "a").unwrap(), "good body");
    assert_eq!(open(&catalog, "b"), Err(OpenErrorKind::Broken));
    // Breaking twice keeps it, too; also when everything is listed again.
    write(folder.path(), "a/SKILL.md", "");
    skill(folder.path(), "c", "x");
    assert_eq!(ids(&catalog.refresh()), ["a", "b", "c"]);
    assert_eq!(open(&catalog, "a").unwrap(), "good body");
    skill(folder.path(), "a", "mended");
    catalog.refresh();
    assert_eq!(open(&catalog, "a").unwrap(), "mended");
}

#[test]
fn a_broken_file_that_still_holds_the_body_opens_although_it_never_was_before() {
    const GOOD: &str = "---\nname: a\ndescription: d\n---\n\n# How\n\ngood body\n";
    let opened = |broken: &str| {
        let folder = TempDir::new().unwrap();
        write(folder.path(), "a/SKILL.md", GOOD);
        let catalog = catalog(folder.path());
        write(folder.path(), "a/SKILL.md", broken);
        assert_eq!(ids(&catalog.refresh()), ["a"], "{broken}");
        open(&catalog, "a")
    };
    let body = Ok("# How\n\ngood body".to_owned());
    // An end or a beginning that was lost, letters that hide something: the body is the same one.
    for broken in [
        GOOD.replacen("d\n---\n", "d\n", 1),
        GOOD.replacen("---\n", "", 1),
        GOOD.replace("description: d", "description: d\u{e0041}\u{e0042}"),
        "# How\n\ngood body".to_owned(),
    ] {
        assert_eq!(opened(&broken), body, "{broken}");
    }
    // Another body, or less of it, is none that anybody has seen.
    for broken in ["---\nname: a\n# How\n\nnew body\n", "good body\n", ""] {
        assert_eq!(opened(broken), Err(OpenErrorKind::Broken), "{broken}");
    }
}

#[test]
fn a_pinned_view_opens_a_body_that_stands_in_a_file_broken_meanwhile() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a", "body");
    let catalog = catalog(folder.path());
    let view = catalog.view(&Principal::default());
    write(folder.path(), "a/SKILL.md", "---\nname: a\nbody\n");
    let pinned = view.find(Some("a"), None).unwrap();
    assert_eq!(view.open(pinned).unwrap().body, "body");
    // A sound file with another record is a change all the same.
    write(
        folder.path(),
        "a/SKILL.md",
        "---\nname: a\ndescription: e\n---\nbody\n",
    );
    assert_eq!(view.open(pinned).unwrap_err().kind, OpenErrorKind::Changed);
}

#[test]
fn a_file_broken_from_the_beginning_or_refused_for_its_place_is_not_kept() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "a/SKILL.md", "no frontmatter");
    skill(folder.path(), "b", "x");
    let catalog = catalog(folder.path());
    write(folder.path(), "a/SKILL.md", "still none");
    assert_eq!(ids(&catalog.refresh()), ["b"]);
    fs::remove_file(folder.path().join("b/SKILL.md")).unwrap();
    assert!(ids(&catalog.refresh()).is_empty());
}

/// A source whose scans wait until `callers` callers have come.
#[derive(Debug, Default)]
struct Slow {
    scans: AtomicUsize,
    callers: AtomicUsize,
}

impl SkillSource for Slow {
    fn scan(&self, _limits: &ScanLimits) -> SourceScan {
        let first = self.scans.fetch_add(1, Ordering::SeqCst) == 0;
        while !first && self.callers.load(Ordering::SeqCst) < 20 {
            std::thread::yield_now();
        }
        if !first {
            // Each caller has only the lock left before it.
            std::thread::sleep(Duration::from_millis(100));
        }
        SourceScan::default()
    }

    fn open(&self, _: &Skill, _: &ScanLimits) -> std::io::Result<OpenedSkill> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn files(&self, _: &Skill, _: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        Default::default()
    }

    fn read_file(&self, _: &Skill, _: &str, _: &ScanLimits) -> std::io::Result<crate::Resource> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

#[test]
fn twenty_callers_at_once_share_one_scan() {
    let slow = Arc::new(Slow::default());
    let catalog = SkillCatalog::new(vec![Arc::clone(&slow) as _], ScanLimits::default());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                slow.callers.fetch_add(1, Ordering::SeqCst);
                catalog.refresh();
            });
        }
    });
    // One when the catalogue was made, one for all of them.
    assert_eq!(slow.scans.load(Ordering::SeqCst), 2);
}

/// One thing that happens to a folder of skills.
#[derive(Clone, Debug)]
enum Event {
    Write(u8, String),
    Break(u8),
    Remove(u8),
    Flat(u8),
    Rename(u8, u8),
    Policy(u8, bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..4u8, "[a-z]{1,6}").prop_map(|(at, body)| Event::Write(at, body)),
        (0..4u8).prop_map(Event::Break),
        (0..4u8).prop_map(Event::Remove),
        (0..4u8).prop_map(Event::Flat),
        (0..4u8, 0..4u8).prop_map(|(from, to)| Event::Rename(from, to)),
        (0..4u8, any::<bool>()).prop_map(|(at, allowed)| Event::Policy(at, allowed)),
    ]
}

fn happen(folder: &Path, event: &Event) {
    let path = |at: &u8| folder.join(format!("s{at}"));
    match event {
        Event::Write(at, body) => skill(folder, &format!("s{at}"), body),
        Event::Break(at) => write(folder, &format!("s{at}/SKILL.md"), "broken"),
        Event::Flat(at) => write(folder, &format!("f{at}.skill.md"), "---\nname: f\n---\nx\n"),
        // What is not there can be neither removed nor renamed.
        Event::Remove(at) => drop(fs::remove_dir_all(path(at))),
        Event::Rename(from, to) => drop(fs::rename(path(from), path(to))),
        Event::Policy(at, allowed) => {
            let text = format!("policy:\n  allow_implicit_invocation: {allowed}\n");
            write(folder, &format!("s{at}/agents/openai.yaml"), &text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_refreshed_catalogue_equals_a_new_one_but_for_what_it_keeps(
        rounds in prop::collection::vec((prop::collection::vec(event(), 1..4), 0..4usize), 1..8),
    ) {
        let folder = TempDir::new().unwrap();
        let refreshed = catalog(folder.path());
        for (events, more) in &rounds {
            // Who asks often is told by the system, where it can.
            (0..*more).for_each(|_| drop(refreshed.refresh()));
            events.iter().for_each(|event| happen(folder.path(), event));
            let (now, new) = (refreshed.refresh(), catalog(folder.path()).snapshot());
            let good = |snapshot: &Snapshot| -> Vec<(std::path::PathBuf, String)> {
                let kept = |path: &Path| snapshot.reports().iter().any(|report| {
                    report.path == path && report.diagnostics.iter().any(|one| one.code == KEPT)
                });
                let skills = snapshot.skills().filter(|skill| !kept(&skill.path));
                let model = |skill: &Skill| skill.invocation.model.to_string();
                let shown = |skill: &Arc<Skill>| skill.content_digest.clone() + &model(skill);
                skills.map(|skill| (skill.path.clone(), shown(skill))).collect()
            };
            prop_assert_eq!(good(&now), good(&new));
            let paths = |snapshot: &Snapshot| -> Vec<std::path::PathBuf> {
                snapshot.reports().iter().map(|report| report.path.clone()).collect()
            };
            prop_assert_eq!(paths(&now), paths(&new));
        }
    }
}
