//! Asks again where that can help: a wrapper around any provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use skill_core::{CompletionRequest, CompletionStream, Provider, ProviderError, ProviderErrorKind};

use crate::http::StatusFailure;

/// When and how often a request is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often a request is sent in all; 0 counts as 1.
    pub attempts: u32,
    /// The wait before the second attempt, of which jitter takes up to a half.
    pub initial: Duration,
    /// What each further wait is multiplied with.
    pub factor: u32,
    /// The longest wait, and the longest that a server may ask for; a server that asks for more
    /// gets no further attempt.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            initial: Duration::from_millis(500),
            factor: 2,
            longest: Duration::from_secs(60),
        }
    }
}

/// Repeats requests that brought nothing of an answer.
///
/// Repeated are: connections that fail, 408, 429 and 5xx. A server's `retry-after` is obeyed.
/// Once an answer has begun it is never asked for again, so nothing is said or done twice.
/// Dropping the future cancels a wait like everything else.
#[derive(Debug)]
pub struct RetryProvider {
    inner: Arc<dyn Provider>,
    policy: RetryPolicy,
    jitter: AtomicU64,
}

impl RetryProvider {
    /// Wraps `inner`; `seed` decides the jitter.
    pub fn new(inner: Arc<dyn Provider>, policy: RetryPolicy, seed: u64) -> Self {
        Self {
            inner,
            policy,
            jitter: AtomicU64::new(seed),
        }
    }

    /// Returns how long to wait after failure number `failures`, or `None` to give up.
    fn wait(&self, failures: u32, error: &ProviderError) -> Option<Duration> {
        if failures >= self.policy.attempts || !is_transient(error) {
            return None;
        }
        let asked = error.retry_after.unwrap_or_default();
        if asked > self.policy.longest {
            return None;
        }
        let factor = self
            .policy
            .factor
            .saturating_pow(failures.saturating_sub(1));
        let backoff = self
            .policy
            .initial
            .saturating_mul(factor)
            .min(self.policy.longest);
        Some(asked.max(self.with_jitter(backoff)))
    }

    /// Returns between a half and the whole of `wait`.
    fn with_jitter(&self, wait: Duration) -> Duration {
        // SplitMix64: spreads well from any seed and needs one word of state.
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let mut word = self
            .jitter
            .fetch_add(step, Ordering::Relaxed)
            .wrapping_add(step);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((word ^ (word >> 31)) >> 32) as f64 / f64::from(u32::MAX);
        wait.mul_f64(0.5 + share / 2.0)
    }
}

#[async_trait]
impl Provider for RetryProvider {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        let mut failures = 0;
        while failures + 1 < self.policy.attempts {
            let error = match self.inner.stream(request.clone()).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            failures += 1;
            match self.wait(failures, &error) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
        self.inner.stream(request).await
    }
}

