//! Ctrl-C and termination: the first ends the turn in order, the second ends the program.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::Exit;

/// Returns a token that the first interrupt cancels.
///
/// Must be called inside a runtime. A second interrupt ends the process at once; what was
/// acknowledged is on disk by then.
pub(crate) fn token() -> CancellationToken {
    let token = CancellationToken::new();
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        // Without handlers the signals keep their default meaning: the process ends.
        return token;
    };
    let cancel = token.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        cancel.cancel();
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        std::process::exit(Exit::Cancelled as i32);
    });
    token
}
