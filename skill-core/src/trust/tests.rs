//! What waits for trust, what is let in, and what a change does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::{
    OpenErrorKind, Principal, Root, ScanLimits, Scope, SkillCatalog, SkillsLock, directory_sources,
};

/// A project and the data of its user.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self {
            folder: TempDir::new().unwrap(),
        };
        bench.skill("p/.tekne/skills/pdf", "pdf", "project body");
        bench.write("p/.tekne/skills/pdf/notes.md", "notes\n");
        bench
    }

    fn write(&self, relative: &str, text: &str) {
        let path = self.folder.path().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, folder: &str, name: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: d\n---\n{body}\n");
        self.write(&format!("{folder}/SKILL.md"), &text);
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("p")
    }

    fn store(&self) -> TrustStore {
        TrustStore::new(self.folder.path().join("data/trust.json"))
    }

    fn catalog(&self, pinned: bool) -> SkillCatalog {
        let root = |path: &str, scope| Root::new(self.folder.path().join(path), scope);
        let roots = [
            root("p/.tekne/skills", Scope::Project),
            root("user/skills", Scope::User),
        ];
        let guard = ProjectGuard::new(self.project(), self.store(), pinned);
        SkillCatalog::guarded(
            directory_sources(&roots),
            ScanLimits::default(),
            Some(Arc::new(guard)),
        )
    }

    fn item(&self) -> TrustItem {
        let tree = PackageTree::read(&self.project().join(".tekne/skills/pdf")).unwrap();
        TrustItem {
            kind: TrustKind::Skill,
            path: ".tekne/skills/pdf".to_owned(),
            digest: tree.digest,
            files: tree.files,
            target: None,
        }
    }

    fn trust(&self) {
        let items = [self.item()];
        self.store().grant(&self.project(), &items, 1).unwrap();
    }

    fn lock(&self) {
        let snapshot = self.catalog(false).snapshot();
        let skills = snapshot.skills().map(|skill| &**skill);
        let lock = SkillsLock::of(&self.project(), skills).unwrap();
        lock.write(&self.project().join(SkillsLock::FILE)).unwrap();
    }
}

/// Returns the body that `pdf` opens with, if it is visible, and the codes of the project's report.
fn check(catalog: &SkillCatalog) -> (Option<String>, Vec<&'static str>) {
    let view = catalog.view(&Principal::default());
    let body = view
        .find(Some("pdf"), None)
        .map(|viewed| view.open(viewed).unwrap().body);
    let snapshot = catalog.snapshot();
    let mut reports = snapshot.reports().iter();
    let report = reports
        .find(|report| report.path.ends_with("p/.tekne/skills/pdf/SKILL.md"))
        .unwrap();
    let codes = report
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect();
    assert_eq!(
        report.pending,
        body.is_none() || body.as_deref() == Some("user body")
    );
    (body, codes)
}

#[test]
fn skills_of_an_open_project_need_no_trust() {
    let bench = Bench::new();
    assert_eq!(
        check(&bench.catalog(false)),
        (Some("project body".into()), vec![])
    );
}

#[test]
fn skills_of_a_pinned_project_are_missing_until_they_are_trusted() {
    let bench = Bench::new();
    let catalog = bench.catalog(true);
    assert_eq!(check(&catalog), (None, vec!["SK090"]));
    let view = catalog.view(&Principal::default());
    assert!(view.nearest("pdf", 5).is_empty() && view.user_only().is_empty());
    bench.trust();
    let revision = catalog.snapshot().revision();
    assert_eq!(catalog.refresh().revision(), revision + 1);
    assert_eq!(check(&catalog), (Some("project body".into()), vec![]));
}

#[test]
fn a_change_in_any_file_of_a_trusted_skill_makes_it_wait_again_and_says_where() {
    for (file, text, said) in [
        (
            "SKILL.md",
            "---\nname: pdf\ndescription: d\n---\nevil\n",
            "changed SKILL.md",
        ),
        ("notes.md", "evil\n", "changed notes.md"),
        ("new.sh", "evil\n", "added new.sh"),
    ] {
        let bench = Bench::new();
        bench.trust();
        let catalog = bench.catalog(true);
        assert_eq!(check(&catalog).0.as_deref(), Some("project body"));
        bench.write(&format!("p/.tekne/skills/pdf/{file}"), text);
        let snapshot = catalog.refresh();
        assert_eq!(check(&catalog), (None, vec!["SK091"]));
        let message = &snapshot.reports()[0].diagnostics[0].message;
        assert_eq!(message, &format!("changed since it was trusted: {said}"));
    }
}

