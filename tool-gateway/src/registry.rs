//! The tools of a gateway, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use skill_core::ToolDefinition;

use crate::arguments::Schema;
use crate::tool::DynTool;

/// A set of tools that a gateway cannot be built from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two tools share a name.
    #[error("two tools are named `{0}`")]
    Duplicate(String),
    /// A name that models cannot call.
    #[error("`{0}` is no tool name: use 1 to 64 letters, digits, `_` and `-`")]
    Name(String),
    /// The list of allowed tools names one that does not exist.
    #[error("no tool named `{name}` to allow{suggestion}")]
    Unknown {
        /// The name.
        name: String,
        /// `; did you mean …`, or nothing.
        suggestion: String,
    },
}

/// A tool with its argument schema, which is compiled at the first call.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn DynTool>,
    pub(crate) schema: Schema,
}

/// Tools by name.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    entries: BTreeMap<String, Entry>,
}

impl Registry {
    pub(crate) fn new(tools: Vec<Arc<dyn DynTool>>) -> Result<Self, RegistryError> {
        let mut entries = BTreeMap::new();
        for tool in tools {
            let ToolDefinition {
                name, parameters, ..
            } = tool.definition();
            if !is_callable(name) {
                return Err(RegistryError::Name(name.clone()));
            }
            let schema = Schema::new(parameters.clone());
            if entries
                .insert(
                    name.clone(),
                    Entry {
                        tool: tool.clone(),
                        schema,
                    },
                )
                .is_some()
            {
                return Err(RegistryError::Duplicate(tool.definition().name.clone()));
            }
        }
        Ok(Self { entries })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

/// Tells whether every provider takes `name` as the name of a function.
fn is_callable(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
