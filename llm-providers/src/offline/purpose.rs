//! Tells from the words around a file's name what is to be done with the file.

use crate::offline::words::stem;

/// What a file is named for. The order is that of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    Read,
    /// No verb stands near.
    Named,
    Run,
    Write,
}

/// Stems of English words that stand before or behind the name of a file to be read.
const READ: &[&str] = &[
    "accord", "bas", "check", "compar", "consult", "examin", "follow", "from", "inspect", "load",
    "look", "open", "per", "read", "refer", "review", "see", "study", "us", "use", "used", "uses",
    "using", "view",
];
/// Those that say only behind the name that it is to be read.
const HOLD: &[&str] = &[
    "contain", "cover", "defin", "describ", "detail", "document", "explain", "hold", "list",
];
const RUN: &[&str] = &[
    "bash", "execut", "invok", "node", "python", "python3", "run",
];
const WRITE: &[&str] = &[
    "add", "append", "creat", "delet", "edit", "generat", "maintain", "produc", "put", "remov",
    "renam", "sav", "writ", "write", "written", "wrote",
];
/// Those that are as often nouns: they are verbs in their other forms, or where a verb must stand.
const WRITE_OR_NOUN: &[&str] = &[
    "call", "draft", "emit", "export", "log", "nam", "output", "plac", "record", "stor", "updat",
];
/// Those that read one file and write another, whose name then follows on `to`.
const TURN: &[&str] = &[
    "convert",
    "copy",
    "mov",
    "render",
    "transform",
    "translat",
    "turn",
];
/// Words behind which a verb must stand.
const BEFORE_VERBS: &[&str] = &["and", "must", "or", "should", "then", "to", "will"];

const CHINESE: &[(Purpose, &[&str])] = &[
    (
        Purpose::Read,
        &[
            "读", "打开", "查看", "查阅", "参考", "参见", "参照", "详见", "见 ", "见`", "根据",
            "依据", "按照", "对照", "使用", "遵循", "加载",
        ],
    ),
    (Purpose::Run, &["运行", "执行"]),
    (
        Purpose::Write,
        &[
            "写入",
            "写到",
            "写进",
            "写在",
            "写成",
            "保存",
            "存入",
            "存为",
            "生成",
            "创建",
            "新建",
            "输出",
            "导出",
            "追加",
            "更新",
            "删除",
            "记录到",
            "记录在",
            "命名为",
        ],
    ),
];

/// The words around a name, as far as the sentence goes.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    pub(super) before: &'a str,
    pub(super) after: &'a str,
}

impl<'a> Sentence<'a> {
    /// Cuts what stands before and after a name at the ends of the sentence.
    pub(super) fn around(before: &'a str, after: &'a str) -> Self {
        let begin = ends(before).last().unwrap_or_default();
        let end = ends(after).next().unwrap_or(after.len());
        Self {
            before: before.get(begin..).unwrap_or(before),
            after: after.get(..end).unwrap_or(after),
        }
    }

    /// Returns the purpose by the last verb before the name, else by the first one behind it.
    pub(super) fn purpose(&self) -> Purpose {
        let before = verbs(self.before, false).into_iter().max();
        let verb = before.or_else(|| verbs(self.after, true).into_iter().min());
        verb.map_or(Purpose::Named, |(_, purpose)| purpose)
    }
}

/// Returns where the sentences of a text end; a cell of a table and a dash end one too.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(|(at, character)| {
        let next = at + character.len_utf8();
        let is_end = match character {
            '。' | '；' | '！' | '？' | '|' | '—' | ';' | '!' | '?' => true,
            '.' => text
                .get(next..)
                .is_none_or(|rest| rest.is_empty() || rest.starts_with(' ')),
            _ => false,
        };
        is_end.then_some(next)
    })
}

/// Returns the verbs of a text with where they stand.
fn verbs(text: &str, behind: bool) -> Vec<(usize, Purpose)> {
    let mut found = Vec::new();
    let (mut at, mut previous, mut turned) = (0, String::new(), false);
    for piece in text.split_inclusive(|character: char| !character.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        if !word.is_empty() {
            let word = word.to_ascii_lowercase();
            found.extend(verb(&word, &previous, behind).map(|purpose| (at, purpose)));
            if turned && ["as", "into", "to"].contains(&word.as_str()) {
                found.push((at, Purpose::Write));
            }
            turned |= TURN.contains(&stem(&word).as_str());
            previous = word;
        }
        at += piece.len();
    }
    for (purpose, verbs) in CHINESE {
        let places = verbs.iter().flat_map(|verb| text.match_indices(verb));
        found.extend(places.map(|(at, _)| (at, *purpose)));
    }
    found
}

fn verb(word: &str, previous: &str, behind: bool) -> Option<Purpose> {
    let stem = stem(word);
    let is_in = |stems: &[&str]| stems.contains(&stem.as_str()) || stems.contains(&word);
    let is_other_form = word.ends_with("ed") || word.ends_with("ing");
    let is_in_place = previous.is_empty() || BEFORE_VERBS.contains(&previous);
    if is_in(READ) || is_in(TURN) || (behind && is_in(HOLD)) {
        Some(Purpose::Read)
    } else if is_in(RUN) {
        Some(Purpose::Run)
    } else if is_in(WRITE) || (is_in(WRITE_OR_NOUN) && (is_other_form || is_in_place)) {
        Some(Purpose::Write)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Sentence};

    fn purpose(sentence: &str) -> Purpose {
        let (before, after) = sentence.split_once('@').unwrap();
        Sentence::around(before, after).purpose()
    }

    #[test]
    fn the_nearest_verb_decides() {
        for (sentence, expected) in [
            ("Read @ and write the minutes", Purpose::Read),
            ("Write the minutes from @", Purpose::Read),
            ("Write the minutes. Then see @", Purpose::Read),
            ("Create a plan following @", Purpose::Read),
            ("Use the output format in @", Purpose::Read),
            ("@ describes each field", Purpose::Read),
            ("Copy @ to the folder", Purpose::Read),
            ("Copy the page to @", Purpose::Write),
            ("Output to @", Purpose::Write),
            ("a file named @", Purpose::Write),
            ("@ is created", Purpose::Write),
            ("Run @ to create the list", Purpose::Run),
            ("the list in @", Purpose::Named),
            ("参考 @ 生成报告", Purpose::Read),
            ("读完之后保存到 @", Purpose::Write),
        ] {
            assert_eq!(purpose(sentence), expected, "{sentence}");
        }
    }
}
