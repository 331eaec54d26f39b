//! Who may register, what is kept, which version is meant, and that every attempt is recorded.

mod damage;
mod versions;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tempfile::TempDir;

use super::*;
use crate::{SkillCatalog, SkillView};

/// An audit sink that keeps records in memory, and fails when told to.
#[derive(Debug, Default)]
struct Records {
    list: Mutex<Vec<AuditRecord>>,
    fails: AtomicBool,
}

impl AuditSink for Records {
    fn record(&self, record: &AuditRecord) -> Result<(), AuditError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(AuditError {
                problem: "the disk is full".to_owned(),
                source: None,
            });
        }
        self.list.lock().unwrap().push(record.clone());
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now_ms(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> u64 {
        self.now_ms()
    }
}

struct Bench {
    folder: TempDir,
    audit: Arc<Records>,
    registry: Arc<Registry>,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let audit = Arc::new(Records::default());
        let registry = open(&folder, &audit);
        Self {
            folder,
            audit,
            registry,
        }
    }

    /// Returns the registry as another process would see it.
    fn again(&self) -> Arc<Registry> {
        open(&self.folder, &self.audit)
    }

    fn package(&self, id: &str, version: &str, body: &str) -> PathBuf {
        let folder = self.folder.path().join("packages").join(version).join(id);
        std::fs::create_dir_all(folder.join("docs")).unwrap();
        let version = if version.is_empty() {
            String::new()
        } else {
            format!("version: {version}\n")
        };
        let text = format!("---\nname: {id}\ndescription: d\n{version}---\n{body}\n");
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
        std::fs::write(folder.join("docs/a.md"), format!("doc of {body}")).unwrap();
        folder
    }

    fn register(&self, id: &str, version: &str, body: &str) -> Result<String, RegistryErrorKind> {
        let package = self.package(id, version, body);
        self.registry
            .register(&Authority::LocalUser, &package)
            .map(|registered| registered.reference())
            .map_err(|error| error.kind)
    }

    fn outcomes(&self) -> Vec<(AuditAction, String, AuditOutcome)> {
        let list = self.audit.list.lock().unwrap();
        list.iter()
            .map(|one| (one.action, one.subject.clone(), one.outcome))
            .collect()
    }

    fn catalog(&self) -> SkillCatalog {
        SkillCatalog::new(vec![Arc::clone(&self.registry) as _], ScanLimits::default())
    }
}

fn open(folder: &TempDir, audit: &Arc<Records>) -> Arc<Registry> {
    Arc::new(Registry::open(
        folder.path().join("registry"),
        ScanLimits::default(),
        Arc::clone(audit) as _,
        Arc::new(Ticks::default()),
    ))
}

fn body(view: &SkillView, id: &str) -> Option<String> {
    let viewed = view.find(Some(id), None)?;
    Some(view.open(viewed).unwrap().body)
}

#[test]
fn what_is_registered_is_there_after_a_restart_whatever_becomes_of_its_origin() {
    let bench = Bench::new();
    assert_eq!(bench.register("pdf", "1.0", "one").unwrap(), "pdf@1.0");
    std::fs::remove_dir_all(bench.folder.path().join("packages")).unwrap();
    let again = bench.again();
    let listed: Vec<String> = again.list().iter().map(|one| one.reference()).collect();
    assert_eq!(listed, ["pdf@1.0"]);
    let catalog = SkillCatalog::new(vec![again as _], ScanLimits::default());
    let view = catalog.view(&Principal::default());
    assert_eq!(body(&view, "pdf").as_deref(), Some("one"));
    let pdf = view.find(Some("pdf"), None).unwrap();
    assert_eq!(pdf.skill.scope, Scope::User);
    assert_eq!(view.doc(pdf, "docs/a.md").unwrap(), "doc of one");
}

