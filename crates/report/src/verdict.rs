//! A table's answer in words: which policy to take, why, and how far to trust it.

use super::advise::AgentAdvice;
use super::decide::beside::{ComparedSession, judge_compared_sessions};
use super::decide::{SessionEffect, too_few_loads};
use super::lever::{Lever, Word};
use super::names::names_without_folders;
use super::notes::EstimatedRequests;
use super::sections::{Detail, OWN, Section, TableLine};
use super::trust::TableTrust;
use crate::prelude::*;
use ctxsim_engine::measure::floor::{Floor, keeps_more};
use ctxsim_input::policy::Apply;

/// The share of the evidence that a policy must keep to be advised, unless something else is asked for.
pub const MIN_EVIDENCE: f64 = 0.9;

/// What a table says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What was run.
    pub load: String,
    /// Under which profile.
    pub profile: String,
    /// The share of the evidence that a policy must keep to be advised.
    pub min_evidence: f64,
    /// The policy that the others are measured against.
    pub baseline: String,
    /// The share of the evidence that the first policy keeps, where it is below the floor: nothing is recommended for being cheap then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_keeps: Option<f64>,
    /// The cheapest of the policies that keep as much, the first one included, or none if no cost is known, or the first one itself is
    /// below the floor.
    pub cheapest: Option<PolicyChoice>,
    /// Where the first policy is below the floor: those that keep more, what keeps most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep_more: Vec<PolicyChoice>,
    /// Cheaper policies that lose more evidence, the cheapest first.
    pub lossy: Vec<PolicyChoice>,
    /// Whether anything says what is needed, so that losses are known; if not, nothing is recommended.
    pub knows_evidence: bool,
    /// How far the sessions carry it.
    pub trust: TableTrust,
    /// How many scenarios are added up.
    pub scenarios: usize,
    /// Whether its sizes are as they were recorded, although nobody has published how the profile's models count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_uncounted: bool,
    /// How many requests have estimated sizes, because the recordings do not say what was billed for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated: Option<EstimatedRequests>,
}

/// A policy against the first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyChoice {
    pub policy: String,
    /// What it does in a few words, if its file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its name in the table.
    #[serde(skip)]
    pub shown: String,
    /// By which share its cost differs from the first one's; none for the first one.
    pub change: Option<f64>,
    /// The change to expect of later sessions, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// The same with every recorded compaction as recorded, if the policy avoids any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_as_recorded: Option<f64>,
    /// The 95% interval of the change for later sessions, over what is assumed, too.
    pub interval: Option<[f64; 2]>,
    /// The 95% interval of the change over what is assumed alone, both policies under the same numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<[f64; 2]>,
    /// The lowest and the highest change where everything that is assumed is wrong in one direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<[f64; 2]>,
    /// The share of the sessions that are cheaper.
    pub cheaper: Option<f64>,
    /// The share of needed evidence that its prompts still held.
    pub evidence_kept: Option<f64>,
    /// The share of turns' requests that still show what the user asked, where it is not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_kept: Option<f64>,
    /// Whether what is assumed decides if it is cheaper than the first one.
    pub is_open: bool,
    /// Of recorded sessions: the word that the rule gives it among all policies that were run, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<Word>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The setting that makes the real agent do it, with the numbers that it ran with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apply: Option<Apply>,
}

impl PolicyChoice {
    /// Returns its name in the table, with what it does.
    pub(super) fn name_with_title(&self) -> String {
        self.shown.clone() + &or_nothing(self.title.as_ref(), |title| format!(" ({title})"))
    }
}

