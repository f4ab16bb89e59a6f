//! The four kinds of input files: what is written, what is checked, and what comes out.

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
