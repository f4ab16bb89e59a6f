//! JSON Schema of the input files, for editors and for what is said of a mistake.
//!
//! The files in `schema/` are derived from the types that parse the inputs. A test derives them again, so no other build does.

#[cfg(test)]
mod derived;

/// The schema of policies, draft 2020-12, with every field's documentation; the rules between fields are those of `ctxsim validate`.
pub const POLICY: &str = ctxsim_schema::POLICY;
/// The schema of scenarios, likewise.
pub const SCENARIO: &str = ctxsim_schema::SCENARIO;
/// The schema of profiles, likewise.
pub const PROFILE: &str = ctxsim_schema::PROFILE;
/// The schema of suites, likewise.
pub const SUITE: &str = ctxsim_schema::SUITE;
