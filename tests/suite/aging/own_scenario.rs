//! A scenario of one's own: a load that says how long, and a generator of a few lines.

use ctxsim::input::scenario::AgingLoad;
use ctxsim::rng::Seed;
use ctxsim::worlds::aging::generate::{self, StreamDraft};
use ctxsim::worlds::aging::stream::{Ask, StreamScore};
use ctxsim::worlds::aging::{AgingNumbers, AgingPlayer, MemoryRules};

use super::{load, memory, model};

/// A help desk: each day brings a ticket with a number that is asked for the day after, and another that is asked for ever after.
fn help_desk(draft: &mut StreamDraft<'_>) {
    draft.about(StreamScore::Answers, &["tickets"]);
    for day in 0..draft.n_sessions() {
        draft.begin_session(1);
        let ticket = draft.record(0);
        let [today, always] = [0, 1].map(|it| draft.value(ticket, i64::from(day) * 2 + it, true));
        draft.ask_once(day + 1, Ask::Any { facts: vec![today], is_echoed: false }, true);
        draft.ask(day + 1, u32::MAX, Ask::Any { facts: vec![always], is_echoed: false }, true);
        draft.press();
    }
}

#[test]
fn a_generator_of_ones_own_plays_like_the_bundled_ones() {
    let load = AgingLoad { generator: "help_desk".to_owned(), sessions: 60, ..load("s1_curated_8") };
    let stream = generate::stream_by(help_desk, &load, Seed(7), AgingNumbers::declared());
    let player = AgingPlayer::of_stream(&stream, AgingNumbers::declared(), &[], false);
    let last =
        |name: &str| player.play(MemoryRules::new(Some(&memory(name)), model("mid"))).sessions[59].score;

    assert_eq!(stream.sessions.len(), 60);
    assert_eq!(last("no_memory"), Some(0.0));
    assert!(last("full_context") > last("careful") && last("careful") > last("lossy"));
    let unknown = ctxsim::worlds::aging::check(&load);
    assert_eq!(unknown[0].code.name(), "name-unknown", "a scenario file can name bundled generators alone");
}
