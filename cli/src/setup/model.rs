//! Which model is used: what was said, else what is there, else none.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use llm_providers::{ConnectOptions, DIALECTS, Protocol, Secret, connect, dialect, probe_local};
use loop_runtime::Prices;
use prompt_compiler::Budget;
use skill_core::{ModelId, Provider};

use crate::app::Context;
use crate::config::{BaseUrl, Config, ModelChoice, ModelConfig};
use crate::error::CliError;
use crate::setup::Assistant;
use crate::system::jitter_seed;

/// How long a local server has to answer when no model was named.
const PROBE: Duration = Duration::from_millis(50);

/// The name that stands for no language model.
const OFFLINE: &str = "offline";

/// A model with all that is needed to reach it.
#[derive(Debug)]
pub(crate) struct ChosenModel {
    pub(crate) model: ModelId,
    pub(crate) provider: String,
    /// Why it was chosen, where nobody named it.
    pub(crate) reason: Option<String>,
    options: ConnectOptions,
    limits: ModelConfig,
}

impl ChosenModel {
    /// Returns the provider.
    pub(crate) fn connect(&self) -> Result<Arc<dyn Provider>, CliError> {
        connect(&self.options).map_err(|error| {
            let hint = error.hint();
            let mut failure = CliError::usage(error.to_string()).with_code("provider");
            failure.hint = hint;
            failure
        })
    }

    /// Returns how much fits into a request.
    pub(crate) fn budget(&self, config: &Config, allow_bound: bool) -> Budget {
        Budget {
            allow_bound,
            prices: self.prices().and_then(in_micros),
            ..within(config, &self.limits)
        }
    }

    /// Tells whether it is no language model at all.
    pub(crate) fn is_offline(&self) -> bool {
        self.provider == OFFLINE
    }

    /// Returns what its tokens cost: as configured, nothing on this machine, else unknown.
    pub(crate) fn prices(&self) -> Option<Prices> {
        if let Some(price) = self.limits.price {
            return Some(Prices {
                input: price.input.amount(),
                cached: price.cached.unwrap_or(price.input).amount(),
                output: price.output.amount(),
            });
        }
        let free = self.is_offline() || self.local_address().is_some();
        free.then(Prices::default)
    }

    /// Returns the model as a user writes it.
    pub(crate) fn spelled(&self) -> String {
        if self.is_offline() {
            OFFLINE.to_owned()
        } else {
            format!("{}/{}", self.provider, self.model)
        }
    }

    /// Returns host and port of a server on this machine, where requests go to one.
    pub(crate) fn local_address(&self) -> Option<String> {
        let known = dialect(&self.provider).map(|dialect| dialect.base_url);
        let url = self.options.base_url.as_deref().or(known)?;
        url.parse::<llm_providers::BaseUrl>().ok()?.local_address()
    }

    /// Returns the address requests go to as it may be shown, where one was given.
    pub(crate) fn address(&self) -> Option<String> {
        let url = self.options.base_url.as_deref()?;
        let url: BaseUrl = url.parse().ok()?;
        Some(url.to_string())
    }
}

/// Returns how much fits into a request of the model that was named, or of one that nobody knows.
pub(crate) fn budget(context: &Context, config: &Config, assistant: &Assistant) -> Budget {
    let limits = match named(context, config, assistant) {
        Some(ModelChoice::Remote { provider, model }) => {
            let provider = config.providers.get(provider);
            provider.and_then(|provider| provider.models.get(model))
        }
        _ => None,
    };
    within(config, &limits.cloned().unwrap_or_default())
}

/// Returns how much fits into a request of a model with these limits.
fn within(config: &Config, limits: &ModelConfig) -> Budget {
    let default = Budget::default();
    let window = config.context.window.or(limits.window);
    let reserve = config.context.reserve_output;
    let most = limits.max_output.map(|most| u64::from(most.get()));
    Budget {
        window: window.map_or(default.window, std::num::NonZeroU64::get),
        reserve_output: reserve.or(most).unwrap_or(default.reserve_output),
        caps: config.context.caps.as_map().clone(),
        ..default
    }
}

/// Returns the model that somebody named.
pub(crate) fn named<'c>(
    context: &Context,
    config: &'c Config,
    assistant: &'c Assistant,
) -> Option<&'c ModelChoice> {
    // Flag and environment stand in the configuration already, and above the assistant's wish.
    let overridden = context.options.model.is_some()
        || context
            .environment
            .variable(super::MODEL_VARIABLE)
            .is_some();
    let own = assistant.config.model.as_ref().filter(|_| !overridden);
    own.or(config.model.as_ref())
}

