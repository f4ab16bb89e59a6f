//! What is wrong by construction with a scenario that is written by hand: it would run, and say something else than what was meant.

use crate::prelude::*;
use ctxsim_timeline::Spine;

/// The warnings of scenarios; each has its broken file in `tests/lints`.
pub const WARNINGS: [Code; 4] =
    [Code("gap-before-reply"), Code("session-without-time"), Code("needs-lost"), Code("setting-not-offered")];

/// The policies that lose nothing that is needed, if anything can be kept.
const KEEP_EVERYTHING: [&str; 2] = ["identity", "clairvoyant"];
/// What they are played under where a scenario names no profiles of its own.
const PROFILE: &str = "unlimited";
/// Below this share, what they keep is less than everything, and not a rounding.
const EVERYTHING: f64 = 0.999_999;

/// Returns what is wrong by construction with a scenario of written turns; nothing of any other.
///
/// # Errors
/// The scenario cannot be read or played.
pub(super) fn lint_written_scenario(catalog: &Catalog, name: &str) -> Result<Vec<Diagnostic>> {
    let scenario = catalog.scenario(name)?;
    if !matches!(scenario.spec.load, LoadSpec::Turns(_) | LoadSpec::Sessions(_) | LoadSpec::Generate(_)) {
        return Ok(Vec::new());
    }
    let own = &scenario.spec.profiles;
    let comparison = Comparison {
        policies: KEEP_EVERYTHING.map(str::to_owned).to_vec(),
        scenarios: vec![name.to_owned()],
        profiles: if own.is_empty() { vec![PROFILE.to_owned()] } else { own.clone() },
        ..Comparison::default()
    };
    let plan = Plan::new(catalog, &comparison)?.without_limits();
    let mut found = Vec::new();
    for entry in &plan.scenarios {
        let loads = plan.open(entry)?;
        found.extend(loads.iter().filter_map(|it| early_request_lint(&it.timeline()?.spine)));
        // Where it names no profiles, it asks nothing of any.
        let unmet = loads.iter().filter(|_| !own.is_empty()).flat_map(Load::unmet);
        let help = "name other profiles, or leave the setting as it is";
        found.extend(unmet.map(|it| Diagnostic::at(WARNINGS[3], "load", it).help(help)));
    }
    let kept = plan.report(None, &|_, _| {})?.runs.into_iter();
    let kept = kept.filter_map(|it| Some((it.policy, it.tally.evidence_kept()?)));
    if let Some((policy, kept)) = kept.min_by(|one, other| one.1.total_cmp(&other.1))
        && kept < EVERYTHING
    {
        let share = ctxsim_base::grid::numbers::percent(kept);
        let message =
            format!("even {policy} keeps only {share} of what is needed: the rest is lost by construction");
        let help = "give the calls that are needed `preserve = \"working_evidence\"`, or leave `preserve` out of all calls of the turn; \
            a turn without calls has nothing to keep: give it `talk_needs = { none = 1.0 }`";
        found.push(Diagnostic::at(Code("needs-lost"), "load", message).help(help));
    }
    Ok(scenario.locate_problems(found))
}

/// Reports requests that start before the reply to the one before is there, so that they cannot read what it wrote.
pub(super) fn early_request_lint(spine: &Spine) -> Option<Diagnostic> {
    let (mut n_hurried, mut n_all, mut has_no_other) = (0, 0, false);
    for session in &spine.sessions {
        let turns = session.turns.start as usize..session.turns.end as usize;
        let steps = spine.turns.get(turns).unwrap_or_default().iter().flat_map(|it| it.steps.clone());
        let steps = steps.filter_map(|it| spine.steps.get(it as usize)).listed();
        let hurried = steps.windows(2).filter(|it| it[1].at_ms < it[0].response_ms).count();
        n_hurried += hurried;
        n_all += steps.len();
        has_no_other |= hurried > 0 && hurried + 1 == steps.len();
    }
    let (code, what) = match (n_hurried, has_no_other) {
        (0, _) => return None,
        (_, true) => (Code("session-without-time"), "every request of a session misses the cache"),
        (_, false) => (Code("gap-before-reply"), "they cannot read what it writes"),
    };
    let message =
        format!("{n_hurried} of {n_all} requests start before the reply to the one before is there: {what}");
    let help =
        "leave `gap_ms` out, so that each request waits for the reply, or write at least `response_ms`";
    Some(Diagnostic::at(code, "load", message).help(help))
}