impl Report {
    /// Returns what the tables say, those that are parts of others left out.
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.verdicts_of(&self.sections(Detail::Groups))
    }

    /// Returns what these tables say.
    pub fn verdicts_of(&self, sections: &[Section]) -> Vec<Verdict> {
        let whole = sections.iter().filter(|it| !it.is_part && it.lines.len() > 1);
        whole.map(|it| Verdict::new(it, self)).listed()
    }

    /// Judges the policies of the tables of recorded sessions, each once; a setting among all that can be set, as it is advised.
    pub fn judge_policies(&mut self, advised: Vec<AgentAdvice>) {
        self.advised = advised;
        let settings = self.advised.iter().flat_map(|it| &it.levers).filter(|it| it.set.len() == 1);
        let settings: IndexMap<String, Lever> = settings.map(|it| (it.set[0].clone(), it.clone())).collect();
        for section in self.sections(Detail::Groups).iter().filter(|it| !it.is_part) {
            let is_of_settings = section.lines.iter().any(|it| self.settings.contains(&it.policy));
            let judged = if is_of_settings { settings.clone() } else { self.levers_by_policy(section) };
            let keyed = judged.into_iter().map(|(policy, lever)| ((section.profile.clone(), policy), lever));
            self.levers.extend(keyed);
        }
    }

    /// Returns what the rule says of the policies of a table of recorded sessions, by their names; of runs that were folded, nothing is
    /// kept session by session.
    fn levers_by_policy(&self, section: &Section) -> IndexMap<String, Lever> {
        let names = section.lines.iter().skip(1).map(|it| it.policy.clone());
        let names = names.filter(|it| !self.oracles.contains(it)).listed();
        let Some(base) = section.lines.first().filter(|_| !names.is_empty()) else { return IndexMap::new() };
        let mut by_scenario: IndexMap<&str, IndexMap<&str, &Run>> = IndexMap::new();
        for run in self.runs.iter().filter(|it| section.has_profile(&it.profile)) {
            by_scenario.entry(&run.scenario).or_default().insert(&run.policy, run);
        }
        let at_ms = |name: &str| self.sessions.iter().find(|it| it.name == name).map(|it| it.last_ms);
        let session = |name: &String| {
            let (runs, last_ms) = (by_scenario.get(name.as_str())?, at_ms(name)?);
            let effect = |it: &str| Some(SessionEffect::from_tally(&runs.get(it)?.tally));
            let others = names.iter().map(|it| effect(it)).collect::<Option<Vec<_>>>()?;
            Some(ComparedSession { project: "", last_ms, base: effect(&base.policy)?, others })
        };
        let sessions: Option<Vec<ComparedSession<'_>>> = section.members.iter().map(session).collect();
        let sessions = sessions.filter(|it| it.len() > 1);
        let found = sessions.map(|it| judge_compared_sessions(&it, &names, self.min_evidence));
        names.into_iter().zip(found.unwrap_or_default()).collect()
    }

    /// Returns the verdicts in words, each after what it is about where there are several.
    pub fn verdict_lines(&self) -> Vec<String> {
        self.verdict_answers_and_details().iter().map(|it| it.concat()).listed()
    }

    /// Returns all notes, those on what no scenario says and on oracles too.
    pub fn all_notes(&self) -> Vec<String> {
        let (first, rest) = self.notes.split_at(self.n_first_notes.min(self.notes.len()));
        let needs = self.note_on_unknown_needs().into_iter().chain(first.iter().cloned());
        let unknown = self.note_on_oracles().into_iter().chain(self.note_on_profiles_without_timings());
        let assumed = self.note_on_user_messages().into_iter().chain(self.note_on_summary_losses());
        let rest = rest.iter().cloned().chain(assumed).chain(self.notes_on_planted_facts());
        needs.chain(unknown).chain(rest).listed()
    }

    /// Returns the verdicts, each as its answer and what stands behind it.
    pub fn verdict_answers_and_details(&self) -> Vec<[String; 2]> {
        let verdicts = self.verdicts();
        let one = |verdict: &Verdict| {
            let [answer, more] = verdict.answer_and_details();
            let joint = if verdict.profile == OWN { ", " } else { " under " };
            let load = verdict.load.split(" (").next().unwrap_or_default();
            let about = format!("{load}{joint}{}: ", verdict.profile);
            [if verdicts.len() == 1 { answer } else { about + &answer }, more]
        };
        verdicts.iter().map(one).listed()
    }

    /// Says what published rates would leave of evidence behind model's summaries, or nothing if no such evidence is named.
    pub fn note_on_summary_losses(&self) -> Option<String> {
        let told_of = |line: &TableLine| {
            let ([told, low, high], kept) = (line.tally.evidence_told()?, line.tally.evidence_kept()?);
            let [told, low, high, kept] = [told, low, high, kept].map(percent);
            // Where nothing is behind a summary, there is nothing to tell.
            (told != kept || low != high)
                .then(|| format!("{} {told} ({low} to {high}) in place of {kept}", line.policy))
        };
        let all = self.join_line_texts(told_of)?;
        Some(format!(
            "Evidence behind a model's summary counts as gone. Published, unchecked rates of what summaries keep of paths and numbers (assumptions/summaries.toml) would leave: {all}."
        ))
    }

    /// Says of which policies it depends on what is assumed of users' messages whether they keep enough; nothing if of none.
    pub fn note_on_user_messages(&self) -> Option<String> {
        let open_of = |line: &TableLine| {
            let ends = line.tally.evidence_ends().filter(|_| line.tally.knows_needs())?;
            let [low, high] = ends.map(|it| Floor(self.min_evidence).passes(Some(it)));
            (low != high).then(|| format!("{} ({} to {})", line.policy, percent(ends[0]), percent(ends[1])))
        };
        let (least, all) = (format_trimmed_percent(self.min_evidence), self.join_line_texts(open_of)?);
        Some(format!(
            "Whether at least {least} of the evidence is kept depends on what is assumed of users' messages (assumptions/user_messages.toml): {all}."
        ))
    }

    /// Says something of lines of tables that are no part of others; nothing where there is nothing to say of any.
    fn join_line_texts(&self, line_text: impl Fn(&TableLine) -> Option<String>) -> Option<String> {
        let sections = self.sections(Detail::Groups);
        let lines = sections.iter().filter(|it| !it.is_part).flat_map(|section| &section.lines);
        let all = lines.filter_map(line_text).listed().join("; ");
        (!all.is_empty()).then_some(all)
    }

    /// Says how many planted facts are left at the end of loads of items, profile by profile.
    pub fn notes_on_planted_facts(&self) -> Vec<String> {
        let mut left: IndexMap<&str, IndexMap<&str, [u64; 2]>> = IndexMap::new();
        for run in self.runs.iter().filter(|it| it.is_in_sections()) {
            if let Some([found, planted]) = run.findings.as_ref().and_then(|it| it.facts_left()) {
                let sum = left.entry(&run.profile).or_default().entry(&run.policy).or_default();
                *sum = [sum[0] + found, sum[1] + planted];
            }
        }
        let note = |(profile, policies): (&str, IndexMap<&str, [u64; 2]>)| {
            let each = policies.iter().map(|(policy, [found, of])| format!("{policy} {found} of {of}"));
            format!("Facts left under {profile}: {}.", each.listed().join("; "))
        };
        left.into_iter().map(note).listed()
    }

    /// Says what the oracles among the policies are, or nothing if there is none.
    pub fn note_on_oracles(&self) -> Option<String> {
        let is_run = |name: &&String| self.run_briefs().any(|it| it.policy == **name);
        let names = self.oracles.iter().filter(is_run).cloned().listed().join(", ");
        (!names.is_empty()).then(|| {
            format!(
                "{names} sees the future: nothing can keep more evidence, but other policies may be cheaper. It pays for no searches of its own."
            )
        })
    }
}

