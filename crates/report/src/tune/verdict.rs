//! The one reason why the best variant is not recommended.

use ctxsim_engine::measure::SAME;
use ctxsim_engine::measure::floor::{Floor, keeps_more};
use ctxsim_engine::measure::limits::{Limit, for_later, interval_for_later};

use super::{HELD_OUT_MIN, SplitBy, TunePart, Tuned, variant_name};
use crate::lever::{Lever, Word};
use crate::prelude::*;

/// Why nothing is recommended, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNot {
    /// No stage fires in any variant.
    NeverFires,
    /// No variant can be compared: each stops elsewhere than the base, or a price is unknown.
    NotComparable,
    /// No variant costs less than the base.
    Dearer,
    /// What costs less may keep too little evidence.
    Evidence,
    /// The base itself keeps too little, so that being cheaper than it is no merit.
    BaseBelowFloor,
    /// There are too few sessions to test a choice.
    TooFewSessions,
    /// On the sessions held out, the interval of the saving includes zero.
    IntervalIncludesZero,
    /// The saving rests on one project or session.
    OneProject,
    /// Whether it saves depends on what is assumed.
    RecoveryAssumptions,
    /// It holds, and is still not worth a change by the rule that gives words.
    Word,
}

/// Why nothing is recommended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// As a word.
    pub why: WhyNot,
    /// As a sentence, without its stop.
    pub text: String,
}

/// Says why costs cannot be compared.
fn not_comparable_clause(base: &str) -> String {
    format!("stops at a limit where {base} does not, or the other way round, or a price is unknown")
}

/// Gives a reason.
fn some_reason(why: WhyNot, text: String) -> Option<Reason> {
    Some(Reason { why, text })
}

impl Tuned {
    /// Returns why nothing can be chosen on the first part of the sessions.
    pub(super) fn why_nothing_chosen(&self, is_every_variant_idle: bool) -> Option<Reason> {
        let (base, floor) = (&self.base, percent(self.min_evidence));
        if is_every_variant_idle {
            let longest = format!("the longest prompt has {} tokens", thousands(self.prompt_tokens_max));
            let text = format!("no stage ever fired, so every variant is {base}; {longest}");
            return some_reason(WhyNot::NeverFires, text);
        }
        let points = || self.points.iter().filter_map(|it| Some((it, it.parts.first()?)));
        let known = || points().filter_map(|(point, own)| Some((point, own, own.cost_change_share()?)));
        let Some((_, own, change)) = known().next() else {
            let text = format!("every variant {}", not_comparable_clause(base));
            return some_reason(WhyNot::NotComparable, text);
        };
        if let Some(kept) = own.base_kept.filter(|it| !Floor(self.min_evidence).passes(Some(*it))) {
            return some_reason(WhyNot::BaseBelowFloor, self.base_below_floor_sentence(kept));
        }
        if change < 0.0 && own.surely_keeps(self.min_evidence) {
            return None;
        }
        // What costs less stands behind what keeps enough.
        let cheapest = known().min_by(|one, other| one.2.total_cmp(&other.2));
        let text = match cheapest {
            Some((point, own, change)) if change < 0.0 => {
                let keeps = own.evidence_kept_text().unwrap_or_else(|| "an unknown share".to_owned());
                let (what, name) = (self.keep_floor_clause(&floor), variant_name(&point.set));
                let over = interval_scope_clause(&own.evidence_limits);
                let text = format!(
                    "no variant that is certain to {what} costs less than {base}; the cheapest, {name}, keeps {keeps}{over}"
                );
                return some_reason(WhyNot::Evidence, text);
            }
            Some((_, _, change)) => {
                let costs = if change.abs() < SAME { "the same".to_owned() } else { signed(change) };
                format!("no variant costs less than {base}; the best costs {costs}")
            }
            None => format!("no variant costs less than {base}"),
        };
        some_reason(WhyNot::Dearer, text)
    }

