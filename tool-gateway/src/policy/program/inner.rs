//! The programs that an argument vector names behind others: `env`, `timeout`, `sh -c`.

use crate::policy::program::base_name;

/// How many programs are looked for one behind the other.
const MAX_DEPTH: usize = 16;

/// How many commands of a shell line are looked at.
const MAX_COMMANDS: usize = 64;

/// Programs that run the one which their arguments name: how many words of their own stand before
/// it, and the options that take a value.
const WRAPPERS: &[(&str, usize, &[&str])] = &[
    ("env", 0, &["-u", "--unset", "-C", "--chdir"]),
    (
        "sudo",
        0,
        &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "--user", "--group",
        ],
    ),
    ("doas", 0, &["-u", "-C"]),
    ("command", 0, &[]),
    ("builtin", 0, &[]),
    ("exec", 0, &["-a"]),
    ("nohup", 0, &[]),
    ("setsid", 0, &[]),
    ("time", 0, &["-f", "-o"]),
    ("nice", 0, &["-n", "--adjustment"]),
    ("ionice", 0, &["-c", "-n", "-p"]),
    ("chrt", 1, &[]),
    ("taskset", 1, &[]),
    ("stdbuf", 0, &["-i", "-o", "-e"]),
    ("unbuffer", 0, &[]),
    ("timeout", 1, &["-s", "-k", "--signal", "--kill-after"]),
    ("watch", 0, &["-n", "--interval"]),
    ("flock", 1, &["-w", "-E", "--timeout"]),
    ("chroot", 1, &[]),
    (
        "xargs",
        0,
        &["-I", "-i", "-n", "-P", "-L", "-s", "-d", "-a", "-E"],
    ),
    ("parallel", 0, &["-j", "-N", "-n"]),
    ("strace", 0, &["-e", "-o", "-p", "-s", "-u"]),
    ("ltrace", 0, &["-e", "-o", "-p", "-s", "-u"]),
    ("busybox", 0, &[]),
    ("toybox", 0, &[]),
    ("npx", 0, &["-p", "--package"]),
    ("unshare", 0, &[]),
    ("nsenter", 0, &["-t"]),
    ("entr", 0, &[]),
];

const SHELLS: &[&str] = &[
    "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish",
];

/// Returns the argument vectors of the programs that run behind the first one, as far as they can
/// be read: rules that forbid one of them forbid the whole.
pub(in crate::policy) fn inner(argv: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut todo = vec![(argv.to_vec(), 0)];
    while let Some((argv, depth)) = todo.pop() {
        if depth >= MAX_DEPTH || found.len() >= MAX_COMMANDS {
            break;
        }
        for next in behind(&argv) {
            found.push(next.clone());
            todo.push((next, depth + 1));
        }
    }
    found
}

/// Returns what stands directly behind the first program.
fn behind(argv: &[String]) -> Vec<Vec<String>> {
    let Some((program, arguments)) = argv.split_first() else {
        return Vec::new();
    };
    let name = base_name(program);
    if SHELLS.contains(&name.as_str()) || matches!(name.as_str(), "eval" | "su") {
        return lines(&name, arguments);
    }
    if name == "find" {
        return after_exec(arguments);
    }
    let Some((_, own, valued)) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name) else {
        return Vec::new();
    };
    if name == "env"
        && let Some(line) = split_string(arguments)
    {
        return commands(&line);
    }
    let mut rest = arguments.iter();
    let mut own = *own;
    let mut left: Vec<String> = Vec::new();
    while let Some(word) = rest.next() {
        let is_option = word.starts_with('-') && word.len() > 1;
        let is_assignment = name == "env" && word.contains('=');
        if valued.contains(&word.as_str()) {
            rest.next();
        } else if is_option || is_assignment {
        } else if own > 0 {
            own -= 1;
        } else {
            left.push(word.clone());
            left.extend(rest.cloned());
            break;
        }
    }
    if left.is_empty() {
        Vec::new()
    } else {
        vec![left]
    }
}

/// Returns the commands in the lines that a shell is given.
fn lines(name: &str, arguments: &[String]) -> Vec<Vec<String>> {
    if name == "eval" {
        return commands(&arguments.join(" "));
    }
    let is_line = |word: &String| {
        word == "--command"
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
    };
    let Some(at) = arguments.iter().position(is_line) else {
        // A script, which is what its bytes say.
        return Vec::new();
    };
    let after = arguments.get(at + 1..).unwrap_or_default();
    let line = after.iter().find(|word| !word.starts_with('-'));
    line.map(|line| commands(line)).unwrap_or_default()
}

fn after_exec(arguments: &[String]) -> Vec<Vec<String>> {
    let starts = arguments
        .iter()
        .enumerate()
        .filter(|(_, word)| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
    starts
        .map(|(at, _)| {
            let after = arguments.get(at + 1..).unwrap_or_default();
            let words = after
                .iter()
                .take_while(|word| !matches!(word.as_str(), ";" | "+"));
            words.cloned().collect::<Vec<String>>()
        })
        .filter(|words| !words.is_empty())
        .collect()
}

/// Returns the line that `env -S` takes apart.
fn split_string(arguments: &[String]) -> Option<String> {
    let at = arguments.iter().position(|word| {
        word.starts_with("-S") || word.starts_with("--split-string") || word.starts_with("-vS")
    })?;
    let word = arguments.get(at)?;
    let joined = word
        .strip_prefix("--split-string=")
        .or_else(|| word.strip_prefix("-vS"))
        .or_else(|| word.strip_prefix("-S"))
        .filter(|rest| !rest.is_empty() && *rest != "plit-string");
    let mut line = joined.unwrap_or_default().to_owned();
    for word in arguments.get(at + 1..).unwrap_or_default() {
        line.push(' ');
        line.push_str(word);
    }
    Some(line)
}

/// Returns the words of each command in a line, however the commands are joined.
///
/// This is for rules that forbid, so it takes too much for a command rather than too little.
fn commands(line: &str) -> Vec<Vec<String>> {
    let joined = line.replace("\\\n", "");
    let separators = |c: char| {
        matches!(
            c,
            ';' | '&' | '|' | '\n' | '\r' | '(' | ')' | '`' | '{' | '}' | '<' | '>' | '$'
        )
    };
    joined
        .split(separators)
        .take(MAX_COMMANDS)
        .map(|command| {
            command
                .split_whitespace()
                .map(|word| word.replace(['"', '\'', '\\'], ""))
                .filter(|word| !word.is_empty())
                .skip_while(|word| is_prefix(word))
                .collect::<Vec<String>>()
        })
        .filter(|words| !words.is_empty())
        .collect()
}

/// Tells whether a word may stand before the name of a program.
fn is_prefix(word: &str) -> bool {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    is_assignment
        || matches!(
            word,
            "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "!" | "time"
        )
}
