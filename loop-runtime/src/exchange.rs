//! One exchange with a model: a request goes out, an answer is taken in as far as it comes.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use skill_core::{CompletionEvent, CompletionRequest, Provider, ProviderError, Usage};
use tokio_util::sync::CancellationToken;

use crate::reply::ReplyBuilder;
use crate::turn::Reply;

/// What an exchange came to.
pub(crate) struct Exchange {
    pub(crate) reply: Reply,
    pub(crate) usage: Usage,
    /// Why there is no more of the reply, where the provider failed.
    pub(crate) error: Option<ProviderError>,
}

/// Sends `request` and hands each event of the answer to `show`, until the answer ends or `cancel`
/// is cancelled. `used` are the call ids of the session.
pub(crate) async fn exchange(
    provider: &dyn Provider,
    request: CompletionRequest,
    used: &BTreeSet<String>,
    cancel: &CancellationToken,
    show: impl FnMut(CompletionEvent) + Send,
) -> Exchange {
    let mut builder = ReplyBuilder::new();
    let taking = take_in(provider, request, &mut builder, show);
    let taken = tokio::select! {
        biased;
        () = cancel.cancelled() => Ok(()),
        taken = taking => taken,
    };
    let (reply, usage) = builder.finish(used);
    Exchange {
        reply,
        usage,
        error: taken.err(),
    }
}

async fn take_in(
    provider: &dyn Provider,
    request: CompletionRequest,
    builder: &mut ReplyBuilder,
    mut show: impl FnMut(CompletionEvent) + Send,
) -> Result<(), ProviderError> {
    let mut stream = provider.stream(request).await?;
    while let Some(event) = stream.next().await {
        let event = event?;
        builder.push(&event);
        show(event);
    }
    Ok(())
}
