//! What an argument vector really runs: programs inside programs, and programs that run whatever
//! their arguments say.
//!
//! An allow rule speaks of the words it spells out. For most programs a rule of one word is
//! enough; a program that can run any other one is only allowed by a rule that spells out enough
//! of its arguments that nothing else can be meant.

mod inner;
mod tables;

pub(super) use inner::inner;

use tables::{FLAGS, GIT_FLAGS, GIT_SUBCOMMANDS, INTERPRETERS, WHOLE};

/// Returns how many of the first words an allow rule has to spell out.
pub(super) fn words_needed(argv: &[String]) -> usize {
    let Some((program, arguments)) = argv.split_first() else {
        return 0;
    };
    let (name, all) = (base_name(program), argv.len());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if INTERPRETERS.contains(&name.as_str()) {
        return interpreter(&arguments).unwrap_or(all);
    }
    if WHOLE.contains(&name.as_str()) {
        return all;
    }
    match name.as_str() {
        "git" => git(&arguments).unwrap_or(all),
        "sed" if !only_prints(&arguments) => all,
        name => {
            let flags = FLAGS.iter().find(|(program, _)| *program == name);
            let risky = flags.is_some_and(|(_, flags)| has_flag(&arguments, flags));
            if risky { all } else { 1 }
        }
    }
}

/// Returns the name of a program without its folder, its ending and its version, in small letters.
pub(super) fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let lower = name.to_lowercase();
    let plain = lower.strip_suffix(".exe").unwrap_or(&lower);
    let versionless =
        plain.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    if versionless.is_empty() {
        plain
    } else {
        versionless
    }
    .to_owned()
}

/// An interpreter runs the script that is its first argument; with options before it, or without
/// one, it may run anything.
fn interpreter(arguments: &[&str]) -> Option<usize> {
    let script = arguments.first()?;
    (!script.starts_with('-') && !script.is_empty()).then_some(2)
}

/// Git runs its subcommand; some of them, and some options of others, run more.
fn git(arguments: &[&str]) -> Option<usize> {
    let at = arguments
        .iter()
        .position(|argument| !matches!(*argument, "--no-pager" | "--no-optional-locks"))?;
    let subcommand = arguments.get(at)?;
    let rest = arguments.get(at + 1..).unwrap_or_default();
    let runs_more = subcommand.starts_with('-')
        || GIT_SUBCOMMANDS.contains(subcommand)
        || has_flag(rest, GIT_FLAGS)
        || rest.iter().any(|argument| argument.contains("ext::"));
    (!runs_more).then_some(at + 2)
}

/// Tells whether sed only prints lines by their number: `-n`, then `N[,M]p`.
fn only_prints(arguments: &[&str]) -> bool {
    let Some((&"-n", rest)) = arguments.split_first() else {
        return false;
    };
    let Some((script, files)) = rest.split_first() else {
        return false;
    };
    let lines = script.strip_suffix('p').unwrap_or_default();
    let is_number = |text: &str| {
        text == "$" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let plain = match lines.split_once(',') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(lines),
    };
    plain && files.iter().all(|file| !file.starts_with('-'))
}

/// Tells whether one of the flags occurs, abbreviated, joined with its value or with others.
fn has_flag(arguments: &[&str], flags: &[&str]) -> bool {
    arguments.iter().any(|argument| {
        let name = argument.split('=').next().unwrap_or(argument);
        flags.iter().any(|flag| match flag.strip_prefix("--") {
            Some(_) => name.len() > 2 && name.starts_with("--") && flag.starts_with(name),
            None if flag.len() == 2 => {
                let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                letters
                    .is_some_and(|letters| flag.chars().nth(1).is_some_and(|c| letters.contains(c)))
            }
            None => name == *flag,
        })
    })
}

#[cfg(test)]
mod tests;
