//! Which folders are roots.

use super::*;

#[test]
fn a_root_may_be_one_file() {
    let folder = tree(&["a/SKILL.md", "notes/plan.md"]);
    let one = |file| scan(Root::new(folder.path().join(file), Scope::Flag));
    assert_eq!(listed(&one("a/SKILL.md")), ["a"]);
    assert_eq!(listed(&one("notes/plan.md")), ["plan"]);
}

#[test]
fn a_missing_root_is_empty_and_no_finding() {
    let folder = tree(&[]);
    let catalog = scan(user(&folder.path().join("absent")));
    assert_eq!((listed(&catalog), codes(&catalog)), (vec![], vec![]));
    assert!(catalog.snapshot().revision() >= 1);
}

#[test]
fn the_project_ends_at_the_nearest_marker_and_never_at_home() {
    let folder = tree(&[
        "home/mono/app/src/x",
        "home/mono/.git/x",
        "home/mono/app/.git",
    ]);
    let home = folder.path().join("home");
    let top = |cwd: &str, markers: &[&str]| {
        let places = Places {
            cwd: home.join(cwd),
            home: Some(home.clone()),
            markers: markers.iter().map(|&marker| marker.to_owned()).collect(),
            ..Places::default()
        };
        let root = project_root(&places)?;
        Some(root.strip_prefix(&home).expect("below home").to_owned())
    };
    assert_eq!(
        top("mono/app/src", &[]).as_deref(),
        Some(Path::new("mono/app"))
    );
    assert_eq!(top("mono", &[]).as_deref(), Some(Path::new("mono")));
    assert_eq!(
        top("mono/app/src", &["none"]).as_deref(),
        Some(Path::new("mono/app/src"))
    );
    assert_eq!(top("", &[]), None);
}

#[test]
fn the_usual_roots_stand_in_the_order_of_precedence() {
    let folder = tree(&["home/p/.git/x", "home/p/sub/x"]);
    let home = folder.path().join("home");
    let places = Places {
        cwd: home.join("p/sub"),
        home: Some(home.clone()),
        config: Some(home.join(".config/tekne")),
        managed: Some("/etc/tekne".into()),
        ..Places::default()
    };
    let roots: Vec<_> = standard_roots(&places)
        .into_iter()
        .map(|root| {
            let path = root.path.strip_prefix(&home).unwrap_or(&root.path);
            let marks = [
                (root.lite, " lite"),
                (!root.packages, " single"),
                (root.trusted, " trusted"),
            ];
            let marks = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark);
            format!(
                "{} {}{}",
                root.scope.as_str(),
                path.display(),
                marks.collect::<String>()
            )
        })
        .collect();
    assert_eq!(
        roots,
        [
            "project p/sub/.tekne/skills",
            "project p/sub/.agents/skills",
            "project p/sub/.claude/skills",
            "project p/.tekne/skills",
            "project p/.agents/skills",
            "project p/.claude/skills",
            "project p/skills single",
            "project p/YOLO/skills lite",
            "user .config/tekne/skills trusted",
            "user .tekne/skills trusted",
            "user .agents/skills trusted",
            "user .claude/skills trusted",
            "managed /etc/tekne/skills trusted",
        ]
    );
}

#[test]
fn a_user_s_skills_come_first_where_that_is_preferred() {
    let folder = tree(&["home/p/.git/x"]);
    let home = folder.path().join("home");
    let places = Places {
        cwd: home.join("p"),
        home: Some(home.clone()),
        managed: Some("/etc/tekne".into()),
        user_first: true,
        ..Places::default()
    };
    let mut scopes: Vec<_> = standard_roots(&places)
        .iter()
        .map(|root| root.scope)
        .collect();
    scopes.dedup();
    assert_eq!(scopes, [Scope::User, Scope::Project, Scope::Managed]);
}
