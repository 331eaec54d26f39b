//! The file tools on real folders.

#[cfg(unix)]
mod changing;
mod offered;
mod reading;
mod searching;
mod writing;

use std::fs;
use std::path::Path;

use serde_json::Value;
use skill_core::CallStatus::{Error, Success};
use tempfile::TempDir;
use tool_gateway::{CallRecord, Gateway, Mode, Workspace, builtins};

use crate::support::*;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        put(root.path(), path, content);
    }
    root
}

fn put(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn gateway(root: &Path, rules: &[&str]) -> Gateway {
    let workspace = Workspace::open(root).unwrap();
    Gateway::builder()
        .tools(builtins(&workspace))
        .policy(policy(Mode::Headless, rules))
        .build()
        .unwrap()
}

async fn run(root: &TempDir, name: &str, arguments: Value) -> CallRecord {
    dispatch_one(
        &gateway(root.path(), &["allow write(**)"]),
        call("c1", name, arguments),
    )
    .await
}

/// Runs a call that must succeed and returns its text.
async fn text(root: &TempDir, name: &str, arguments: Value) -> String {
    let record = run(root, name, arguments).await;
    assert_eq!(record.result.status, Success, "{}", record.result.content);
    record.result.content
}

async fn problem(root: &TempDir, name: &str, arguments: Value) -> (Option<&'static str>, String) {
    let record = run(root, name, arguments).await;
    assert_eq!(record.result.status, Error, "{}", record.result.content);
    (record.error_kind, record.result.content)
}
