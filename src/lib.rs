//! @TOUR@

#![cfg_attr(
    not(feature = "internals"),
    allow(dead_code, unused_imports, unreachable_pub, reason = "the command line uses the rest")
)]

mod face;
/// The floors of the house, from the ground up: each uses those above it in this list alone.
#[path = "."]
mod floors {
    pub mod quantity;
    pub mod rng;
    pub mod diag;
    pub mod error;
    pub mod input;
    pub mod tokens;
    pub mod timeline;
    pub mod projection;
    pub mod ledger;
    pub mod memory;
    pub mod own;
    pub mod cache;
    pub mod recovery;
    pub mod builtin;
    pub mod engine;
    pub mod block_trace;
    pub mod price;
    pub mod hindsight;
    pub mod calibrate;
    pub mod explain;
    pub mod measure;
    pub mod aging;
    pub mod runner;
    pub mod report;
    pub mod pricelist;
    pub mod guard;
    pub mod catalog;
    pub mod compare;
}

#[cfg(not(feature = "internals"))]
use floors::*;
/// Everything behind the face, for the command line and the tests of this crate; it changes without notice.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use floors::*;

pub use face::*;

#[cfg(feature = "testing")]
pub mod testing;
