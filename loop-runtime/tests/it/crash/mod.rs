//! What a crash leaves on the disk: every cut of the log, and writes that power loss took or tore.
//!
//! Held: the session opens; it holds whole writes only; nothing acknowledged is missing.

mod disk;
mod recording;

use std::sync::atomic::{AtomicUsize, Ordering};

use loop_runtime::{JournalEntry, JournalEvent, SessionHeader, SessionStore, TurnRequest};
use skill_core::Message;
use skill_core::testing::Answer;

use crate::bench::Bench;
use disk::Disk;
pub(crate) use disk::{Dice, folder};
use recording::{Image, Recording, RecordingStore, recordings};

/// What a disk writes in one piece, at the least.
const SECTOR: usize = 512;

/// The log's own header.
const LOG_HEADER: usize = 32;

fn blocking<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// Calls `work` with every number below `count`, on two threads.
fn on_two_threads(count: usize, work: impl Fn(&Disk, usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let disk = Disk::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    work(&disk, number);
                }
            });
        }
    });
}

/// Of so many cuts one is opened for writing, and read whole.
const WHOLE: usize = 16;

/// Cuts the log of every recording at every `stride`-th byte; returns how many cuts that were.
fn cut_logs(recordings: &[Recording], stride: usize) -> usize {
    let mut cuts = 0;
    for recording in recordings {
        let whole = recording.images.last().unwrap();
        let count = whole.log.len() / stride + 1;
        on_two_threads(count.div_ceil(WHOLE), |disk, part| {
            disk.lay_out(&whole.database, &whole.log);
            let numbers = part * WHOLE..((part + 1) * WHOLE).min(count);
            // From the end, so that each cut is one of what the last one left.
            for (place, number) in numbers.rev().enumerate() {
                let end = (number * stride).min(whole.log.len());
                disk.cut(end);
                let found = disk.listed(&disk.look(), &recording.record);
                let is_write = |image: &&Image| image.log.len() <= end;
                let acknowledged = recording.images.iter().filter(is_write);
                let expected = acknowledged.map(|image| image.events).max().unwrap_or(0);
                assert_eq!(found, expected, "{} cut at {end}", recording.name);
                if place + 1 == WHOLE {
                    let store = disk.open(&whole.database, &whole.log[..end]);
                    assert_eq!(disk.recovered(&store, &recording.record), expected);
                }
            }
        });
        cuts += count;
    }
    cuts
}

fn cut_at_least(wanted: usize) {
    let recordings = blocking(recordings());
    assert_eq!(recordings.len(), 20);
    let bytes: usize = recordings
        .iter()
        .map(|recording| recording.images.last().unwrap().log.len())
        .sum();
    let cuts = cut_logs(&recordings, (bytes / wanted).max(1));
    eprintln!("{cuts} cuts of {bytes} bytes");
    assert!(cuts >= wanted, "{cuts} of {bytes}");
}

#[test]
fn p10_p12_wherever_the_log_is_cut_the_session_opens_with_every_whole_write() {
    cut_at_least(5_000);
}

#[test]
#[ignore = "`cargo xtask ci` runs it"]
fn ci_p10_p12_a_hundred_thousand_cuts_of_the_log_open() {
    cut_at_least(100_000);
}

#[test]
#[ignore = "`cargo xtask ci --long` runs it"]
fn long_p10_p12_every_cut_of_the_log_opens() {
    cut_at_least(1_000_000);
}

/// Returns `before` with what a power loss left of the way to `after`: any of its sectors, none of
/// them whole for sure, and a length in between; what was never written holds nothing or anything.
fn torn(before: &[u8], after: &[u8], dice: &mut Dice) -> Vec<u8> {
    let shorter = before.len().min(after.len());
    let longer = before.len().max(after.len());
    let length = shorter + dice.below(longer - shorter + 1);
    let mut left = before.to_vec();
    left.resize(length, 0);
    let garbage = dice.below(2) == 0;
    for start in (0..length).step_by(SECTOR) {
        let end = (start + SECTOR).min(length);
        let of = |bytes: &'_ [u8]| bytes.get(start..end).map(<[u8]>::to_vec);
        match (dice.below(3), of(after)) {
            (0, Some(new)) => left[start..end].copy_from_slice(&new),
            (1, _) if garbage && start >= before.len() => {
                left[start..end].fill(dice.next().to_le_bytes()[0]);
            }
            _ => {}
        }
    }
    left
}