/// Tells whether the same request may do better in a moment.
fn is_transient(error: &ProviderError) -> bool {
    let status = error
        .source
        .as_deref()
        .and_then(|source| source.downcast_ref::<StatusFailure>());
    match status {
        Some(status) => status.is_transient(),
        None => matches!(
            error.kind,
            ProviderErrorKind::Unavailable | ProviderErrorKind::RateLimited
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    use async_trait::async_trait;
    use skill_core::ProviderErrorKind::{
        InvalidRequest, NotFound, Protocol, RateLimited, Timeout, Unauthorized, Unavailable,
    };
    use skill_core::{
        CompletionRequest, CompletionStream, ModelId, Provider, ProviderError, ProviderErrorKind,
    };
    use tokio::time::Instant;

    use super::{RetryPolicy, RetryProvider};
    use crate::http::StatusFailure;

    /// Fails as its script says, then answers with an empty stream.
    #[derive(Debug)]
    struct Failing(Mutex<VecDeque<ProviderError>>);

    #[async_trait]
    impl Provider for Failing {
        fn name(&self) -> &str {
            "failing"
        }

        async fn stream(&self, _: CompletionRequest) -> Result<CompletionStream, ProviderError> {
            let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match script.pop_front() {
                Some(error) => Err(error),
                None => Ok(Box::pin(futures_util::stream::empty())),
            }
        }
    }

    fn failure(kind: ProviderErrorKind) -> ProviderError {
        ProviderError::new("failing", kind, "failed")
    }

    fn asking(kind: ProviderErrorKind, seconds: u64) -> ProviderError {
        let mut error = failure(kind);
        error.retry_after = Some(Duration::from_secs(seconds));
        error
    }

    fn status(kind: ProviderErrorKind, status: u16, code: Option<&str>) -> ProviderError {
        let mut error = failure(kind);
        let code = code.map(str::to_owned);
        error.source = Some(Box::new(StatusFailure { status, code }));
        error
    }

    /// Runs a script; returns the attempts made, the time waited, and the final error's kind.
    async fn run(script: Vec<ProviderError>) -> (usize, Duration, Option<ProviderErrorKind>) {
        let planned = script.len();
        let inner = Arc::new(Failing(Mutex::new(script.into())));
        let provider = RetryProvider::new(Arc::clone(&inner) as _, RetryPolicy::default(), 7);
        let request = CompletionRequest {
            model: ModelId::new("m"),
            system: Vec::new(),
            messages: Vec::new(),
            tools: [].into(),
            max_output_tokens: None,
        };
        let begin = Instant::now();
        let outcome = provider.stream(request).await;
        let left = inner.0.lock().unwrap_or_else(PoisonError::into_inner).len();
        let failed = planned - left;
        let attempts = failed + usize::from(outcome.is_ok());
        (
            attempts,
            begin.elapsed(),
            outcome.err().map(|error| error.kind),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn three_attempts_in_all_with_growing_waits() {
        let failures = (0..4).map(|_| failure(Unavailable)).collect();
        let (attempts, waited, kind) = run(failures).await;
        assert_eq!((attempts, kind), (3, Some(Unavailable)));
        // 250 to 500 ms, then 500 to 1000 ms, each up to a millisecond of the timer's grain.
        assert!((750..=1502).contains(&waited.as_millis()), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_after_a_failure_is_the_answer() {
        let (attempts, _, kind) = run(vec![failure(RateLimited), failure(Unavailable)]).await;
        assert_eq!((attempts, kind), (3, None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_asked_for_is_kept() {
        let (attempts, waited, kind) = run(vec![asking(RateLimited, 17)]).await;
        assert_eq!((attempts, kind), (2, None));
        assert_eq!(waited.as_secs(), 17);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_of_more_than_a_minute_ends_at_once() {
        let (attempts, waited, kind) = run(vec![asking(RateLimited, 61)]).await;
        assert_eq!(
            (attempts, waited, kind),
            (1, Duration::ZERO, Some(RateLimited))
        );
        let (attempts, waited, _) = run(vec![asking(RateLimited, 60)]).await;
        assert_eq!((attempts, waited.as_secs()), (2, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_caller_must_mend_is_not_repeated() {
        for kind in [Unauthorized, NotFound, InvalidRequest, Protocol, Timeout] {
            let (attempts, waited, outcome) = run(vec![failure(kind)]).await;
            assert_eq!((attempts, waited, outcome), (1, Duration::ZERO, Some(kind)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_spent_quota_is_not_retried_and_a_request_timeout_is() {
        let quota = status(RateLimited, 429, Some("insufficient_quota"));
        assert_eq!(run(vec![quota]).await.0, 1);
        assert_eq!(run(vec![status(Timeout, 408, None)]).await.0, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_the_request_ends_the_wait() {
        let wait = run(vec![asking(RateLimited, 50)]);
        let outcome = tokio::time::timeout(Duration::from_secs(1), wait).await;
        assert!(outcome.is_err());
    }

    #[test]
    fn equal_seeds_wait_equally_and_others_differ() {
        let waits = |seed| {
            let inner = Arc::new(Failing(Mutex::default()));
            let provider = RetryProvider::new(inner, RetryPolicy::default(), seed);
            [(); 4].map(|()| provider.with_jitter(Duration::from_secs(1)))
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
        let bounds = Duration::from_millis(500)..=Duration::from_secs(1);
        assert!(waits(3).iter().all(|wait| bounds.contains(wait)));
    }
}
