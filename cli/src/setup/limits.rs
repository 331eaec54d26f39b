//! What a turn may cost: the lowest of what configuration, assistant and flags say.

use loop_runtime::TurnLimits;

use crate::config::{Config, Dollars, WallTime};
use crate::error::CliError;
use crate::setup::{Assistant, ChosenModel};

/// Returns the limits of a turn with `chosen`.
pub(crate) fn limits(
    config: &Config,
    assistant: &Assistant,
    chosen: &ChosenModel,
) -> Result<TurnLimits, CliError> {
    let (limits, own) = (&config.limits, &assistant.config.budget);
    let usd = lower(
        limits.usd.map(Dollars::amount),
        own.usd.map(Dollars::amount),
    );
    // What costs nothing has no price to report.
    let prices = chosen
        .prices()
        .filter(|prices| usd.is_some() || *prices != Default::default());
    if let (Some(usd), None) = (usd, prices) {
        let model = chosen.spelled();
        return Err(CliError::usage(format!(
            "a turn may cost ${usd}, and the price of {model} is not known"
        ))
        .with_code("price_unknown")
        .with_hint("set `providers.NAME.models.ID.price: {input: …, output: …}` in your configuration, in dollars per million tokens"));
    }
    Ok(TurnLimits {
        tool_calls: limits.tool_calls,
        tokens: lower(limits.tokens, own.tokens),
        usd,
        wall: limits.wall.as_ref().map(WallTime::duration),
        prices,
    })
}

/// Returns the lower of two limits.
fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}