/// Loses power during writes of every recording, `count` times in all.
fn lose_power(recordings: &[Recording], count: usize) {
    let writes: Vec<(&Recording, usize)> = recordings
        .iter()
        .flat_map(|recording| (1..recording.images.len()).map(move |at| (recording, at)))
        .collect();
    on_two_threads(count, |disk, number| {
        let (recording, at) = writes[number % writes.len()];
        let (before, after) = (&recording.images[at - 1], &recording.images[at]);
        let log = torn(&before.log, &after.log, &mut Dice::new(number as u64));
        let store = disk.open(&before.database, &log);
        let found = disk.recovered(&store, &recording.record);
        assert!(
            found == before.events || found == after.events,
            "{}: power lost in write {at} (seed {number}) left {found} events",
            recording.name
        );
    });
}

#[test]
fn p10_p11_power_loss_during_a_write_leaves_all_of_it_or_none() {
    lose_power(&blocking(recordings()), 1_000);
}

#[test]
#[ignore = "`cargo xtask ci` runs it"]
fn ci_p10_p11_twenty_thousand_power_losses_leave_all_of_a_write_or_none() {
    lose_power(&blocking(recordings()), 20_000);
}

#[test]
#[ignore = "`cargo xtask ci --long` runs it"]
fn long_p10_p11_half_a_million_power_losses_leave_all_of_a_write_or_none() {
    lose_power(&blocking(recordings()), 500_000);
}

/// A session so long that its log is copied back into the database more than once.
async fn long_session() -> Recording {
    let folder = folder();
    let store = RecordingStore::open(folder.path());
    let header = SessionHeader {
        id: "long".into(),
        created_ms: 0,
        workspace: "/workspace".into(),
        assistant: "default".into(),
        title: "long".into(),
    };
    let event = |seq: u64| JournalEntry {
        seq,
        at_ms: seq,
        event: JournalEvent::TurnStarted {
            turn: seq.to_string(),
            profile: "agent".into(),
            model: "m".into(),
            agent: "a".into(),
            max_loaded: None,
            input: Message::user("一".repeat(40_000)),
        },
    };
    store.create(&header, &[event(1)]).await.unwrap();
    for seq in 2..80 {
        store.append("long", &[event(seq)]).await.unwrap();
    }
    Recording {
        name: "a long session",
        record: store.load("long").await.unwrap(),
        images: store.take_images(),
    }
}

#[test]
fn p10_power_loss_while_the_log_is_copied_back_loses_nothing() {
    let recording = blocking(long_session());
    let disk = Disk::new();
    let mut dice = Dice::new(1);
    let (mut copied, mut restarted) = (0, 0);
    for pair in recording.images.windows(2) {
        let [before, after] = pair else { continue };
        for _ in 0..8 {
            if before.database != after.database {
                // The write is on the disk by then; the copy is what is torn.
                copied += 1;
                let database = torn(&before.database, &after.database, &mut dice);
                let store = disk.open(&database, &after.log);
                assert_eq!(disk.recovered(&store, &recording.record), after.events);
            }
            if before.log.get(..LOG_HEADER) != after.log.get(..LOG_HEADER) {
                // A log begins anew with its header, which is on the disk before what follows.
                restarted += 1;
                let mut headed = before.log.clone();
                headed[..LOG_HEADER].copy_from_slice(&after.log[..LOG_HEADER]);
                for log in [headed.clone(), torn(&headed, &after.log, &mut dice)] {
                    let store = disk.open(&before.database, &log);
                    let found = disk.recovered(&store, &recording.record);
                    assert!([before.events, after.events].contains(&found), "{found}");
                }
            }
        }
    }
    assert!(copied > 0 && restarted > 0, "{copied} {restarted}");
}

#[test]
fn p12_p13_after_a_crash_at_any_write_the_next_request_is_valid_and_nothing_runs_again() {
    for recording in blocking(recordings()) {
        for image in &recording.images {
            let disk = Disk::new();
            let store = disk.open(&image.database, &image.log);
            // A second answer, in case that a question comes back and is answered now.
            let answers = vec![Answer::text("back"), Answer::text("back again")];
            let bench = Bench::with(answers, std::sync::Arc::new(store), "ask tool(note)");
            let request = TurnRequest {
                session: Some(recording.record.header.id.clone()),
                ..TurnRequest::task("go on")
            };
            // The bench sends every request through the strict check.
            let (report, _) = blocking(bench.run(request));
            assert_eq!(bench.effects(), 0, "{}", recording.name);
            assert!(!report.outcome.to_string().is_empty());
        }
    }
}
