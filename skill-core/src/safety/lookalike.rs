//! Names that look like other names: letters of one script that pass for those of another.

/// Returns `name` with every letter as the Latin one it looks like, in lower case.
pub(crate) fn skeleton(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(plain)
        .collect()
}

/// Returns what a name looks like if one of its words mixes Latin letters with others that pass
/// for them, or if it has no letters but such that do.
pub(crate) fn mixed_scripts(name: &str) -> Option<String> {
    if name.is_ascii() {
        return None;
    }
    let lower = name.to_lowercase();
    let words = || lower.split(|letter: char| !letter.is_alphanumeric());
    let mixed = words().any(|word| word.contains(is_latin) && word.contains(passes));
    let letters = || lower.chars().filter(|letter| letter.is_alphabetic());
    let wholly = letters().all(passes) && letters().next().is_some();
    let fullwidth = lower.contains(|letter| matches!(letter, '\u{ff01}'..='\u{ff5e}'));
    (mixed || wholly || fullwidth).then(|| skeleton(name))
}

/// Tells whether a letter of another script passes for a Latin one.
fn passes(letter: char) -> bool {
    letter.is_alphabetic() && !letter.is_ascii() && plain(letter).is_ascii()
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Returns the Latin letter that `letter`, in lower case, looks like; others are themselves.
fn plain(letter: char) -> char {
    if let '\u{ff01}'..='\u{ff5e}' = letter {
        let ascii = char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter);
        return ascii.to_ascii_lowercase();
    }
    match letter {
        // Cyrillic
        'а' => 'a',
        'в' => 'b',
        'с' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' => 'e',
        'һ' | 'н' => 'h',
        'і' | 'ї' => 'i',
        'ј' => 'j',
        'к' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' => 'n',
        'о' => 'o',
        'р' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' => 't',
        'ц' => 'u',
        'ѵ' => 'v',
        'ԝ' | 'ш' => 'w',
        'х' => 'x',
        'у' | 'ү' => 'y',
        // Greek
        'α' | 'ά' => 'a',
        'β' => 'b',
        'ϲ' => 'c',
        'ε' | 'έ' => 'e',
        'η' => 'n',
        'ι' | 'ί' => 'i',
        'ϳ' => 'j',
        'κ' => 'k',
        'ν' => 'v',
        'ο' | 'ό' | 'σ' => 'o',
        'ρ' => 'p',
        'τ' => 't',
        'υ' | 'ύ' => 'u',
        'χ' => 'x',
        'γ' => 'y',
        'ω' => 'w',
        // Letters of Latin and of phonetics that pass for plain ones
        'ı' => 'i',
        'ɑ' => 'a',
        'ɡ' => 'g',
        'ſ' => 's',
        'ⅼ' => 'l',
        'ℓ' => 'l',
        'ⅰ' => 'i',
        'ⅴ' => 'v',
        'ⅹ' => 'x',
        'ⅽ' => 'c',
        'ⅾ' => 'd',
        'ⅿ' => 'm',
        'օ' => 'o',
        'ѡ' => 'w',
        // Dashes and dots
        '‐' | '‑' | '‒' | '–' | '—' | '−' | '﹣' => '-',
        '․' | '·' => '.',
        '＿' => '_',
        other => other,
    }
}
