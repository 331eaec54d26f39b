//! Ctrl-C and termination: the first ends the turn in order, the second ends the program.
//!
//! Signals are watched on a thread of their own, so that a program that computes still obeys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio_util::sync::CancellationToken;

use crate::error::Exit;

/// How long a turn may take to end in order. What was acknowledged is on disk at any time, so
/// ending without order loses nothing but the word that it was cancelled.
const GRACE: Duration = Duration::from_secs(2);

/// What an interrupt does before a turn begins: it ends the process at once, since there is nothing
/// to bring to order yet.
///
/// A program that a shell started in the background was told to ignore interrupts; this one ends
/// then, too.
#[derive(Debug)]
pub(crate) struct Interrupts {
    at_once: Arc<AtomicBool>,
}

impl Interrupts {
    pub(crate) fn new() -> Self {
        let at_once = Arc::new(AtomicBool::new(true));
        for signal in [SIGINT, SIGTERM] {
            // Where this fails the signals keep their default meaning, which is the same.
            let _ = signal_hook::flag::register_conditional_shutdown(
                signal,
                Exit::Cancelled as i32,
                Arc::clone(&at_once),
            );
        }
        Self { at_once }
    }

    /// Returns a token that the first interrupt cancels from now on.
    ///
    /// A second interrupt, or the end of the grace after the first, ends the process.
    pub(crate) fn token(self) -> CancellationToken {
        let token = CancellationToken::new();
        // Where nobody can watch, an interrupt goes on ending the process at once.
        if let Ok(signals) = Signals::new([SIGINT, SIGTERM]) {
            let cancel = token.clone();
            std::thread::spawn(move || watch(signals, &cancel));
            self.at_once.store(false, Ordering::SeqCst);
        }
        token
    }
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
