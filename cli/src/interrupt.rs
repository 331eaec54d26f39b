//! Ctrl-C and termination: the first ends the turn in order, the second ends the program.
//!
//! Signals are watched on a thread of their own, so that a program that computes still obeys.

use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio_util::sync::CancellationToken;

use crate::error::Exit;

/// How long a turn may take to end in order. What was acknowledged is on disk at any time, so
/// ending without order loses nothing but the word that it was cancelled.
const GRACE: Duration = Duration::from_secs(2);

/// Returns a token that the first interrupt cancels.
///
/// A second interrupt, or the end of the grace after the first, ends the process.
pub(crate) fn token() -> CancellationToken {
    let token = CancellationToken::new();
    // Without a handler the signals keep their default meaning: the process ends.
    if let Ok(signals) = Signals::new([SIGINT, SIGTERM]) {
        let cancel = token.clone();
        std::thread::spawn(move || watch(signals, &cancel));
    }
    token
}

fn watch(mut signals: Signals, cancel: &CancellationToken) {
    if signals.forever().next().is_none() {
        return;
    }
    cancel.cancel();
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        std::process::exit(Exit::Cancelled as i32);
    });
    if signals.forever().next().is_some() {
        std::process::exit(Exit::Cancelled as i32);
    }
}
