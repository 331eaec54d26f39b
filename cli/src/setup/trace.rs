//! Traces of calls, one JSON document a line, in a file that is turned over when it is long.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use skill_core::{Clock, IdSource};
use tool_gateway::{CallTrace, TraceSink};

use crate::app::Context;
use crate::system::{SystemClock, UuidSource};

/// How long the file may get; the one before it is kept.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Writes traces to a file that only its owner reads; it is made with the first of them.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    file: Mutex<Option<File>>,
    clock: SystemClock,
}

impl TraceFile {
    /// Returns the file of the user's data.
    pub(crate) fn new(context: &Context) -> Arc<Self> {
        Arc::new(Self {
            path: path(context),
            file: Mutex::default(),
            clock: SystemClock::new(),
        })
    }

    fn open(&self) -> std::io::Result<File> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        turned_over(&self.path)?;
        let mut options = OpenOptions::new();
        options
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)
    }
}

fn path(context: &Context) -> PathBuf {
    context.environment.data_dir.join("trace.jsonl")
}

fn turned_over(path: &Path) -> std::io::Result<()> {
    if path.metadata().is_ok_and(|found| found.len() > LONGEST) {
        std::fs::rename(path, older(path))?;
    }
    Ok(())
}

fn older(path: &Path) -> PathBuf {
    path.with_extension("1.jsonl")
}

impl TraceSink for TraceFile {
    fn record(&self, trace: &CallTrace) {
        let mut document =
            json!({"v": 1, "id": UuidSource.next_id(), "at_ms": self.clock.now_ms()});
        if let (Some(fields), Ok(Value::Object(more))) =
            (document.as_object_mut(), serde_json::to_value(trace))
        {
            fields.extend(more);
        }
        let line = format!("{document}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = self.open().ok();
        }
        if let Some(file) = file.as_mut() {
            // A trace is for looking back; what has to be on record is in the journal.
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Reads the traces there are, the newest first; a line that is damaged is left out.
pub(crate) fn traces(context: &Context) -> Vec<Value> {
    let path = path(context);
    let mut traces: Vec<Value> = [older(&path), path]
        .iter()
        .filter_map(|path| File::open(path).ok())
        .flat_map(|file| BufReader::new(file).lines().map_while(Result::ok))
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect();
    traces.reverse();
    traces
}
