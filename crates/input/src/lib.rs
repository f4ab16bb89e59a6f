//! The four kinds of input files: what is written, what is checked, and what comes out.
//!
//! All four kinds of input have the same shape. Each has one folder below `input/` with three parts:
//!
//! | part | what it holds |
//! |---|---|
//! | `KIND/written.rs` (and `written/`) | the serde types of the file, with `deny_unknown_fields`, externally tagged enums, no `flatten`, no `untagged` |
//! | `KIND/check.rs` (and `check/`) | the rules; each pushes a problem with its code and field path |
//! | `KIND.rs` | the checked type and `new`, the only function that makes one; `new` reports every problem at once |

pub mod text;
pub mod policy;
pub mod profile;
pub mod scenario;
pub mod suite;
pub mod tokens;
pub mod pricelist;

pub use policy::{Cond, LayoutSpec, Policy, PolicyFile, RecoverySpec, Scope, Size};
pub use profile::{Breakpoints, CacheRules, Limits, PriceSpec, Profile, ProfileFile, Settings, TtlClass};
pub use scenario::{Scenario, ScenarioFile};
pub use suite::{Suite, SuiteFile};
pub use text::{Format, Source, decode};
