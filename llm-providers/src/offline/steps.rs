//! Takes from a skill's body what its steps are.

use crate::offline::excerpt::cut;
use crate::offline::markdown::{bullet, heading, numbered, prose};

/// How many steps are shown, and how much of each.
const MAX_STEPS: usize = 12;
const MAX_STEP_CHARS: usize = 300;
/// The longest line with a colon behind it that is read as a heading.
const LABEL_CHARS: usize = 40;

/// Words of headings below which steps stand.
const STEP_WORDS: &[&str] = &[
    "checklist",
    "how to",
    "instruction",
    "procedure",
    "process",
    "quick start",
    "step",
    "usage",
    "what to do",
    "workflow",
    "步骤",
    "流程",
    "做法",
    "操作",
    "方法",
    "用法",
    "工作流",
    "怎么做",
    "说明",
];
/// Words of headings below which there are none, whatever else the heading says.
const OTHER_WORDS: &[&str] = &[
    "anti-pattern",
    "changelog",
    "example",
    "faq",
    "limitation",
    "not ",
    "prerequisite",
    "reference",
    "related",
    "resource",
    "see also",
    "trigger",
    "troubleshoot",
    "when to",
    "何时",
    "触发",
    "示例",
    "例子",
    "参考",
    "常见问题",
    "限制",
    "适用",
];
/// What the headings of steps begin with, before their number.
const STEP_PREFIXES: &[&str] = &["phase ", "stage ", "step ", "第", "步骤", "阶段"];

/// Steps that stand below one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// The heading, where there is more than one group.
    pub(super) heading: Option<String>,
    pub(super) items: Vec<String>,
}

/// Returns the steps a body names, the surest sign of them first: lists below headings that speak
/// of steps, other numbered lists, other lists, and for want of lists headings or first lines.
pub(super) fn steps(body: &str) -> Vec<Group> {
    let sections = sections(body);
    let stepwise = |section: &&Section<'_>| section.is_steps;
    let general = |section: &&Section<'_>| !section.is_other;
    let numbered = |section: &Section<'_>| section.numbered.clone();
    let bullets = |section: &Section<'_>| section.bullets.clone();
    let tries = [
        numbered_steps(&sections),
        listed(sections.iter().filter(stepwise), bullets),
        listed(sections.iter().filter(general), numbered),
        listed(sections.iter().filter(general), bullets),
        introduced(&sections),
        listed(sections.iter(), numbered),
        listed(sections.iter(), bullets),
        listed(sections.iter(), |section| section.paragraphs.clone()),
    ];
    let found = tries.into_iter().find(|groups| !groups.is_empty());
    bounded(found.unwrap_or_default())
}

/// A heading with what stands below it, as far as the next one.
#[derive(Debug, Default)]
struct Section<'a> {
    title: &'a str,
    level: usize,
    is_steps: bool,
    is_other: bool,
    numbered: Vec<String>,
    bullets: Vec<String>,
    /// What belongs to no list.
    paragraphs: Vec<String>,
}

fn sections(body: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section::default()];
    // The levels of the headings that what follows stands below.
    let (mut steps, mut other) = (None, None);
    let mut open = None;
    for line in prose(body) {
        if let Some((level, title)) = heading(line.trim_start()) {
            open = None;
            let inside = |above: Option<usize>| above.filter(|above| *above < level);
            other = inside(other).or_else(|| speaks_of(title, OTHER_WORDS).then_some(level));
            let is_steps = speaks_of(title, STEP_WORDS) && level > 1;
            steps = inside(steps).or_else(|| is_steps.then_some(level));
            sections.push(Section {
                title,
                level,
                is_steps: steps.is_some() && other.is_none(),
                is_other: other.is_some(),
                ..Section::default()
            });
        } else if let Some(section) = sections.last_mut() {
            open = section.take(line, open);
        }
    }
    sections
}

/// What a line may go on with.
#[derive(Clone, Copy)]
enum Open {
    Numbered,
    Bullet,
    Paragraph,
}

