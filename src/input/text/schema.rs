//! JSON Schema of the input files, for editors and for what is said of a mistake.
//!
//! The files in `schema/` are derived from the types that parse the inputs. A test derives them again, so no other build does.

#[cfg(test)]
mod derived;

/// The schema of policies, draft 2020-12, with every field's documentation; the rules between fields are those of `ctxsim validate`.
pub const POLICY: &str = include_str!("../../../schema/policy.json");
/// The schema of scenarios, likewise.
pub const SCENARIO: &str = include_str!("../../../schema/scenario.json");
/// The schema of profiles, likewise.
pub const PROFILE: &str = include_str!("../../../schema/profile.json");
/// The schema of suites, likewise.
pub const SUITE: &str = include_str!("../../../schema/suite.json");
