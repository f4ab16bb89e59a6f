//! What a comparison compares: by name, by path, or built in code.

use std::path::{Path, PathBuf};

use crate::face::{Code, Policy, Profile, Scenario};

/// A policy: a name, a pattern with `*`, a path, or one built in code.
#[derive(Clone, Debug)]
pub struct PolicyRef(pub(super) PolicyIs);

#[derive(Clone, Debug)]
pub(super) enum PolicyIs {
    Named(String),
    Declared(Policy),
    Code(Code),
}

/// A scenario: a name, a pattern with `*`, a recorded session, a folder of them, or one built in code.
#[derive(Clone, Debug)]
pub struct ScenarioRef(pub(super) ScenarioIs);

#[derive(Clone, Debug)]
pub(super) enum ScenarioIs {
    Named(String),
    Built(Scenario),
}

/// A profile: a name, a pattern with `*`, a path, or one built in code.
#[derive(Clone, Debug)]
pub struct ProfileRef(pub(super) ProfileIs);

#[derive(Clone, Debug)]
pub(super) enum ProfileIs {
    Named(String),
    Built(Box<Profile>),
}

macro_rules! named {
    ($reference:ident, $is:ident) => {
        impl From<&str> for $reference {
            fn from(name: &str) -> Self {
                Self($is::Named(name.to_owned()))
            }
        }

        impl From<String> for $reference {
            fn from(name: String) -> Self {
                Self($is::Named(name))
            }
        }

        impl From<&Path> for $reference {
            fn from(path: &Path) -> Self {
                Self($is::Named(path.display().to_string()))
            }
        }

        impl From<PathBuf> for $reference {
            fn from(path: PathBuf) -> Self {
                path.as_path().into()
            }
        }
    };
}

named!(PolicyRef, PolicyIs);
named!(ScenarioRef, ScenarioIs);
named!(ProfileRef, ProfileIs);

impl From<Policy> for PolicyRef {
    fn from(policy: Policy) -> Self {
        Self(PolicyIs::Declared(policy))
    }
}

impl From<Code> for PolicyRef {
    fn from(code: Code) -> Self {
        Self(PolicyIs::Code(code))
    }
}

impl From<Scenario> for ScenarioRef {
    fn from(scenario: Scenario) -> Self {
        Self(ScenarioIs::Built(scenario))
    }
}

impl From<&Scenario> for ScenarioRef {
    fn from(scenario: &Scenario) -> Self {
        scenario.clone().into()
    }
}

impl From<Profile> for ProfileRef {
    fn from(profile: Profile) -> Self {
        Self(ProfileIs::Built(Box::new(profile)))
    }
}

impl From<&Profile> for ProfileRef {
    fn from(profile: &Profile) -> Self {
        profile.clone().into()
    }
}

/// A value that an override sets: a number, a flag, or text as the command line accepts it after `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(pub(super) String);

macro_rules! value {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self(value.to_string())
            }
        })*
    };
}

value!(u32, u64, i32, i64, usize, f64, bool, &str, String);
