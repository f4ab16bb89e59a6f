//! Validated inputs: a value of these types has passed every rule, and nothing downstream checks again.

pub mod cache;
pub mod calendar;
pub mod action;
pub mod fold;
pub mod layout;
pub mod memory;
pub mod policy;
pub mod price;
pub mod profile;
pub mod scope;
pub mod size;
pub mod template;

pub use action::{Action, Rendition, TableRow};
pub use cache::{Breakpoints, CacheRules, Settings, TtlClass};
pub use layout::Layout;
pub use policy::{Moment, Policy, Recovery, Rung, Stage};
pub use profile::{Limits, Profile};
pub use scope::{Patterns, Scope};
pub use size::{Bound, Cond, Extent, Relation, Size};
