//! Notes on unknown costs: which tokens of a run have no price.

use crate::grid::numbers::NONE;
use crate::input::Profile;
use crate::report::Report;
use crate::take::Run;

/// Returns a note for each profile under which some cost is unknown.
pub(super) fn notes(report: &Report, profiles: &[Profile]) -> Vec<String> {
    let notes = profiles.iter().filter_map(|profile| {
        let is_unknown = |run: &&Run| run.profile == profile.name && run.tally.costs.total().is_none();
        let runs: Vec<&Run> = report.runs.iter().filter(is_unknown).collect();
        (!runs.is_empty()).then(|| {
            let parts = parts(&runs, profile);
            format!(
                "{}: no price is known for {}, so costs that include them are unknown ({NONE}).",
                profile.name, parts
            )
        })
    });
    notes.collect()
}

/// Returns what runs use that has no price.
fn parts(runs: &[&Run], profile: &Profile) -> String {
    let rates = profile.prices.usual();
    let uses_write = |class: usize| {
        runs.iter().any(|it| {
            let sums = &it.tally.sums;
            [&sums.main, &sums.summariser, &sums.keep_alive].iter().any(|it| it.tokens.write[class] > 0)
                || sums.needs.refetched.write[class] > 0.0
        })
    };
    let missing = [
        ("output", rates.output.is_none()),
        ("short cache writes (minutes)", rates.write(0).is_none() && uses_write(0)),
        ("long cache writes (an hour or more)", rates.write(1).is_none() && uses_write(1)),
    ];
    let names: Vec<&str> =
        missing.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| *name).collect();
    // A tier, an hour of the day or stored contents.
    if names.is_empty() { "some tokens".to_owned() } else { names.join(" and ") }
}
