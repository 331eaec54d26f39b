//! Wire protocols of language models behind one small trait; vendor differences are data.

mod offline;
#[cfg(feature = "http")]
#[cfg_attr(not(test), expect(dead_code, reason = "the protocols that read it follow"))]
mod sse;

pub use offline::OfflineProvider;