/// Decides the model.
pub(crate) async fn choose(
    context: &Context,
    config: &Config,
    assistant: &Assistant,
) -> Result<ChosenModel, CliError> {
    match named(context, config, assistant) {
        Some(ModelChoice::Offline) => Ok(offline(None)),
        Some(ModelChoice::Remote { provider, model }) => {
            remote(context, config, provider, ModelId::new(model), None)
        }
        None if context.options.base_url.is_some() => Err(CliError::usage(
            "--base-url says where, but not which model",
        )
        .with_hint("add --model PROVIDER/MODEL, for example --model openai/gpt-4o")),
        None => unnamed(context, config).await,
    }
}

/// Returns the model that sums up long conversations, where one is configured.
///
/// `--base-url` says where the model is that works, and nothing about this one.
pub(crate) fn summariser(
    context: &Context,
    config: &Config,
) -> Result<Option<ChosenModel>, CliError> {
    match &config.context.summariser {
        None | Some(ModelChoice::Offline) => Ok(None),
        Some(ModelChoice::Remote { provider, model }) => {
            remote_at(None, context, config, provider, ModelId::new(model)).map(Some)
        }
    }
}

/// Nobody named a model: a key in the environment, a server on this machine, or none.
async fn unnamed(context: &Context, config: &Config) -> Result<ChosenModel, CliError> {
    for known in DIALECTS {
        let (Some(variable), Some(model)) = (known.key_env, known.default_model) else {
            continue;
        };
        if context.environment.variable(variable).is_some() {
            let reason = format!(
                "model {}/{model}: none is configured and {variable} is set",
                known.name
            );
            return remote(
                context,
                config,
                known.name,
                ModelId::new(model),
                Some(reason),
            );
        }
    }
    if let Some(server) = probe_local(PROBE).await {
        let reason = format!(
            "model {}/{}: none is configured and a server answers at {}",
            server.dialect, server.model, server.base_url
        );
        let model = ModelId::new(server.model);
        return remote(context, config, server.dialect, model, Some(reason));
    }
    Ok(offline(Some(
        "no language model: none is configured, no key is set and no local server answers"
            .to_owned(),
    )))
}

fn offline(reason: Option<String>) -> ChosenModel {
    ChosenModel {
        model: ModelId::new(OFFLINE),
        provider: OFFLINE.to_owned(),
        reason,
        options: ConnectOptions::new(OFFLINE),
        limits: ModelConfig::default(),
    }
}

fn remote(
    context: &Context,
    config: &Config,
    provider: &str,
    model: ModelId,
    reason: Option<String>,
) -> Result<ChosenModel, CliError> {
    let flag = context
        .options
        .base_url
        .as_deref()
        .map(base_url)
        .transpose()?;
    let chosen = remote_at(flag, context, config, provider, model)?;
    Ok(ChosenModel { reason, ..chosen })
}

/// Returns a model of a provider at `address`, else where the provider is.
fn remote_at(
    address: Option<BaseUrl>,
    context: &Context,
    config: &Config,
    provider: &str,
    model: ModelId,
) -> Result<ChosenModel, CliError> {
    let own = config.providers.get(provider);
    let known = dialect(provider);
    let address = address.or_else(|| own.and_then(|own| own.base_url.clone()));
    let variable = own
        .and_then(|own| {
            own.api_key_env
                .as_ref()
                .map(|name| name.as_str().to_owned())
        })
        .or_else(|| known.and_then(|known| known.key_env).map(str::to_owned));
    let key = variable
        .as_ref()
        .and_then(|name| context.environment.variable(name));
    let models: Option<&BTreeMap<String, ModelConfig>> = own.map(|own| &own.models);
    let limits = models
        .and_then(|models| models.get(model.as_str()))
        .cloned();
    let options = ConnectOptions {
        base_url: address.map(|address| address.as_str().to_owned()),
        protocol: own
            .and_then(|own| own.protocol)
            .and_then(|name| name.as_str().parse::<Protocol>().ok()),
        api_key: key.map(Secret::new),
        key_env: variable,
        jitter_seed: jitter_seed(),
        ..ConnectOptions::new(provider)
    };
    Ok(ChosenModel {
        model,
        provider: provider.to_owned(),
        reason: None,
        options,
        limits: limits.unwrap_or_default(),
    })
}

/// Returns prices in millionths of a dollar; what costs nothing has no price to report.
fn in_micros(prices: Prices) -> Option<prompt_compiler::Prices> {
    let micros = |dollars: f64| (dollars * 1_000_000.0).round() as u64;
    let known = prices != Prices::default();
    known.then(|| prompt_compiler::Prices {
        input: micros(prices.input),
        cached: micros(prices.cached),
        output: micros(prices.output),
    })
}

fn base_url(text: &str) -> Result<BaseUrl, CliError> {
    text.parse().map_err(|message: String| {
        CliError::usage(format!("--base-url: {message}"))
            .with_hint("for example `http://127.0.0.1:8080/v1`")
    })
}
