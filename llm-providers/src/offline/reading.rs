//! Which files are read, from where, and what came of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skill_core::{CallStatus, ToolResult};

use crate::offline::conversation::Conversation;
use crate::offline::files;
use crate::offline::mentions::{Mention, mentioned};
use crate::offline::words::terms;
use crate::offline::{OPEN_SKILL, READ_FILE};

/// The most files that are asked for in one task, wherever they are looked for.
pub(super) const MAX_READS: usize = 5;

/// Where a file is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Workspace,
    /// Beside the skill.
    Skill,
}

/// A file to read, and where to look for it in turn.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    path: String,
    places: Vec<Place>,
}

/// A file that was named, and what is known about it now.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub(super) path: String,
    pub(super) outcome: Outcome<'a>,
}

/// What came of reading a file.
#[derive(Debug)]
pub(super) enum Outcome<'a> {
    Read(&'a str),
    /// Where it was looked for first, this was the answer.
    Failed(&'a ToolResult),
    /// There is no tool to read it with.
    NoTool,
    /// Enough was read already.
    TooMany,
}

/// The files of a task and of the skill that is followed for it.
#[derive(Debug)]
pub(super) struct Files<'a> {
    skill: &'a str,
    wanted: Vec<Wanted>,
    answers: Vec<(Place, String, &'a ToolResult)>,
    places: Vec<Place>,
}

impl<'a> Files<'a> {
    pub(super) fn new(conversation: &Conversation<'a>, skill: &'a str, body: &str) -> Self {
        let mut answers = answers_of(conversation, READ_FILE, "path", Place::Workspace);
        answers.extend(answers_of(
            conversation,
            OPEN_SKILL,
            "resource",
            Place::Skill,
        ));
        let offered = [(READ_FILE, Place::Workspace), (OPEN_SKILL, Place::Skill)];
        let offered = offered.iter().filter(|(tool, _)| conversation.offers(tool));
        Self {
            skill,
            wanted: wanted(&conversation.task, body),
            answers,
            places: offered.map(|(_, place)| *place).collect(),
        }
    }

    /// Returns the calls that read what is still to be read, none if that is nothing.
    ///
    /// Files are asked for at once where they are looked for first, and those that were not there
    /// once more elsewhere. Nothing says which a bare name is, so that room is kept to try both.
    pub(super) fn calls(&self) -> Vec<(&'static str, Value)> {
        let is_first = self.answers.is_empty();
        let mut left = MAX_READS.saturating_sub(self.answers.len());
        let mut calls = Vec::new();
        for wanted in &self.wanted {
            let begun = self.answers.iter().any(|(_, path, _)| *path == wanted.path);
            let Some(place) = self.next_place(wanted).filter(|_| is_first || begun) else {
                continue;
            };
            if left == 0 {
                break;
            }
            let is_guess = is_first && wanted.places.len() > 1 && !wanted.path.contains('/');
            left = left.saturating_sub(if is_guess { 2 } else { 1 });
            calls.push(self.call(place, &wanted.path));
        }
        calls
    }

    /// Returns every file that was named with what came of it.
    pub(super) fn readings(&self) -> Vec<Reading<'a>> {
        let reading = |wanted: &Wanted| Reading {
            path: wanted.path.clone(),
            outcome: self.outcome(wanted),
        };
        self.wanted.iter().map(reading).collect()
    }

    fn places<'w>(&self, wanted: &'w Wanted) -> impl Iterator<Item = &'w Place> {
        let places = wanted.places.iter();
        places.filter(|place| self.places.contains(place))
    }

    fn answer(&self, place: Place, path: &str) -> Option<&'a ToolResult> {
        let mut answers = self.answers.iter();
        let found = answers.find(|(at, asked, _)| *at == place && asked == path);
        found.map(|(_, _, result)| *result)
    }

    /// Returns where a file is to be looked for next: nowhere if it was found, or is denied.
    fn next_place(&self, wanted: &Wanted) -> Option<Place> {
        for place in self.places(wanted) {
            match self.answer(*place, &wanted.path) {
                None => return Some(*place),
                Some(result) if result.status == CallStatus::Error => {}
                Some(_) => return None,
            }
        }
        None
    }

    fn outcome(&self, wanted: &Wanted) -> Outcome<'a> {
        let answers = self
            .places(wanted)
            .filter_map(|place| Some((*place, self.answer(*place, &wanted.path)?)));
        let answers: Vec<(Place, &'a ToolResult)> = answers.collect();
        match answers.iter().find(|(_, result)| !result.is_error()) {
            Some((Place::Workspace, result)) => Outcome::Read(&result.content),
            Some((Place::Skill, result)) => Outcome::Read(unwrapped(&result.content)),
            None => match answers.first() {
                Some((_, result)) => Outcome::Failed(result),
                None if self.places(wanted).next().is_none() => Outcome::NoTool,
                None => Outcome::TooMany,
            },
        }
    }

    fn call(&self, place: Place, path: &str) -> (&'static str, Value) {
        match place {
            Place::Workspace => (READ_FILE, json!({ "path": path })),
            Place::Skill => (OPEN_SKILL, json!({ "id": self.skill, "resource": path })),
        }
    }
}

/// Returns the results of a tool whose calls name a file in `field`.
fn answers_of<'a>(
    conversation: &Conversation<'a>,
    tool: &str,
    field: &str,
    place: Place,
) -> Vec<(Place, String, &'a ToolResult)> {
    let asked = conversation.answered(tool).into_iter();
    asked
        .filter_map(|(arguments, result)| {
            Some((place, arguments.get(field)?.as_str()?.to_owned(), result))
        })
        .collect()
}

/// Returns the files to read: those of the task, then those of the skill, most telling first.
fn wanted(task: &str, body: &str) -> Vec<Wanted> {
    let of_task = files::named_files(task).into_iter().map(|path| Wanted {
        path,
        places: vec![Place::Workspace],
    });
    let mut wanted: Vec<Wanted> = of_task.collect();
    let words: BTreeSet<String> = terms(task).into_iter().collect();
    let shared = |mention: &Mention| {
        let sentence: BTreeSet<String> = terms(&mention.sentence).into_iter().collect();
        sentence.intersection(&words).count()
    };
    let mut mentions = mentioned(body);
    mentions.sort_by_cached_key(|mention| (mention.purpose, std::cmp::Reverse(shared(mention))));
    for mention in mentions {
        if wanted.iter().all(|known| known.path != mention.path) {
            wanted.push(Wanted {
                places: places(&mention),
                path: mention.path,
            });
        }
    }
    wanted
}

/// Returns where a file that a skill names may lie: in folders of its own, or where the work is.
fn places(mention: &Mention) -> Vec<Place> {
    if mention.own {
        vec![Place::Skill, Place::Workspace]
    } else if mention.optional {
        vec![Place::Workspace]
    } else {
        vec![Place::Workspace, Place::Skill]
    }
}

/// Returns the text in the envelope of a skill's file.
fn unwrapped(content: &str) -> &str {
    let inside = content.strip_prefix("<resource ").and_then(|rest| {
        let (_, body) = rest.split_once(">\n")?;
        let (body, _) = body.rsplit_once("</resource:")?;
        Some(body)
    });
    inside.unwrap_or(content)
}