impl<'a> Section<'a> {
    /// Takes in a line that goes on with what is open, or begins something.
    fn take(&mut self, line: &'a str, open: Option<Open>) -> Option<Open> {
        let indented = line.len() - line.trim_start().len() > 1;
        let text = line.trim();
        if text.is_empty() {
            // The next paragraph of an item is not shown.
            return None;
        }
        let (number, dot) = (numbered(text), bullet(text));
        if !indented {
            if let Some(item) = number {
                self.numbered.push(item.to_owned());
                return Some(Open::Numbered);
            }
            if let Some(item) = dot {
                self.bullets.push(item.to_owned());
                return Some(Open::Bullet);
            }
            if !matches!(open, Some(Open::Paragraph)) {
                self.is_steps |= !self.is_other && is_label(text);
                self.paragraphs.push(text.to_owned());
                return Some(Open::Paragraph);
            }
        }
        let open = open.filter(|_| number.or(dot).is_none())?;
        let begun = match open {
            Open::Numbered => self.numbered.last_mut(),
            Open::Bullet => self.bullets.last_mut(),
            Open::Paragraph => self.paragraphs.last_mut(),
        }?;
        begun.push(' ');
        begun.push_str(text);
        Some(open)
    }

    /// Tells whether the heading is that of one step among several.
    fn is_step(&self) -> bool {
        let title = self.title.to_lowercase();
        let named = STEP_PREFIXES.iter().any(|prefix| {
            let rest = title.strip_prefix(prefix).unwrap_or_default().trim_start();
            rest.starts_with(|c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c))
        });
        named || (self.is_steps && numbered(self.title).is_some())
    }

    /// Returns the heading as a step, with the list below it.
    fn as_step(&self) -> Group {
        let list = if self.numbered.is_empty() {
            &self.bullets
        } else {
            &self.numbered
        };
        Group {
            heading: Some(self.title.to_owned()),
            items: list.clone(),
        }
    }
}

/// Tells whether a line introduces steps, like `**Steps:**`.
fn is_label(line: &str) -> bool {
    let text = line.trim_matches('*');
    let marked = text.ends_with([':', '：']) || text.len() + 4 == line.len();
    marked && text.chars().count() <= LABEL_CHARS && speaks_of(text, STEP_WORDS)
}

fn speaks_of(title: &str, words: &[&str]) -> bool {
    let title = title.to_lowercase();
    words.iter().any(|word| title.contains(word))
}

