//! What a result was made with: the version, the days of its prices, and its inputs by digest.

use xxhash_rust::xxh3::Xxh3Default;

use super::distinct;
use super::guard::is_scenario_or_session_of;
use crate::prelude::*;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a result was made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeWith {
    /// The day of the prices, by profile.
    pub prices: IndexMap<String, String>,
    pub inputs: Vec<InputDigest>,
}

/// An input by its content, whatever the ends of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDigest {
    /// What kind of input it is.
    pub kind: &'static str,
    pub name: String,
    /// The digest of its file, and of the files that it names, in hexadecimal digits.
    pub digest: String,
    /// The files that it was read from, if they are on disk.
    pub files: Vec<String>,
}

impl InputDigest {
    /// Takes the digest of texts.
    pub fn from_texts<'t>(kind: &'static str, name: &str, texts: impl Iterator<Item = &'t str>) -> Self {
        let mut digest = Xxh3Default::new();
        for line in texts.flat_map(str::lines) {
            digest.update(line.as_bytes());
            digest.update(b"\n");
        }
        Self::from_digest(kind, name, digest.digest())
    }

    /// Takes a digest.
    pub fn from_digest(kind: &'static str, name: &str, digest: u64) -> Self {
        Self { kind, name: name.to_owned(), digest: format!("{digest:016x}"), files: Vec::new() }
    }
}

impl MadeWith {
    /// Adds what other results were made with.
    pub fn add(&mut self, other: Self) {
        self.prices.extend(other.prices);
        let new = other.inputs.into_iter().filter(|it| !self.inputs.contains(it)).listed();
        self.inputs.extend(new);
    }

    /// Returns the digest of all inputs of a kind; of a single one, its own.
    pub fn digest_of_kind(&self, kind: &str) -> Option<String> {
        joint_digest(self.inputs.iter().filter(|it| it.kind == kind))
    }

    /// Returns the digest of one input; a session's is that of its recording.
    pub fn digest_of_input(&self, kind: &str, name: &str) -> Option<&str> {
        self.find_input(kind, name).map(|it| it.digest.as_str())
    }

    /// Returns one input; a session's is its recording.
    pub fn find_input(&self, kind: &str, name: &str) -> Option<&InputDigest> {
        self.inputs.iter().find(|it| it.kind == kind && is_scenario_or_session_of(name, &it.name))
    }

    /// Returns it in a line.
    pub fn summary_line(&self) -> String {
        let days = numbers::days(self.prices.values().map(String::as_str));
        let days = (!days.is_empty()).then(|| format!("prices of {days}"));
        let inputs = joint_digest(self.inputs.iter()).map(|it| format!("inputs {it}"));
        [Some(format!("ctxsim {VERSION}")), days, inputs].into_iter().flatten().listed().join(", ")
    }

    /// Returns its parts by name: the version, the days by profile, the digests by input.
    pub fn properties(&self) -> Vec<(String, String)> {
        let prices = self.prices.iter().map(|(profile, day)| (format!("prices {profile}"), day.clone()));
        let inputs = self.inputs.iter().map(|it| (format!("{} {}", it.kind, it.name), it.digest.clone()));
        std::iter::once(("ctxsim".to_owned(), VERSION.to_owned())).chain(prices).chain(inputs).listed()
    }

    /// Returns it as JSON has it.
    pub fn to_value(&self) -> Value {
        let field = |(name, text): (&String, &String)| (name.clone().into(), text.clone().into());
        let inputs = distinct(self.inputs.iter().map(|it| it.kind)).into_iter().map(|kind| {
            let own = self.inputs.iter().filter(|it| it.kind == kind);
            (kind.into(), Value::Fields(own.map(|it| field((&it.name, &it.digest))).listed()))
        });
        group! {
            "ctxsim": VERSION.to_owned(),
            "prices": Value::Fields(self.prices.iter().map(field).listed()),
            "inputs": Value::Fields(inputs.listed()),
        }
    }
}

/// Returns the digest of several inputs.
fn joint_digest<'i>(inputs: impl Iterator<Item = &'i InputDigest>) -> Option<String> {
    let all: Vec<&InputDigest> = inputs.listed();
    let text = all.iter().flat_map(|it| [it.kind, it.name.as_str(), it.digest.as_str()]);
    match all.as_slice() {
        [] => None,
        [only] => Some(only.digest.clone()),
        _ => Some(InputDigest::from_texts("", "", text).digest),
    }
}
