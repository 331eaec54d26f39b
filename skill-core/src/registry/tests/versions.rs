//! Which version an id means, and what switching and taking out do to that.

use super::*;

#[test]
fn the_highest_enabled_release_is_meant_by_the_id_and_any_version_by_its_number() {
    let bench = Bench::new();
    for version in ["1.9", "1.10", "2.0-beta"] {
        bench
            .register("pdf", version, &format!("body {version}"))
            .unwrap();
    }
    let route = |reference: &str| bench.registry.route(reference).map(|one| one.reference());
    assert_eq!(route("pdf").as_deref(), Some("pdf@1.10"));
    assert_eq!(route("pdf@1.9").as_deref(), Some("pdf@1.9"));
    assert_eq!(route("pdf@3"), None);
    assert_eq!(route("missing"), None);

    let catalog = bench.catalog();
    let view = catalog.view(&Principal::default());
    assert_eq!(body(&view, "pdf").as_deref(), Some("body 1.10"));
    assert_eq!(body(&view, "pdf@1.9").as_deref(), Some("body 1.9"));
    assert_eq!(body(&view, "pdf@1.10").as_deref(), Some("body 1.10"));
    let listed = view.skills().iter().filter(|viewed| viewed.listed);
    assert_eq!(listed.count(), 1);

    let switch = |enabled| {
        bench
            .registry
            .set_enabled(&Authority::LocalUser, "pdf", Some("1.10"), enabled)
    };
    assert_eq!(switch(false).unwrap(), 1);
    assert_eq!(route("pdf").as_deref(), Some("pdf@1.9"));
    assert_eq!(route("pdf@1.10"), None);
    catalog.refresh();
    let view = catalog.view(&Principal::default());
    assert_eq!(body(&view, "pdf").as_deref(), Some("body 1.9"));
    // It stays so for another process.
    let again = bench.again();
    assert_eq!(again.route("pdf").unwrap().reference(), "pdf@1.9");
    assert_eq!(switch(true).unwrap(), 1);
    assert_eq!(again.route("pdf").unwrap().reference(), "pdf@1.10");
}

#[test]
fn a_version_before_a_release_is_meant_where_there_is_no_release() {
    let bench = Bench::new();
    for version in ["", "0.1-alpha", "0.1-beta"] {
        bench.register("pdf", version, "x").unwrap();
    }
    // A skill without a version counts as a release below all others.
    assert_eq!(bench.registry.route("pdf").unwrap().reference(), "pdf");
    bench
        .registry
        .unregister(&Authority::LocalUser, "pdf", None)
        .unwrap();
    for version in ["0.1-alpha", "0.1-beta"] {
        bench.register("pdf", version, "x").unwrap();
    }
    assert_eq!(
        bench.registry.route("pdf").unwrap().reference(),
        "pdf@0.1-beta"
    );
}

#[test]
fn unregistering_takes_out_what_is_meant_and_nothing_is_no_error() {
    let bench = Bench::new();
    for version in ["1", "2", "3"] {
        bench.register("pdf", version, "x").unwrap();
    }
    let catalog = bench.catalog();
    let unregister = |id, version| {
        bench
            .registry
            .unregister(&Authority::LocalUser, id, version)
            .unwrap()
    };
    assert_eq!(unregister("missing", None), 0);
    assert_eq!(unregister("pdf", Some("9")), 0);
    assert_eq!(unregister("pdf", Some("3")), 1);
    assert_eq!(bench.registry.route("pdf").unwrap().reference(), "pdf@2");
    assert_eq!(unregister("pdf", None), 2);
    assert!(bench.again().list().is_empty());
    catalog.refresh();
    assert!(catalog.view(&Principal::default()).is_empty());
    bench.register("pdf", "1", "anew").unwrap();
    catalog.refresh();
    assert_eq!(
        body(&catalog.view(&Principal::default()), "pdf").as_deref(),
        Some("anew")
    );
}

#[test]
fn all_versions_of_a_skill_are_switched_at_once_and_every_attempt_is_recorded() {
    let bench = Bench::new();
    for version in ["", "1", "2"] {
        bench.register("pdf", version, "x").unwrap();
    }
    bench.register("other", "1", "x").unwrap();
    let switch = |authority: &Authority<'_>, id: &str, enabled| {
        let switched = bench.registry.set_enabled(authority, id, None, enabled);
        switched.map_err(|error| error.kind)
    };
    let nobody = Principal::default();
    assert_eq!(switch(&Authority::LocalUser, "pdf", false), Ok(3));
    assert_eq!(bench.again().route("pdf"), None);
    assert!(bench.again().route("other").is_some());
    assert_eq!(switch(&Authority::LocalUser, "missing", false), Ok(0));
    let guest = Authority::Principal(&nobody);
    assert_eq!(switch(&guest, "pdf", true), Err(RegistryErrorKind::Refused));
    assert_eq!(switch(&Authority::LocalUser, "pdf", true), Ok(3));
    assert_eq!(bench.again().route("pdf").unwrap().reference(), "pdf@2");
    let outcomes = bench.outcomes().split_off(4);
    let outcomes: Vec<_> = outcomes
        .iter()
        .map(|(action, subject, outcome)| (action.as_str(), subject.as_str(), *outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("disable", "pdf", AuditOutcome::Done),
            ("disable", "missing", AuditOutcome::Failed),
            ("enable", "pdf", AuditOutcome::Refused),
            ("enable", "pdf", AuditOutcome::Done),
        ]
    );
}
