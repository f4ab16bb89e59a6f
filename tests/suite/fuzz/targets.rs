//! What a fuzzer may call: every reader of the library, given any bytes; shared with `fuzz/`.

use ctxsim::block_trace;
use ctxsim::engine::simulate;
use ctxsim::ledger::Rows;
use ctxsim::model::{CacheRules, Limits, Policy, Profile};
use ctxsim::pricelist::{self, PriceFile, place};
use ctxsim::source::Source;
use ctxsim::spec::scenario::{AssumeSpec, LoadSpec};
use ctxsim::spec::set::Setting;
use ctxsim::spec::{Format, PolicySpec, ProfileSpec, ScenarioSpec, SuiteSpec, decode};
use ctxsim::timeline::{Conversation, import, load};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A reader, given bytes.
type Target = (&'static str, fn(&[u8]));

/// Everything that reads what others wrote.
pub(super) const TARGETS: [Target; 7] = [
    ("recording", recording),
    ("policy", policy),
    ("scenario", scenario),
    ("profile", profile),
    ("suite", suite),
    ("prices", prices),
    ("blocks", blocks),
];

const IDENTITY: &str = include_str!("../../../policies/identity.ron");
const PROFILE: &str = include_str!("../../../profiles/anthropic/claude-opus-4.5.toml");

/// Reads recorded sessions of any format, and plays each under a provider's cache.
fn recording(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(sessions) = import::import_all(&text, "fuzz", &AssumeSpec::default(), &["read".to_owned()]) else {
        return;
    };
    let policy = Policy::new(&decode::decode(IDENTITY, Format::Ron).unwrap()).unwrap();
    let profile = Profile::new(&decode::decode(PROFILE, Format::Toml).unwrap()).unwrap();
    for session in sessions {
        let mut rows = Rows::default();
        simulate(&session.timeline, &policy, &Limits::NONE, &profile.cache, &mut rows);
        for row in &rows.requests {
            let use_ = &row.usage;
            assert_eq!(use_.read + use_.write[0] + use_.write[1] + use_.uncached, row.prompt);
        }
    }
}

/// Decodes a text in either format, finds the place of every problem, and writes what was understood.
fn decoded<T: DeserializeOwned + Serialize>(bytes: &[u8], check: impl Fn(T, &Source)) {
    let text = String::from_utf8_lossy(bytes);
    for format in [Format::Ron, Format::Toml] {
        let source = Source::new("fuzz", format, text.clone());
        let Ok(spec) = source.decode::<T>() else { continue };
        for format in [Format::Ron, Format::Toml] {
            let _ = decode::encode(&spec, format);
        }
        check(spec, &source);
    }
}

/// Reads a policy.
fn policy(bytes: &[u8]) {
    decoded(bytes, |spec: PolicySpec, source| {
        if let Err(problems) = Policy::new(&spec) {
            let _ = source.locate_all(problems);
        }
    });
}

/// Reads a scenario, and makes its load unless that is a generator's, which may be asked for a million turns.
fn scenario(bytes: &[u8]) {
    decoded(bytes, |spec: ScenarioSpec, source| match &spec.load {
        LoadSpec::Generate { .. } => {}
        LoadSpec::Conversation(conversation) => {
            if let Err(problems) = Conversation::new(&spec, conversation) {
                let _ = source.locate_all(problems);
            }
        }
        LoadSpec::Turns(_) | LoadSpec::Recorded { .. } => {
            let _ = load::load(&spec, |_, _| Err(Vec::new().into()));
        }
    });
}

/// Reads a profile.
fn profile(bytes: &[u8]) {
    decoded(bytes, |spec: ProfileSpec, source| {
        if let Err(problems) = Profile::new(&spec) {
            let _ = source.locate_all(problems);
        }
    });
}

/// Reads a suite with its guards and overrides.
fn suite(bytes: &[u8]) {
    decoded(bytes, |spec: SuiteSpec, source| {
        if let Err(problems) = ctxsim::guard::check(&spec.guards, &spec.policies) {
            let _ = source.locate_all(problems);
        }
        for text in &spec.set {
            let _ = Setting::parse(text);
        }
    });
}

/// Reads a price list, and makes profiles of it.
fn prices(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    for path in ["prices.json", "anthropic/models/claude.toml"] {
        let file = PriceFile { path: path.to_owned(), text: text.clone() };
        for found in pricelist::read(&[file]).unwrap_or_default() {
            let _ = place::place(&found, "2026-01-01", "");
        }
    }
}

/// Reads a block trace, and replays it.
fn blocks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(block_trace) = block_trace::read(&text, "fuzz") {
        block_trace::replay(&block_trace, &Limits::NONE, &CacheRules::None, &mut Rows::default());
    }
}
