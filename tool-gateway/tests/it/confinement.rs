//! What no path, link, race or special file gets at, checked by looking at the disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags};
use serde_json::{Value, json};
use skill_core::CallStatus::{Error, Rejected, Success};
use tempfile::TempDir;
use tool_gateway::{
    Approval, ApprovalRequest, Approver, CallRecord, Gateway, Mode, Policy, Workspace, builtins,
};

use crate::support::*;

/// A workspace beside a folder that it must not reach.
struct Place {
    base: TempDir,
    gateway: Gateway,
}

impl Place {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("out")).unwrap();
        fs::create_dir(base.path().join("ws")).unwrap();
        fs::create_dir(base.path().join("ws-evil")).unwrap();
        fs::write(base.path().join("out/secret"), "SECRET").unwrap();
        fs::write(base.path().join("ws-evil/secret"), "SECRET").unwrap();
        fs::write(base.path().join("ws/inside"), "inside").unwrap();
        let workspace = Workspace::open(&base.path().join("ws")).unwrap();
        let gateway = Gateway::builder()
            .tools(builtins(&workspace))
            .policy(policy(
                Mode::Interactive,
                &["allow write(**)", "allow read(**)"],
            ))
            .approver(Answers::allow())
            .build()
            .unwrap();
        Self { base, gateway }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.base.path().join(path)
    }

    async fn run(&self, name: &str, arguments: Value) -> CallRecord {
        let record = dispatch_one(&self.gateway, call("c1", name, arguments)).await;
        assert!(
            !record.result.content.contains("SECRET"),
            "{}",
            record.result.content
        );
        record
    }

    fn assert_nothing_outside_changed(&self) {
        let names = |path: &str| {
            let mut names: Vec<_> = fs::read_dir(self.path(path))
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names("."), ["out", "ws", "ws-evil"]);
        assert_eq!(
            (names("out"), names("ws-evil")),
            (vec!["secret".into()], vec!["secret".into()])
        );
        for path in ["out/secret", "ws-evil/secret"] {
            assert_eq!(fs::read_to_string(self.path(path)).unwrap(), "SECRET");
        }
    }
}

#[tokio::test]
async fn no_path_leads_out_however_it_is_written() {
    let place = Place::new();
    symlink("../out", place.path("ws/link")).unwrap();
    symlink(place.path("out"), place.path("ws/absolute")).unwrap();
    symlink(place.path("out/new"), place.path("ws/dangling")).unwrap();
    symlink("../out/secret", place.path("ws/file")).unwrap();
    symlink("link", place.path("ws/chain")).unwrap();
    fs::create_dir(place.path("ws/dir")).unwrap();
    let out = place.path("out/secret").display().to_string();
    let evil = place.path("ws-evil/secret").display().to_string();
    for path in [
        "../out/secret",
        "dir/../../out/secret",
        "link/secret",
        "absolute/secret",
        "dangling",
        "file",
        "chain/secret",
        "link/../secret",
        "/etc/passwd",
        "/proc/self/environ",
        out.as_str(),
        evil.as_str(),
        "link/new/deeper",
        "../ws-evil/secret",
        "inside\u{0}",
    ] {
        for (name, arguments) in [
            ("read_file", json!({"path": path})),
            ("list_dir", json!({"path": path})),
            (
                "search_files",
                json!({"path": path, "pattern": "SEC.ET|root"}),
            ),
            ("write_file", json!({"path": path, "content": "owned"})),
        ] {
            let record = place.run(name, arguments).await;
            assert_eq!(
                (record.result.status, record.error_kind),
                (Rejected, Some("denied")),
                "{name} {path}"
            );
            assert!(record.denied);
        }
        place.assert_nothing_outside_changed();
    }
    let escaped = place
        .run("read_file", json!({"path": "../out/secret"}))
        .await;
    assert_eq!(
        escaped.result.content,
        "`../out/secret` leads out of the workspace; use a path below its root"
    );
}

#[tokio::test]
async fn a_link_inside_the_workspace_is_judged_and_written_where_it_leads() {
    let place = Place::new();
    fs::create_dir(place.path("ws/.git")).unwrap();
    symlink(".git", place.path("ws/innocent")).unwrap();
    symlink("inside", place.path("ws/alias")).unwrap();
    assert_eq!(
        place
            .run("read_file", json!({"path": "alias"}))
            .await
            .result
            .content,
        "inside"
    );
    let written = place
        .run("write_file", json!({"path": "alias", "content": "new"}))
        .await;
    assert_eq!(written.result.content, "replaced `inside` (3 bytes)");
    assert!(
        fs::symlink_metadata(place.path("ws/alias"))
            .unwrap()
            .is_symlink()
    );
    let workspace = Workspace::open(&place.path("ws")).unwrap();
    let strict = Gateway::builder()
        .tools(builtins(&workspace))
        .policy(policy(Mode::Headless, &["allow write(**)"]))
        .build()
        .unwrap();
    let hook = json!({"path": "innocent/hooks/pre-commit", "content": "x"});
    let record = dispatch_one(&strict, call("c1", "write_file", hook)).await;
    assert_eq!(record.error_kind, Some("denied"));
    assert_eq!(
        record.detail.as_deref(),
        Some("deny write(.git/hooks/pre-commit): default for changing a protected path")
    );
    assert!(!place.path("ws/.git/hooks").exists());
}

