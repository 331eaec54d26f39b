//! How often a skill runs, and when it is left alone: decisions over times that are given.

use std::collections::VecDeque;
use std::time::Duration;

use skill_core::{Circuit, RateLimit, Retry};

/// Counts runs in a moving window.
#[derive(Debug, Default)]
pub(super) struct Rate {
    runs: VecDeque<u64>,
}

impl Rate {
    /// Takes a run at a time in milliseconds; `Err` says when the next one is free.
    pub(super) fn take(&mut self, limit: RateLimit, now: u64) -> Result<(), Duration> {
        let window = millis(limit.per);
        while self
            .runs
            .front()
            .is_some_and(|first| now.saturating_sub(*first) >= window)
        {
            self.runs.pop_front();
        }
        if self.runs.len() < limit.count as usize {
            self.runs.push_back(now);
            return Ok(());
        }
        let free = self
            .runs
            .front()
            .map_or(now, |first| first.saturating_add(window));
        Err(Duration::from_millis(free.saturating_sub(now).max(1)))
    }
}

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    open_until: Option<u64>,
    /// One attempt is under way that decides whether it closes.
    probing: bool,
}

impl Breaker {
    /// Tells whether an attempt may be made now; `Err` says in what time one may.
    pub(super) fn admit(&mut self, now: u64) -> Result<(), Duration> {
        match self.open_until {
            Some(until) if now < until => Err(Duration::from_millis(until - now)),
            Some(_) if self.probing => Err(Duration::from_secs(1)),
            Some(_) => {
                self.probing = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Notes how an attempt ended.
    pub(super) fn note(&mut self, circuit: Circuit, failed: bool, now: u64) {
        if !failed {
            *self = Self::default();
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.probing || self.failures >= circuit.failures.max(1) {
            self.open_until = Some(now.saturating_add(millis(circuit.open)));
        }
        self.probing = false;
    }

    /// Notes that an attempt ended without saying anything: it was cancelled.
    pub(super) fn forget(&mut self) {
        self.probing = false;
    }
}

/// Returns how long to wait before the next attempt, or nothing if there is none.
pub(super) fn pause(retry: &Retry, attempts: u32, kind: &str) -> Option<Duration> {
    if attempts >= retry.max_attempts || !retry.on.iter().any(|on| on == kind) {
        return None;
    }
    let factor = retry
        .factor
        .clamp(1.0, 100.0)
        .powi(i32::try_from(attempts - 1).unwrap_or(0));
    let seconds = (retry.initial.as_secs_f64() * factor).min(retry.max.as_secs_f64());
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(retry.max))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_two_a_minute_refuses_the_third_and_recovers() {
        let limit = RateLimit {
            count: 2,
            per: Duration::from_secs(60),
        };
        let mut rate = Rate::default();
        assert_eq!(rate.take(limit, 1_000), Ok(()));
        assert_eq!(rate.take(limit, 2_000), Ok(()));
        assert_eq!(rate.take(limit, 3_000), Err(Duration::from_secs(58)));
        assert_eq!(rate.take(limit, 61_000), Ok(()));
        assert_eq!(rate.take(limit, 61_001), Err(Duration::from_millis(999)));
    }

    #[test]
    fn a_breaker_opens_after_failures_in_a_row_and_one_probe_decides() {
        let circuit = Circuit {
            failures: 2,
            open: Duration::from_secs(30),
        };
        let mut breaker = Breaker::default();
        breaker.note(circuit, true, 0);
        breaker.note(circuit, false, 0);
        breaker.note(circuit, true, 0);
        assert_eq!(breaker.admit(0), Ok(()));
        breaker.note(circuit, true, 0);
        assert_eq!(breaker.admit(10_000), Err(Duration::from_secs(20)));
        assert_eq!(breaker.admit(30_000), Ok(()));
        assert!(breaker.admit(30_000).is_err(), "one probe at a time");
        breaker.note(circuit, true, 30_000);
        assert!(breaker.admit(59_999).is_err());
        assert_eq!(breaker.admit(60_000), Ok(()));
        breaker.note(circuit, false, 60_000);
        assert_eq!(breaker.admit(60_001), Ok(()));
    }

    #[test]
    fn only_what_is_declared_is_tried_again_and_pauses_grow_to_their_bound() {
        let retry = Retry {
            max_attempts: 4,
            ..Retry::default()
        };
        let pauses: Vec<_> = (1..=4)
            .map(|attempts| pause(&retry, attempts, "transient"))
            .collect();
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(pauses, [ms(200), ms(400), ms(800), None]);
        assert_eq!(pause(&retry, 1, "error"), None);
        assert_eq!(pause(&Retry::default(), 1, "transient"), None);
    }
}
