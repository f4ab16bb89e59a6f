//! What a fuzzer may call: every reader of the library, given any bytes; shared with `fuzz/`.

#[path = "agree.rs"]
pub(crate) mod agree;
#[path = "own.rs"]
pub(crate) mod code;
#[path = "results.rs"]
mod results;

use ctxsim::input::Suite;
use ctxsim::input::scenario::{ChatSource, TurnSpec};
use ctxsim::pricelist::{self, PriceFile, place};
use ctxsim::timeline::{import, load};
use ctxsim::worlds::aging::{Aging, ReadStreams};
use ctxsim::worlds::blocks::trace;
use ctxsim::worlds::chats::{ChatNumbers, ChatPlayer, ChatScenario, Chats, long_mem_eval};
use ctxsim::worlds::needles::ConversationLoad;

use crate::support::*;

/// A reader, given bytes.
type Target = (&'static str, fn(&[u8]));

/// Everything that reads what others wrote.
pub(super) const TARGETS: [Target; 16] = [
    ("recording", recording),
    ("policy", policy),
    ("scenario", scenario),
    ("profile", profile),
    ("suite", suite),
    ("prices", prices),
    ("blocks", blocks),
    ("chats", chats),
    ("own", own),
    ("tree", tree),
    ("parts", results::parts),
    ("shards", results::shards),
    ("advice", results::advice),
    ("ratchet", results::ratchet),
    ("snapshots", results::snapshots),
    ("answers", results::answers),
];

const IDENTITY: &str = include_str!("../../../policies/identity.ron");
const CONTEXT_ONLY: &str = include_str!("../../../policies/memory_runners/context_only.ron");
/// Loads that take no time to play: one with calls and needs, and one without.
const SMALL: [&str; 2] = [
    include_str!("../../../tests/data/small/scenarios/one.toml"),
    include_str!("../../../tests/data/small/scenarios/no_needs.toml"),
];
const PROFILE: &str = include_str!("../../../profiles/anthropic/claude-opus-4.5.toml");

/// Reads recorded sessions of any format, a database with the log behind it, plays each under a provider's cache, and reads them again without their words.
fn recording(bytes: &[u8]) {
    let log = bytes.windows(4).position(|it| import::is_database(bytes) && it == [0x37, 0x7f, 6, 0x82]);
    let with_log = log.map(|at| import::with_log(bytes[..at].to_vec(), &bytes[at..]));
    let bytes = with_log.as_deref().unwrap_or(bytes);
    let (assume, tools) = (Assume::default(), ["read".to_owned()]);
    let Ok(Ok(sessions)) = import::import_from(&mut &*bytes, "fuzz", &assume, &tools) else { return };
    let redacted = import::redact(&mut &*bytes, "fuzz", &assume, &tools, &[], &|it| Some(it.to_owned()))
        .unwrap()
        .unwrap();
    let again = import::import_all(&redacted, "fuzz", &assume, &tools).unwrap();
    let requests =
        |all: &[import::Imported]| all.iter().map(|it| it.timeline.spine.steps.len()).sum::<usize>();
    assert_eq!(requests(&again), requests(&sessions));
    let policy = policy_from(IDENTITY);
    let profile = profile_from(PROFILE);
    for session in sessions {
        let mut rows = Rows::default();
        Simulation::new(&session.timeline, &policy, &Limits::NONE, &profile.cache).run(&mut rows);
        for row in &rows.requests {
            let use_ = &row.usage;
            assert_eq!(use_.read + use_.write[0] + use_.write[1] + use_.uncached, row.prompt);
        }
    }
}

/// Plays own code that answers anything.
fn own(bytes: &[u8]) {
    code::view(bytes, false);
    code::view(bytes, true);
    code::cache(bytes);
}

/// Reads chats in the shape of LongMemEval, and plays them.
fn chats(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(users) = long_mem_eval::read(&mut text.as_bytes(), ChatNumbers::declared()) else { return };
    let chats = Chats::of_users(users, Seed(0));
    let policy: PolicyFile = decode(CONTEXT_ONLY, Format::Ron).unwrap();
    let log = ChatPlayer { chats: &chats, numbers: ChatNumbers::declared() }.play(policy.service_memory());
    assert!(log.answers.len() <= chats.users.len());
}

/// Decodes a text in either format, finds the place of every problem, and writes what was understood.
fn decoded<T: Decode + Encode>(bytes: &[u8], check: impl Fn(T, &Source)) {
    let text = String::from_utf8_lossy(bytes);
    for format in [Format::Ron, Format::Toml] {
        let source = Source::new("fuzz", format, text.clone());
        let Ok(spec) = source.decode::<T>() else { continue };
        for format in [Format::Ron, Format::Toml] {
            let _ = encode(&spec, format);
        }
        check(spec, &source);
    }
}

/// Reads a text of any kind in RON as the `ron` crate does, and what is written of it.
fn tree(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    agree::reads_as_ron::<PolicyFile>(&text);
    agree::reads_as_ron::<ScenarioFile>(&text);
    agree::reads_as_ron::<ProfileFile>(&text);
    agree::reads_as_ron::<SuiteFile>(&text);
}

/// Reads a policy, and plays it on small loads where it is one.
fn policy(bytes: &[u8]) {
    let profile = profile_from(PROFILE);
    decoded(bytes, |spec: PolicyFile, source| match Policy::new(&spec) {
        Err(problems) => drop(source.locate_all(problems)),
        Ok(policy) => {
            for text in SMALL {
                let scenario = Scenario::new(&decode(text, Format::Toml).unwrap()).unwrap();
                let timeline = load::load(&scenario, |_, _| Err(Vec::new().into())).unwrap();
                let mut rows = Rows::default();
                Simulation::new(&timeline, &policy, &Limits::NONE, &profile.cache).run(&mut rows);
                assert!(!rows.requests.is_empty());
            }
        }
    });
}

/// Reads a scenario, and makes its load unless that is drawn or repeats anything often: both may be asked for a million turns.
fn scenario(bytes: &[u8]) {
    decoded(bytes, |spec: ScenarioFile, source| match (Scenario::new(&spec), &spec.load) {
        (Err(problems), _) => {
            let _ = source.locate_all(problems);
        }
        (Ok(_), LoadSpec::Random { .. }) => {}
        (Ok(_), LoadSpec::Generate(generate))
            if generate.taken().any(|(turn, n_turns)| is_much(turn, n_turns)) => {}
        (Ok(_), LoadSpec::Turns(turns)) if turns.iter().any(|it| is_much(it, it.times)) => {}
        (Ok(scenario), LoadSpec::Sessions(sessions)) => {
            if !sessions.iter().flat_map(|it| &it.turns).any(|it| is_much(it, it.times)) {
                drop(load::sessions(&scenario, sessions));
            }
        }
        (Ok(scenario), LoadSpec::Conversation(conversation)) => {
            let _ = ConversationLoad::new(&scenario, conversation);
        }
        (Ok(scenario), LoadSpec::Aging(load)) => {
            let few = |it: &Aging| it.load.sessions <= 20;
            Aging::all(&scenario, load, &[], ReadStreams::default())
                .iter()
                .filter(|it| few(it))
                .for_each(|it| drop(it.stream(0)));
        }
        // A file of chats is a target of its own.
        (Ok(scenario), LoadSpec::Chats(load)) => {
            let few = matches!(&load.from, ChatSource::Generated(it) if it.sessions * it.messages * it.users <= 500);
            if few && ctxsim::worlds::chats::check(&load.numbers).is_empty() {
                let chats = ChatScenario::new(&scenario, load, None).chats(0);
                let player = ChatPlayer { chats: &chats, numbers: ChatNumbers::declared() };
                drop(player.play(None));
            }
        }
        (Ok(scenario), LoadSpec::Turns(_) | LoadSpec::Generate(_) | LoadSpec::Recorded { .. }) => {
            let _ = load::load(&scenario, |_, _| Err(Vec::new().into()));
        }
    });
}

/// Whether many turns or calls are made of one that is written.
fn is_much(turn: &TurnSpec, n_turns: u64) -> bool {
    turn.calls.iter().map(|it| it.times).chain([n_turns, turn.rounds.most()]).any(|it| it > 20)
}

/// Reads a profile.
fn profile(bytes: &[u8]) {
    decoded(bytes, |spec: ProfileFile, source| {
        if let Err(problems) = Profile::new(&spec) {
            let _ = source.locate_all(problems);
        }
    });
}

/// Reads a suite with its guards and overrides.
fn suite(bytes: &[u8]) {
    decoded(bytes, |spec: SuiteFile, source| {
        if let Err(problems) = Suite::new(&spec) {
            let _ = source.locate_all(problems);
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
    if let Ok(block_trace) = trace::read(&text, "fuzz") {
        trace::replay(&block_trace, &Limits::NONE, &CacheRules::None, &mut Rows::default());
    }
}
