//! Cuts text into the terms that recall compares: stems of words, pairs of CJK characters.

use unicode_segmentation::UnicodeSegmentation;

use crate::offline::stop_words::{STOP_CHARACTERS, STOP_PAIRS, STOP_WORDS};

/// Returns the terms of `text` in their order, without those that carry no meaning alone.
pub(super) fn terms(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut terms = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let mut run_end = 0;
    let mut letter = None;
    for (start, word) in text.unicode_word_indices() {
        if word.chars().all(is_cjk) {
            if start != run_end {
                flush(&mut run, &mut terms);
            }
            run.extend(word.chars());
            run_end = start + word.len();
            continue;
        }
        flush(&mut run, &mut terms);
        let joined = |(first, at): (&str, usize)| {
            let between = text
                .get(at..start)
                .filter(|between| "/&".contains(between))?;
            (between.len() == 1).then(|| format!("{first}{between}{word}"))
        };
        let single = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        terms.extend(letter.filter(|_| single).and_then(joined));
        letter = single.then_some((word, start + word.len()));
        let parts = word.split(|character: char| !character.is_alphanumeric());
        terms.extend(parts.filter(|part| is_telling(part)).map(stem));
    }
    flush(&mut run, &mut terms);
    terms
}

/// Tells whether a text is Chinese rather than written in words with spaces between them.
pub(super) fn is_chinese(text: &str) -> bool {
    let (mut han, mut words) = (0_usize, 0_usize);
    for word in text.unicode_words() {
        if word.chars().all(is_han) {
            han += word.chars().count();
        } else if word.chars().any(char::is_alphabetic) {
            words += 1;
        }
    }
    han > words
}

fn is_telling(word: &str) -> bool {
    word.chars().count() > 1 && !STOP_WORDS.contains(&word)
}

/// Ends a run of CJK characters: each two neighbours are a term, a lone one is itself.
fn flush(run: &mut Vec<char>, terms: &mut Vec<String>) {
    match run.as_slice() {
        [] => {}
        [only] if STOP_CHARACTERS.contains(*only) => {}
        [only] => terms.push(only.to_string()),
        many => {
            let pairs = many.windows(2).map(|pair| pair.iter().collect::<String>());
            terms.extend(pairs.filter(|pair| {
                !STOP_PAIRS.contains(&pair.as_str())
                    && !pair
                        .chars()
                        .any(|character| STOP_CHARACTERS.contains(character))
            }));
        }
    }
    run.clear();
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_cjk(character: char) -> bool {
    is_han(character) || matches!(character, '\u{3040}'..='\u{30ff}')
}

/// Takes the commonest English endings off, so that `reports`, `reported` and `reporting` meet.
pub(super) fn stem(word: &str) -> String {
    let is_word = word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_word {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let cut = |ending: &str, least: usize| {
        let stem = word.strip_suffix(ending)?;
        (stem.len() >= least).then_some(stem)
    };
    let hissing = |stem: &&str| {
        ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| stem.ends_with(end))
    };
    let stem = cut("ing", 3)
        .or_else(|| cut("ed", 3))
        .map(undouble)
        .or_else(|| cut("es", 3).filter(hissing))
        .or_else(|| cut("s", 3).filter(|stem| !stem.ends_with(['s', 'u', 'i'])))
        .unwrap_or(word);
    match stem.strip_suffix('e') {
        Some(stem) if stem.len() >= 3 => stem.to_owned(),
        _ => stem.to_owned(),
    }
}

/// Turns `runn` into `run`, but leaves `fill`, `pass` and `buzz` alone.
fn undouble(stem: &str) -> &str {
    let mut ends = stem.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(before)) if last == before && !"lsz".contains(last) => {
            stem.strip_suffix(last).unwrap_or(stem)
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_chinese, terms};

    #[test]
    fn words_meet_in_their_stems() {
        assert_eq!(terms("Reports reported REPORTING"), ["report"; 3]);
        assert_eq!(terms("summaries summary"), ["summary"; 2]);
        assert_eq!(terms("summarise summarising"), ["summaris"; 2]);
        assert_eq!(
            terms("running boxes status class"),
            ["run", "box", "status", "class"]
        );
    }

    #[test]
    fn words_that_tell_nothing_are_dropped() {
        assert!(terms("Please, can you do this for me?").is_empty());
    }

    #[test]
    fn ids_are_cut_at_their_joints() {
        assert_eq!(
            terms("report.generator_weekly-v2"),
            ["report", "generator", "weekly", "v2"]
        );
    }

    #[test]
    fn letters_that_are_joined_are_one_term() {
        assert_eq!(terms("an A/B test, Q&A, a b"), ["a/b", "test", "q&a"]);
    }

    #[test]
    fn chinese_becomes_pairs_without_function_characters() {
        assert_eq!(terms("帮我写本周的周报"), ["写本", "本周", "周报"]);
        assert_eq!(terms("会议，纪要"), ["会议", "纪要"]);
        assert_eq!(terms("用 PDF 导出"), ["用", "pdf", "导出"]);
    }

    #[test]
    fn the_language_is_that_of_most_words() {
        assert!(is_chinese("用 tekne 写一份周报"));
        assert!(!is_chinese("summarise the notes in 周报"));
        assert!(!is_chinese(""));
    }
}
