//! The ledger of a turn: what may still be spent, with the worst case set aside before it is.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skill_core::Usage;

use super::{Stop, TurnLimits, dollars};

/// The shortest answer that is worth a request, in tokens.
const SHORTEST_ANSWER: u64 = 256;

/// What a turn and its sub-agents have spent, and what is set aside for requests under way.
///
/// Invariant: what is spent and set aside together never exceeds a limit, as far as the counts of
/// a request before it is sent are those that the provider bills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    limits: TurnLimits,
    started_ms: u64,
    spent: Usage,
    tool_calls: u32,
    set_aside: Worst,
}

/// What a request costs at worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Worst {
    tokens: u64,
    usd: f64,
}

/// The worst case of one request, set aside until its answer has come.
#[derive(Debug, PartialEq)]
#[must_use = "settle it when the answer has come, or its tokens stay set aside"]
pub struct Reservation {
    worst: Worst,
    request: u64,
    /// The longest answer there is room for, in tokens.
    pub max_output: u64,
    /// Whether that is less than was wanted.
    pub narrowed: bool,
}

impl Ledger {
    /// Begins a ledger at `now_ms` of a clock that never goes back.
    pub fn new(limits: TurnLimits, now_ms: u64) -> Self {
        Self {
            limits,
            started_ms: now_ms,
            spent: Usage::default(),
            tool_calls: 0,
            set_aside: Worst::default(),
        }
    }

    /// Returns what has been spent.
    pub fn spent(&self) -> Usage {
        self.spent
    }

    /// Returns what has been spent in US dollars, where prices are known.
    pub fn spent_usd(&self) -> Option<f64> {
        self.limits.prices.map(|prices| prices.cost(self.spent))
    }

    /// Returns the time left at `now_ms`; `None` where time is not limited.
    pub fn time_left(&self, now_ms: u64) -> Option<Duration> {
        let elapsed = Duration::from_millis(now_ms.saturating_sub(self.started_ms));
        Some(self.limits.wall?.saturating_sub(elapsed))
    }

    /// Returns the stop that time makes at `now_ms`, if it is up.
    ///
    /// # Errors
    ///
    /// [`Stop`] when no time is left.
    pub fn check_time(&self, now_ms: u64) -> Result<(), Stop> {
        match (self.time_left(now_ms), self.limits.wall) {
            (Some(Duration::ZERO), Some(wall)) => Err(Stop::budget(format!(
                "the time of {wall:?} for one turn is up"
            ))),
            _ => Ok(()),
        }
    }

    /// Sets the worst case of a request aside: all that is read, and the longest answer.
    ///
    /// An answer shorter than `wanted` may be all there is room for.
    ///
    /// # Errors
    ///
    /// [`Stop`] when not even a short answer fits into what is left.
    pub fn reserve(&mut self, request: u64, wanted: u64, now_ms: u64) -> Result<Reservation, Stop> {
        self.check_time(now_ms)?;
        let by_tokens = self.output_by_tokens(request)?;
        let by_money = self.output_by_money(request)?;
        let max_output = wanted.min(by_tokens).min(by_money);
        let worst = Worst {
            tokens: request.saturating_add(max_output),
            usd: self.price(request, max_output),
        };
        self.set_aside.tokens = self.set_aside.tokens.saturating_add(worst.tokens);
        self.set_aside.usd += worst.usd;
        Ok(Reservation {
            worst,
            request,
            max_output,
            narrowed: max_output < wanted,
        })
    }

    /// Replaces what was set aside by what it came to.
    ///
    /// A provider that does not say what an answer cost is taken to have read the request and
    /// written the tokens that `answer` counts. Returns what is booked.
    pub fn settle(
        &mut self,
        reservation: Reservation,
        billed: Usage,
        answer: impl FnOnce() -> u64,
    ) -> Usage {
        self.set_aside.tokens = self
            .set_aside
            .tokens
            .saturating_sub(reservation.worst.tokens);
        self.set_aside.usd = (self.set_aside.usd - reservation.worst.usd).max(0.0);
        let silent = billed.input == 0 && billed.output == 0;
        let booked = if silent && self.limits.needs_exact_counts() {
            Usage {
                input: reservation.request,
                output: answer(),
                cached: 0,
            }
        } else {
            billed
        };
        self.spent += booked;
        booked
    }

    /// Counts calls that are about to run.
    ///
    /// # Errors
    ///
    /// [`Stop`] when not all of them are left, or time is up; then none is counted.
    pub fn count_calls(&mut self, calls: usize, now_ms: u64) -> Result<(), Stop> {
        self.check_time(now_ms)?;
        let wanted = u32::try_from(calls).unwrap_or(u32::MAX);
        let after = self.tool_calls.saturating_add(wanted);
        match self.limits.tool_calls {
            Some(limit) if after > limit => Err(Stop::budget(format!(
                "{wanted} more of {limit} tool calls for one turn are asked for, and {} are left",
                limit.saturating_sub(self.tool_calls)
            ))),
            _ => {
                self.tool_calls = after;
                Ok(())
            }
        }
    }

    /// Returns the longest answer that the tokens left have room for.
    fn output_by_tokens(&self, request: u64) -> Result<u64, Stop> {
        let Some(limit) = self.limits.tokens else {
            return Ok(u64::MAX);
        };
        let gone = self.spent.input.saturating_add(self.spent.output);
        let left = limit
            .saturating_sub(gone)
            .saturating_sub(self.set_aside.tokens);
        match left.saturating_sub(request) {
            room if room >= SHORTEST_ANSWER => Ok(room),
            _ => Err(Stop::budget(format!(
                "the next request has {request} tokens, and of {limit} for one turn {left} are left"
            ))),
        }
    }

