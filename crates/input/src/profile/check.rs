//! The rules of a profile.

mod price;

use super::written::RecoveryPrice;
use super::{Assumptions, Family, ImageRule, Limits, Profile, ProfileFile, WaitModel, written};
use crate::prelude::*;
use ctxsim_base::quantity::{Cost, UNLIMITED};

/// Checks a profile.
pub(super) fn profile(spec: &ProfileFile, problems: &mut Problems) -> Profile {
    if spec.sources.is_empty() {
        let help = "add `sources: [\"…\"]`: where its numbers come from";
        problems.push_at(Code("profile-unsourced"), "sources", "a profile must name its sources", help);
    }
    for (index, pattern) in spec.models.iter().enumerate().filter(|(_, it)| it.chars().all(|it| it == '*')) {
        let message = format!("`{pattern}` does not name a model");
        let help = "write a model id, such as `gpt-5.5` or `claude-opus-4-5*`";
        problems.push_at(Code("profile-models"), format_args!("models.{index}"), message, help);
    }
    if let Some(name) = spec.tokenizer.as_ref().filter(|it| Family::named(it).is_none()) {
        let known: Vec<&str> = Family::all().iter().map(|it| it.name.as_str()).collect();
        let message = format!("no family of models is called `{name}`");
        let help = format!("write one of these, or leave it out: {}", known.join(", "));
        problems.push_at(Code("tokenizer-unknown"), "tokenizer", message, help);
    }
    let assumed = &spec.assumptions;
    let start_ms = price::start(assumed.starts_at.as_deref(), &spec.as_of, problems);
    Profile {
        name: spec.name.clone(),
        about: spec.about.clone(),
        as_of: spec.as_of.clone(),
        models: spec.models.iter().map(|it| it.to_ascii_lowercase()).collect(),
        family: Family::of_profile(spec),
        images: ImageRule::of_profile(spec),
        limits: problems.within("limits", |problems| limits(&spec.limits, problems)),
        is_best_effort: spec.best_effort,
        refuses: spec.cache.refuses().to_vec(),
        cache: problems.within("cache", |problems| spec.cache.check(problems)),
        prices: problems
            .within("prices", |problems| price::prices(&spec.prices, start_ms, &assumed.services, problems)),
        waiting: WaitModel::of_profile(spec),
        assumptions: problems.within("assumptions", |problems| assumptions(&spec.assumptions, problems)),
    }
}

fn limits(spec: &written::LimitsSpec, problems: &mut Problems) -> Limits {
    let given = [
        ("context_tokens", spec.context_tokens),
        ("input_tokens", spec.input_tokens),
        ("output_tokens", spec.output_tokens),
    ];
    for (field, tokens) in given {
        if tokens == Some(0) {
            let help = "remove it if there is no limit";
            problems.push_at(Code("limit-zero"), field, "a limit of 0 tokens allows nothing", help);
        }
    }
    let window = spec.context_tokens.unwrap_or(UNLIMITED);
    Limits {
        prompt: spec.input_tokens.unwrap_or(window),
        window,
        output: spec.output_tokens.unwrap_or(UNLIMITED),
    }
}

fn assumptions(spec: &written::AssumptionsSpec, problems: &mut Problems) -> Assumptions {
    let mut cost = |field: &str, usd| {
        Cost::from_usd(usd).unwrap_or_else(|| {
            let message = "the amount has more than twelve decimals of a dollar";
            let help = "round it";
            problems.push_at(Code("price-too-fine"), field, message, help);
            Cost::default()
        })
    };
    let failure_penalty = cost("failure_penalty_usd", spec.failure_penalty_usd);
    let memory_call = cost("memory_call_usd", spec.memory_call_usd);
    if spec.recovery != RecoveryPrice::Flat {
        let given = [
            ("recovery_overhead_tokens", spec.recovery_overhead_tokens),
            ("recovery_output_tokens", spec.recovery_output_tokens),
        ];
        for (field, _) in given.into_iter().filter(|it| it.1 > 0) {
            let help = "leave it out (requests are priced by their contents), or write `recovery = \"flat\"`";
            let message = "this field is for recovery calls at a flat price, which this profile does not use";
            problems.push_at(Code("recovery-not-flat"), field, message, help);
        }
    }
    Assumptions {
        recovery: spec.recovery,
        recovery_overhead_tokens: spec.recovery_overhead_tokens,
        recovery_output_tokens: spec.recovery_output_tokens,
        failure_penalty,
        memory_call,
        memory_latency_ms: spec.memory_latency_ms.to_f64(),
        request_latency_ms: spec.request_latency_ms.to_f64(),
        recovery_latency_ms: spec.recovery_latency_ms.to_f64(),
        latency_ms_per_uncached_token: spec.latency_ms_per_uncached_token.to_f64(),
        latency_ms_per_output_token: spec.latency_ms_per_output_token.to_f64(),
    }
}
