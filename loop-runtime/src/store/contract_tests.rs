//! The contract of session stores, and what only a file can go wrong with.

use crate::testing::check_store;
use crate::{JournalEntry, MemoryStore, SessionStore, SqliteStore, StoreErrorKind};

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
