//! Who holds a name: one rule for reports and for every view.

use std::collections::{HashMap, hash_map};
use std::sync::Arc;

use crate::catalog::{CandidateReport, Entry, Verdict};
use crate::safety::skeleton;
use crate::skill::{Diagnostic, Scope, SkillFormat};

/// How an entry stands among those it is resolved with; numbers are positions among the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It holds its id.
    Holds,
    /// Its id differs from one that is held only in case; it keeps its exact id.
    CaseClash(usize),
    /// Another entry holds its very id; a qualified id remains.
    Shadowed(usize),
    /// It is the same file as another entry.
    SameFile(usize),
    /// Its id and content equal another entry's.
    Copy(usize),
}

/// Returns the standing of each of `chosen`, which are positions in `entries` in ascending order.
pub(crate) fn resolve(entries: &[Arc<Entry>], chosen: &[usize]) -> Vec<Standing> {
    let mut files: HashMap<&[u8], usize> = HashMap::with_capacity(chosen.len());
    let mut holders: HashMap<&str, usize> = HashMap::with_capacity(chosen.len());
    let mut same_file = HashMap::new();
    for &position in chosen {
        let Some(entry) = entries.get(position) else {
            continue;
        };
        if let Some(file) = file(entry) {
            match files.entry(file) {
                hash_map::Entry::Occupied(first) => {
                    same_file.insert(position, *first.get());
                    continue;
                }
                hash_map::Entry::Vacant(first) => first.insert(position),
            };
        }
        holders
            .entry(&entry.folded_id)
            .and_modify(|holder| {
                if entries.get(*holder).is_some_and(|held| held.yields) && keeps_name(entry) {
                    *holder = position;
                }
            })
            .or_insert(position);
    }
    chosen
        .iter()
        .map(|position| {
            let Some(entry) = entries.get(*position) else {
                return Standing::Holds;
            };
            match same_file.get(position) {
                Some(&first) => Standing::SameFile(first),
                None => against_holder(entries, entry, *position, &holders),
            }
        })
        .collect()
}

/// Returns the positions of the entries that some other one stands against, and of those, in
/// ascending order. The rest holds its id among any of the entries.
pub(crate) fn contested(entries: &[Arc<Entry>]) -> Vec<usize> {
    let all: Vec<usize> = (0..entries.len()).collect();
    let mut contested: Vec<usize> = Vec::new();
    for (at, standing) in all.iter().zip(resolve(entries, &all)) {
        match standing {
            Standing::Holds => {}
            Standing::CaseClash(other)
            | Standing::Shadowed(other)
            | Standing::SameFile(other)
            | Standing::Copy(other) => contested.extend([*at, other]),
        }
    }
    contested.sort_unstable();
    contested.dedup();
    contested
}

/// Returns what names the file of `entry`; what is held in memory has none, whatever path it names.
fn file(entry: &Entry) -> Option<&[u8]> {
    let path = entry.real_path.as_ref().unwrap_or(&entry.skill.path);
    let on_disk = entry.skill.format != SkillFormat::Memory;
    on_disk.then(|| path.as_os_str().as_encoded_bytes())
}

/// Tells whether an untrusted project's skill must leave the bare name to `entry`.
fn keeps_name(entry: &Entry) -> bool {
    matches!(entry.skill.scope, Scope::User | Scope::Managed)
}

fn against_holder(
    entries: &[Arc<Entry>],
    entry: &Entry,
    position: usize,
    holders: &HashMap<&str, usize>,
) -> Standing {
    let Some(&holder) = holders.get(&*entry.folded_id) else {
        return Standing::Holds;
    };
    let Some(held) = entries.get(holder) else {
        return Standing::Holds;
    };
    if holder == position {
        Standing::Holds
    } else if held.skill.content_digest == entry.skill.content_digest {
        Standing::Copy(holder)
    } else if held.skill.id == entry.skill.id {
        Standing::Shadowed(holder)
    } else {
        Standing::CaseClash(holder)
    }
}

/// Writes the standing of every entry into its report.
///
/// `positions` holds, for each entry, the position of its report.
pub(crate) fn report_shadows(
    entries: &[Arc<Entry>],
    positions: &[usize],
    reports: &mut [CandidateReport],
) {
    let is_open = |at: &usize| entries.get(*at).is_some_and(|entry| !entry.pending);
    let open: Vec<usize> = (0..entries.len()).filter(is_open).collect();
    for (at, standing) in open.iter().zip(resolve(entries, &open)) {
        let (Some(entry), Some(report)) = (entries.get(*at), positions.get(*at)) else {
            continue;
        };
        let (code, other, what) = match standing {
            Standing::Holds => continue,
            Standing::CaseClash(other) => {
                let what = "the name differs only in case from that of";
                ("SK070", other, what)
            }
            Standing::Shadowed(other) => ("SK070", other, "the name is taken by"),
            Standing::SameFile(other) => ("SK071", other, "the same file as"),
            Standing::Copy(other) => ("SK072", other, "an identical copy of"),
        };
        let (Some(by), Some(report)) = (
            entries.get(other).map(|entry| entry.skill.path.clone()),
            reports.get_mut(*report),
        ) else {
            continue;
        };
        let message = format!("skill `{}`: {what} {}", entry.skill.id, by.display());
        report.diagnostics.push(Diagnostic {
            text: Some(entry.skill.id.as_str().to_owned()),
            ..Diagnostic::about(code, &entry.skill.path, message)
        });
        report.verdict = Verdict::Shadowed { by };
    }
}

/// Reports ids that pass for one another: the same Latin letters to the eye, others to a machine.
pub(crate) fn report_look_alikes(
    entries: &[Arc<Entry>],
    positions: &[usize],
    reports: &mut [CandidateReport],
) {
    // Plain ids do not pass for each other, so most catalogues end here.
    if entries.iter().all(|entry| entry.folded_id.is_ascii()) {
        return;
    }
    let mut seen: HashMap<String, &Arc<Entry>> = HashMap::with_capacity(entries.len());
    for (entry, report) in entries.iter().zip(positions) {
        let first = *seen.entry(skeleton(&entry.folded_id)).or_insert(entry);
        let Some(report) = reports.get_mut(*report) else {
            continue;
        };
        if first.folded_id == entry.folded_id {
            continue;
        }
        let (id, other) = (&entry.skill.id, &first.skill.id);
        let message = format!("skill `{id}` looks like `{other}` and is another one");
        let finding = Diagnostic::about("SK111", &entry.skill.path, message);
        if report.verdict == Verdict::Loaded {
            report.verdict = Verdict::Repaired;
        }
        report.diagnostics.push(finding);
    }
}
