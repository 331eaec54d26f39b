//! Skills that change while a program runs.

use loop_runtime::TurnRequest;
use skill_core::testing::Answer;
use skill_core::{Root, ScanLimits, Scope, SkillCatalog};

use crate::bench::Bench;

#[tokio::test]
async fn a_turn_sees_skills_as_they_are_when_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| {
        let path = folder.path().join("style");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("SKILL.md"), text).unwrap();
    };
    let skill =
        |body: &str| format!("---\nname: style\ndescription: d\nmode: always\n---\n{body}\n");
    write(&skill("BE BRIEF"));
    let roots = [Root::new(folder.path(), Scope::User)];
    let catalog = SkillCatalog::scan(&roots, &ScanLimits::default());
    let answers = (0..3).map(|_| Answer::text("done")).collect();
    let bench = Bench::new(answers).catalog(catalog);
    bench.run(TurnRequest::task("one")).await;
    write(&skill("BE THOROUGH"));
    bench.run(TurnRequest::task("two")).await;
    // A file that is broken for a moment does not take its rules away.
    write("---");
    bench.run(TurnRequest::task("three")).await;
    let systems = bench.provider.requests();
    let seen: Vec<bool> = ["BE BRIEF", "BE THOROUGH", "BE THOROUGH"]
        .iter()
        .zip(&systems)
        .map(|(body, request)| request.system.concat().contains(body))
        .collect();
    assert_eq!(seen, [true; 3]);
}
