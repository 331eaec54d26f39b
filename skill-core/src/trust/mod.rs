//! Trust: what of a project may act, bound to what it held when a person looked at it.

mod guard;
mod item;
mod store;
mod tree;

pub use {
    guard::{Admission, ProjectGuard, SkillGuard},
    item::{ProjectTrust, TrustItem, TrustKind, TrustStanding, Trusted},
    store::{TrustError, TrustStore},
    tree::{Change, ChangeKind, PackageTree, TreeError, TreeFile, TreeFileKind, changes},
};

pub(crate) use {
    store::{beside, lock_beside, sync_folder, write_whole},
    tree::slashed,
};

#[cfg(test)]
mod tests;
