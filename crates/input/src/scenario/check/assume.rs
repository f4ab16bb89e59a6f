//! The rules of assumptions about a recording.

use super::check_interval;
use crate::scenario::{Assume, NeedRule};
use ctxsim_base::diag::{Code, Problems};
use ctxsim_base::quantity::Decimal;

/// Checks what a scenario assumes of a recording.
pub(in crate::scenario) fn check(spec: &Assume, problems: &mut Problems) {
    if spec.tokenizer.is_some() && !cfg!(feature = "tokens") {
        let help = "build with `--features tokens`, or remove it and declare `chars_per_token`";
        problems.push_at(Code::TokenizerNotBuilt, "tokenizer", "this build has no tokenizers", help);
    }
    let ratios =
        [("chars_per_token", spec.chars_per_token), ("user_chars_per_token", spec.user_chars_per_token)];
    for (field, _) in ratios.into_iter().filter(|(_, it)| it.is_some_and(|it| it <= Decimal::ZERO)) {
        let help = "write a number above 0, or leave it out";
        problems.push_at(Code::CharsPerTokenZero, field, "a token cannot have 0 characters", help);
    }
    let shares = [
        ("rewind_share_max", spec.rewind_share_max, "a prompt cannot shrink by more than its size"),
        ("compaction_margin", spec.compaction_margin, "a prompt cannot shrink by more than its size"),
        ("side_request_share", spec.side_request_share, "the share of turns must be from 0 to 1"),
    ];
    for (field, _, message) in shares.into_iter().filter(|it| it.1.is_some_and(|it| it > Decimal::ONE)) {
        problems.push_at(Code::RatioAboveOne, field, message, "write a number from 0 to 1");
    }
    problems.within("needs", |problems| {
        for (rule, spec) in &spec.needs {
            problems.within(rule, |problems| check_rule(rule, spec, problems));
        }
    });
}

/// Checks one need rule.
fn check_rule(rule: &str, spec: &NeedRule, problems: &mut Problems) {
    // Every rule has its defaults.
    let rules = &Assume::defaults().needs;
    if !rules.contains_key(rule) {
        let known: Vec<String> = rules.keys().map(|it| format!("`{it}`")).collect();
        let message = format!("unknown need rule `{rule}`");
        problems.push(Code::NeedRuleUnknown, message, format!("the rules are {}", known.join(", ")));
    }
    if let Some(weight) = spec.weight {
        problems.within("weight", |problems| check_probability(weight, problems));
    }
    if let Some([low, high]) = spec.interval {
        problems.within("interval", |problems| {
            [low, high].into_iter().for_each(|it| check_probability(it, problems));
            check_interval([low, spec.weight.unwrap_or(low), high], problems);
        });
    }
}

fn check_probability(share: f64, problems: &mut Problems) {
    if !(0.0..=1.0).contains(&share) {
        let message = format!("{share} is not a probability");
        problems.push(Code::WeightInvalid, message, "write a number from 0 to 1");
    }
}