impl Verdict {
    /// Weighs the lines of a table; oracles cannot be taken, and what stopped at a limit did less.
    fn new(section: &Section, report: &Report) -> Self {
        let min_evidence = report.min_evidence;
        let baseline = section.lines.first();
        let knows_evidence = section.lines.iter().any(|it| it.tally.knows_needs());
        let kept = |it: &TableLine| it.tally.evidence_kept();
        let keeps = |it: &&TableLine| Floor(min_evidence).keeps(kept(it), it.tally.task_kept());
        let of_baseline = baseline.and_then(kept);
        let task = baseline.and_then(|it| it.tally.task_kept()).unwrap_or(1.0);
        let is_below = knows_evidence && baseline.is_some_and(|it| !keeps(&it));
        let baseline_keeps = of_baseline.map(|it| it.min(task)).filter(|_| is_below);
        let is_first = |it: &TableLine| baseline.is_some_and(|first| first.policy == it.policy);
        let takable = section.lines.iter().filter(|it| !report.oracles.contains(&it.policy));
        let takable = takable.filter(|it| it.stopped.is_none() && it.tally.costs.total().is_some());
        let changes =
            takable.map(|it| Some((if is_first(it) { 0.0 } else { section.relative_cost_change(it)? }, it)));
        let mut known: Vec<(f64, &TableLine)> = changes.flatten().listed();
        // Of equal costs the earlier stands first.
        known.order_by(|one, other| one.0.total_cmp(&other.0));
        let names: Vec<&str> = section.lines.iter().map(|it| it.policy.as_str()).listed();
        let shown: IndexMap<&str, &str> = names.iter().copied().zip(names_without_folders(&names)).collect();
        let choice = |line: &&TableLine| {
            let own = !is_first(line);
            let change = own.then(|| section.relative_cost_change(line)).flatten();
            let lever = report.levers.get(&(section.profile.clone(), line.policy.clone()));
            let lever = lever.filter(|it| it.word.is_some());
            PolicyChoice {
                policy: line.policy.clone(),
                title: report.titles.get(&line.policy).cloned(),
                shown: shown.get(line.policy.as_str()).map(|it| (*it).to_owned()).unwrap_or_default(),
                change,
                change_as_recorded: own.then(|| section.cost_change_with_compactions(line)).flatten(),
                interval: line.spread.and_then(|it| it.interval),
                assumed: own.then(|| section.cost_change_interval_assumed(line)).flatten(),
                bound: baseline.filter(|_| own).and_then(|first| line.tally.assumed_bound(&first.tally)),
                cheaper: line.spread.map(|it| it.cheaper),
                evidence_kept: line.tally.evidence_kept(),
                task_kept: line.tally.task_kept().filter(|it| *it < 1.0),
                is_open: change.is_some_and(|change| line.assumed.turns(change)),
                expected: lever.filter(|it| it.expected != it.change).and_then(|it| it.expected),
                word: lever.and_then(|it| it.word),
                why: lever.map(|it| it.why.clone()),
                // What can be set is pasted as advice says.
                apply: line.apply.as_deref().filter(|_| report.settings.is_empty()).cloned(),
            }
        };
        let mut keep_more: Vec<&TableLine> = known.iter().map(|it| it.1).listed();
        keep_more.retain(|it| baseline_keeps.is_some() && keeps_more(kept(it), of_baseline));
        // Of what keeps as much, the cheaper stands first.
        keep_more.order_by(|one, other| kept(other).unwrap_or(0.0).total_cmp(&kept(one).unwrap_or(0.0)));
        let best = known.iter().map(|it| it.1).find(|line| is_first(line) || keeps(line));
        let cheapest = best.filter(|_| baseline_keeps.is_none());
        let below =
            |it: &f64| cheapest.is_some_and(|best| *it < section.relative_cost_change(best).unwrap_or(0.0));
        let lossy = known.iter().filter(|(change, it)| !is_first(it) && !keeps(it) && below(change));
        let mut own_runs = report.run_briefs().filter(|it| it.profile == section.profile);
        Self {
            load: section.load.clone(),
            profile: section.profile.clone(),
            min_evidence,
            baseline: baseline.map(|it| it.policy.clone()).unwrap_or_default(),
            baseline_keeps,
            cheapest: cheapest.map(|it| choice(&it)),
            keep_more: keep_more.iter().map(choice).listed(),
            lossy: lossy.map(|it| choice(&it.1)).listed(),
            knows_evidence,
            trust: section.trust.clone(),
            scenarios: section.scenarios,
            is_uncounted: own_runs.any(|it| it.figures.is_counting_unknown),
            estimated: report.estimated_requests_in(&section.load),
        }
    }

