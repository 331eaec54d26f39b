//! Lines that fetch a program from somewhere and run it unseen.

use super::{Finds, Found, Report, boundary};

/// Programs that run what they are given.
const RUNNERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "php",
    "pwsh",
    "powershell",
    "iex",
    "invoke-expression",
    "deno",
    "bun",
];
/// Words that may stand before a runner.
const BEFORE: &[&str] = &["sudo", "-e", "-h", "env", "exec", "nohup", "doas", "time"];
/// Programs that fetch.
const FETCHERS: &[&str] = &[
    "curl",
    "wget",
    "iwr",
    "irm",
    "invoke-webrequest",
    "invoke-restmethod",
    "fetch",
    "downloadstring",
    "aria2c",
];
/// How much of a long line is judged at once, on either side of what may run something.
const LONGEST: usize = 2048;

pub(super) fn check(report: &mut Report<'_, '_>) {
    let bytes = report.bytes();
    let mut found = Finds::of("SK113");
    let pipes = memchr::memchr3_iter(b'|', b'$', b'&', bytes).filter(|at| may_run(bytes, *at));
    let parentheses = memchr::memchr_iter(b'(', bytes).filter(|at| may_run_inside(bytes, *at));
    let mut places: Vec<usize> = pipes.chain(parentheses).collect();
    places.sort_unstable();
    let mut end = 0;
    for at in places {
        if at < end {
            continue;
        }
        let start = logical_start(report, at);
        let line = logical_line(report.text.get(start..).unwrap_or_default(), at - start);
        end = start + line.len();
        if judge(&line.to_lowercase()) {
            found.push(|| Found {
                at: start,
                message: "a line that downloads a program and runs it".to_owned(),
                text: line.trim().to_owned(),
                fix: "save it, say how to check it, and run it in a second step",
            });
        }
    }
    report.add(found);
}

/// Tells whether a shell runs what stands behind byte `at`, by a look at the next few.
fn may_run(bytes: &[u8], at: usize) -> bool {
    let after = bytes.get(at + 1..).unwrap_or_default();
    match bytes.get(at) {
        Some(b'$') => after.first() == Some(&b'('),
        Some(b'&') => after.first() == Some(&b'&'),
        _ => runner_follows(after),
    }
}

/// Tells whether what stands in the parenthesis at byte `at` is run by what stands before it.
fn may_run_inside(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
    let ends = |word: &[u8]| {
        let start = before.len().checked_sub(word.len());
        let end = start.and_then(|start| before.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    before.last() == Some(&b'<') || ends(b"iex") || ends(b"expression")
}

/// Tells whether the first word of `after`, those before a program left out, is a runner.
fn runner_follows(after: &[u8]) -> bool {
    let first = after.iter().find(|byte| !byte.is_ascii_whitespace());
    let may_begin = |byte: &u8| b"bdefhiknprstzw-/\\".contains(&byte.to_ascii_lowercase());
    if !first.is_some_and(may_begin) {
        return false;
    }
    let near = after.get(..after.len().min(48)).unwrap_or_default();
    let near = std::str::from_utf8(near).unwrap_or_else(|error| {
        let valid = near.get(..error.valid_up_to()).unwrap_or_default();
        std::str::from_utf8(valid).unwrap_or_default()
    });
    is_run(near)
}

fn is_run(text: &str) -> bool {
    let words = text
        .split([' ', '\t', '\n', '\\'])
        .filter(|word| !word.is_empty());
    let mut program = words.skip_while(|word| BEFORE.contains(&word.to_ascii_lowercase().as_str()));
    program.next().is_some_and(|word| {
        let word = word.rsplit('/').next().unwrap_or(word);
        let name = word.trim_matches(['`', '"', '\'', ';', ')', '&', '}', '|']);
        RUNNERS
            .iter()
            .any(|runner| runner.eq_ignore_ascii_case(name))
    })
}

/// Returns where the line of byte `at` begins, or the first of those that go on into it.
fn logical_start(report: &Report<'_, '_>, at: usize) -> usize {
    let mut start = report.near_start(at, LONGEST);
    while start > 0 && at - start < LONGEST {
        let before = report.bytes().get(..start - 1).unwrap_or_default();
        if !before.ends_with(b"\\") {
            break;
        }
        start = report.near_start(start - 1, LONGEST);
    }
    start
}

/// Returns the line that `text` begins with, with those that a backslash at its end goes on in, as
/// far as they are near byte `at`.
fn logical_line(text: &str, at: usize) -> &str {
    let most = boundary(text, at + LONGEST);
    let near = text.get(..most).unwrap_or(text);
    let mut end = 0;
    for line in near.split_inclusive('\n') {
        end += line.len();
        if end > at && !line.trim_end_matches('\n').ends_with('\\') {
            break;
        }
    }
    near.get(..end).unwrap_or(near)
}

/// Judges a line in lower case; the bars of a table part its cells, so there only code counts.
fn judge(line: &str) -> bool {
    if !line.trim_start().starts_with('|') {
        return downloads_and_runs(line);
    }
    let code = line.split('`').skip(1).step_by(2);
    code.map(|code| code.replace("\\|", "|"))
        .any(|code| downloads_and_runs(&code))
}

fn downloads_and_runs(line: &str) -> bool {
    piped(line) || substituted(line) || expressed(line) || chained(line)
}

/// `curl … | sh`, `base64 -d | sh`
fn piped(line: &str) -> bool {
    let mut source = false;
    for (at, part) in line.split('|').enumerate() {
        if at > 0 && source && is_run(part) {
            return true;
        }
        source |= names(part, FETCHERS) || decodes(part);
    }
    false
}

fn decodes(part: &str) -> bool {
    part.contains("base64") && (part.contains(" -d") || part.contains("--decode"))
}

/// `bash -c "$(curl …)"`, `bash <(curl …)`, `eval "$(curl …)"`
fn substituted(line: &str) -> bool {
    ["$(", "<(", "`"].iter().any(|open| {
        line.match_indices(open).any(|(at, _)| {
            let inner = line.get(at + open.len()..).unwrap_or_default();
            let fetches = |name: &&str| word_at_start(inner.trim_start(), name);
            FETCHERS.iter().any(fetches) && is_given_to_runner(line, at)
        })
    })
}

/// Tells whether a runner stands shortly before byte `at`.
fn is_given_to_runner(line: &str, at: usize) -> bool {
    let start = boundary(line, at.saturating_sub(128));
    let before = line.get(start..at).unwrap_or_default();
    names(before, &["eval", "source"])
        || names(before, RUNNERS)
        || before.trim_end().ends_with(" .")
}

/// `iex (irm …)`
fn expressed(line: &str) -> bool {
    ["iex", "invoke-expression"]
        .iter()
        .any(|word| has_word(line, word))
        && names(line, FETCHERS)
}

/// `curl -o x … && bash x`
fn chained(line: &str) -> bool {
    let mut parts = line.split("&&");
    let first = parts.next().unwrap_or_default();
    let fetches = names(first, FETCHERS) && !first.contains('|');
    fetches
        && parts.any(|part| {
            let part = part.trim_start();
            is_run(part) || part.starts_with("chmod +x") || part.starts_with("./")
        })
}

fn names(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| has_word(text, word))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let rest = text.get(at..).unwrap_or_default();
        !before.is_some_and(is_part) && word_at_start(rest, word)
    })
}

fn word_at_start(text: &str, word: &str) -> bool {
    let after = text.strip_prefix(word).map(|rest| rest.chars().next());
    after.is_some_and(|next| !next.is_some_and(is_part))
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_')
}
