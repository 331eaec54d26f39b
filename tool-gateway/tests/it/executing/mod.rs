//! Executable skills: real packages, real processes, a clock that is given.

mod kinds;
mod parameters;
mod policies;
mod python;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use skill_core::{
    Clock, Principal, Root, ScanLimits, Scope, Skill, SkillCatalog, SkillView, directory_sources,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tool_gateway::{
    Approver, CallRecord, Gateway, HttpAnswer, HttpClient, HttpRequest, Launch, Mode, SecretSource,
    SkillHost, SkillModel, SkillTrust, ToolContext, run_skill,
};

use crate::support::*;

/// A clock that moves when it is told to.
#[derive(Debug, Default)]
pub(crate) struct HandClock(AtomicU64);

impl HandClock {
    fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now_ms(&self) -> u64 {
        1_764_381_600_000 + self.0.load(Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

#[derive(Debug)]
struct Trusting(Option<&'static str>);

impl SkillTrust for Trusting {
    fn refusal(&self, _skill: &Skill, _digest: &str) -> Option<String> {
        self.0.map(str::to_owned)
    }
}

#[derive(Debug)]
struct Secrets;

impl SecretSource for Secrets {
    fn secret(&self, name: &str) -> Option<String> {
        matches!(name, "TICKET_TOKEN" | "OTHER").then(|| format!("value-of-{name}"))
    }
}

#[derive(Debug)]
struct Echo;

#[async_trait::async_trait]
impl SkillModel for Echo {
    async fn complete(&self, system: Option<&str>, prompt: &str) -> Result<String, String> {
        Ok(format!("{}|{prompt}", system.unwrap_or("-")))
    }
}

#[async_trait::async_trait]
impl HttpClient for Echo {
    async fn send(&self, request: HttpRequest) -> Result<HttpAnswer, String> {
        let status = request
            .url
            .rsplit('/')
            .next()
            .unwrap()
            .parse()
            .unwrap_or(200);
        Ok(HttpAnswer {
            status,
            body: json!({
                "method": request.method, "url": request.url, "headers": request.headers,
                "body": request.body,
            })
            .to_string(),
        })
    }
}

/// A folder of skills and what runs them.
struct World {
    root: TempDir,
    clock: Arc<HandClock>,
    state: BTreeMap<String, String>,
    host: SkillHost,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("work")).unwrap();
        let clock = Arc::new(HandClock::default());
        let host = SkillHost {
            launch: Launch {
                search_path: ["/usr/local/bin", "/usr/bin", "/bin"]
                    .map(PathBuf::from)
                    .into(),
                environment: BTreeMap::from([
                    ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
                    ("NOT_FOR_SKILLS".to_owned(), "x".to_owned()),
                ]),
                ..Launch::default()
            },
            workspace: root.path().join("work"),
            project: root.path().join("work"),
            clock: clock.clone(),
            zone: "Asia/Shanghai".to_owned(),
            user_id: Some("u-7".to_owned()),
            config: json!({"warehouse": "north"}).as_object().cloned().unwrap(),
            trust: Arc::new(Trusting(None)),
            secrets: Some(Arc::new(Secrets)),
            model: Some(Arc::new(Echo)),
            http: Some(Arc::new(Echo)),
            tools: Vec::new(),
            native: BTreeMap::new(),
            python: "python3".to_owned(),
        };
        Self {
            root,
            clock,
            state: BTreeMap::new(),
            host,
        }
    }

    /// Writes a package.
    fn skill(&self, name: &str, yaml: &str, files: &[(&str, &str)]) {
        let folder = self.folder(name);
        fs::create_dir_all(&folder).unwrap();
        let head = format!("skill_id: test.{name}\nname: {name}\ndescription: For tests.\n");
        fs::write(folder.join("skill.yaml"), head + yaml).unwrap();
        for (file, text) in files {
            put(&folder.join(file), text);
        }
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join("skills/test").join(name)
    }

    fn view(&self) -> SkillView {
        let root = Root {
            path: self.root.path().join("skills"),
            scope: Scope::User,
            lite: false,
            packages: true,
            trusted: true,
            boundary: None,
            trusted_links: Vec::new(),
        };
        let sources = directory_sources(&[root]);
        SkillCatalog::new(sources, ScanLimits::default()).view(&Principal::default())
    }

    fn gateway(&self, rules: &[&str], approver: Arc<dyn Approver>) -> Gateway {
        Gateway::builder()
            .tool(run_skill(self.host.clone()))
            .policy(policy(Mode::Interactive, rules))
            .approver(approver)
            .build()
            .unwrap()
    }

    fn open(&self) -> Gateway {
        self.gateway(&["allow skill(*)"], Answers::allow())
    }

    async fn call(&self, gateway: &Gateway, name: &str, params: Value) -> CallRecord {
        let mut context = ToolContext::new("agent", self.view(), CancellationToken::new());
        context.state = Arc::new(self.state.clone());
        let arguments = json!({"skill_id": format!("test.{name}"), "params": params});
        let calls = [call("c1", "run_skill", arguments)];
        let records = gateway
            .dispatch(&calls, &context, &Recorder::default())
            .await;
        records.unwrap().remove(0)
    }

    async fn run(&self, name: &str, params: Value) -> CallRecord {
        self.call(&self.open(), name, params).await
    }
}

fn put(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    if path.extension().is_some_and(|end| end == "sh") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Returns what a skill brought back.
fn value(record: &CallRecord) -> Value {
    let document: Value = serde_json::from_str(&record.result.content)
        .unwrap_or_else(|_| panic!("{}", record.result.content));
    assert_eq!(document.get("ok"), Some(&Value::Bool(true)));
    document.get("value").cloned().unwrap()
}
