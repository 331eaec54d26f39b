//! Whole turns with a scripted model, a real gateway and real stores.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "what fails here fails its test, and a count is worth showing"
)]

mod bench;
mod compacting;
mod delegating;
mod faults;
mod journal;
mod limits;
mod reload;
mod scenes;
mod skills;
mod turns;

// What crashes, faults and second processes make of a session.
mod crash;
#[cfg(feature = "testing")]
mod custom;
mod model;
mod simulation;
