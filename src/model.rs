//! Validated inputs: a value of these types has passed every rule, and nothing downstream checks again.

pub mod cache;
pub mod calendar;
pub mod fold;
pub mod layout;
pub mod memory;
pub mod policy;
pub mod price;
pub mod profile;
pub mod scope;
pub mod size;

pub use cache::{Breakpoints, CacheRules, Settings, TtlClass};
pub use layout::Layout;
pub use policy::{Action, Moment, Policy, Recovery, Rendition, Row, Rung, Stage};
pub use profile::{Limits, Profile};
pub use scope::{Patterns, Scope};
pub use size::{Bound, Comparison, Cond, Extent, Size};
