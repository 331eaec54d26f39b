//! Reads the lines in which skills are listed, in a system text or a tool's result.

/// One listed skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) description: String,
    /// Its text stands before the model already: it is context, not something to be chosen.
    pub(super) always: bool,
}

/// The lines below which skills are listed, one for each way of showing them.
const HEADINGS: [&str; 4] = [
    "# Skills",
    "Available skills:",
    "<available_skills>",
    "可用技能：",
];

/// The marks of skills that are always on.
const ALWAYS_ON: [&str; 2] = [" (always on)", " [始终激活]"];
const GO_ON: &str = "go on with offset ";

/// Returns the skills listed below the heading of the index, in their order.
pub(super) fn entries(system: &[String]) -> Vec<Entry> {
    let lines = system.iter().flat_map(|block| {
        let lines = block
            .lines()
            .skip_while(|line| !HEADINGS.contains(&line.trim_end()));
        lines.skip(1).take_while(|line| !line.starts_with("# "))
    });
    lines.filter_map(entry).collect()
}

/// Returns the skills that the results of `list_skills` list, each once.
pub(super) fn listed(results: &[&str]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in results
        .iter()
        .flat_map(|result| result.lines())
        .filter_map(entry)
    {
        if entries.iter().all(|known| known.id != entry.id) {
            entries.push(entry);
        }
    }
    entries
}

/// Returns where the page behind this one begins, if the last line of a result names it.
pub(super) fn next_offset(page: &str) -> Option<u64> {
    let (_, offset) = page.lines().next_back()?.split_once(GO_ON)?;
    offset.strip_suffix(']')?.parse().ok()
}

/// Reads `- ID: DESCRIPTION` or `- ID`, `- id: ID | name: NAME | description: DESCRIPTION`, or
/// `  NAME — DESCRIPTION`; the mark of skills that are always on stands behind any of them.
fn entry(line: &str) -> Option<Entry> {
    let unmarked = |text: &str| {
        let text = text.trim_end();
        let mut marks = ALWAYS_ON.iter();
        let text = marks
            .find_map(|mark| text.strip_suffix(mark))
            .unwrap_or(text);
        text.trim().to_owned()
    };
    let line = line.trim_end();
    let always = ALWAYS_ON.iter().any(|mark| line.ends_with(mark));
    let (id, description) = match line.strip_prefix("- ") {
        Some(line) => match line.strip_prefix("id: ") {
            Some(fields) => {
                let (id, rest) = fields.split_once(" | ").unwrap_or((fields, ""));
                (
                    id,
                    rest.split_once(" | description: ")
                        .map_or("", |(_, text)| text),
                )
            }
            None => line.split_once(": ").unwrap_or((line, "")),
        },
        None => {
            let line = line.strip_prefix("  ")?;
            line.split_once(" — ").unwrap_or((line, ""))
        }
    };
    let (id, description) = (unmarked(id), unmarked(description));
    (!id.is_empty()).then(|| Entry {
        id: unescaped(&id),
        description: unescaped(&description),
        always,
    })
}

/// Returns `text` as names stand in a prompt.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::{Entry, entries, escaped, listed, next_offset, unescaped};

    fn entry(id: &str, description: &str) -> Entry {
        Entry {
            id: id.into(),
            description: description.into(),
            always: false,
        }
    }

    #[test]
    fn the_mark_of_what_is_always_on_is_read_with_and_without_a_description() {
        let page = ["- a: first (always on)\n- b (always on)\n- c: third"];
        let always: Vec<bool> = listed(&page).iter().map(|entry| entry.always).collect();
        assert_eq!(always, [true, true, false]);
    }

    #[test]
    fn the_index_of_every_preset_is_read() {
        for index in [
            "Available skills:\n- week: Plans a week.\n- mail: Writes mail.",
            "<available_skills>\n- id: week | name: Week Plan | description: Plans a week.\n\
             - id: mail | name: mail | description: Writes mail.\n</available_skills>",
            "可用技能：\n  week                 — Plans a week.\n  mail                 — Writes mail.",
        ] {
            assert_eq!(
                entries(&[index.to_owned()]),
                [
                    entry("week", "Plans a week."),
                    entry("mail", "Writes mail.")
                ],
                "{index}"
            );
        }
        let always = entries(&["可用技能：\n  rules — How we write. [始终激活]".to_owned()]);
        assert!(always[0].always && always[0].description == "How we write.");
    }

    #[test]
    fn a_page_says_where_the_next_one_begins() {
        let page = |footer: &str| format!("- a: go on with offset 1]\n{footer}");
        let next = |footer: &str| next_offset(&page(footer));
        assert_eq!(next("[skills 1 to 9 of 40; go on with offset 9]"), Some(9));
        assert_eq!(next("[skills 31 to 40 of 40]"), None);
        assert_eq!(next_offset(""), None);
    }

    #[test]
    fn the_index_is_read_between_its_heading_and_the_next() {
        let system = [
            "You are an agent.\n- not: a skill".to_owned(),
            "# Skills\nOne sentence of routing: open first.\n- style: How we write. (always on)\n\
             - project/week: Reports: weekly ones &amp; more.\n- bare\n+3 more: call list_skills\n\
             # Notes\n- no: skill"
                .to_owned(),
        ];
        assert_eq!(
            entries(&system),
            [
                Entry {
                    always: true,
                    ..entry("style", "How we write.")
                },
                entry("project/week", "Reports: weekly ones & more."),
                entry("bare", ""),
            ]
        );
    }

    #[test]
    fn without_the_heading_nothing_is_listed() {
        assert_eq!(entries(&["## Skills\n- a: b".to_owned()]), []);
    }

    #[test]
    fn pages_of_results_are_read_together() {
        let pages = [
            "2 skills\n- a: first\n- b: second",
            "- b: second\n- c: third\n",
        ];
        assert_eq!(
            listed(&pages),
            [
                entry("a", "first"),
                entry("b", "second"),
                entry("c", "third")
            ]
        );
    }

    #[test]
    fn escaping_is_undone_exactly() {
        for text in ["a < b & c > d", "&lt;", "plain"] {
            assert_eq!(unescaped(&escaped(text)), text);
        }
    }
}
