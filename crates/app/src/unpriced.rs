//! Notes on unknown costs: which tokens of a run have no price.

use ctxsim_base::grid::numbers::NONE;
use ctxsim_base::list::Listed as _;
use ctxsim_base::quantity::Expected;
use ctxsim_engine::measure::Tally;
use ctxsim_input::Profile;
use ctxsim_report::Report;
use ctxsim_report::part::MissingPrice;

/// Returns which prices a profile lacks.
pub(super) fn missing(profile: &Profile) -> MissingPrice {
    let rates = profile.prices.usual();
    let writes = [0, 1].map(|it| rates.write(it).is_none());
    MissingPrice { profile: profile.name.clone(), output: rates.output.is_none(), writes }
}

/// Returns a note for each profile under which some cost is unknown.
pub(super) fn notes<'p>(report: &Report, profiles: impl Iterator<Item = &'p MissingPrice>) -> Vec<String> {
    let notes = profiles.filter_map(|profile| {
        let lines = report.lines(Some(&profile.profile));
        let sums = lines.iter().map(|it| &it.1.run.tally).filter(|it| it.costs.total().is_none());
        let unknown: Vec<&Tally> = sums.listed();
        (!unknown.is_empty()).then(|| {
            let parts = parts(&unknown, profile);
            format!(
                "{}: no price is known for {}, so costs that include them are unknown ({NONE}).",
                profile.profile, parts
            )
        })
    });
    notes.listed()
}

/// Returns what sums of unknown cost use that has no price.
fn parts(sums: &[&Tally], profile: &MissingPrice) -> String {
    let uses_write = |class: usize| {
        sums.iter().any(|it| {
            let sums = &it.sums;
            [&sums.main, &sums.summariser, &sums.keep_alive].iter().any(|it| it.tokens.write[class] > 0)
                || sums.needs.refetched.write[class] > Expected::ZERO
        })
    };
    let missing = [
        ("output", profile.output),
        ("short cache writes (minutes)", profile.writes[0] && uses_write(0)),
        ("long cache writes (an hour or more)", profile.writes[1] && uses_write(1)),
    ];
    let names: Vec<&str> =
        missing.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| *name).listed();
    // A tier, an hour of the day or stored contents.
    if names.is_empty() { "some tokens".to_owned() } else { names.join(" and ") }
}
