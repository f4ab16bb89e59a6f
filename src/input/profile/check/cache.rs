//! The only way from written cache rules to checked ones.

use crate::diag::Problems;
use crate::input::profile::cache::{
    Blocks, Breakpoints, CacheRules, ExplicitCache, Hits, Invalidates, Qualified, Steps, TtlClass, Units,
};
use crate::input::profile::written::{self, Cache, Level, Lookup, Renewal, UnitEnd};

/// Checks the rules of a profile's cache.
pub(in crate::input) fn cache(spec: &Cache, problems: &mut Problems) -> CacheRules {
    let zeros = [
        ("step_tokens", spec.step_tokens == Some(0), "a step of 0 tokens is not possible"),
        ("interval_tokens", spec.interval_tokens == Some(0), "an interval of 0 tokens is not possible"),
        ("breakpoints_max", spec.breakpoints_max == Some(0), "without a breakpoint nothing is cached"),
        (
            "lookback_positions",
            spec.lookback_positions == Some(0),
            "the breakpoint itself counts as one \
            position",
        ),
    ];
    for (field, is_zero, message) in zeros {
        if is_zero {
            problems.push_at("step-zero", field, message, "write 1 or more");
        }
    }
    unused(spec, problems);
    let steps = Steps { min: spec.min_tokens.unwrap_or(0), step: spec.step_tokens.unwrap_or(1).max(1) };
    let rules = spec.rules.checked(spec, steps, problems);
    let (invalidates, hits) = (invalidates(&spec.invalidates), hits(spec, problems));
    if invalidates == Invalidates::default() && hits.is_none() {
        return rules;
    }
    CacheRules::Qualified(Box::new(Qualified { rules, invalidates, hits, of_models: Vec::new() }))
}

/// Reports fields that the rules do not use.
fn unused(spec: &Cache, problems: &mut Problems) {
    let given = [
        ("min_tokens", spec.min_tokens.is_some()),
        ("step_tokens", spec.step_tokens.is_some()),
        ("interval_tokens", spec.interval_tokens.is_some()),
        ("block_tokens", spec.block_tokens.is_some()),
        ("capacity_blocks", spec.capacity_blocks.is_some()),
        ("touch", spec.touch.is_some()),
        ("units", !spec.units.is_empty()),
        ("ttl", !spec.ttl.is_empty()),
        ("ttl_grace", spec.ttl_grace.is_some()),
        ("breakpoints_max", spec.breakpoints_max.is_some()),
        ("lookback_positions", spec.lookback_positions.is_some()),
        ("lookback_unit", spec.lookback_unit.is_some()),
        ("lookup", spec.lookup.is_some()),
        ("automatic", spec.automatic.is_some()),
        ("implicit", spec.implicit.is_some()),
        ("implicit_lead", spec.implicit_lead.is_some()),
        ("marks_instruction", spec.marks_instruction.is_some()),
        ("clock", spec.clock.is_some()),
        ("renewal", spec.renewal.is_some()),
        ("max_age", spec.max_age.is_some()),
        ("readable", spec.readable.is_some()),
        ("readable_after", spec.readable_after.is_some()),
        ("invalidates", !spec.invalidates.is_silent()),
        ("hit_probability", spec.hit_probability.is_some()),
        ("hit_seed", spec.hit_seed.is_some()),
    ];
    let of_rules = spec.rules.looks_at();
    for (field, _) in given.into_iter().filter(|(field, is_given)| *is_given && !of_rules.contains(field)) {
        problems.push_at(
            "cache-field-unused",
            field,
            format!("`{field}` has no effect under these cache rules"),
            "remove it",
        );
    }
}

pub(in crate::input::profile) fn breakpoints(spec: &Cache, problems: &mut Problems) -> Breakpoints {
    let usual = Breakpoints::default();
    if spec.lookup.is_some() {
        for (field, is_given) in [
            ("lookback_positions", spec.lookback_positions.is_some()),
            ("lookback_unit", spec.lookback_unit.is_some()),
        ] {
            if is_given {
                problems.push_at(
                    "cache-field-unused",
                    field,
                    format!("`{field}` has no effect beside `lookup`, which lists the places"),
                    "remove one of them",
                );
            }
        }
    }
    if spec.implicit_lead.is_some() && spec.implicit != Some(true) {
        problems.push_at(
            "implicit-lead-alone",
            "implicit_lead",
            "`implicit_lead` needs `implicit`",
            "add `implicit: true`, or remove `implicit_lead`",
        );
    }
    if spec.lookup == Some(Lookup::default()) {
        problems.push_at(
            "lookup-nowhere",
            "lookup",
            "an entry that is never looked up is never read",
            "write how many positions to look up, as in `latest: 50`",
        );
    }
    Breakpoints {
        min_tokens: spec.min_tokens.unwrap_or(usual.min_tokens),
        breakpoints_max: spec.breakpoints_max.unwrap_or(usual.breakpoints_max).max(1),
        lookback_positions: spec.lookback_positions.unwrap_or(usual.lookback_positions).max(1),
        lookback_unit: spec.lookback_unit.unwrap_or_default(),
        lookup: spec.lookup,
        automatic: spec.automatic.unwrap_or_default(),
        is_implicit: spec.implicit.unwrap_or_default(),
        marks_lead: spec.implicit_lead.unwrap_or_default(),
        marks_instruction: spec.marks_instruction.unwrap_or_default(),
        ttl_ms: ttls(spec, usual.ttl_ms, problems),
        grace_ms: spec.ttl_grace.map_or(0, |it| it.0),
        max_age_ms: spec.max_age.map(|it| it.0),
        renews: spec.renewal.unwrap_or_default() == Renewal::OnUse,
        readable: spec.readable.unwrap_or_default(),
        readable_after_ms: spec.readable_after.map_or(0, |it| it.0),
    }
}

