//! Inputs: one folder per kind, with the written form, its checks, and the checked type.

pub mod text;
pub mod policy;
pub mod profile;
pub mod scenario;
pub mod suite;

pub use policy::{Cond, LayoutSpec, Policy, PolicyFile, RecoverySpec, Scope, Size};
pub use profile::{Breakpoints, CacheRules, Limits, PriceSpec, Profile, ProfileFile, Settings, TtlClass};
pub use scenario::{Scenario, ScenarioFile};
pub use suite::{Suite, SuiteFile};
pub use text::{Format, Source, decode};
