//! The contract of session stores, and what only a file can go wrong with.

use crate::testing::check_store;
use crate::{
    JournalEntry, JournalEvent, MemoryStore, SessionHeader, SessionStore, SqliteStore,
    StoreErrorKind,
};

#[tokio::test]
async fn the_memory_store_keeps_the_contract() {
    assert_eq!(check_store(&MemoryStore::new()).await, Ok(()));
}

#[tokio::test]
async fn the_sqlite_store_keeps_the_contract_and_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(check_store(&store).await, Ok(()));
    let before = store.load("one").await.unwrap();
    drop(store);
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(again.load("one").await.unwrap(), before);
    let reader = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(reader.list(10).await.unwrap().len(), 2);
}

#[test]
fn a_newer_store_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(SqliteStore::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = SqliteStore::open(&path).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Newer);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 99);
}

#[test]
fn a_file_that_is_no_store_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(
        &text,
        "not a database, but long enough to look like one".repeat(40),
    )
    .unwrap();
    let other = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE cats (name TEXT)")
        .unwrap();
    drop(connection);
    for path in [text, other] {
        let error = SqliteStore::open(&path).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(&path.display().to_string()));
    }
}

#[tokio::test]
async fn two_connections_to_one_session_never_interleave() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (one, two) = (
        SqliteStore::open(&path).unwrap(),
        SqliteStore::open(&path).unwrap(),
    );
    assert_eq!(check_store(&one).await, Ok(()));
    let last = one.load("one").await.unwrap().entries.pop().unwrap();
    let next = JournalEntry {
        seq: last.seq + 1,
        ..last
    };
    one.append("one", std::slice::from_ref(&next))
        .await
        .unwrap();
    let late = two.append("one", &[next]).await.unwrap_err();
    assert_eq!(late.kind, StoreErrorKind::Conflict);
}

#[tokio::test]
async fn a_damaged_event_costs_only_what_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(check_store(&store).await, Ok(()));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute(
            "UPDATE events SET body = '{\"kind\":' WHERE session = 'one' AND seq = 3",
            [],
        )
        .unwrap();
    let record = store.load("one").await.unwrap();
    assert_eq!(record.entries.len(), 2);
    let damage = record.damage.unwrap();
    assert!(
        damage.starts_with("event 3 of session `one` cannot be read"),
        "{damage}"
    );
    assert_eq!(store.check().unwrap(), [damage]);
}

#[tokio::test]
async fn p12_a_database_that_lost_its_end_still_gives_what_stands_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(check_store(&store).await, Ok(()));
    let first = store.load("one").await.unwrap().entries.remove(0);
    let header = SessionHeader {
        id: "long".into(),
        ..store.load("one").await.unwrap().header
    };
    let event = |seq| JournalEntry {
        seq,
        event: JournalEvent::TurnStarted {
            turn: "t".into(),
            profile: "agent".into(),
            model: "m".into(),
            agent: "a".into(),
            max_loaded: None,
            input: skill_core::Message::user("x".repeat(3_000)),
        },
        ..first.clone()
    };
    let events: Vec<JournalEntry> = (1..=200).map(event).collect();
    store.create(&header, &events).await.unwrap();
    drop(store);
    let length = path.metadata().unwrap().len();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(length - length / 4).unwrap();
    let refused = SqliteStore::open(&path).unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Corrupt);
    let store = SqliteStore::open_read_only(&path).unwrap();
    let record = store.load("long").await.unwrap();
    let count = record.entries.len();
    assert!((1..200).contains(&count), "{count}");
    assert_eq!(record.entries, events[..count]);
    let damage = record.damage.unwrap();
    let next = format!("event {} of session `long` cannot be read", count + 1);
    assert!(damage.starts_with(&next), "{damage}");
}

#[tokio::test]
async fn p12_a_file_that_a_crash_left_empty_reads_as_an_empty_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    std::fs::write(&path, "").unwrap();
    let store = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(store.list(10).await.unwrap(), Vec::new());
    assert_eq!(
        store.load("one").await.unwrap_err().kind,
        StoreErrorKind::NotFound
    );
    assert_eq!(path.metadata().unwrap().len(), 0, "reading writes nothing");
}

#[tokio::test]
async fn an_event_of_a_later_version_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(check_store(&store).await, Ok(()));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let later = "{\"kind\":\"from_the_future\",\"what\":[1,2]}";
    connection
        .execute(
            "UPDATE events SET body = ?1 WHERE session = 'one' AND seq = 3",
            [later],
        )
        .unwrap();
    let record = store.load("one").await.unwrap();
    assert_eq!(record.entries[2].event, crate::JournalEvent::Unknown);
    assert_eq!(record.damage, None);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_the_store_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(
            SqliteStore::open(&path).unwrap_err().kind,
            StoreErrorKind::Corrupt
        );
        assert_eq!(
            SqliteStore::open_read_only(&path).unwrap_err().kind,
            StoreErrorKind::Corrupt
        );
    }
}

#[tokio::test]
async fn what_was_deleted_stands_nowhere_in_the_file_or_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(check_store(&store).await, Ok(()));
    let mut record = store.load("one").await.unwrap();
    record.header.id = "secret".into();
    record.header.title = "the-word-to-be-gone".into();
    store.create(&record.header, &record.entries).await.unwrap();
    let holds = |word: &str| {
        let files = std::fs::read_dir(folder.path()).unwrap().flatten();
        let files = files.filter(|file| file.path().is_file());
        files
            .map(|file| std::fs::read(file.path()).unwrap())
            .any(|bytes| {
                bytes
                    .windows(word.len())
                    .any(|part| part == word.as_bytes())
            })
    };
    assert!(holds("the-word-to-be-gone"));
    store.delete("secret").await.unwrap();
    assert!(!holds("the-word-to-be-gone"));
}

#[tokio::test]
async fn a_damaged_session_can_be_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(check_store(&store).await, Ok(()));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let damage = "UPDATE events SET body = '{' WHERE session = 'one' AND seq = 3";
    connection.execute(damage, []).unwrap();
    store.delete("one").await.unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert_eq!(store.list(10).await.unwrap().len(), 1);
}