#[test]
fn a_file_of_a_pinned_skill_that_changes_within_a_turn_is_not_served() {
    let bench = Bench::new();
    bench.trust();
    let view = bench.catalog(true).view(&Principal::default());
    let pdf = view.find(Some("pdf"), None).unwrap();
    assert_eq!(view.doc(pdf, "notes.md").unwrap(), "notes\n");
    bench.write("p/.tekne/skills/pdf/notes.md", "other\n");
    bench.write("p/.tekne/skills/pdf/late.md", "late\n");
    for file in ["notes.md", "late.md"] {
        assert_eq!(
            view.doc(pdf, file).unwrap_err().kind,
            OpenErrorKind::Changed
        );
    }
}

#[test]
fn what_is_locked_loads_until_it_changes_and_then_waits() {
    let bench = Bench::new();
    bench.lock();
    assert_eq!(
        check(&bench.catalog(false)),
        (Some("project body".into()), vec![])
    );
    bench.write("p/.tekne/skills/pdf/notes.md", "evil\n");
    let catalog = bench.catalog(false);
    assert_eq!(check(&catalog), (None, vec!["SK091"]));
    // A skill that the lock does not list is as free as ever.
    bench.skill("p/.tekne/skills/other", "other", "x");
    catalog.refresh();
    let view = catalog.view(&Principal::default());
    assert!(view.find(Some("other"), None).is_some());
    // Both ways out: trusting what is there now, or locking it.
    bench.trust();
    catalog.refresh();
    assert_eq!(check(&catalog).0.as_deref(), Some("project body"));
    bench.store().revoke(&bench.project()).unwrap();
    catalog.refresh();
    assert_eq!(check(&catalog).0, None);
    bench.lock();
    catalog.refresh();
    assert_eq!(check(&catalog).0.as_deref(), Some("project body"));
}

#[test]
fn a_damaged_lock_lets_no_skill_of_the_project_in() {
    let bench = Bench::new();
    bench.write("p/skills.lock", "{");
    assert_eq!(check(&bench.catalog(false)), (None, vec!["SK091"]));
}

#[test]
fn a_waiting_skill_leaves_its_name_to_the_user_and_a_trusted_one_takes_it() {
    let bench = Bench::new();
    bench.skill("user/skills/pdf", "pdf", "user body");
    assert_eq!(check(&bench.catalog(true)).0.as_deref(), Some("user body"));
    // Not waiting and not trusted: it is there, but not under the bare name.
    let catalog = bench.catalog(false);
    let view = catalog.view(&Principal::default());
    let opened = |id| {
        let viewed = view.find(Some(id), None).unwrap();
        view.open(viewed).unwrap().body
    };
    assert_eq!(
        (opened("pdf"), opened("project/pdf")),
        ("user body".into(), "project body".into())
    );
    bench.trust();
    catalog.refresh();
    assert_eq!(check(&catalog).0.as_deref(), Some("project body"));
    // A change takes the name away again.
    bench.write("p/.tekne/skills/pdf/notes.md", "other\n");
    catalog.refresh();
    let view = catalog.view(&Principal::default());
    let viewed = view.find(Some("pdf"), None).unwrap();
    assert_eq!(viewed.skill.scope, Scope::User);
}

#[test]
fn trust_is_kept_by_project_and_is_gone_when_revoked() {
    let bench = Bench::new();
    let (store, project) = (bench.store(), bench.project());
    let item = bench.item();
    assert_eq!(
        store.project(&project).unwrap().standing(&item),
        TrustStanding::Pending
    );
    bench.trust();
    let trust = store.project(&project).unwrap();
    assert_eq!(trust.standing(&item), TrustStanding::Trusted);
    assert!(
        store
            .project(Path::new("/other"))
            .unwrap()
            .items()
            .is_empty()
    );
    let other = TrustItem {
        digest: "0".to_owned(),
        ..item.clone()
    };
    assert_eq!(
        trust.standing(&other),
        TrustStanding::Changed(&trust.items()[0])
    );
    assert_eq!(store.revoke(&project).unwrap(), 1);
    assert_eq!(store.revoke(&project).unwrap(), 0);
    assert_eq!(
        store.project(&project).unwrap().standing(&item),
        TrustStanding::Pending
    );
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let bench = Bench::new();
    let item = bench.item();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let (store, item) = (bench.store(), item.clone());
            scope.spawn(move || {
                let project = PathBuf::from(format!("/project/{number}"));
                store.grant(&project, &[item], number).unwrap();
            });
        }
    });
    for number in 0..16 {
        let trust = bench
            .store()
            .project(Path::new(&format!("/project/{number}")));
        assert_eq!(trust.unwrap().items().len(), 1);
    }
    let left = fs::read_dir(bench.folder.path().join("data")).unwrap();
    let names: Vec<_> = left.map(|item| item.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "only the file and its lock: {names:?}");
}

