//! The contract of a [`SessionStore`] as a suite that any implementation can run.

use skill_core::Message;

use crate::journal::{JournalEntry, JournalEvent};
use crate::store::{SessionHeader, SessionStore, StoreError, StoreErrorKind};

/// Checks the contract of [`SessionStore`] on an empty store and returns the first breach.
///
/// # Errors
///
/// A sentence that names what the store did not do.
pub async fn check_store(store: &dyn SessionStore) -> Result<(), String> {
    missing_sessions_are_not_found(store).await?;
    what_was_written_is_read(store).await?;
    a_number_that_does_not_follow_is_a_conflict(store).await?;
    the_last_written_is_listed_first(store).await?;
    a_session_is_leased_once(store).await?;
    a_deleted_session_is_gone_and_no_other(store).await
}

async fn missing_sessions_are_not_found(store: &dyn SessionStore) -> Result<(), String> {
    let loaded = store.load("missing").await.map_err(|error| error.kind);
    expect(
        loaded.err() == Some(StoreErrorKind::NotFound),
        "a missing session was loaded",
    )?;
    let appended = store
        .append("missing", &[event(1, 1)])
        .await
        .map_err(|error| error.kind);
    expect(
        appended == Err(StoreErrorKind::NotFound),
        "a missing session was appended to",
    )
}

async fn what_was_written_is_read(store: &dyn SessionStore) -> Result<(), String> {
    create(store, "one", &[event(1, 10), event(2, 11)]).await?;
    append(store, "one", &[event(3, 12)]).await?;
    let record = store.load("one").await.map_err(|error| error.to_string())?;
    let expected = [event(1, 10), event(2, 11), event(3, 12)];
    expect(
        record.entries == expected,
        "events read differ from events written",
    )?;
    expect(
        record.header == header("one"),
        "the header read differs from the one written",
    )
}

async fn a_number_that_does_not_follow_is_a_conflict(
    store: &dyn SessionStore,
) -> Result<(), String> {
    for wrong in [[event(3, 13)], [event(5, 13)]] {
        let appended = store
            .append("one", &wrong)
            .await
            .map_err(|error| error.kind);
        expect(
            appended == Err(StoreErrorKind::Conflict),
            "a wrong number was taken",
        )?;
    }
    let again = store
        .create(&header("one"), &[])
        .await
        .map_err(|error| error.kind);
    expect(
        again == Err(StoreErrorKind::Conflict),
        "a session was created twice",
    )?;
    let half = store.append("one", &[event(4, 13), event(6, 13)]).await;
    expect(half.is_err(), "events with a gap were taken")?;
    let record = store.load("one").await.map_err(|error| error.to_string())?;
    expect(
        record.entries.len() == 3,
        "a refused append changed the session",
    )
}

async fn the_last_written_is_listed_first(store: &dyn SessionStore) -> Result<(), String> {
    create(store, "two", &[event(1, 20)]).await?;
    append(store, "one", &[event(4, 30)]).await?;
    let list = store.list(10).await.map_err(|error| error.to_string())?;
    let order: Vec<(&str, u64, u64)> = list
        .iter()
        .map(|summary| {
            (
                summary.header.id.as_str(),
                summary.updated_ms,
                summary.events,
            )
        })
        .collect();
    expect(
        order == [("one", 30, 4), ("two", 20, 1)],
        "sessions are listed in another order",
    )?;
    let short = store.list(1).await.map_err(|error| error.to_string())?;
    expect(short.len() == 1, "a limit of one lists another number")
}

async fn a_session_is_leased_once(store: &dyn SessionStore) -> Result<(), String> {
    let lease = store
        .lease("one")
        .await
        .map_err(|error| error.to_string())?;
    let second = store.lease("one").await.map_err(|error| error.kind);
    expect(
        second.err() == Some(StoreErrorKind::Busy),
        "a session was leased twice",
    )?;
    let other = store.lease("two").await;
    expect(
        other.is_ok(),
        "the lease of one session keeps another one busy",
    )?;
    drop(lease);
    expect(
        store.lease("one").await.is_ok(),
        "a lease outlived its holder",
    )
}

async fn a_deleted_session_is_gone_and_no_other(store: &dyn SessionStore) -> Result<(), String> {
    let failed = |error: StoreError| error.to_string();
    let kept = store.load("one").await.map_err(failed)?;
    create(store, "three", &[event(1, 40), event(2, 41)]).await?;
    let lease = store.lease("three").await.map_err(failed)?;
    let deleted = store.delete("three").await;
    expect(deleted.is_ok(), "a session was not deleted")?;
    drop(lease);
    let loaded = store.load("three").await.map_err(|error| error.kind);
    expect(
        loaded.err() == Some(StoreErrorKind::NotFound),
        "a deleted session was loaded",
    )?;
    let again = store.delete("three").await.map_err(|error| error.kind);
    expect(
        again == Err(StoreErrorKind::NotFound),
        "a session was deleted twice",
    )?;
    // Nothing of it is left that a new session of this id could find.
    create(store, "three", &[event(1, 50)]).await?;
    let record = store.load("three").await.map_err(failed)?;
    expect(
        record.entries == [event(1, 50)],
        "a deleted session left events behind",
    )?;
    store.delete("three").await.map_err(failed)?;
    let other = store.load("one").await.map_err(failed)?;
    expect(other == kept, "deleting one session changed another one")?;
    let list = store.list(10).await.map_err(failed)?;
    expect(list.len() == 2, "a deleted session is listed")
}

async fn create(store: &dyn SessionStore, id: &str, events: &[JournalEntry]) -> Result<(), String> {
    store
        .create(&header(id), events)
        .await
        .map_err(|error| error.to_string())
}

async fn append(store: &dyn SessionStore, id: &str, events: &[JournalEntry]) -> Result<(), String> {
    store
        .append(id, events)
        .await
        .map_err(|error| error.to_string())
}

fn expect(holds: bool, breach: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(breach.to_owned())
    }
}

fn header(id: &str) -> SessionHeader {
    SessionHeader {
        id: id.to_owned(),
        created_ms: 1,
        workspace: "/workspace".to_owned(),
        assistant: "default".to_owned(),
        title: "任务 \"quoted\"".to_owned(),
    }
}

fn event(seq: u64, at_ms: u64) -> JournalEntry {
    let event = JournalEvent::TurnStarted {
        turn: format!("turn-{seq}"),
        profile: "agent".to_owned(),
        model: "offline".to_owned(),
        agent: "default".to_owned(),
        max_loaded: Some(8),
        input: Message::user("第一步\n\u{0}🙂"),
    };
    JournalEntry { seq, at_ms, event }
}