#[tokio::test]
async fn a_loop_of_links_ends() {
    let place = Place::new();
    symlink("b", place.path("ws/a")).unwrap();
    symlink("a", place.path("ws/b")).unwrap();
    let record = place.run("read_file", json!({"path": "a"})).await;
    assert_eq!(
        brief(&record),
        (Error, Some("tool"), "`a` is a loop of links, not a file")
    );
}

#[tokio::test]
async fn a_search_never_follows_a_link_out() {
    let place = Place::new();
    symlink("../out", place.path("ws/link")).unwrap();
    symlink("../out/secret", place.path("ws/file")).unwrap();
    let found = place
        .run("search_files", json!({"pattern": "SECRE.|inside"}))
        .await;
    assert_eq!(brief(&found), (Success, None, "inside:1: inside"));
    assert_eq!(
        place.run("list_dir", json!({})).await.result.content,
        "file (link)\ninside\nlink (link)"
    );
}

#[tokio::test]
async fn special_files_are_refused_and_hold_nothing_up() {
    let place = Place::new();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        place.path("ws/pipe"),
        rustix::fs::Mode::RUSR,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("ws/socket")).unwrap();
    for (path, kind) in [("pipe", "a named pipe"), ("socket", "a socket")] {
        for name in ["read_file", "write_file"] {
            let mut arguments = json!({"path": path});
            if name == "write_file" {
                arguments["content"] = "x".into();
            }
            let record = place.run(name, arguments).await;
            assert_eq!(
                brief(&record),
                (
                    Error,
                    Some("tool"),
                    format!("`{path}` is {kind}, not a file").as_str()
                )
            );
        }
    }
    let found = place
        .run("search_files", json!({"pattern": "inside"}))
        .await;
    assert_eq!(found.result.content, "inside:1: inside");
    assert_eq!(
        place.run("list_dir", json!({})).await.result.content,
        "inside\npipe (special)\nsocket (special)"
    );
}

#[tokio::test]
async fn a_huge_sparse_file_is_refused_without_reading_it() {
    let place = Place::new();
    let file = fs::File::create(place.path("ws/sparse")).unwrap();
    file.set_len(10 * 1024 * 1024 * 1024).unwrap();
    let record = place.run("read_file", json!({"path": "sparse"})).await;
    assert_eq!(
        record.result.content,
        "`sparse` is a binary file; only text can be read"
    );
}

#[derive(Debug)]
struct Swap {
    from: std::path::PathBuf,
    to: std::path::PathBuf,
}

impl Swap {
    fn run(&self) {
        fs::remove_dir_all(&self.from).unwrap();
        symlink(&self.to, &self.from).unwrap();
    }
}

/// Says yes after it has put a link where the call would write.
#[derive(Debug)]
struct SwappingApprover(Swap);

#[async_trait::async_trait]
impl Approver for SwappingApprover {
    async fn decide(&self, _request: &ApprovalRequest) -> Approval {
        self.0.run();
        Approval::Allow
    }
}

async fn approved_then_swapped(place: &Place, to: &Path) -> CallRecord {
    fs::create_dir(place.path("ws/dir")).unwrap();
    let workspace = Workspace::open(&place.path("ws")).unwrap();
    let swap = Swap {
        from: place.path("ws/dir"),
        to: to.to_owned(),
    };
    let gateway = Gateway::builder()
        .tools(builtins(&workspace))
        .policy(Policy::new(Mode::Interactive))
        .approver(Arc::new(SwappingApprover(swap)))
        .build()
        .unwrap();
    dispatch_one(
        &gateway,
        call(
            "c1",
            "write_file",
            json!({"path": "dir/new", "content": "owned"}),
        ),
    )
    .await
}

#[tokio::test]
async fn a_folder_swapped_for_a_link_after_the_approval_is_not_written_through() {
    let place = Place::new();
    let record = approved_then_swapped(&place, &place.path("out")).await;
    assert!(record.denied, "{}", record.result.content);
    place.assert_nothing_outside_changed();

    let place = Place::new();
    fs::create_dir(place.path("ws/other")).unwrap();
    let record = approved_then_swapped(&place, Path::new("other")).await;
    assert!(record.denied, "{}", record.result.content);
    assert_eq!(fs::read_dir(place.path("ws/other")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_that_flips_between_itself_and_a_link_out_never_lets_anything_through() {
    let place = Place::new();
    let (dir, link) = (place.path("ws/dir"), place.path("ws/link"));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("secret"), "own").unwrap();
    symlink(place.path("out"), &link).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flipper = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    let mut own = 0;
    for round in 0..1000 {
        let record = match round % 3 {
            0 => place.run("read_file", json!({"path": "dir/secret"})).await,
            1 => {
                place
                    .run(
                        "search_files",
                        json!({"path": "dir", "pattern": "SECRET|own"}),
                    )
                    .await
            }
            _ => {
                place
                    .run(
                        "write_file",
                        json!({"path": "dir/secret", "content": "own"}),
                    )
                    .await
            }
        };
        own += usize::from(record.result.status == Success);
    }
    stop.store(true, Ordering::Relaxed);
    flipper.join().unwrap();
    assert!(own > 0, "some rounds must find the folder in place");
    place.assert_nothing_outside_changed();
}
