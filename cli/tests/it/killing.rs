//! Killed, and let down by the disk, at every call of the system that writes.
//!
//! `strace` stops the binary in front of the n-th call of a name in a thread, for every n that a
//! whole run has, and kills it there or lets the call fail. That covers every `write` (to the
//! terminal as well: what was said must stay true), `pwrite64`, `fsync`, `rename`, `unlink`,
//! `ftruncate` and `mkdir` of the main thread, which writes the journal, and every `rename` that
//! puts a file of the workspace in its place. Of the calls before that rename, which only make a
//! file beside it, those are covered that the main thread has fewer of. What power loss makes of
//! writes that were not yet on the disk is the matter of `loop-runtime/tests/it/crash`.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::interrupting::check_pairs;
use crate::server::{Answer, Server};

/// Twenty sessions, one letter a step: a write, a pair of writes, a denied write, a read, a skill,
/// an unknown tool.
const SESSIONS: [&str; 20] = [
    "w", "", "ww", "p", "r", "rw", "wr", "pw", "d", "wd", "dw", "rrr", "www", "pp", "s", "sw",
    "wsw", "rpw", "dp", "xw",
];

const CALLS: &str = "trace=write,pwrite64,fsync,fdatasync,?rename,renameat,renameat2,?unlink,\
                     unlinkat,ftruncate,?mkdir,mkdirat";

/// A place to stop at: in front of the n-th call of this name.
#[derive(Clone, Debug)]
struct Point {
    session: &'static str,
    call: String,
    nth: usize,
}

/// Returns the steps of a session as answers; the number of files it writes goes on.
fn answers(session: &str) -> Vec<Answer> {
    let mut files = 0;
    let mut write = || {
        files += 1;
        let path = format!("out-{files}.md");
        ("write_file", json!({"path": path, "content": "x"}))
    };
    let steps = session.chars().map(|step| {
        Answer::Calls(match step {
            'w' => vec![write()],
            'p' => vec![write(), write()],
            'd' => vec![("write_file", json!({"path": ".git/x", "content": "x"}))],
            'r' => vec![("read_file", json!({"path": "note.md"}))],
            's' => vec![("open_skill", json!({"id": "skill-creator"}))],
            _ => vec![("no_such_tool", json!({}))],
        })
    });
    let mut answers: Vec<Answer> = steps.collect();
    answers.push(Answer::Text("done"));
    answers
}

fn world() -> World {
    let world = World::new();
    world.write("note.md", "a note");
    world
}

/// Runs a session under `strace`, which is told what to do.
fn traced(world: &World, session: &str, tracing: &[&str]) -> Ran {
    let server = Server::start(answers(session));
    let plain = world.command(&[
        "--json",
        "--model",
        "mock/m",
        "--base-url",
        &server.base_url,
        "run",
        "--yes",
        "write(**)",
        "Do it",
    ]);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o"])
        .arg(world.path("trace"))
        .args(tracing)
        .arg("--")
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", world.path("home"))
        .env("TZ", "UTC")
        .current_dir(world.work())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    // A line that was being written when the process died is no word that anybody could read.
    let mut said = output.clone();
    let whole = said.stdout.iter().rposition(|byte| *byte == b'\n');
    said.stdout.truncate(whole.map_or(0, |end| end + 1));
    world.ran(&said)
}

/// Returns whether `strace` is there and may trace; says so when not.
fn can_trace() -> bool {
    let mut probe = Command::new("strace");
    probe
        .args(["-qq", "-o", "/dev/null", "true"])
        .stderr(Stdio::null());
    let works = probe.status().is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: `strace` is missing or may not trace");
    }
    works
}

