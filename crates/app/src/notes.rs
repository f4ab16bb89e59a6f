//! Notes on a plan's scenarios and policies, in sentences.

use indexmap::{IndexMap, IndexSet};

use super::session::{note_on_refused, note_on_tokens};
use super::{Comparison, Load};
use ctxsim_base::grid::numbers::{counted, listed, percent};
use ctxsim_base::list::Listed as _;
use ctxsim_report::sections::{Detail, Section, TableLine};
use ctxsim_report::{Brief, Report, distinct};

/// Returns what a reader must know of it and the policies that it is played under.
pub fn notes_on_load(load: &Load) -> Vec<String> {
    let own = load.world.notes(load).into_iter();
    note_on_tokens(load)
        .into_iter()
        .chain(note_on_refused(load))
        .chain(own)
        .chain(notes_on_unread(load))
        .listed()
}

/// Notes parts of policies that the load does not read.
fn notes_on_unread(load: &Load) -> Vec<String> {
    let mut unread: IndexMap<&str, Vec<String>> = IndexMap::new();
    for policy in &load.policies {
        let fields = load.world.kind().unread(policy);
        fields.for_each(|it| unread.entry(it).or_default().push(policy.name.clone()));
    }
    let told = unread.into_iter().map(|(field, policies)| {
        format!("{} does not read `{field}`: {} simulated without it.", load.name, are(&policies))
    });
    told.listed()
}

/// Lists policies with their verb.
fn are(policies: &[String]) -> String {
    format!("{} {}", listed(policies), if policies.len() == 1 { "is" } else { "are" })
}

/// Lists the changes made for a run, so that its numbers are not mistaken for those of the files.
pub(super) fn on_changes(comparison: &Comparison) -> Option<String> {
    let seed = comparison.seed.map(|it| format!("seed {it}"));
    let trials = comparison.trials.map(|it| format!("{it} trials"));
    let changes: Vec<String> = comparison.set.iter().cloned().chain(seed).chain(trials).listed();
    (!changes.is_empty()).then(|| format!("Changed for this run: {}.", changes.join(", ")))
}

/// Counts the guards of a suite that concern parts the run leaves out.
pub(super) fn on_guards(n_unjudged: usize) -> Option<String> {
    let (guards, are) = if n_unjudged == 1 { ("guard", "is") } else { ("guards", "are") };
    (n_unjudged > 0).then(|| {
        format!("{n_unjudged} {guards} of the suite {are} not checked: this run omits what they refer to.")
    })
}

/// Compares each policy's savings with those of the best schedule in hindsight, table by table.
pub(super) fn on_hindsight(report: &Report, schedules: &[String]) -> Vec<String> {
    if schedules.is_empty() {
        return Vec::new();
    }
    let sections = report.sections(Detail::Groups);
    sections.iter().filter(|it| !it.is_part).filter_map(|it| of_section(it, report, schedules)).listed()
}

fn of_section(section: &Section, report: &Report, schedules: &[String]) -> Option<String> {
    let first = section.lines.first()?;
    let best = section.lines.iter().find(|it| schedules.contains(&it.policy))?;
    let saved = |line: &TableLine| {
        let is_same = line.tally.outcome.did_as_much_as(&first.tally.outcome);
        let costs = first.tally.costs.total().zip(line.tally.costs.total()).filter(|_| is_same);
        costs.map(|(base, own)| (base - own) / base).filter(|it| it.is_finite())
    };
    let most = saved(best)?;
    let subject = section.subject();
    let bound = best.tally.bound.zip(first.tally.costs.total()).map(|(bound, base)| (base - bound) / base);
    let bound = bound.map_or_else(String::new, |it| {
        format!(", and no schedule that keeps every needed item can save more than {}", percent(it))
    });
    if most < SAVED_MIN {
        return Some(format!(
            "{subject}: even {} saves nothing against {}{bound}.",
            best.policy, first.policy
        ));
    }
    let is_real = |it: &&TableLine| it.policy != first.policy && !report.oracles.contains(&it.policy);
    let taken = section.lines.iter().filter(is_real).filter_map(|it| {
        let share = saved(it)? / most;
        let is_dearer = share < 0.0;
        Some(if is_dearer {
            format!("{} costs more than {}", it.policy, first.policy)
        } else {
            format!("{} achieves {:.0}% of the savings of {}", it.policy, share * 100.0, best.policy)
        })
    });
    let taken: Vec<String> = taken.listed();
    let taken = if taken.is_empty() { String::new() } else { format!("; {}", taken.join(", ")) };
    Some(format!(
        "{subject}: {} would save {} of {}'s cost{bound}{taken}.",
        best.policy,
        percent(most),
        first.policy
    ))
}

/// A smaller share of the cost is nothing.
const SAVED_MIN: f64 = 0.000_5;

/// Lists which orders depend on the recovery assumptions, and where recovery was sampled.
pub(super) fn on_recovery(report: &Report) -> Vec<String> {
    let played: IndexSet<&str> =
        report.briefs().filter(|it| it.figures.n_played > 0).map(|it| it.policy).collect();
    let n_played = report.briefs().map(|it| it.figures.n_played).max().unwrap_or_default();
    let mut notes = open_orders(report);
    if !played.is_empty() {
        let names: Vec<&str> = played.into_iter().listed();
        notes.push(format!(
            "Recovery was sampled {n_played} times for policies whose edits depend on fetched results: {}.",
            names.join(", ")
        ));
    }
    notes
}

/// Says what rests on best-effort caches where one policy is played alone, so that no verdict does.
pub(super) fn on_best_effort(report: &Report) -> Vec<String> {
    let policies = distinct(report.briefs().map(|it| it.policy));
    if policies.len() > 1 || report.briefs().all(|it| it.figures.saved_by_luck.is_none()) {
        return Vec::new();
    }
    let sections = report.sections(Detail::Groups);
    let resting =
        sections.iter().filter_map(|it| Some((it.profile.as_str(), it.trust.best_effort.as_ref()?)));
    let mut resting = resting.listed();
    resting.dedup_by_key(|it| it.0);
    let most =
        resting.iter().max_by(|one, other| one.1.times_without_hits.total_cmp(&other.1.times_without_hits));
    let Some((profile, share)) = most else { return Vec::new() };
    let others = match resting.len() - 1 {
        0 => String::new(),
        n => format!(" The same holds, to a lesser degree, under {}.", counted(n, "other profile")),
    };
    vec![format!("Under {profile}, {}.{others}", share.words())]
}

/// The name of the profile of sessions that each run under their own model's.
const OWN: &str = "their own models' profiles";

/// Lists the policies whose order against the first depends on what is assumed.
fn open_orders(report: &Report) -> Vec<String> {
    let profiles = if report.is_one_question() {
        vec![None]
    } else {
        distinct(report.briefs().map(|it| it.profile)).into_iter().map(Some).listed()
    };
    let mut notes = Vec::new();
    for profile in profiles {
        let lines = report.lines(profile);
        let Some((first, base)) = lines.iter().next() else { continue };
        let is_of_first =
            |it: &Brief<'_>| it.policy == first && profile.is_none_or(|profile| it.profile == profile);
        let start = match report.briefs().filter(is_of_first).count() {
            1 => "Whether",
            _ => "Over all scenarios, whether",
        };
        let under = profile.unwrap_or(OWN);
        for (policy, _) in lines.iter().skip(1).filter(|it| it.1.run.tally.is_open_against(&base.run.tally)) {
            notes.push(format!(
                "{start} {policy} costs less than {first} under {under} depends on what is assumed."
            ));
        }
    }
    notes
}
