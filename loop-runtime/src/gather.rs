//! What a request is compiled from: skills as this principal sees them.

use std::collections::BTreeSet;
use std::sync::Arc;

use prompt_compiler::{
    CompileInput, ContextFragment, FragmentKind, SkillEntry, SkillInput, SkillText,
};
use skill_core::{LoadMode, Message, OpenError, OpenErrorKind, SkillView, ViewedSkill};

use crate::agent::Agent;
use crate::context::TurnContext;
use crate::environment::Environment;
use crate::projection::Projection;
use crate::skill_state::{self, DocsSelection};

/// Skills of a request, and what had to go.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) skills: SkillInput,
    /// Open skills that are hidden, gone or changed since they were opened.
    pub(crate) dropped: Vec<String>,
    /// The only tools that open and always-on skills allow, where any of them restricts.
    pub(crate) restrict: Option<Arc<BTreeSet<String>>>,
}

/// Reads what is open and always on.
pub(crate) fn gather(
    view: &SkillView,
    projection: &Projection,
    agent: &str,
) -> Result<Gathered, OpenError> {
    let mut active: Vec<&ViewedSkill> = Vec::new();
    let mut skills = SkillInput {
        visible: view.skills().iter().map(SkillEntry::from).collect(),
        openings: projection.openings.clone(),
        ..SkillInput::default()
    };
    for viewed in view
        .skills()
        .iter()
        .filter(|viewed| viewed.load == LoadMode::Always)
    {
        skills.always.push(text(view, viewed, Vec::new())?);
        active.push(viewed);
    }
    let mut dropped = Vec::new();
    for id in skill_state::loaded(&projection.state, agent) {
        match open(view, projection, agent, &id)? {
            Some((viewed, text)) => {
                skills.loaded.push(text);
                active.push(viewed);
            }
            None => dropped.push(id),
        }
    }
    let restrict = restriction(&active);
    Ok(Gathered {
        skills,
        dropped,
        restrict,
    })
}

/// Reads one open skill; `None` if it is hidden, gone, or not the text that was opened.
fn open<'a>(
    view: &'a SkillView,
    projection: &Projection,
    agent: &str,
    id: &str,
) -> Result<Option<(&'a ViewedSkill, SkillText)>, OpenError> {
    // What only a person may start is open because a person started it.
    let mut known = view.skills().iter().chain(view.user_only());
    let Some(viewed) = known.find(|viewed| viewed.skill.id.as_str() == id) else {
        return Ok(None);
    };
    let mut openings = projection
        .openings
        .values()
        .filter(|opening| opening.skill == id)
        .peekable();
    let known = openings.peek().is_some();
    if known && !openings.any(|opening| opening.digest == viewed.skill.content_digest) {
        return Ok(None);
    }
    let docs = match skill_state::docs(&projection.state, agent, id) {
        None => Vec::new(),
        Some(DocsSelection::All) => view.docs(viewed),
        Some(DocsSelection::Some(docs)) => docs,
    };
    match text(view, viewed, docs) {
        Ok(text) => Ok(Some((viewed, text))),
        Err(error) if error.kind == OpenErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn text(view: &SkillView, viewed: &ViewedSkill, docs: Vec<String>) -> Result<SkillText, OpenError> {
    let opened = view.open(viewed)?;
    let mut texts = Vec::with_capacity(docs.len());
    for path in docs {
        // A document that went away in the meantime is left out: the skill still holds.
        if let Ok(content) = view.doc(viewed, &path) {
            texts.push((path, content));
        }
    }
    texts.sort();
    Ok(SkillText {
        id: viewed.skill.id.to_string(),
        name: viewed.skill.name.clone(),
        version: viewed.skill.version.clone(),
        digest: viewed.skill.content_digest.clone(),
        body: opened.body,
        docs: texts,
    })
}

/// Returns the tools that every restricting skill allows.
fn restriction(active: &[&ViewedSkill]) -> Option<Arc<BTreeSet<String>>> {
    let mut ceilings = active
        .iter()
        .filter_map(|viewed| viewed.skill.restrict_tools.as_ref())
        .map(|tools| tools.iter().cloned().collect::<BTreeSet<String>>());
    let first = ceilings.next()?;
    Some(Arc::new(ceilings.fold(first, |common, next| {
        common.intersection(&next).cloned().collect()
    })))
}

/// Returns the context that stays the same for the session, with what stands for compacted rounds.
pub(crate) fn session_context(
    agent: &Agent,
    projection: &Projection,
    gathered: &TurnContext,
) -> Vec<ContextFragment> {
    let mut context = agent.session_context.clone();
    context.extend(gathered.session.iter().cloned());
    context.extend(projection.summary.as_ref().map(|summary| {
        let name = "the conversation before this, in short";
        ContextFragment::new(FragmentKind::Mention, name, summary)
    }));
    context
}

/// Puts a compile input together.
pub(crate) fn input<'a>(
    agent: &'a Agent,
    environment: &'a Environment,
    skills: &'a SkillInput,
    messages: &'a [Arc<Message>],
    session_context: &'a [ContextFragment],
    turn_context: &'a [ContextFragment],
) -> CompileInput<'a> {
    CompileInput {
        model: &agent.model,
        preset: &environment.preset,
        instructions: &agent.instructions,
        session_context,
        skills,
        messages,
        turn_context,
        tools: &environment.tools,
        budget: &agent.budget,
        previous: None,
    }
}