    /// Returns the longest answer that the money left pays for.
    fn output_by_money(&self, request: u64) -> Result<u64, Stop> {
        let Some(limit) = self.limits.usd else {
            return Ok(u64::MAX);
        };
        let Some(prices) = self.limits.prices else {
            return Err(Stop::budget(format!(
                "a turn may cost ${limit}, and what this model costs is not known"
            )));
        };
        let left = limit - prices.cost(self.spent) - self.set_aside.usd;
        let room = left - dollars(request, prices.input);
        if room < dollars(SHORTEST_ANSWER, prices.output) {
            return Err(Stop::budget(format!(
                "the next request costs more than is left of ${limit} for one turn: ${:.4}",
                left.max(0.0)
            )));
        }
        Ok(affordable(room, prices.output))
    }

    fn price(&self, input: u64, output: u64) -> f64 {
        self.limits.prices.map_or(0.0, |prices| {
            dollars(input, prices.input.max(prices.cached)) + dollars(output, prices.output)
        })
    }
}

/// Returns how many tokens `room` dollars pay for, rounded down.
fn affordable(room: f64, price: f64) -> u64 {
    if price <= 0.0 {
        return u64::MAX;
    }
    (room / price * 1_000_000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::Prices;
    use crate::turn::TurnOutcome;

    fn ledger(limits: TurnLimits) -> Ledger {
        Ledger::new(limits, 1_000)
    }

    fn tokens(limit: u64) -> TurnLimits {
        TurnLimits {
            tokens: Some(limit),
            ..TurnLimits::default()
        }
    }

    fn used(input: u64, output: u64) -> Usage {
        Usage {
            input,
            output,
            cached: 0,
        }
    }

    #[test]
    fn p22_a_request_that_could_go_over_the_tokens_is_not_sent() {
        let mut ledger = ledger(tokens(10_000));
        let first = ledger.reserve(4_000, 4_000, 1_000).unwrap();
        assert_eq!((first.max_output, first.narrowed), (4_000, false));
        let booked = ledger.settle(first, used(4_000, 100), || 0);
        assert_eq!(booked, used(4_000, 100));
        let second = ledger.reserve(4_200, 4_000, 1_000).unwrap();
        assert_eq!((second.max_output, second.narrowed), (1_700, true));
        let _ = ledger.settle(second, used(4_200, 1_700), || 0);
        let stop = ledger.reserve(1, 4_000, 1_000).unwrap_err();
        assert_eq!(stop.outcome, TurnOutcome::Budget);
        let spent = ledger.spent();
        assert_eq!(spent.input + spent.output, 10_000);
    }

    #[test]
    fn p22_requests_under_way_together_never_go_over() {
        let mut ledger = ledger(tokens(10_000));
        let held: Vec<Reservation> = (0..4)
            .filter_map(|_| ledger.reserve(2_000, 3_000, 1_000).ok())
            .collect();
        let worst: u64 = held.iter().map(|held| 2_000 + held.max_output).sum();
        assert_eq!((held.len(), worst), (2, 10_000));
    }

    #[test]
    fn p22_money_is_set_aside_before_it_is_spent() {
        let prices = Prices {
            input: 1.0,
            cached: 0.1,
            output: 10.0,
        };
        let limits = TurnLimits {
            usd: Some(0.05),
            prices: Some(prices),
            ..TurnLimits::default()
        };
        let mut ledger = ledger(limits);
        let held = ledger.reserve(10_000, 8_000, 1_000).unwrap();
        assert_eq!((held.max_output, held.narrowed), (4_000, true));
        let usage = Usage {
            input: 10_000,
            output: 4_000,
            cached: 10_000,
        };
        let _ = ledger.settle(held, usage, || 0);
        assert!((ledger.spent_usd().unwrap() - 0.041).abs() < 1e-9);
        assert!(ledger.reserve(10_000, 8_000, 1_000).is_err());
    }

    #[test]
    fn a_limit_in_money_without_prices_lets_nothing_be_spent() {
        let mut ledger = ledger(TurnLimits {
            usd: Some(1.0),
            ..TurnLimits::default()
        });
        let stop = ledger.reserve(1, 1, 1_000).unwrap_err();
        assert!(stop.message.contains("not known"), "{}", stop.message);
    }

    #[test]
    fn p22_a_batch_that_goes_over_the_tool_calls_runs_none_of_them() {
        let mut ledger = ledger(TurnLimits {
            tool_calls: Some(3),
            ..TurnLimits::default()
        });
        assert_eq!(ledger.count_calls(2, 1_000), Ok(()));
        let stop = ledger.count_calls(2, 1_000).unwrap_err();
        assert!(stop.message.contains("1 are left"), "{}", stop.message);
        assert_eq!(ledger.count_calls(1, 1_000), Ok(()));
    }

    #[test]
    fn p22_when_the_time_is_up_nothing_more_begins() {
        let mut ledger = ledger(TurnLimits {
            wall: Some(Duration::from_secs(2)),
            ..TurnLimits::default()
        });
        assert_eq!(ledger.time_left(1_500), Some(Duration::from_millis(1_500)));
        assert_eq!(ledger.count_calls(1, 2_999), Ok(()));
        assert!(ledger.reserve(1, 1, 3_000).is_err());
        assert!(ledger.count_calls(1, 3_000).is_err());
    }

    #[test]
    fn a_provider_that_does_not_bill_is_counted_by_what_was_sent_and_came() {
        let mut ledger = ledger(tokens(10_000));
        let held = ledger.reserve(3_000, 1_000, 1_000).unwrap();
        assert_eq!(
            ledger.settle(held, Usage::default(), || 50),
            used(3_000, 50)
        );
    }
}