/// Returns every place to stop at in a session.
fn points(session: &'static str) -> Vec<Point> {
    let world = world();
    traced(&world, session, &["-e", CALLS]).exits(0).lines();
    let trace = std::fs::read_to_string(world.path("trace")).unwrap();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        match rest.trim_start().split_once('(') {
            Some((call, _)) if !call.contains(' ') => {
                *counts.entry((call, thread)).or_default() += 1;
            }
            _ => {}
        }
    }
    let mut most: BTreeMap<&str, usize> = BTreeMap::new();
    for ((call, _), count) in counts {
        let known = most.entry(call).or_default();
        *known = count.max(*known);
    }
    assert!(
        most.contains_key("fsync") && most.contains_key("pwrite64"),
        "{most:?}"
    );
    let point = |(call, count): (&str, usize)| {
        let call = call.to_owned();
        (1..=count).map(move |nth| Point {
            session,
            call: call.clone(),
            nth,
        })
    };
    most.into_iter().flat_map(point).collect()
}

/// What a session's journal says, or nothing where there is no session yet.
fn journal(world: &World) -> Vec<Value> {
    if !world.journal().exists() {
        return Vec::new();
    }
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    match &listed["sessions"].as_array().unwrap()[..] {
        [] => Vec::new(),
        _ => world.last_journal(),
    }
}

fn has(journal: &[Value], kind: &str, pointer: &str, id: &Value) -> bool {
    let is_it = |event: &Value| event["kind"] == kind && event.pointer(pointer) == Some(id);
    journal.iter().any(is_it)
}

/// Checks what the run said and did against what is on record, and goes on with the session.
#[track_caller]
fn check(world: &World, ran: &Ran, place: &str) {
    let on_record = journal(world);
    // A turn that could not be recorded says so at its end; its beginning is no promise.
    let failed = |line: &Value| line["outcome"] == "error(journal)";
    let unrecorded = ran.lines().iter().any(failed);
    for line in ran.lines() {
        let durable = match line["type"].as_str().unwrap_or_default() {
            "tool.finished" => has(&on_record, "tool_finished", "/result/call_id", &line["id"]),
            "turn.started" => {
                unrecorded
                    || on_record
                        .iter()
                        .any(|event| event["kind"] == "turn_started")
            }
            "turn.finished" => unrecorded || on_record.last().unwrap()["kind"] == "turn_finished",
            _ => true,
        };
        assert!(durable, "{place}: said, but lost: {line}");
    }
    let started = on_record
        .iter()
        .filter(|event| event["kind"] == "tool_started");
    let files: Vec<_> = (1..=8)
        .map(|number| world.work().join(format!("out-{number}.md")))
        .filter(|path| path.exists())
        .collect();
    assert!(
        files.len() <= started.clone().count(),
        "{place}: an effect without an intent"
    );
    // What was done is taken away, so that doing it again would show.
    files
        .iter()
        .for_each(|path| std::fs::remove_file(path).unwrap());
    if on_record.is_empty() {
        return;
    }
    let server = Server::start(vec![Answer::Text("welcome back")]);
    let session = world.last_session();
    let url = server.base_url.as_str();
    let resumed = world.run(&[
        "--json",
        "--model",
        "mock/m",
        "--base-url",
        url,
        "run",
        "--yes",
        "write(**)",
        "--resume",
        &session,
        "Go on",
    ]);
    let text = resumed.exits(0).event("turn.finished")["text"].clone();
    assert_eq!(text, "welcome back", "{place}");
    let request = &server.requests()[0];
    check_pairs(request);
    let unknown = started
        .filter(|event| {
            !has(
                &on_record,
                "tool_finished",
                "/result/call_id",
                &event["call_id"],
            )
        })
        .count();
    let told = request
        .to_string()
        .matches("outcome of this call is unknown")
        .count();
    assert_eq!(told, unknown, "{place}: {request:#}");
    assert!(
        files.iter().all(|path| !path.exists()),
        "{place}: done twice"
    );
}

