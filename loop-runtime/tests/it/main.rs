//! Whole turns with a scripted model, a real gateway and real stores.

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
