//! One command a file.

pub(crate) mod ask;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod init;
pub(crate) mod prompt;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod skills;
pub(crate) mod trust;
mod turn;
