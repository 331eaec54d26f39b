//! A model that says anything: text, calls, half of one, nothing, or an error, and takes its time.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use skill_core::testing::finished;
use skill_core::{
    CompletionEvent, CompletionRequest, CompletionStream, Provider, ProviderError,
    ProviderErrorKind, StopReason,
};
use tokio::time::sleep;

use super::world::{Shared, World, arguments};

#[derive(Debug)]
pub(super) struct SimulatedProvider(pub(super) Shared);

/// How an answer goes.
enum Answer {
    Whole,
    /// So many pieces of it come, and then the stream ends, or fails, or says nothing more.
    Ends(usize),
    Fails(usize),
    Hangs(usize),
}

const TOOLS: [&str; 6] = ["note", "slow", "ask", "deny", "fail", "nope"];

const ERRORS: [ProviderErrorKind; 4] = [
    ProviderErrorKind::Unavailable,
    ProviderErrorKind::RateLimited,
    ProviderErrorKind::Protocol,
    ProviderErrorKind::Timeout,
];

#[async_trait::async_trait]
impl Provider for SimulatedProvider {
    fn name(&self) -> &str {
        "simulated"
    }

    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        let (delay, events, answer, kind) = {
            let mut world = self.0.lock().unwrap();
            world.judge_request(&request);
            let delay = world.milliseconds(3_000);
            let events = events(&mut world);
            let answer = answer(&mut world, events.len());
            let kind = ERRORS[world.roll(ERRORS.len())];
            (delay, events, answer, kind)
        };
        sleep(delay).await;
        let failed = move || ProviderError::new("simulated", kind, "simulated failure");
        let paced = |count: usize| {
            stream::iter(events.into_iter().take(count)).then(|(delay, event)| async move {
                sleep(delay).await;
                Ok(event)
            })
        };
        Ok(match answer {
            Answer::Fails(0) => return Err(failed()),
            Answer::Whole => paced(usize::MAX).boxed(),
            Answer::Ends(count) => paced(count).boxed(),
            Answer::Hangs(count) => paced(count).chain(stream::pending()).boxed(),
            Answer::Fails(count) => {
                let end = stream::once(async move { Err(failed()) });
                paced(count).chain(end).boxed()
            }
        })
    }
}

fn answer(world: &mut World, pieces: usize) -> Answer {
    if world.calm {
        return Answer::Whole;
    }
    let count = world.roll(pieces + 1);
    match world.roll(24) {
        0 => {
            world.seen.insert("cut");
            Answer::Ends(count.min(pieces - 1))
        }
        1 | 2 => Answer::Fails(count),
        3 => Answer::Hangs(count),
        _ => Answer::Whole,
    }
}

/// Returns the pieces of a whole answer, each with the time that it takes.
fn events(world: &mut World) -> Vec<(Duration, CompletionEvent)> {
    let mut events = Vec::new();
    let calls = match world.roll(5) {
        0 | 1 => 0,
        few => few - 1,
    };
    if calls == 0 || world.roll(3) == 0 {
        for word in ["Well", ", ", "so be it."] {
            events.push(CompletionEvent::TextDelta(word.to_owned()));
        }
    }
    for index in 0..calls {
        let number = world.number();
        let name = TOOLS[world.roll(TOOLS.len())];
        // Ids are the provider's own affair: now and then it repeats one, or leaves it out.
        let id = match world.roll(6) {
            0 => Some("same".to_owned()),
            1 => None,
            _ => Some(format!("call-{number}")),
        };
        let text = arguments(number);
        let (start, rest) = text.split_at(world.roll(text.len()));
        for (first, part) in [(true, start), (false, rest)] {
            events.push(CompletionEvent::ToolCallDelta {
                index,
                id: id.clone().filter(|_| first),
                name: first.then(|| name.to_owned()),
                arguments: part.to_owned(),
            });
        }
    }
    let stop = match world.roll(16) {
        0 => StopReason::MaxTokens,
        1 => StopReason::Refused,
        2 => StopReason::Other("pause".into()),
        _ if calls > 0 => StopReason::ToolCalls,
        _ => StopReason::EndTurn,
    };
    events.push(finished(stop));
    let paced = |event| (world.milliseconds(200), event);
    events.into_iter().map(paced).collect()
}