    /// Says it in a sentence or a few.
    pub fn full_text(&self) -> String {
        self.answer_and_details().concat()
    }

    /// Says it in a sentence, and in what may follow it what stands behind it.
    fn answer_and_details(&self) -> [String; 2] {
        if let Some(kept) = self.baseline_keeps {
            return [self.baseline_below_floor_sentence(kept), String::new()];
        }
        let Some(best) = &self.cheapest else {
            let none = "No policy finished with a known cost, so none is recommended.";
            return [none.to_owned(), String::new()];
        };
        let kept = format!("at least {} of the evidence", format_trimmed_percent(self.min_evidence));
        let (name, named) = (&best.shown, best.name_with_title());
        let sure = or_nothing(self.interval_text(best), |it| format!(" ({it})"));
        let doubts = self.trust.doubts_clause();
        let words = match best.change {
            _ if !self.knows_evidence => self.cheapest_without_needs_sentence(best, &sure, &doubts),
            None => format!("Nothing that keeps {kept} is cheaper than {named}: keep it{doubts}."),
            Some(change) => format!("Cheapest that keeps {kept}: {named}, {}{sure}{doubts}.", signed(change)),
        };
        let more = self.advice_text(best) + &self.compactions_sentence(best) + &self.caveat_sentences(best);
        let Some(Apply { at, write }) = best.apply.as_ref().filter(|_| self.knows_evidence) else {
            return [words, more];
        };
        let gap = if write.contains('\n') { '\n' } else { ' ' };
        [words, format!("{more} To apply {name}, put this in {at}:{gap}{write}")]
    }

    /// Says that the first policy keeps too little to be a measure, and what keeps more.
    pub(super) fn baseline_below_floor_sentence(&self, kept_share: f64) -> String {
        let said = |choice: &PolicyChoice| {
            let kept = or_nothing(choice.evidence_kept, percent);
            format!("{} ({kept}, {})", choice.shown, or_nothing(choice.change, signed))
        };
        let others = match self.keep_more.as_slice() {
            [] => "No other policy here keeps more.".to_owned(),
            all => format!("These keep more: {}.", first_few(all.iter().map(said), SHOWN)),
        };
        let (base, kept_share, floor) =
            (&self.baseline, percent(kept_share), format_trimmed_percent(self.min_evidence));
        format!(
            "{base} itself keeps only {kept_share} of the evidence, less than the floor of {floor}: nothing is recommended for being cheap. {others}"
        )
    }