/// Sorts lifetimes into their classes.
fn ttls(spec: &Cache, usual: [Option<u64>; 2], problems: &mut Problems) -> [Option<u64>; 2] {
    let mut classes = [None; 2];
    for ttl in &spec.ttl.0 {
        let class = &mut classes[TtlClass::of(ttl.0) as usize];
        if class.is_some() {
            problems.push_at(
                "ttl-class-twice",
                "ttl",
                format!("`{ttl}` has the same class as another lifetime"),
                "write at most one lifetime below an hour and one of an hour or more",
            );
        }
        *class = Some(ttl.0);
    }
    if classes == [None; 2] { usual } else { classes }
}

/// Returns the lifetime of rules that allow only one.
pub(in crate::input::profile) fn one_ttl(spec: &Cache, problems: &mut Problems) -> Option<u64> {
    if spec.ttl.0.len() > 1 {
        problems.push_at(
            "ttl-several",
            "ttl",
            "these rules allow only one lifetime",
            "write a single duration",
        );
    }
    spec.ttl.0.first().map(|it| it.0)
}

pub(in crate::input::profile) fn units(spec: &Cache, steps: Steps, problems: &mut Problems) -> Units {
    if spec.units.is_empty() && spec.interval_tokens.is_none() {
        problems.push_at(
            "units-nowhere",
            "units",
            "without units there is nothing to read later",
            "write `units: [input_end, output_end, common_prefix]`, or `interval_tokens`",
        );
    }
    let leaves = |at: UnitEnd| spec.units.contains(&at);
    Units {
        steps,
        at_input_end: leaves(UnitEnd::InputEnd),
        at_output_end: leaves(UnitEnd::OutputEnd),
        at_common_prefix: leaves(UnitEnd::CommonPrefix),
        interval_tokens: spec.interval_tokens.map(|it| it.max(1)),
        ttl_ms: one_ttl(spec, problems),
        readable: spec.readable.unwrap_or_default(),
        readable_after_ms: spec.readable_after.map_or(0, |it| it.0),
    }
}

pub(in crate::input::profile) fn explicit_cache(spec: &Cache, problems: &mut Problems) -> ExplicitCache {
    let ttl_ms = one_ttl(spec, problems).filter(|it| *it > 0);
    if ttl_ms.is_none() {
        problems.push_at(
            "ttl-missing",
            "ttl",
            "explicitly stored content needs a lifetime",
            "add one, such as `ttl: \"1h\"`",
        );
    }
    ExplicitCache {
        min_tokens: spec.min_tokens.unwrap_or(0),
        ttl_ms: ttl_ms.unwrap_or(1),
        renews: spec.renewal == Some(Renewal::OnUse),
    }
}

pub(in crate::input::profile) fn blocks(spec: &Cache, problems: &mut Problems) -> Blocks {
    let block_tokens = spec.block_tokens.unwrap_or(0);
    if block_tokens == 0 {
        problems.push_at(
            "block-size-missing",
            "block_tokens",
            "`block_tokens` must be at least 1",
            "write `block_tokens: 16`, or another number of at least 1",
        );
    }
    if spec.capacity_blocks == Some(0) {
        problems.push_at(
            "capacity-zero",
            "capacity_blocks",
            "a store of 0 blocks holds nothing",
            "write `rules: none` for no cache",
        );
    }
    let touch = spec.touch.unwrap_or_default();
    Blocks { block_tokens, capacity_blocks: spec.capacity_blocks, touch }
}

fn invalidates(spec: &written::Invalidates) -> Invalidates {
    let said: [Option<Level>; 9] = [
        spec.model,
        spec.tools,
        spec.system,
        spec.features,
        spec.tool_choice,
        spec.images,
        spec.thinking,
        spec.effort,
        // It is part of the messages, whatever the provider.
        None,
    ];
    let mut invalidates = Invalidates::default();
    for (level, said) in invalidates.0.iter_mut().zip(said) {
        *level = said.unwrap_or(*level);
    }
    invalidates
}

/// Returns the draws, if a hit is not certain.
fn hits(spec: &Cache, problems: &mut Problems) -> Option<Hits> {
    let Some(probability) = spec.hit_probability else {
        if spec.hit_seed.is_some() {
            problems.push_at(
                "cache-field-unused",
                "hit_seed",
                "this field needs `hit_probability`",
                "remove it, or add `hit_probability`",
            );
        }
        return None;
    };
    let parts = probability.scaled(9).filter(|it| *it <= Hits::CERTAIN);
    if parts.is_none() {
        problems.push_at(
            "hit-probability",
            "hit_probability",
            format!("{probability} is not a probability (from 0 to 1, with at most nine decimals)"),
            "write a number from 0 to 1, such as 0.95",
        );
    }
    let parts = parts.unwrap_or(Hits::CERTAIN);
    (parts < Hits::CERTAIN).then_some(Hits { parts, seed: spec.hit_seed.unwrap_or(0) })
}
