//! Writing skill files: frontmatter that every reader takes alike, and mending what is there.

mod draft;
mod mend;
mod scalar;

pub use draft::{DraftError, SkillDraft};
pub use mend::{Mend, Mended, mend};
pub use scalar::quoted_text;

#[cfg(test)]
mod tests;
