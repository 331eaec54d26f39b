//! What a `skill.yaml` declares beyond a description: parameters, policies, what runs.
//!
//! Everything here is data that was checked for its shape. Nothing of it is executed by this crate.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// The declaration of an executable skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Declaration {
    /// What it does, step by step, for people.
    pub tasks: Vec<String>,
    /// Its parameters in the order of the file.
    pub parameters: Vec<Parameter>,
    /// Under which conditions it runs; its roles and contexts stand in the record of the skill.
    pub policies: Policies,
    /// What runs; `None` where the file does not say it in a way that could be understood.
    pub entry: Option<EntryPoint>,
    /// Factories of what the implementation uses, by name.
    pub services: BTreeMap<String, Factory>,
    /// When it was changed last, as written.
    pub updated: Option<String>,
}

/// One parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// The JSON Schema of its value.
    pub schema: Value,
    /// It may be null.
    pub nullable: bool,
    /// It has to be given.
    pub required: bool,
    /// The value it has when none is given.
    pub default: Option<Value>,
    /// A value to show.
    pub example: Option<Value>,
    /// Where its value comes from when none is given.
    pub auto_fill: Option<AutoFill>,
}

/// Where the value of a parameter comes from when nobody gives one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AutoFill {
    /// The time of the call.
    Now,
    /// The user on whose behalf the call is made.
    UserId,
    /// A value of the configuration.
    Config(String),
    /// A fact of the session.
    Session(String),
}

/// The conditions of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policies {
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often it may run; `None` for no bound.
    pub rate_limit: Option<RateLimit>,
    /// How failed attempts are repeated; `None` never does.
    pub retry: Option<Retry>,
    /// When it is not tried for a while; `None` always tries.
    pub circuit: Option<Circuit>,
    /// Each call has to be approved.
    pub requires_approval: bool,
    /// The environment variables the implementation gets, and no others.
    pub secrets: Vec<String>,
}

impl Policies {
    /// The longest timeout that can be declared.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            rate_limit: None,
            retry: None,
            circuit: None,
            requires_approval: false,
            secrets: Vec::new(),
        }
    }
}

/// So many runs in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RateLimit {
    /// How many runs.
    pub count: u32,
    /// In what time.
    pub per: Duration,
}

/// How failed attempts are repeated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retry {
    /// Attempts in all, the first included.
    pub max_attempts: u32,
    /// The pause before the second attempt.
    pub initial: Duration,
    /// What each further pause is multiplied by.
    pub factor: f64,
    /// The longest pause.
    pub max: Duration,
    /// The kinds of failure that are worth another attempt.
    pub on: Vec<String>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_attempts: 1,
            initial: Duration::from_millis(200),
            factor: 2.0,
            max: Duration::from_secs(5),
            on: vec!["transient".to_owned()],
        }
    }
}

/// When a skill that keeps failing is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Circuit {
    /// After how many failures in a row.
    pub failures: u32,
    /// For how long.
    pub open: Duration,
}

impl Default for Circuit {
    fn default() -> Self {
        Self {
            failures: 5,
            open: Duration::from_secs(30),
        }
    }
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryPoint {
    /// A function of a Python module beside the declaration.
    Python {
        /// The module, dotted.
        module: String,
        /// The function.
        function: String,
    },
    /// A program with its arguments; one with a `/` in its name lies below the skill's folder.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
    },
    /// An HTTP request.
    Http {
        /// The method in capitals.
        method: String,
        /// The address, with places for parameters.
        url: String,
        /// The headers.
        headers: BTreeMap<String, String>,
        /// The body, with places for parameters.
        body: Value,
    },
    /// A tool: `mcp:SERVER/TOOL`, or the name of a local one.
    Tool {
        /// The name of the tool.
        name: String,
    },
    /// A function that the embedding program registered.
    Native {
        /// The name it was registered under.
        name: String,
    },
}

impl EntryPoint {
    /// Returns the files below the skill's folder of which one has to be there for it to run.
    pub fn files(&self) -> Vec<String> {
        match self {
            Self::Python { module, .. } => {
                let path = module.replace('.', "/");
                vec![format!("{path}.py"), format!("{path}/__init__.py")]
            }
            Self::Command { argv } => argv
                .first()
                .filter(|program| program.contains('/'))
                .map(|program| program.trim_start_matches("./").to_owned())
                .into_iter()
                .collect(),
            Self::Http { .. } | Self::Tool { .. } | Self::Native { .. } => Vec::new(),
        }
    }
}

/// A function beside the declaration that makes a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Factory {
    /// The file below the skill's folder.
    pub file: String,
    /// The function.
    pub function: String,
}
