//! Which of equal names wins.

use super::*;

#[test]
fn the_first_of_equal_names_wins_whatever_was_written_first() {
    let mut digests = Vec::new();
    for order in [["a-first/dup", "z-last/dup"], ["z-last/dup", "a-first/dup"]] {
        let folder = tempfile::tempdir().expect("a folder");
        for file in order {
            let file = format!("{file}.skill.md");
            write(folder.path(), &file, &skill(&file));
        }
        let catalog = scan(user(folder.path()));
        let view = catalog.view(&Principal::default());
        let dup = view.find(Some("dup"), None).expect("found");
        assert_eq!(dup.skill.description, "at a-first/dup.skill.md");
        let shadowed: Vec<_> = findings(&catalog);
        assert_eq!(shadowed.len(), 1);
        assert!(shadowed[0].path.ends_with("z-last/dup.skill.md"));
        assert!(shadowed[0].message.contains("a-first/dup.skill.md"));
        digests.push(catalog.snapshot().digest().to_owned());
    }
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn a_package_wins_over_a_single_file_of_the_same_name() {
    let folder = tree(&["foo.md", "foo.skill.md", "foo/SKILL.md"]);
    let catalog = scan(Root {
        lite: true,
        ..user(folder.path())
    });
    let view = catalog.view(&Principal::default());
    let foo = view.find(Some("foo"), None).expect("found");
    assert_eq!(foo.skill.format, SkillFormat::Package);
    let shadowed = |report: &&CandidateReport| matches!(report.verdict, Verdict::Shadowed { .. });
    assert_eq!(
        catalog.snapshot().reports().iter().filter(shadowed).count(),
        2
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_in_which_files_were_written_never_changes_the_digest(
        seed in proptest::prelude::any::<u64>(),
    ) {
        let mut files: Vec<String> = (0..12)
            .map(|at| match at % 3 {
                0 => format!("f{}/s{at}/SKILL.md", at % 2),
                1 => format!("f{}/s{at}.skill.md", at % 4),
                _ => format!("g/dup{}.skill.md", at % 2),
            })
            .collect();
        let sorted = tree(&files.iter().map(String::as_str).collect::<Vec<_>>());
        let mut state = seed | 1;
        for at in (1..files.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            files.swap(at, (state >> 33) as usize % (at + 1));
        }
        let shuffled = tree(&files.iter().map(String::as_str).collect::<Vec<_>>());
        let one = scan(user(sorted.path()));
        let other = scan(user(shuffled.path()));
        assert_eq!(one.snapshot().digest(), other.snapshot().digest());
        let digest = |catalog: &SkillCatalog| catalog.view(&Principal::default()).digest().to_owned();
        assert_eq!(digest(&one), digest(&other));
        assert_eq!(listed(&one), listed(&other));
    }
}
