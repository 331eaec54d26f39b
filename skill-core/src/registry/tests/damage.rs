//! What becomes of versions that are damaged, half moved, or told another name.

use super::*;

fn places(bench: &Bench) -> Vec<PathBuf> {
    let items = std::fs::read_dir(bench.folder.path().join("registry")).unwrap();
    let mut places: Vec<_> = items.map(|item| item.unwrap().path()).collect();
    places.sort();
    places
}

#[test]
fn a_damaged_version_can_be_unregistered_and_is_not_switched() {
    for (file, text) in [
        ("entry.json", "{"),
        ("files/pdf/SKILL.md", "---\nname: pdf\n---\nother\n"),
    ] {
        let bench = Bench::new();
        bench.register("pdf", "1.0", "one").unwrap();
        bench.register("pdf", "2.0", "two").unwrap();
        let of = |version| {
            let id = crate::skill::SkillId::new("pdf");
            let name = record::key(&id, Some(version));
            bench.folder.path().join("registry").join(name)
        };
        std::fs::write(of("1.0").join(file), text).unwrap();
        let again = bench.again();
        let by = Authority::LocalUser;
        let error = again.set_enabled(&by, "pdf", Some("1.0"), false);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("damaged; unregister it"), "{error}");
        assert_eq!(again.unregister(&by, "pdf", Some("1.0")).unwrap(), 1);
        assert_eq!(places(&bench), [of("2.0")]);
        let left: Vec<String> = again.list().iter().map(|one| one.reference()).collect();
        assert_eq!(left, ["pdf@2.0"]);
    }
}

#[test]
fn an_entry_gives_no_skill_another_name_or_version() {
    for (said, instead) in [("\"pdf\"", "\"deploy\""), ("\"1.0\"", "\"9.0\"")] {
        let bench = Bench::new();
        bench.register("pdf", "1.0", "one").unwrap();
        let entry = places(&bench)[0].join("entry.json");
        let text = std::fs::read_to_string(&entry).unwrap();
        std::fs::write(&entry, text.replacen(said, instead, 1)).unwrap();
        let again = bench.again();
        assert!(again.list().is_empty());
        let scan = again.scan(&ScanLimits::default());
        assert_eq!(scan.diagnostics[0].code, "SK091");
    }
}

#[test]
fn two_versions_are_never_called_alike() {
    let bench = Bench::new();
    bench.register("a", "1", "one").unwrap();
    assert_eq!(
        bench.register("a@1", "", "two"),
        Err(RegistryErrorKind::Conflict)
    );
}

#[test]
fn what_a_killed_process_left_is_removed_after_an_hour_and_what_is_on_its_way_stays() {
    let bench = Bench::new();
    let left = bench.folder.path().join("registry/.moving.1.new");
    std::fs::create_dir_all(left.join("files")).unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    let registry = |now_ms| {
        let clock = Arc::new(Ticks(AtomicU64::new(now_ms)));
        let folder = bench.folder.path().join("registry");
        Registry::open(
            folder,
            ScanLimits::default(),
            Arc::clone(&bench.audit) as _,
            clock,
        )
    };
    std::fs::File::open(&left)
        .unwrap()
        .set_modified(old)
        .unwrap();
    for (version, now_ms, is_left) in [("1", 3_600_000, true), ("2", 3_700_000, false)] {
        let package = bench.package("pdf", version, "x");
        let by = Authority::LocalUser;
        let _ = registry(now_ms).register(&by, &package).unwrap();
        assert_eq!(left.exists(), is_left);
    }
}

#[cfg(unix)]
#[test]
fn of_a_mode_only_that_a_file_may_be_executed_is_taken_over() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let package = bench.package("pdf", "1", "x");
    let odd = std::fs::Permissions::from_mode(0o6777);
    std::fs::set_permissions(package.join("docs/a.md"), odd).unwrap();
    let by = Authority::LocalUser;
    let registered = bench.registry.register(&by, &package).unwrap();
    let copied = registered.package.join("docs/a.md");
    let mode = copied.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}