/// Stops at places of these sessions, about `wanted` of them; returns how many that were.
fn stop_at(
    sessions: &[&'static str],
    wanted: usize,
    how: &(dyn Fn(&Point) -> String + Sync),
) -> usize {
    let points: Vec<Point> = sessions
        .iter()
        .flat_map(|session| points(session))
        .collect();
    let stride = (points.len() / wanted).max(1);
    let chosen: Vec<&Point> = points.iter().step_by(stride).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(point) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let world = world();
                    let inject = how(point);
                    let trace = format!("trace={}", point.call);
                    let ran = traced(&world, point.session, &["-e", &trace, "-e", &inject]);
                    check(&world, &ran, &format!("{point:?}"));
                }
            });
        }
    });
    eprintln!("{} of {} places", chosen.len(), points.len());
    chosen.len()
}

fn kill(point: &Point) -> String {
    format!("inject={}:signal=KILL:when={}", point.call, point.nth)
}

/// From here on the disk takes nothing more.
fn full(point: &Point) -> String {
    format!("inject={}:error=ENOSPC:when={}+", point.call, point.nth)
}

fn broken(point: &Point) -> String {
    format!("inject={}:error=EIO:when={}+", point.call, point.nth)
}

#[test]
fn p10_p11_killed_at_a_call_that_writes_nothing_is_lost_and_nothing_done_twice() {
    if can_trace() {
        stop_at(&SESSIONS[..1], 12, &kill);
    }
}

#[test]
#[ignore = "`cargo xtask ci` runs it"]
fn ci_p10_p11_killed_at_five_hundred_calls_that_write() {
    if can_trace() {
        assert!(stop_at(&SESSIONS, 500, &kill) >= 500);
    }
}

#[test]
#[ignore = "`cargo xtask ci --long` runs it"]
fn long_p10_p11_killed_at_every_call_that_writes_of_twenty_sessions() {
    if can_trace() {
        stop_at(&SESSIONS, usize::MAX, &kill);
    }
}

#[test]
fn p15_when_the_disk_is_full_or_fails_no_effect_follows_and_the_session_goes_on() {
    if can_trace() {
        stop_at(&SESSIONS[..1], 6, &|point| match point.call.as_str() {
            "write" => kill(point),
            _ => full(point),
        });
    }
}

#[test]
#[ignore = "`cargo xtask ci --long` runs it"]
fn long_p15_a_disk_that_is_full_or_fails_from_any_call_on() {
    if can_trace() {
        for failing in [full, broken] {
            stop_at(&SESSIONS, usize::MAX, &|point| match point.call.as_str() {
                // Of standard output nothing is promised; the journal does not use this call.
                "write" => kill(point),
                _ => failing(point),
            });
        }
    }
}

#[test]
fn p14_of_many_processes_on_one_session_one_writes_and_the_others_are_refused() {
    let world = world();
    let first = Server::start(vec![Answer::Text("begun")]);
    let url = first.base_url.as_str();
    let begun = ["--model", "mock/m", "--base-url", url, "run", "Begin"];
    drop(world.run(&begun).exits(0));
    let session = world.last_session();
    let held = || Answer::Held(Box::new(Answer::Text("mine")));
    let server = Server::start((0..4).map(|_| held()).collect());
    let url = server.base_url.as_str();
    let resume = [
        "--json",
        "--model",
        "mock/m",
        "--base-url",
        url,
        "run",
        "--resume",
        &session,
        "Go on",
    ];
    let mut running: Vec<_> = (0..4)
        .map(|_| world.command(&resume).spawn().unwrap())
        .collect();
    // Three end by themselves; the one that writes waits for its answer.
    let mut refused = 0;
    while refused < 3 {
        running.retain_mut(|child| {
            let ended = child.try_wait().unwrap();
            refused += usize::from(ended.is_some_and(|status| !status.success()));
            ended.is_none()
        });
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    server.release();
    let [writer] = &mut running[..] else {
        panic!("{} processes write", running.len());
    };
    assert!(writer.wait().unwrap().success());
    let seen = world.run(&["sessions", "show", &session, "--json"]).json();
    let numbers = seen["events"].as_array().unwrap().iter();
    let numbers: Vec<u64> = numbers
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64));
    let begun = world.last_journal();
    let turns = begun.iter().filter(|event| event["kind"] == "turn_started");
    assert_eq!(turns.count(), 2, "no event of a refused process");
}