/// Returns steps that are numbered, by their headings or by lists below a heading that speaks of
/// steps: whichever comes first.
fn numbered_steps(sections: &[Section<'_>]) -> Vec<Group> {
    let steps = || sections.iter().filter(|section| section.is_step());
    let list = sections
        .iter()
        .position(|section| section.is_steps && !section.numbered.is_empty());
    let heading = sections.iter().position(Section::is_step);
    if steps().count() > 1 && (list.is_none() || heading <= list) {
        return steps().map(Section::as_step).collect();
    }
    let stepwise = sections.iter().filter(|section| section.is_steps);
    listed(stepwise, |section| section.numbered.clone())
}

/// Returns the lists that `read` finds in sections, with headings if there are several.
fn listed<'s, 'a: 's>(
    sections: impl Iterator<Item = &'s Section<'a>>,
    read: impl Fn(&Section<'a>) -> Vec<String>,
) -> Vec<Group> {
    let lists = sections.map(|section| (section.title, read(section)));
    let lists: Vec<_> = lists.filter(|(_, items)| !items.is_empty()).collect();
    let several = lists.len() > 1;
    let groups = lists.into_iter().map(|(title, items)| Group {
        heading: (several && !title.is_empty()).then(|| title.to_owned()),
        items,
    });
    groups.collect()
}

/// Returns the headings below the title, each with the first paragraph below it.
fn introduced(sections: &[Section<'_>]) -> Vec<Group> {
    let parts = sections
        .iter()
        .filter(|section| section.level > 1 && !section.is_other);
    let items: Vec<String> = parts
        .map(|section| match section.paragraphs.first() {
            Some(text) => format!("{}: {text}", section.title),
            None => section.title.to_owned(),
        })
        .collect();
    if items.len() < 2 {
        return Vec::new();
    }
    let heading = None;
    vec![Group { heading, items }]
}

/// Keeps the first steps, each cut where it is too long.
fn bounded(groups: Vec<Group>) -> Vec<Group> {
    let mut left = MAX_STEPS;
    let mut kept = Vec::new();
    for mut group in groups {
        if left == 0 {
            break;
        }
        group.items.truncate(left);
        // A step without a list is a step all the same.
        left = left.saturating_sub(group.items.len().max(1));
        for item in &mut group.items {
            *item = cut(item, MAX_STEP_CHARS);
        }
        kept.push(group);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::steps;

    /// Returns the steps as they are shown, headings with a `#`.
    fn shown(body: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for group in steps(body) {
            lines.extend(group.heading.map(|heading| format!("# {heading}")));
            lines.extend(group.items);
        }
        lines
    }

    #[test]
    fn numbered_items_are_the_steps_with_their_second_lines() {
        let body = "# Title\n\n1. Read the notes\n   and the plan.\n2) Group them.\n   - a detail\n\n```\n3. not this\n```\n3、写出来";
        assert_eq!(
            shown(body),
            ["Read the notes and the plan.", "Group them.", "写出来"]
        );
    }

    #[test]
    fn lists_below_headings_that_speak_of_steps_come_before_others() {
        for heading in [
            "Instructions",
            "Workflow",
            "How to do it",
            "步骤",
            "处理流程",
        ] {
            let body = format!(
                "# T\n## Ideas\n1. not this\n## {heading}\n- one\n- two\n## When to use\n1. nor this"
            );
            assert_eq!(shown(&body), ["one", "two"], "{heading}");
        }
    }

    #[test]
    fn a_label_in_the_text_speaks_of_steps_too() {
        assert_eq!(shown("- an aim\n## A\n- a\n## B\n**Steps:**\n- b\n"), ["b"]);
        assert_eq!(shown("## A\n- a\n## B\n步骤：\n- b\n"), ["b"]);
    }

    #[test]
    fn several_lists_keep_their_headings() {
        let body = "## Workflows\n### Make\n1. a\n2. b\n### Mend\n1. c\n## Examples\n1. d";
        assert_eq!(shown(body), ["# Make", "a", "b", "# Mend", "c"]);
    }

    #[test]
    fn headings_that_are_steps_stand_with_their_lists() {
        let body = "## Step 1: Collect\ntext\n## Step 2: Sort\n- by name\n## Notes\n- x";
        assert_eq!(
            shown(body),
            ["# Step 1: Collect", "# Step 2: Sort", "by name"]
        );
        let body = "### 第一步 收集\n文字\n### 第二步 整理\n- 按名称\n";
        assert_eq!(shown(body), ["# 第一步 收集", "# 第二步 整理", "按名称"]);
        let body = "## Process\n### 1. Collect\n### 2. Sort\n";
        assert_eq!(shown(body), ["# 1. Collect", "# 2. Sort"]);
    }

    #[test]
    fn of_numbered_lists_and_numbered_headings_the_first_are_the_steps() {
        let steps = "### Step 1: x\n### Step 2: y\n";
        let body = format!("## Modes\n### Make\n**Workflow:**\n1. a\n2. b\n## Later\n{steps}");
        assert_eq!(shown(&body), ["a", "b"]);
        let body = format!("{steps}## Workflow\n1. a\n2. b\n");
        assert_eq!(shown(&body), ["# Step 1: x", "# Step 2: y"]);
    }

    #[test]
    fn without_any_list_headings_and_then_lines_serve() {
        assert_eq!(
            shown(
                "# T\nintro\n## Collect\nTake all.\nMore.\n### Sort ##\n## When to use it\nAlways."
            ),
            ["Collect: Take all. More.", "Sort"]
        );
        assert_eq!(
            shown("# T\n\nJust do it.\nWell.\n\nDone."),
            ["Just do it. Well.", "Done."]
        );
        assert_eq!(shown("# Examples\n- one"), ["one"]);
        assert_eq!(shown(""), [""; 0]);
    }

    #[test]
    fn long_bodies_are_bounded() {
        let list = format!("1. {}\n", "字".repeat(400)).repeat(10);
        let shown = shown(&format!(
            "## Step 1\n{list}## Step 2\n{list}## Step 3\n{list}"
        ));
        assert_eq!(shown.len(), 2 + 12);
        assert!(shown.iter().all(|step| step.chars().count() <= 301));
    }
}
