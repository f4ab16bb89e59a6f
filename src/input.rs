//! Inputs: one folder for each kind, with what is written, what is checked, and what comes out.

pub mod text;
pub mod policy;
pub mod profile;
pub mod scenario;
pub mod suite;

pub use policy::{Cond, Layout, Policy, PolicySpec, Recovery, Scope, Size};
pub use profile::{Breakpoints, CacheRules, Limits, PriceSpec, Profile, ProfileSpec, Settings, TtlClass};
pub use scenario::ScenarioSpec;
pub use suite::SuiteSpec;
pub use text::{Format, Source, decode};