#[test]
fn of_a_hundred_that_register_one_version_at_once_one_succeeds() {
    let bench = Bench::new();
    let package = bench.package("pdf", "1.0", "one");
    let other = bench.again();
    let results: Vec<_> = std::thread::scope(|scope| {
        let tasks: Vec<_> = (0..100)
            .map(|number| {
                // Half of them through what might be another process.
                let registry = if number % 2 == 0 {
                    &bench.registry
                } else {
                    &other
                };
                let package = &package;
                scope.spawn(move || registry.register(&Authority::LocalUser, package))
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });
    let conflicts: Vec<_> = results
        .iter()
        .filter_map(|result| result.as_ref().err())
        .collect();
    assert_eq!(conflicts.len(), 99);
    for conflict in conflicts {
        assert_eq!(conflict.kind, RegistryErrorKind::Conflict);
        assert_eq!(conflict.subject, "pdf@1.0");
    }
    assert_eq!(bench.registry.list().len(), 1);
    let conflicts = bench.outcomes().into_iter();
    let (done, conflicts): (Vec<_>, Vec<_>) =
        conflicts.partition(|one| one.2 == AuditOutcome::Done);
    assert_eq!((done.len(), conflicts.len()), (1, 99));
    // Nothing of the attempts is left over.
    let left = std::fs::read_dir(bench.folder.path().join("registry")).unwrap();
    assert_eq!(left.count(), 1);
}

#[test]
fn whoever_may_not_is_refused_and_the_attempt_is_recorded() {
    let bench = Bench::new();
    let package = bench.package("pdf", "1.0", "one");
    let nobody = Principal {
        assistant: "guest".to_owned(),
        ..Principal::default()
    };
    let kind = |result: Result<_, RegistryError>| result.map(drop).unwrap_err().kind;
    let guest = Authority::Principal(&nobody);
    assert_eq!(
        kind(bench.registry.register(&guest, &package)),
        RegistryErrorKind::Refused
    );
    assert!(bench.registry.list().is_empty());
    let somebody = Principal {
        can_register: true,
        ..nobody.clone()
    };
    bench
        .registry
        .register(&Authority::Principal(&somebody), &package)
        .unwrap();
    let unregistered = bench.registry.unregister(&guest, "pdf", None);
    assert_eq!(unregistered.unwrap_err().kind, RegistryErrorKind::Refused);
    assert_eq!(bench.registry.list().len(), 1);
    let shown = package.display().to_string();
    assert_eq!(
        bench.outcomes(),
        [
            (AuditAction::Register, shown, AuditOutcome::Refused),
            (
                AuditAction::Register,
                "pdf@1.0".to_owned(),
                AuditOutcome::Done
            ),
            (
                AuditAction::Unregister,
                "pdf".to_owned(),
                AuditOutcome::Refused
            ),
        ]
    );
    let actors: Vec<String> = bench
        .audit
        .list
        .lock()
        .unwrap()
        .iter()
        .map(|one| one.actor.clone())
        .collect();
    assert_eq!(actors, ["principal guest"; 3]);
}

#[test]
fn what_cannot_be_recorded_is_not_done() {
    let bench = Bench::new();
    bench.register("pdf", "1.0", "one").unwrap();
    bench.audit.fails.store(true, Ordering::SeqCst);
    assert_eq!(
        bench.register("pdf", "2.0", "two"),
        Err(RegistryErrorKind::Audit)
    );
    let local = Authority::LocalUser;
    assert!(bench.registry.unregister(&local, "pdf", None).is_err());
    assert!(
        bench
            .registry
            .set_enabled(&local, "pdf", Some("1.0"), false)
            .is_err()
    );
    let listed = bench.again().list();
    assert_eq!((listed.len(), listed[0].enabled), (1, true));
}

#[test]
fn what_is_no_sound_skill_is_not_registered_and_says_why() {
    let bench = Bench::new();
    let folder = bench.folder.path().join("bad");
    std::fs::create_dir_all(&folder).unwrap();
    let check = |said: &str| {
        let error = bench
            .registry
            .register(&Authority::LocalUser, &folder)
            .unwrap_err();
        assert_eq!(error.kind, RegistryErrorKind::NotASkill);
        assert!(error.to_string().contains(said), "{error}");
    };
    check("0 skills");
    std::fs::write(folder.join("SKILL.md"), "no frontmatter").unwrap();
    check("SK010");
    #[cfg(unix)]
    {
        std::fs::write(
            folder.join("SKILL.md"),
            "---\nname: bad\ndescription: d\n---\nx\n",
        )
        .unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.join("secret.md")).unwrap();
        check("`secret.md` is a link");
    }
    let missing = bench
        .registry
        .register(&Authority::LocalUser, Path::new("/no/such"));
    assert_eq!(missing.unwrap_err().kind, RegistryErrorKind::NotASkill);
    let failed = bench
        .outcomes()
        .into_iter()
        .filter(|one| one.2 == AuditOutcome::Failed);
    assert_eq!(failed.count(), if cfg!(unix) { 4 } else { 3 });
}

#[test]
fn a_single_file_is_registered_like_a_folder() {
    let bench = Bench::new();
    let file = bench.folder.path().join("one.skill.md");
    std::fs::write(&file, "---\nname: one\ndescription: d\n---\nbody\n").unwrap();
    let registered = bench
        .registry
        .register(&Authority::LocalUser, &file)
        .unwrap();
    assert_eq!(registered.reference(), "one");
    let view = bench.catalog().view(&Principal::default());
    assert_eq!(body(&view, "one").as_deref(), Some("body"));
    assert_eq!(bench.again().list()[0].digest, registered.digest);
}

#[test]
fn an_entry_file_that_stands_for_its_folder_is_registered_with_it() {
    let bench = Bench::new();
    let entry = bench.package("pdf", "1", "x").join("SKILL.md");
    bench
        .registry
        .register(&Authority::LocalUser, &entry)
        .unwrap();
    let view = bench.catalog().view(&Principal::default());
    let pdf = view.find(Some("pdf"), None).unwrap();
    assert_eq!(view.docs(pdf), ["docs/a.md"]);
}

#[test]
fn what_was_changed_in_the_registry_is_not_used_and_is_reported() {
    let bench = Bench::new();
    bench.register("pdf", "1", "x").unwrap();
    let kept = bench.registry.list()[0].package.join("docs/a.md");
    std::fs::write(kept, "tampered").unwrap();
    let again = bench.again();
    assert!(again.list().is_empty());
    let catalog = SkillCatalog::new(vec![again as _], ScanLimits::default());
    assert_eq!(catalog.snapshot().diagnostics()[0].code, "SK091");
    // Registering it anew mends it.
    let package = bench.package("pdf", "1", "x");
    bench
        .again()
        .register(&Authority::LocalUser, &package)
        .unwrap();
    assert_eq!(bench.again().list().len(), 1);
}

#[test]
fn what_cannot_be_read_in_the_registry_is_told_from_what_was_changed() {
    let bench = Bench::new();
    for version in ["1", "2", "3"] {
        bench.register("pdf", version, "x").unwrap();
    }
    let folder = |at: usize| {
        let package = bench.registry.list()[at].package.clone();
        package.ancestors().nth(2).unwrap().to_owned()
    };
    std::fs::write(folder(0).join("entry.json"), "{").unwrap();
    let later = std::fs::read_to_string(folder(1).join("entry.json")).unwrap();
    let later = later.replace("\"v\": 1", "\"v\": 2");
    std::fs::write(folder(1).join("entry.json"), later).unwrap();
    std::fs::remove_dir_all(folder(2).join("files")).unwrap();
    let again = bench.again();
    assert!(again.list().is_empty());
    let catalog = SkillCatalog::new(vec![again as _], ScanLimits::default());
    let snapshot = catalog.snapshot();
    let codes: Vec<&str> = snapshot.diagnostics().iter().map(|one| one.code).collect();
    assert_eq!(codes, ["SK065"; 3]);
}
