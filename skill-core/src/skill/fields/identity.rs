//! Name and id: what the file says, checked, or what its place says.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use crate::skill::document::Field;
use crate::skill::fields::{Reader, text};
use crate::skill::findings::{Findings, Place, quoted};
use crate::skill::parse::Origin;
use crate::skill::{SkillFormat, fold, is_qualified};

/// The longest name the standard allows, in characters.
const LONGEST_NAME: usize = 64;

/// What a skill is called.
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
}

/// Reads the identity, and reports what is wrong with it unless the file is damaged anyway.
pub(super) fn read(reader: &mut Reader<'_, '_>, origin: &Origin, complete: bool) -> Identity {
    let written = place_name(&origin.path, origin.format);
    let place = safe(&written);
    let field = reader.take("name");
    let declared = field.and_then(|field| name_text(reader, field));
    // It would pass for the id of another's skill.
    let declared = declared.filter(|name| !is_qualified(name));
    let capital = capitalised(reader);
    let identity = match origin.format {
        SkillFormat::Declared => return of_declared(reader, declared.or(capital), place),
        SkillFormat::Lite => lite(reader, declared, place.clone()),
        _ => named(declared.or(capital), place.clone()),
    };
    if identity.id == place && place != written {
        let message = "the name of the folder or file cannot be an id; letters were left out";
        let fix = quoted("name", &place);
        reader
            .findings
            .add("SK034", None, message)
            .text(&written)
            .fix(fix);
    }
    if complete && origin.format != SkillFormat::Lite {
        report(&identity, field, &place, origin.format, reader.findings);
    }
    identity
}

/// Returns the one line of text that a name is.
fn name_text(reader: &mut Reader<'_, '_>, field: &Field<'_>) -> Option<String> {
    let text = text::plain_text(reader, field)?;
    let name = if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        text
    } else {
        composed(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    (!name.is_empty()).then_some(name)
}

/// Returns `text` in NFC and without control characters.
fn composed(text: &str) -> String {
    if text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ')
    {
        return text.to_owned();
    }
    text.nfc().filter(|letter| !letter.is_control()).collect()
}

/// Returns the value of a `Name` that stands where `name` should.
fn capitalised(reader: &mut Reader<'_, '_>) -> Option<String> {
    let field = ["Name", "NAME"]
        .iter()
        .find_map(|key| reader.all(key).first().copied())?;
    name_text(reader, field)
}

/// Returns the identity of a declared skill: its `skill_id`, without which it is refused.
fn of_declared(reader: &mut Reader<'_, '_>, name: Option<String>, place_name: String) -> Identity {
    let field = reader.take("skillid");
    let written = field.and_then(|field| name_text(reader, field));
    let id = written.clone().filter(|id| is_dotted(id));
    if id.is_none() {
        let place = field.and_then(Field::place);
        let (code, message) = match &written {
            None => ("SK102", "there is no `skill_id`"),
            Some(_) => ("SK034", "`skill_id` is not made of names with dots between"),
        };
        let added = reader.findings.add(code, place, message);
        added
            .text(written.as_deref().unwrap_or_default())
            .fix("skill_id: domain.skill")
            .refuses();
    }
    let id = id.unwrap_or_else(|| match &name {
        Some(name) if is_safe(name) => name.clone(),
        _ => place_name,
    });
    let leaf = id.rsplit('.').next().unwrap_or(&id).to_owned();
    Identity {
        name: name.unwrap_or(leaf),
        aliases: Vec::new(),
        id,
    }
}

fn is_dotted(id: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    };
    id.split('.').all(is_part)
}

fn lite(reader: &mut Reader<'_, '_>, name: Option<String>, stem: String) -> Identity {
    let id = reader
        .take("id")
        .and_then(|field| name_text(reader, field))
        .filter(|id| is_safe(id))
        .unwrap_or_else(|| stem.clone());
    Identity {
        name: name.unwrap_or_else(|| id.clone()),
        aliases: aliases(&id, stem),
        id,
    }
}

fn named(name: Option<String>, place_name: String) -> Identity {
    let Some(name) = name.filter(|name| !climbs(name)) else {
        return Identity {
            id: place_name.clone(),
            name: place_name,
            aliases: Vec::new(),
        };
    };
    let id = if is_safe(&name) {
        name.clone()
    } else {
        place_name.clone()
    };
    Identity {
        aliases: aliases(&id, place_name),
        id,
        name,
    }
}

fn aliases(id: &str, place_name: String) -> Vec<String> {
    if place_name.is_empty() || place_name == id || fold(&place_name) == fold(id) {
        Vec::new()
    } else {
        vec![place_name]
    }
}

