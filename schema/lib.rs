//! The JSON Schemas of the input files, as text.

/// The schema of a policy.
pub const POLICY: &str = include_str!("policy.json");
/// The schema of a scenario.
pub const SCENARIO: &str = include_str!("scenario.json");
/// The schema of a profile.
pub const PROFILE: &str = include_str!("profile.json");
/// The schema of a suite.
pub const SUITE: &str = include_str!("suite.json");