    /// Says that the base keeps too little to be a measure, and what keeps more.
    fn base_below_floor_sentence(&self, kept_share: f64) -> String {
        const SHOWN: usize = 3;
        let points = self.points.iter().filter_map(|it| Some((it, it.parts.first()?)));
        let known = points.filter_map(|(point, own)| Some((own.evidence_kept?, point, own)));
        let mut more = known.filter(|it| keeps_more(Some(it.0), Some(kept_share))).listed();
        more.order_by(|one, other| other.0.total_cmp(&one.0));
        more.dedup_by(|one, other| one.2 == other.2);
        let said = more.iter().map(|(kept_share, point, own)| {
            let change = own.cost_change_share().map_or_else(String::new, |it| format!(", {}", signed(it)));
            format!("{} ({}{change})", variant_name(&point.set), percent(*kept_share))
        });
        let others = match more.len() {
            0 => "no variant keeps more".to_owned(),
            _ => format!("these keep more: {}", first_few(said, SHOWN)),
        };
        let (base, kept_share, floor) = (&self.base, percent(kept_share), percent(self.min_evidence));
        let keeps = match self.evidence_measure_name() {
            None => format!("keeps only {kept_share} of the evidence"),
            Some(number) => format!("comes to only {kept_share} ({number})"),
        };
        format!(
            "{base} itself {keeps}, less than the floor of {floor}, so nothing is recommended for being cheap; {others}"
        )
    }

    /// Returns the number that is used as the evidence kept, if it is not the evidence itself.
    pub(super) fn evidence_measure_name(&self) -> Option<&str> {
        self.parts.first()?.kept_of.as_deref()
    }

    /// Says that a share is kept, after "to".
    pub(super) fn keep_floor_clause(&self, floor: &str) -> String {
        match self.evidence_measure_name() {
            None => format!("keep {floor} of the evidence"),
            Some(number) => format!("have {number} of at least {floor}"),
        }
    }

    /// Says that there are too few sessions to test a choice, and how many it takes.
    pub(super) fn too_few_sessions_reason(&self, n_all: usize, n_held_out: usize) -> Reason {
        let n = counted(n_all, "session");
        let are = if n_all == 1 { "is" } else { "are" };
        let text = match self.split {
            SplitBy::Time => format!(
                "{n} {are} too few to test a choice: the newer half is held out and must have {HELD_OUT_MIN}, so it takes {}",
                2 * HELD_OUT_MIN - 1
            ),
            SplitBy::Project => format!(
                "{n} {are} too few to test a choice: whole projects are held out, here {}, and at least {HELD_OUT_MIN} must be; add sessions of the smaller projects",
                counted(n_held_out, "session")
            ),
        };
        Reason { why: WhyNot::TooFewSessions, text }
    }

    /// Returns why the choice does not hold: on the sessions held out, then with each project held out in turn. The one place that decides.
    pub(super) fn reason_to_reject_choice(&self, held_out: &TunePart) -> Option<Reason> {
        let in_turn = self.by_project.as_ref();
        self.why_choice_fails_on(held_out, "on the held-out sessions")
            .or_else(|| self.why_choice_fails_on(in_turn?, "where each project is held out in turn"))
    }

    /// Returns why the choice does not hold on what it was not made on.
    fn why_choice_fails_on(&self, held_out: &TunePart, place: &str) -> Option<Reason> {
        let (base, floor) = (&self.base, self.min_evidence);
        let Some(ends) = held_out.spread.and_then(|it| it.interval).filter(|_| held_out.cost.is_some())
        else {
            return some_reason(WhyNot::NotComparable, format!("{place} it {}", not_comparable_clause(base)));
        };
        let declared = for_later(&held_out.cost_limits).and_then(|it| it.as_declared);
        if let Some(declared) = declared.filter(|it| it[1] < 0.0 && ends[1] >= 0.0) {
            let [declared, ends] = [declared, ends].map(interval);
            let text = format!(
                "{place}, whether it costs less than {base} depends on what is assumed: the 95% interval of its change in cost is {declared}% as that is declared, and {ends}% over what it may be"
            );
            return some_reason(WhyNot::RecoveryAssumptions, text);
        }
        if ends[1] >= 0.0 {
            let (over, ends) = (interval_scope_clause(&held_out.cost_limits), interval(ends));
            let text = format!("{place} the best alternative saves nothing measurable{over} ({ends}%)");
            return some_reason(WhyNot::IntervalIncludesZero, text);
        }
        if held_out.without_best.is_none_or(|it| it >= 0.0) {
            let one = if held_out.projects > 1 { "project" } else { "session" };
            let best = format!("{place}, without the {one} that saves most");
            return some_reason(WhyNot::OneProject, format!("{best}, it does not cost less than {base}"));
        }
        if let Some(task) = held_out.task_kept.filter(|it| !Floor(floor).passes(Some(*it))) {
            let text = format!("{place} only {} of the requests show what the user asked", percent(task));
            return some_reason(WhyNot::Evidence, text);
        }
        if !held_out.surely_keeps(floor) {
            let (what, least) = (self.keep_floor_clause(&percent(floor)), least_evidence_clause(held_out));
            return some_reason(WhyNot::Evidence, format!("{place} it is not certain to {what}{least}"));
        }
        None
    }
}

