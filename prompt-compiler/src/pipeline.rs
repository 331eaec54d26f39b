//! The pipeline: stages in their order, and the contract of a stage.

use std::fmt;
use std::sync::Arc;

use skill_core::ToolResult;
use thiserror::Error;

use crate::draft::Draft;
use crate::input::CompileInput;
use crate::stages::{
    context::Context, history::History, post_tool::PostTool, skill_results::SkillResults,
    skills::Skills, system::System,
};

/// One step of a compilation.
///
/// A stage is pure: what it adds depends on the input alone. Stages run in the order of the
/// pipeline, every time; a stage that has nothing to say adds nothing.
pub trait Stage: Send + Sync + fmt::Debug {
    /// The name, unique within a pipeline.
    fn name(&self) -> &'static str;

    /// Adds what there is to show, whatever of it will fit.
    fn gather(&self, input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        let _ = (input, draft);
    }

    /// Changes the result of a call before the model reads it.
    ///
    /// Called once for every result and then remembered, so it must depend on the result alone.
    fn settle(&self, result: &mut ToolResult) {
        let _ = result;
    }
}

/// Stages in the order in which they run.
///
/// ```
/// use std::sync::Arc;
/// use prompt_compiler::{CompileInput, Draft, Pipeline, Section, Slot, Stage};
///
/// #[derive(Debug)]
/// struct Region;
///
/// impl Stage for Region {
///     fn name(&self) -> &'static str {
///         "region"
///     }
///     fn gather(&self, _input: &CompileInput<'_>, draft: &mut Draft<'_>) {
///         draft.add(Section::new("region", Slot::System, "Prices are in euros."));
///     }
/// }
///
/// let pipeline = Pipeline::standard().insert_after("context", Arc::new(Region))?;
/// assert_eq!(pipeline.names()[2], "region");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    stages: Vec<Arc<dyn Stage>>,
}

/// A stage cannot be put where it was meant to go.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// No stage has this name.
    #[error("no stage named `{name}` (there are: {})", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A stage of this name is there already.
    #[error("there is a stage named `{name}` already")]
    Duplicate {
        /// The name.
        name: &'static str,
    },
}

impl Pipeline {
    /// Returns the stages of every preset: system, context, skills, history, post-tool, results.
    pub fn standard() -> Self {
        Self {
            stages: vec![
                Arc::new(System),
                Arc::new(Context),
                Arc::new(Skills),
                Arc::new(History),
                Arc::new(PostTool),
                Arc::new(SkillResults),
            ],
        }
    }

    /// Adds a stage of one's own behind the one named `name`.
    ///
    /// # Errors
    ///
    /// [`PipelineError`] when there is no such stage, or one with the new one's name.
    pub fn insert_after(
        mut self,
        name: &str,
        stage: Arc<dyn Stage>,
    ) -> Result<Self, PipelineError> {
        if self.names().contains(&stage.name()) {
            return Err(PipelineError::Duplicate { name: stage.name() });
        }
        match self.names().iter().position(|known| *known == name) {
            Some(at) => self.stages.insert(at + 1, stage),
            None => {
                return Err(PipelineError::Unknown {
                    name: name.to_owned(),
                    known: self.names(),
                });
            }
        }
        Ok(self)
    }

    /// Returns the names of the stages in their order.
    pub fn names(&self) -> Vec<&'static str> {
        self.stages.iter().map(|stage| stage.name()).collect()
    }

    pub(crate) fn stages(&self) -> &[Arc<dyn Stage>] {
        &self.stages
    }
}
