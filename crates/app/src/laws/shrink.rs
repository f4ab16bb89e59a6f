//! The smallest session that still shows a breach: turns go first, then calls, then sizes.

use super::{LawCounterexample, LawTrial, written};
use ctxsim_base::error::Error;
use ctxsim_engine::laws::LawBreach;
use ctxsim_input::policy::law::Law;
use ctxsim_input::scenario::{Amount, TurnSpec};

/// Makes a counterexample as small as so many tries allow.
pub(super) fn counterexample(
    trial: &LawTrial<'_>,
    law: Law,
    turns: &[TurnSpec],
    mut tries: u32,
) -> Result<LawCounterexample, Error> {
    let mut best = (turns.to_vec(), trial.breach(turns, law)?);
    'smaller: while tries > 0 {
        for candidate in candidates(&best.0) {
            if tries == 0 {
                break;
            }
            tries -= 1;
            if let Some(breach) = trial.breach(&candidate, law)? {
                best = (candidate, Some(breach));
                continue 'smaller;
            }
        }
        break;
    }
    let (turns, breach) = best;
    // The session was found by its breach; a policy that is not deterministic may not repeat it.
    let what = || "this session broke the law, and did not when it was tried again".to_owned();
    let breach = breach.unwrap_or_else(|| LawBreach { law, turn: 1, request: 1, what: what() });
    written(&trial.policy.name, &turns, breach)
}

/// Returns smaller sessions, the smallest first: half of it, a turn less, two turns in one, a call less, fewer and smaller of everything.
fn candidates(turns: &[TurnSpec]) -> Vec<Vec<TurnSpec>> {
    let mut all = Vec::new();
    if turns.len() > 1 {
        all.push(turns[..turns.len() / 2].to_vec());
        all.push(turns[turns.len() / 2..].to_vec());
        all.extend((0..turns.len()).map(|nth| without(turns, nth)));
        all.extend((1..turns.len()).map(|nth| merged(turns, nth)));
    }
    let mut change = |nth: usize, change: &dyn Fn(&mut TurnSpec)| {
        let mut changed = turns.to_vec();
        change(&mut changed[nth]);
        if changed != turns {
            all.push(changed);
        }
    };
    for (nth, turn) in turns.iter().enumerate() {
        for call in 0..turn.calls.len() {
            change(nth, &|it| drop(it.calls.remove(call)));
        }
        for call in 0..turn.calls.len() {
            change(nth, &|it| it.calls[call].times = (it.calls[call].times / 2).max(1));
            change(nth, &|it| it.calls[call].times = (it.calls[call].times - 1).max(1));
            change(nth, &|it| halve(&mut it.calls[call].result.raw, 1));
            change(nth, &|it| halve(&mut it.calls[call].text_tokens, 0));
            change(nth, &|it| halve(&mut it.calls[call].args_tokens, 1));
        }
        change(nth, &|it| it.gap_ms = Some(Amount::Fixed(0)));
        change(nth, &|it| halve(&mut it.user_tokens, 1));
        change(nth, &|it| halve(&mut it.answer_tokens, 1));
    }
    all
}

fn without(turns: &[TurnSpec], nth: usize) -> Vec<TurnSpec> {
    let mut fewer = turns.to_vec();
    fewer.remove(nth);
    fewer
}

/// Returns the session with the calls of a turn made in the turn before.
fn merged(turns: &[TurnSpec], nth: usize) -> Vec<TurnSpec> {
    let mut fewer = turns.to_vec();
    let mut calls = fewer.remove(nth).calls;
    fewer[nth - 1].calls.append(&mut calls);
    fewer
}

/// Halves a size, down to a least one.
fn halve(size: &mut Amount, least: u64) {
    if let Amount::Fixed(tokens) = size {
        *tokens = (*tokens / 2).max(least.min(*tokens));
    }
}