/// Returns why a choice that holds is still not to be made: the rule does not call it *do*.
pub(super) fn reason_unless_word_is_do(lever: &Lever) -> Option<Reason> {
    let word = lever.word.filter(|it| *it != Word::Do)?;
    some_reason(WhyNot::Word, format!("the word for it is “{}”: {}", word.text(), lever.why))
}

/// Returns the word of a choice, and what it rests on. What saves on the sessions held out, and was not found to hold there by the rule of
/// fitted numbers, can be tried.
pub(super) fn advice_and_basis(mut lever: Lever, reason: Option<&Reason>) -> (Option<Word>, Option<String>) {
    if let Some(reason) = reason.filter(|_| lever.word == Some(Word::Do)) {
        (lever.word, lever.why) = (Some(Word::Try), reason.text.clone());
    }
    (lever.word, lever.verdict_sentence())
}

/// Says how little evidence may be kept, and which blocks say so.
fn least_evidence_clause(part: &TunePart) -> String {
    let Some([low, _]) = interval_for_later(&part.evidence_limits) else { return String::new() };
    format!(": it keeps at least {}{}", percent(low), interval_scope_clause(&part.evidence_limits))
}

/// Says which blocks the limit for later sessions is over.
fn interval_scope_clause(limits: &[Limit]) -> String {
    for_later(limits).map_or_else(String::new, |it| format!(" {}", super::part::interval_scope_text(it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::{SplitBy, TriedVariants, TunedSession};
    use ctxsim_base::quantity::Amount;
    use ctxsim_engine::ledger::{NeedSums, Sums};
    use ctxsim_engine::measure::Tally;
    use ctxsim_engine::price::Costs;
    use ctxsim_input::profile::calendar::{DAY_MS, parse_day};

    const MONTH_MS: i64 = 30 * DAY_MS;

    fn tally(usd: f64, met: f64) -> Tally {
        let sums = Sums { needs: NeedSums { weight: 1.0, met, ..NeedSums::default() }, ..Sums::default() };
        let costs = Costs { reaction: Amount::of_usd(usd), ..Costs::default() };
        Tally { sums, costs, ..Tally::empty() }
    }

    /// Makes 48 sessions in eight months and twelve projects; each month has six of the projects.
    fn sessions(cost: impl Fn(usize, usize) -> f64, kept: impl Fn(usize, usize) -> f64) -> Vec<TunedSession> {
        let first = parse_day("2026-01-05").unwrap_or_default();
        let one = |nth: usize| {
            let (month, project) = (nth / 6, nth % 12);
            TunedSession {
                project: format!("p{project}"),
                last_ms: Some(first + month as i64 * MONTH_MS + nth as i64),
                base: tally(1.0, 1.0),
                variants: vec![tally(cost(month, project), kept(month, project))],
                remembered: None,
                numbers: Vec::new(),
            }
        };
        (0..48).map(one).collect()
    }

    fn tuned(sessions: &[TunedSession]) -> Tuned {
        tuned_over(vec![vec!["a=1".to_owned()]], sessions)
    }

    fn tuned_over(points: Vec<Vec<String>>, sessions: &[TunedSession]) -> Tuned {
        let tried = TriedVariants { points, ..TriedVariants::default() };
        Tuned::new(["base", "policy"], sessions, tried, 0.9, 0)
    }

    /// Something that varies from session to session alone.
    fn noise(month: usize, project: usize) -> f64 {
        ((month * 7 + project * 5) % 11) as f64 / 11.0 - 0.5
    }

    #[test]
    fn a_floor_that_other_months_may_break_forbids_and_so_does_one_that_hangs_on_the_mix_of_projects() {
        let steady = tuned(&sessions(|m, p| 0.9 + 0.02 * noise(m, p), |_, _| 0.95));
        assert!(steady.is_recommended, "{:?}", steady.reason);
        assert_eq!((steady.split, steady.held_out_blocks.len()), (SplitBy::Time, 12 + 4));

        // The older half keeps 95% throughout; of the newer one, one month or two projects keep less, and all together 93%.
        let of_months = tuned(&sessions(|_, _| 0.9, |m, _| if m == 6 { 0.85 } else { 0.95 }));
        let of_projects = tuned(&sessions(|_, _| 0.9, |m, p| if m > 3 && p % 6 == 0 { 0.82 } else { 0.95 }));
        for it in [&of_months, &of_projects] {
            assert!(it.parts[1].evidence_kept > Some(0.92), "{:?}", it.parts[1]);
        }
        assert_eq!(of_months.why_not, Some(WhyNot::Evidence), "{of_months:?}");
        assert!(of_months.reason.as_ref().is_some_and(|it| it.ends_with("over 4 months")), "{of_months:?}");
        // The projects are the user's, and later sessions of them again; but two of twelve carry all that is lost.
        assert_eq!((of_projects.why_not, of_projects.word), (Some(WhyNot::Word), Some(Word::YourCall)));
        let words = of_projects.parts[1].intervals_text().unwrap_or_default();
        let told = words.split("in other projects").nth(1).unwrap_or_default();
        let least = told.split("at least ").nth(1).and_then(|it| it.split('%').next()?.parse::<f64>().ok());
        assert!(least.is_some_and(|it| it < 90.0), "{words}");
    }

    #[test]
    fn a_saving_of_some_months_is_no_promise_and_the_limit_is_named() {
        let cost = |m: usize, p| if m > 3 && m.is_multiple_of(2) { 1.02 } else { 0.8 } + 0.01 * noise(m, p);
        let found = tuned(&sessions(cost, |_, _| 1.0));

        assert_eq!(found.why_not, Some(WhyNot::IntervalIncludesZero));
        let reason = found.reason.unwrap_or_default();
        assert!(reason.starts_with("on the held-out sessions"), "{reason}");
        assert!(reason.contains("over 4 months ("), "{reason}");
        let over_sessions = found.parts[1].cost_limits[0].interval.unwrap_or_default();
        assert!(over_sessions[1] < 0.0, "sessions alone would say that it saves: {over_sessions:?}");
    }

    #[test]
    fn what_only_a_project_of_its_own_chooses_is_not_promised_to_others() {
        // One value saves a lot for one project and nothing for the others; the other value saves a little for all.
        let with_two = |session: TunedSession| {
            let special = tally(if session.project == "p0" { 0.3 } else { 1.0 }, 1.0);
            TunedSession { variants: vec![special, tally(0.95, 1.0)], ..session }
        };
        let sessions = sessions(|_, _| 1.0, |_, _| 1.0).into_iter().map(with_two).listed();
        let points = ["a=1", "a=2"].map(|it| vec![it.to_owned()]).to_vec();

        let found = tuned_over(points, &sessions);

        let part = found.by_project.as_ref().unwrap();
        assert_eq!((part.sessions, part.projects), (48, 12));
        assert_eq!(found.chosen, ["a=1"]);
        assert!(
            part.cost_change_share() > found.parts[1].cost_change_share(),
            "others save less than those chosen on"
        );
    }

    #[test]
    fn what_blocks_cannot_tell_is_named() {
        let tuned_on = |n_projects: usize, days: i64| {
            let all = sessions(|m, p| 0.9 + 0.05 * noise(m, p), |_, _| 1.0);
            let moved = |(nth, session): (usize, TunedSession)| TunedSession {
                project: format!("p{}", nth % n_projects),
                last_ms: session.last_ms.map(|_| nth as i64 * days * DAY_MS / 48),
                ..session
            };
            tuned(&all.into_iter().enumerate().map(moved).collect::<Vec<_>>())
        };

        let few = tuned_on(2, 150).cautions.join("; ");
        assert_eq!(few, "how 3 months differ is mostly assumed");
        let told = tuned_on(1, 20).cautions.join("; ");
        assert!(told.contains("they are of one project") && told.contains("they span one month"), "{told}");
        assert!(tuned_on(1, 1).cautions.join("; ").contains("they are of one day"));
        assert_eq!(tuned_on(12, 240).cautions, Vec::<String>::new());
    }
}