    /// Says what stands against the number, in sentences that each begin with a space.
    pub(super) fn caveat_sentences(&self, best: &PolicyChoice) -> String {
        let (base, profile) = (&self.baseline, &self.profile);
        let is_open = best.change.is_some() && best.is_open && self.knows_evidence;
        let mut words =
            text_if(is_open, || format!(" Whether it is cheaper than {base} depends on what is assumed."));
        let bound = best.bound.filter(|it| it[0] < 0.0 && it[1] > 0.0 && !best.is_open);
        let bound = bound.map(|ends| ends.map(signed).join(" to "));
        words +=
            &or_nothing(bound, |it| format!(" If every assumption erred the same way, it would be {it}."));
        words += &self.lossy_policies_sentence();
        if self.is_uncounted {
            words += &format!(
                " How many tokens {profile} would count is not known: these are of the tokens that were recorded."
            );
        }
        words
            + &or_nothing(self.estimated.and_then(EstimatedRequests::sentence_if_many), |it| format!(" {it}"))
    }

    /// Says which word the rule gives the cheapest, after a space; where it gives none, that loads are too few.
    pub(super) fn advice_text(&self, best: &PolicyChoice) -> String {
        let too_few = too_few_loads(self.scenarios, "scenario").filter(|_| self.scenarios > 1);
        match (best.word.zip(best.why.as_ref()).filter(|_| self.knows_evidence), too_few) {
            (Some((word, why)), _) => format!(" The word for it is “{}”: {why}.", word.text()),
            (None, Some(few)) if best.change.is_some() => format!(" {few}."),
            _ => String::new(),
        }
    }

    /// Says what recorded compactions make of the number, after a space; nothing where none is avoided.
    pub(super) fn compactions_sentence(&self, best: &PolicyChoice) -> String {
        let Some(kept) = best.change_as_recorded.map(signed) else { return String::new() };
        format!(
            " It stays below the trigger of recorded compactions, which count as avoided; with all of them as recorded: {kept}."
        )
    }

    /// Says what costs least where nobody knows what it forgets.
    fn cheapest_without_needs_sentence(&self, best: &PolicyChoice, sure: &str, doubts: &str) -> String {
        let named = best.name_with_title();
        let least = match best.change {
            None => format!("nothing costs less than {named}"),
            Some(change) => format!("{named} costs least, {}{sure}", signed(change)),
        };
        format!(
            "No recommendation: nothing says which results are needed, so what a policy loses is unknown. Only by cost, {least}{doubts}."
        )
    }

    /// Says how far a change holds for other sessions; nothing where nothing is known of it.
    pub(super) fn interval_text(&self, best: &PolicyChoice) -> Option<String> {
        let ([low, high], [what, by, opposite]) = match (best.interval, best.assumed) {
            (Some(ends), _) => (ends, ["95% interval", "", "; other sessions may show the opposite"]),
            (None, Some(ends)) => (ends, ["from", " by what is assumed", "; the opposite is possible"]),
            (None, None) => return None,
        };
        let cheaper = best.cheaper.map(|it| (it * self.scenarios as f64).round());
        let cheaper = cheaper.map_or_else(String::new, |n| format!("; cheaper in {n} of {}", self.scenarios));
        let zero = if low < 0.0 && high > 0.0 { opposite } else { "" };
        let expected = best.expected.map_or_else(String::new, |it| format!("expect {}; ", signed(it)));
        Some(format!("{expected}{what} {} to {}{by}{cheaper}{zero}", signed(low), signed(high)))
    }

    /// Names the policies that save by losing evidence.
    fn lossy_policies_sentence(&self) -> String {
        let said = |choice: &PolicyChoice| {
            let kept = choice.evidence_kept.map_or_else(String::new, percent);
            let open = if choice.is_open { "; savings uncertain" } else { "" };
            let task = choice.task_kept.filter(|it| !Floor(self.min_evidence).passes(Some(*it))).map(percent);
            let task = task.map_or_else(String::new, |it| format!("; {it} of its requests show their task"));
            let change = choice.change.map_or_else(String::new, signed);
            format!("{} ({change}, {kept} kept{task}{open})", choice.shown)
        };
        let lossy = first_few(self.lossy.iter().map(said), SHOWN);
        if lossy.is_empty() { lossy } else { format!(" Cheaper by losing evidence: {lossy}.") }
    }
}

/// The most policies that are named as keeping more, or as losing evidence.
const SHOWN: usize = 3;

/// Returns a share as a percentage, without a fraction where it has none.
pub(super) fn format_trimmed_percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}