/// Tells whether `name` reads as a path that leads upwards.
fn climbs(name: &str) -> bool {
    // Most names hold no dot, and then there is no such part.
    let dots = name.as_bytes().contains(&b'.');
    dots && name
        .split(['/', '\\'])
        .any(|part| matches!(part, "." | ".."))
}

/// Tells whether `name` can be an id: nothing in it means something to a path, a shell or a
/// terminal.
fn is_safe(name: &str) -> bool {
    !climbs(name) && !name.chars().any(is_unsafe)
}

/// Returns `place_name` as an id: with a hyphen for every run of letters that no id may hold.
fn safe(place_name: &str) -> String {
    if is_safe(place_name) {
        return place_name.to_owned();
    }
    let parts = place_name.split(is_unsafe).map(str::trim);
    let parts: Vec<&str> = parts
        .filter(|part| !part.trim_matches('.').is_empty())
        .collect();
    if parts.is_empty() {
        return "unnamed".to_owned();
    }
    parts.join("-")
}

fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '/' | '\\' | '<' | '>' | ':' | '*' | '?' | '"' | '|')
        || matches!(
            letter,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns the name that the place of a file gives it: that of its folder, or of the file.
pub(super) fn place_name(path: &Path, format: SkillFormat) -> String {
    let name = |path: Option<&Path>| {
        path.and_then(Path::file_name)
            .map(|name| composed(&name.to_string_lossy()))
            .unwrap_or_default()
    };
    if format == SkillFormat::Package {
        return name(path.parent());
    }
    let file = name(Some(path));
    match format {
        // One client names every prompt so, and the folder after what it is for.
        SkillFormat::Lite if file == "skprompt.txt" => name(path.parent()),
        SkillFormat::Declared if stem(&file).eq_ignore_ascii_case("skill") => name(path.parent()),
        _ => stem(&file).to_owned(),
    }
}

/// Returns a file's name without `.md`, and without what clients put before it.
fn stem(file: &str) -> &str {
    let without = |file: &str, ending: &str| {
        let at = file.len().checked_sub(ending.len())?;
        let (stem, end) = file.split_at_checked(at)?;
        (end.eq_ignore_ascii_case(ending) && !stem.is_empty()).then_some(at)
    };
    let at = [
        ".skill.md",
        ".instructions.md",
        ".prompt.md",
        ".agent.md",
        ".chatmode.md",
    ]
    .iter()
    .find_map(|ending| without(file, ending))
    .or_else(|| without(file, ".md"))
    .or_else(|| file.rfind('.').filter(|at| *at > 0))
    .unwrap_or(file.len());
    file.get(..at).unwrap_or(file)
}

fn report(
    identity: &Identity,
    field: Option<&Field<'_>>,
    place_name: &str,
    format: SkillFormat,
    findings: &mut Findings,
) {
    let place = field.and_then(Field::place);
    let declared = field.and_then(|field| field.value.text()).map(str::trim);
    let Some(declared) = declared.filter(|name| !name.is_empty()) else {
        findings
            .add("SK030", place, "the name is missing")
            .fix(quoted("name", place_name));
        return;
    };
    if !is_safe(declared) {
        findings
            .add(
                "SK034",
                place,
                "the name cannot be an id; the place of the file gives it",
            )
            .text(declared)
            .fix(quoted("name", place_name));
        return;
    }
    if format == SkillFormat::Package && identity.name != place_name {
        findings
            .add(
                "SK031",
                place,
                format!("the name is not that of the folder `{place_name}`"),
            )
            .text(declared);
    }
    letters(&identity.name, place, findings);
}

/// Reports what the standard does not allow in a name.
fn letters(name: &str, place: Place, findings: &mut Findings) {
    if name.chars().count() > LONGEST_NAME {
        findings
            .add(
                "SK032",
                place,
                format!("the name is longer than {LONGEST_NAME} characters"),
            )
            .text(name);
    }
    let allowed =
        |letter: char| letter == '-' || (letter.is_alphanumeric() && !letter.is_uppercase());
    if !name.chars().all(allowed) {
        findings
            .add(
                "SK033",
                place,
                "the name holds more than lower-case letters, digits and hyphens",
            )
            .text(name)
            .fix(quoted("name", &slug(name)));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        findings
            .add(
                "SK035",
                place,
                "the name begins or ends with a hyphen, or has two in a row",
            )
            .text(name)
            .fix(quoted("name", &slug(name)));
    }
    if !name.is_ascii() {
        findings
            .add(
                "SK036",
                place,
                "the name is not ASCII; other readers may refuse it",
            )
            .text(name);
    }
}

/// Returns `name` in lower case with hyphens for everything the standard does not allow.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}
