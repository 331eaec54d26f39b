//! A program and all that it started, to the end of the last of them.
//!
//! A process counts as family if it is in the group or session of the program, if one of its
//! parents is, or if its environment holds the mark that the program was started with: so those
//! that leave the group and those whose parent went away are found too. One that does all of this
//! and clears its environment is not. Where there is no `/proc`, the group is all that is known.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::time::{Instant, sleep};

/// The variable that marks a program and its children.
pub(super) const MARK: &str = "TOOL_GATEWAY_CALL";

/// How long a process may take to end when it is asked to.
const POLITE: Duration = Duration::from_millis(400);

/// How long it is looked whether all of them are gone after they were killed.
const FORCED: Duration = Duration::from_millis(1_600);

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(15);

/// A program and its children.
#[derive(Debug)]
pub(crate) struct Family {
    leader: u32,
    mark: String,
    /// When the program started, in the kernel's own unit: nobody older belongs to it.
    since: u64,
    ended: bool,
}

/// A process that was seen; a number may be given again, together with its start it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    pid: u32,
    started: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stat {
    parent: u32,
    group: u32,
    session: u32,
    started: u64,
    /// It has ended, and waits to be asked how.
    ended: bool,
}

impl Family {
    pub(super) fn of(leader: u32, mark: String) -> Self {
        Self {
            since: stat(leader).map_or(0, |stat| stat.started),
            leader,
            mark,
            ended: false,
        }
    }

    /// Ends every process of the family: asks, then kills. Returns how many it had to end, and
    /// whether none is left.
    pub(crate) async fn end(&mut self) -> (usize, bool) {
        let found = self.members();
        if found.is_empty() {
            self.ended = true;
            return (0, true);
        }
        self.signal(&found, Signal::TERM);
        let start = Instant::now();
        let mut left = self.members();
        while !left.is_empty() && start.elapsed() < POLITE {
            sleep(LOOK).await;
            left = self.members();
        }
        let start = Instant::now();
        while !left.is_empty() && start.elapsed() < FORCED {
            self.signal(&left, Signal::KILL);
            sleep(LOOK).await;
            left = self.members();
        }
        self.ended = left.is_empty();
        (found.len(), self.ended)
    }

    fn signal(&self, members: &BTreeSet<Member>, signal: Signal) {
        // Who ended in the meantime needs no signal.
        if let Some(group) = pid(self.leader)
            && members
                .iter()
                .any(|member| stat(member.pid).is_some_and(|one| one.group == self.leader))
        {
            let _ = kill_process_group(group, signal);
        }
        for member in members {
            if stat(member.pid).is_some_and(|stat| stat.started == member.started)
                && let Some(pid) = pid(member.pid)
            {
                let _ = kill_process(pid, signal);
            }
        }
    }

    /// Returns who of the family runs.
    fn members(&self) -> BTreeSet<Member> {
        let all = processes();
        let mut family: BTreeSet<u32> = BTreeSet::new();
        let marked = |pid: u32| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environment| has_mark(&environment, &self.mark))
        };
        for (number, stat) in &all {
            let near = *number == self.leader
                || stat.group == self.leader
                || stat.session == self.leader
                || stat.parent == self.leader;
            if near || (stat.started >= self.since && !stat.ended && marked(*number)) {
                family.insert(*number);
            }
        }
        loop {
            let children: Vec<u32> = all
                .iter()
                .filter(|(number, stat)| !family.contains(number) && family.contains(&stat.parent))
                .map(|(number, _)| *number)
                .collect();
            if children.is_empty() {
                break;
            }
            family.extend(children);
        }
        let own = std::process::id();
        all.into_iter()
            .filter(|(number, stat)| {
                family.contains(number)
                    && *number != own
                    && !stat.ended
                    && stat.started >= self.since
            })
            .map(|(pid, stat)| Member {
                pid,
                started: stat.started,
            })
            .collect()
    }
}

impl Drop for Family {
    /// Whoever drops it without waiting still leaves nobody behind.
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        for _ in 0..3 {
            let members = self.members();
            if members.is_empty() {
                return;
            }
            self.signal(&members, Signal::KILL);
        }
    }
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

fn has_mark(environment: &[u8], mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

fn processes() -> BTreeMap<u32, Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let number: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((number, stat(number)?))
        })
        .collect()
}

fn stat(number: u32) -> Option<Stat> {
    read_stat(&std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
}

/// Reads a line of `/proc/PID/stat`; the name of the program in it may hold anything.
fn read_stat(line: &str) -> Option<Stat> {
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let small = |at: usize| number(at).and_then(|number| u32::try_from(number).ok());
    Some(Stat {
        ended: matches!(fields.first(), Some(&("Z" | "X" | "x"))),
        parent: small(1)?,
        group: small(2)?,
        session: small(3)?,
        started: number(19)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_process_is_read_whatever_its_name() {
        let line = "7 (a) Z 1 (b) R 42 43 44 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99 5 6";
        let stat = read_stat(line).unwrap();
        assert_eq!(
            (stat.parent, stat.group, stat.session, stat.started),
            (42, 43, 44, 99)
        );
        assert!(!stat.ended);
        assert!(read_stat("7 (a").is_none());
    }

    #[test]
    fn a_mark_is_a_whole_variable() {
        let environment = b"A=1\0TOOL_GATEWAY_CALL=ab\0B=2\0";
        assert!(has_mark(environment, "ab"));
        assert!(!has_mark(environment, "a"));
        assert!(!has_mark(b"XTOOL_GATEWAY_CALL=ab\0", "ab"));
    }
}
