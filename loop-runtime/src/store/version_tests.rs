//! A store of every version that ever was, kept as it was written: each opens and says what it said.

#![expect(clippy::unwrap_used, reason = "what fails here fails its test")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::sqlite::VERSION;
use crate::journal::JournalEntry;
use crate::{SessionHeader, SessionStore, SqliteStore};

/// Version, file, and what its one session holds.
const VERSIONS: &[(i64, &[u8], &str)] = &[(
    1,
    include_bytes!("versions/1.db"),
    include_str!("versions/1.json"),
)];

fn header() -> SessionHeader {
    SessionHeader {
        id: "kept".into(),
        created_ms: 1_700_000_000_000,
        workspace: "/workspace".into(),
        assistant: "default".into(),
        title: "周报 \"quoted\"".into(),
    }
}

/// Returns what a version's store holds: one event of each kind, with every field that it had.
fn events(json: &str) -> Vec<JournalEntry> {
    serde_json::from_str(json).unwrap()
}

fn schema(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection
        .prepare("SELECT ifnull(sql, name) FROM sqlite_schema ORDER BY name")
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn p16_a_store_of_every_version_opens_and_says_what_it_said() {
    for (version, file, expected) in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        std::fs::write(&path, file).unwrap();
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        let record = store.load("kept").await.unwrap();
        assert_eq!(record.header, header(), "version {version}");
        assert_eq!(record.entries, events(expected), "version {version}");
        // What was written then is what would be written now.
        let written: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(serde_json::to_value(&record.entries).unwrap(), written);
        let next = JournalEntry {
            seq: record.entries.len() as u64 + 1,
            ..record.entries[0].clone()
        };
        store.append("kept", &[next]).await.unwrap();
    }
}

#[tokio::test]
async fn p16_a_store_of_an_old_version_has_the_tables_of_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("fresh.db");
    drop(SqliteStore::open(&fresh).unwrap());
    for (version, file, _) in VERSIONS {
        let path = folder.path().join("journal.db");
        std::fs::write(&path, file).unwrap();
        drop(SqliteStore::open(&path).unwrap());
        assert_eq!(schema(&path), schema(&fresh), "version {version}");
    }
    assert_eq!(
        VERSIONS.last().unwrap().0,
        VERSION,
        "keep a store of this version, see below"
    );
}

#[tokio::test]
#[ignore = "writes the store of a new version out of its JSON, once"]
async fn keeps_a_store_of_this_version() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/store/versions");
    let path = folder.join(format!("{VERSION}.db"));
    assert!(
        !path.exists(),
        "a store that was kept is never written again"
    );
    let json = std::fs::read_to_string(path.with_extension("json")).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    store.create(&header(), &events(&json)).await.unwrap();
}
