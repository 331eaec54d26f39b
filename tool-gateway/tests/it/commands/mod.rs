//! Programs: what they get, what they may change, and that nothing of them stays.

mod binding;
mod ending;
mod running;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tool_gateway::{
    Approver, CallRecord, Gateway, Launch, Mode, Sandbox, Workspace, builtins, run_command,
};

use crate::support::*;

fn launch() -> Launch {
    Launch {
        search_path: ["/usr/local/bin", "/usr/bin", "/bin"]
            .map(PathBuf::from)
            .into(),
        environment: BTreeMap::from([
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ]),
        sandbox: Sandbox::default(),
    }
}

fn gateway_with(
    root: &Path,
    launch: Launch,
    mode: Mode,
    rules: &[&str],
    approver: Arc<dyn Approver>,
) -> Gateway {
    let workspace = Workspace::open(root).unwrap();
    Gateway::builder()
        .tools(builtins(&workspace))
        .tool(run_command(&workspace, launch))
        .policy(policy(mode, rules))
        .approver(approver)
        .build()
        .unwrap()
}

fn gateway(root: &Path, rules: &[&str]) -> Gateway {
    gateway_with(root, launch(), Mode::Headless, rules, Answers::allow())
}

fn argv(words: &[&str]) -> Value {
    json!({"argv": words})
}

/// Runs a program that a rule allows.
async fn run(root: &Path, words: &[&str]) -> CallRecord {
    let gateway = gateway(root, &["allow run(**)"]);
    dispatch_one(&gateway, call("c1", "run_command", argv(words))).await
}
