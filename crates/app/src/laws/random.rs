//! Random sessions in which policies have something to do: a few turns with calls, from small results to more than a window.

use ctxsim_base::quantity::Tokens;
use ctxsim_base::rng::{Seed, Stream};
use ctxsim_input::ScenarioFile;
use ctxsim_input::policy::{Kind, Preserve};
use ctxsim_input::scenario::{Amount, LoadSpec, ResultSizes, ScriptedCall, StableItem, TurnSpec};

/// The tools that are called; policies know them by these names or by what they can do.
const TOOLS: [&str; 3] = ["read_file", "search", "process_start"];
/// Usual tokens of a result, by session in turn, under the limit below.
const RESULTS: [Tokens; 3] = [600, 3_000, 9_000];
/// The limit that these were made for; under another, everything grows with it.
const LIMIT: Tokens = 200_000;
/// Milliseconds between turns: at once, within the usual lifetimes of cache entries, and after them.
const GAPS_MS: [Tokens; 4] = [1_000, 60_000, 400_000, 4_000_000];
const PRESERVES: [Preserve; 3] = [Preserve::WorkingEvidence, Preserve::Reference, Preserve::None];

/// Returns the turns of the n-th random session of a seed, sized for a prompt limit.
pub(super) fn turns(seed: u64, nth: u64, limit: Tokens) -> Vec<TurnSpec> {
    let mut draws = Seed(seed).stream("laws", nth);
    let usual = RESULTS[(nth % RESULTS.len() as u64) as usize];
    let n_turns = draws.between(1, 5);
    (0..n_turns).map(|_| turn(&mut draws, usual, limit)).collect()
}

fn turn(draws: &mut Stream, usual: Tokens, limit: Tokens) -> TurnSpec {
    let sized = |tokens: Tokens| Amount::Fixed((tokens * limit.min(10 * LIMIT) / LIMIT).max(1));
    let user_tokens = sized(draws.between(20, 1_500));
    let answer_tokens = sized(draws.between(20, 1_500));
    let gap_ms = Some(Amount::Fixed(pick(draws, &GAPS_MS)));
    let n_calls = draws.between(0, 3);
    let calls = (0..n_calls).map(|_| ScriptedCall {
        name: String::new(),
        tool: pick(draws, &TOOLS).to_owned(),
        times: draws.between(1, 7),
        turns: None,
        text_tokens: sized(draws.between(1, 200)),
        purpose_tokens: Amount::Fixed(0),
        args_tokens: sized(draws.between(5, 200)),
        result: ResultSizes {
            raw: sized(draws.between(usual / 4, 2 * usual)),
            excerpt: None,
            summary: None,
            handle: None,
        },
        images: Vec::new(),
        gap_ms: Some(Amount::Fixed(2_000)),
        plants: Vec::new(),
        spreads: Default::default(),
        preserve: Some(pick(draws, &PRESERVES)),
        recover: Default::default(),
    });
    let calls = calls.collect();
    TurnSpec {
        user_tokens,
        answer_tokens,
        gap_ms,
        calls,
        times: 1,
        rounds: Amount::Fixed(1),
        ..TurnSpec::default()
    }
}

fn pick<T: Copy>(draws: &mut Stream, of: &[T]) -> T {
    of[draws.between(0, of.len() as u64 - 1) as usize]
}

/// Returns the scenario of some turns.
pub(super) fn scenario(name: &str, about: &str, turns: &[TurnSpec]) -> ScenarioFile {
    let stable = [(Kind::System, 1_800), (Kind::ToolSchema, 6_500)];
    ScenarioFile {
        about: about.to_owned(),
        stable: stable.map(|(kind, tokens)| StableItem { kind, tokens, name: None }).to_vec(),
        load: LoadSpec::Turns(turns.to_vec()),
        ..ScenarioFile::named(name)
    }
}