#[test]
fn a_damaged_trust_file_trusts_nothing_and_is_not_overwritten() {
    let bench = Bench::new();
    bench.trust();
    for text in ["{", "[]", "{\"v\": 9, \"projects\": {}}"] {
        bench.write("data/trust.json", text);
        assert_eq!(check(&bench.catalog(true)), (None, vec!["SK090"]));
        assert!(
            bench
                .store()
                .grant(&bench.project(), &[bench.item()], 1)
                .is_err()
        );
        assert_eq!(fs::read_to_string(bench.store().path()).unwrap(), text);
    }
}

#[test]
fn a_text_is_kept_by_its_digest_and_nothing_else_is_read() {
    let bench = Bench::new();
    let store = bench.store();
    store.keep_text(b"notes\n").unwrap();
    let digest = &bench.item().files["notes.md"].sha256;
    assert_eq!(store.text(digest).as_deref(), Some("notes\n"));
    store.keep_text(b"\xff").unwrap();
    assert_eq!(store.text("../trust.json"), None);
    bench.write(&format!("data/approved/{digest}"), "tampered");
    assert_eq!(store.text(digest), None);
}

#[cfg(unix)]
#[test]
fn a_tree_knows_links_and_executables_and_refuses_what_is_no_file() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let bench = Bench::new();
    let folder = bench.project().join(".tekne/skills/pdf");
    let kinds = || -> BTreeMap<String, TreeFileKind> {
        let files = PackageTree::read(&folder).unwrap().files;
        files
            .into_iter()
            .map(|(path, file)| (path, file.kind))
            .collect()
    };
    let plain = PackageTree::read(&folder).unwrap();
    bench.write("p/elsewhere.md", "one");
    symlink("../../../elsewhere.md", folder.join("link.md")).unwrap();
    fs::set_permissions(folder.join("notes.md"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        kinds().into_iter().collect::<Vec<_>>(),
        [
            ("SKILL.md".to_owned(), TreeFileKind::File),
            ("link.md".to_owned(), TreeFileKind::Link),
            ("notes.md".to_owned(), TreeFileKind::Executable),
        ]
    );
    let linked = PackageTree::read(&folder).unwrap();
    let change = |path: &str, kind| Change {
        path: path.to_owned(),
        kind,
    };
    assert_eq!(
        changes(&plain.files, &linked.files),
        [
            change("link.md", ChangeKind::Added),
            change("notes.md", ChangeKind::Changed)
        ]
    );
    assert_eq!(
        changes(&linked.files, &plain.files)[0],
        change("link.md", ChangeKind::Removed)
    );
    let status = std::process::Command::new("mkfifo")
        .arg(folder.join("pipe"))
        .status()
        .unwrap();
    assert!(status.success());
    assert!(PackageTree::read(&folder).is_err());
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_project_is_followed_only_where_it_was_trusted_to_lead() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    bench.skill("outside/shared", "shared", "x");
    bench.skill("evil/shared", "shared", "y");
    let link = bench.project().join(".tekne/skills/linked");
    let target = bench.folder.path().join("outside").canonicalize().unwrap();
    symlink(&target, &link).unwrap();
    let bodies = |trusted: bool| {
        let root = Root {
            boundary: Some(bench.project()),
            trusted_links: if trusted {
                vec![(link.clone(), target.clone())]
            } else {
                vec![]
            },
            ..Root::new(bench.project().join(".tekne/skills"), Scope::Project)
        };
        let catalog = SkillCatalog::scan(&[root], &ScanLimits::default());
        let view = catalog.view(&Principal::default());
        view.find(Some("shared"), None)
            .map(|viewed| view.open(viewed).unwrap().body)
    };
    assert_eq!((bodies(false), bodies(true)), (None, Some("x".to_owned())));
    fs::remove_file(&link).unwrap();
    symlink(bench.folder.path().join("evil"), &link).unwrap();
    assert_eq!(bodies(true), None);
}

#[cfg(unix)]
mod moving;
