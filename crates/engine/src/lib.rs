//! One play: prompt, cache, ledger, price and measure.

mod prelude;
pub mod projection;
pub mod ledger;
pub mod memory;
pub mod own;
pub mod cache;
pub mod recovery;
pub mod builtin;
pub mod engine;
pub mod price;
pub mod hindsight;
pub mod measure;
pub mod calibrate;
pub mod explain;
pub mod laws;
pub mod take;
