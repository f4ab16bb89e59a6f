//! Compares two policies of a plan on each of its loads: paired runs, and the explanation of the differences.

use crate::prelude::*;

use super::entry::check_same_work;
use super::session::session_report;
use ctxsim_base::grid::shell::quoted;
use ctxsim_base::quantity::Cost;
use ctxsim_engine::explain::Break;
use ctxsim_engine::ledger::pairing::{RequestId, paired};
use ctxsim_engine::ledger::{NeedRow, Rows};
use ctxsim_engine::price::RequestCost;
use ctxsim_engine::take::{Sinks, Taken, TrialQuestion};
use ctxsim_input::text::Encode;
use ctxsim_input::text::source::to_json;
use ctxsim_report::SessionReport;
use ctxsim_report::chart::requests::RunRequests;
use ctxsim_report::contrast::{
    BrokenPrefixes, ChangedStage, Contrast, ContrastPart, FactsChanged, FieldChange, NeedChange,
    RequestChange,
};
use ctxsim_report::explain::who_broke_prefix;
use ctxsim_report::sections::OWN;
use ctxsim_timeline::evidence::{EARLIER, RUNNING};

/// The most requests kept per load: no more are shown in all.
const REQUESTS_KEPT: usize = 5;
/// Fields of a policy that do not affect its behaviour.
const SILENT: [&str; 7] = ["name", "title", "about", "base", "sources", "as_of", "allows"];

/// Returns what names each policy on a command line, with what is overridden.
pub(super) fn policy_arguments(catalog: &Catalog, all: &[Loaded<PolicyFile>], set: &[String]) -> Vec<String> {
    let set: String = set.iter().map(|it| format!(" --set {}", quoted(it))).collect();
    let one = |policy: &Loaded<PolicyFile>| {
        format!("--policy {}{set}", quoted(&catalog.command_line_name(InputKind::Policy, &policy.origin)))
    };
    all.iter().map(one).listed()
}

/// Returns what names a load under each of its profiles on the command line of `explain`; nothing where requests are drawn, or are not
/// those of a timeline.
pub(super) fn explain_args_by_load_profile(load: &Load) -> Vec<([String; 2], String)> {
    if load.is_sampled || load.timeline().is_none() {
        return Vec::new();
    }
    let named = |profile: &Profile| {
        ([load.name.clone(), profile.name.clone()], arguments_under_profile(load, profile))
    };
    load.profiles.iter().map(named).listed()
}

/// Returns what names a load under a profile on a command line.
fn arguments_under_profile(load: &Load, profile: &Profile) -> String {
    let at = (!load.is_under_own_model).then(|| format!(" --profile {}", quoted(&profile.name)));
    format!("{}{}", load.arguments, at.unwrap_or_default())
}

impl Plan {
    /// Compares pairs of the plan's policies, each a base and a candidate by index, under each profile, or
    /// over all sessions if each runs under its own model's.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn contrast_pairs(
        &self,
        policy_pairs: &[[usize; 2]],
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Result<Vec<Contrast>> {
        let of_loads = self.map_loads(threads, progress, |load, progress| {
            policy_pairs.iter().try_for_each(|it| check_same_work(load, it))?;
            let played = PlayedLoad::play(load, self, progress);
            FailedRuns::none_of(played.taken.takes.iter().map(|it| &it.run))?;
            let cells = (0..load.profiles.len())
                .flat_map(|profile| policy_pairs.iter().map(move |it| (profile, *it)));
            let parts = cells.filter_map(|(profile, pair)| {
                let under = if load.is_under_own_model { OWN } else { &load.profiles[profile].name };
                Some(((pair, under.to_owned()), played.contrast_under(profile, pair, &self.arguments)?))
            });
            Ok(parts.listed())
        })?;
        let of_loads = of_loads.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Contrast::all(&grouped(of_loads.into_iter().flatten())))
    }
}

/// A load played, run by run, with what explains its runs.
struct PlayedLoad<'l> {
    load: &'l Load,
    session: Option<SessionReport>,
    taken: Taken,
}

impl<'l> PlayedLoad<'l> {
    fn play(load: &'l Load, plan: &Plan, progress: Progress<'_>) -> Self {
        let as_recorded = &*plan.as_recorded;
        let billed = load.is_under_own_model.then_some(as_recorded);
        let by_request = Sinks { rows: true, trials: true, breaks: true, answers: true, ..Sinks::default() };
        let taken = load.takes(&Sinks { settings: true, billed, ..by_request }, progress);
        let session = session_report(load, as_recorded, &plan.models, taken.billed.as_deref());
        Self { load, session, taken }
    }

    /// Compares two policies under a profile; `None` if the load takes only one of them.
    fn contrast_under(&self, profile: usize, pair: [usize; 2], arguments: &[String]) -> Option<ContrastPart> {
        let load = self.load;
        if pair.iter().any(|it| *it >= load.policies.len()) {
            return None;
        }
        let takes = [self.taken.of(profile, pair[0])?, self.taken.of(profile, pair[1])?];
        let runs = takes.map(|it| it.run.clone());
        let pairs = if takes.iter().any(|it| it.trials.is_empty()) {
            vec![runs.each_ref().map(|it| it.tally.clone())]
        } else {
            let [base, candidate] = takes.map(|it| it.trials.iter().cloned());
            base.zip(candidate).map(Into::into).listed()
        };
        let policies = pair.map(|it| &*load.policies[it]);
        let own = arguments_under_profile(load, &load.profiles[profile]);
        // What was drawn, `explain` does not draw again.
        let command = |side: usize, row: usize| {
            let front = arguments.get(pair[side]).filter(|_| !load.is_sampled)?;
            Some(format!("ctxsim explain {front} {own} --request {row}"))
        };
        let rows = || Some([takes[0].rows.as_deref()?, takes[1].rows.as_deref()?]);
        let costs = takes.map(|it| load.costs_by_request(it).unwrap_or_default());
        // Needs have no pairs where the two live with different compactions.
        let [base, candidate] = takes.map(|it| it.timeline.as_ref());
        let shared = base.zip(candidate).filter(|(base, it)| Arc::ptr_eq(base, it)).map(|it| it.0);
        let changed = [&costs[0][..], &costs[1]];
        let requests = rows().map(|it| most_changed_requests(&load.name, it, changed, command));
        let needs = rows().zip(shared).map(|(rows, it)| changed_needs(&load.name, rows, it));
        Some(ContrastPart {
            session: self.session.clone(),
            runs,
            pairs,
            arguments: load.arguments.clone(),
            breaks: breaks_by_cause(takes.map(|it| &*it.breaks), policies),
            requests: requests.unwrap_or_default(),
            needs: needs.unwrap_or_default(),
            facts: changed_fact_states(&takes[0].answers, &takes[1].answers),
            stages: changed_stages(policies),
            changed: changed_fields(policies),
            traces: RunRequests::from_takes(load, takes, &load.name),
        })
    }
}

/// Returns prefixes that broke, by who broke them.
fn breaks_by_cause(breaks: [&[Break]; 2], policies: [&Policy; 2]) -> IndexMap<String, [BrokenPrefixes; 2]> {
    let mut all: IndexMap<String, [BrokenPrefixes; 2]> = IndexMap::new();
    for (side, policy) in policies.into_iter().enumerate() {
        for broken in breaks[side] {
            let sum = &mut all.entry(who_broke_prefix(broken.by, policy)).or_default()[side];
            sum.times += 1;
            sum.tokens += broken.tokens;
        }
    }
    all
}

/// Returns the requests whose costs differ most.
fn most_changed_requests(
    scenario: &str,
    rows: [&Rows; 2],
    costs: [&[RequestCost]; 2],
    explain_command: impl Fn(usize, usize) -> Option<String>,
) -> Vec<RequestChange> {
    let usd = |side: usize, row: usize| costs[side].get(row).and_then(|it| it.request()).unwrap_or_default();
    let one = |places: [Option<usize>; 2]| {
        let cost = |side: usize| places[side].map_or(Cost::default(), |row| usd(side, row));
        (places, [cost(0), cost(1)])
    };
    let mut all: Vec<_> = paired(rows.map(|it| &*it.requests)).into_iter().map(one).listed();
    all.retain(|(_, [base, candidate])| base != candidate);
    all.order_by_key(|(_, [base, candidate])| std::cmp::Reverse(base.apart(*candidate)));
    let ids = rows.map(|it| RequestId::of_all(&it.requests));
    let change = |(places, costs): ([Option<usize>; 2], [Cost; 2])| {
        let (side, at) = [0, 1].into_iter().find_map(|side| Some((side, places[side]?)))?;
        let row = rows[side].requests.get(at)?;
        Some(RequestChange {
            pair: *ids[side].get(at)?,
            scenario: scenario.to_owned(),
            turn: row.turn_ix,
            step: row.step,
            rows: places.map(|it| it.map(|it| it + 1)),
            usd: costs.map(Cost::usd),
            commands: [0, 1].map(|side| explain_command(side, places[side]? + 1)),
        })
    };
    all.into_iter().take(REQUESTS_KEPT).filter_map(change).listed()
}

/// Returns the needs that are met otherwise; a run that stopped early has fewer, and drawn needs have none in common.
fn changed_needs(scenario: &str, [base, candidate]: [&Rows; 2], timeline: &Timeline) -> Vec<NeedChange> {
    let is_same = |(one, other): &(&NeedRow, &NeedRow)| {
        (one.turn_ix, one.level, one.inferred) == (other.turn_ix, other.level, other.inferred)
    };
    let pairs = base.needs.iter().zip(&candidate.needs).filter(is_same);
    let changed = pairs.filter(|(one, other)| one.weight > 0.0 && one.met != other.met);
    let one = |(base, candidate): (&NeedRow, &NeedRow)| NeedChange {
        scenario: scenario.to_owned(),
        turn: base.turn_ix,
        what: describe_need(base, timeline),
        weight: base.weight,
        met: [base.met, candidate.met],
    };
    changed.map(one).listed()
}

/// Says what is needed.
fn describe_need(need: &NeedRow, timeline: &Timeline) -> String {
    let level = serde_json::to_value(need.level).ok();
    let level = level.as_ref().and_then(|it| it.as_str()).unwrap_or_default().to_owned();
    let Some(inferred) = need.inferred else { return level };
    match inferred.rule {
        RUNNING => return "what the turn's user asked".to_owned(),
        EARLIER => return "what was asked before".to_owned(),
        _ => {}
    }
    let item = timeline.spine.items.get(inferred.item as usize);
    let tool = item.and_then(|it| timeline.spine.tools.get_index(usize::from(it.tool)));
    let tool = tool.map_or_else(String::new, |it| format!(" of {it}"));
    format!("{level} of item {}{tool} ({})", inferred.item, inferred.rule)
}

/// Returns facts whose state is another one.
fn changed_fact_states(base: &[TrialQuestion], candidate: &[TrialQuestion]) -> Vec<FactsChanged> {
    let mut all: IndexMap<[&'static str; 2], FactsChanged> = IndexMap::new();
    for (one, other) in base.iter().zip(candidate).filter(|(one, other)| one.state != other.state) {
        let [from, to] = [one.state, other.state];
        let first = || FactsChanged { from, to, n: 0, example: one.what.clone() };
        all.entry([from, to]).or_insert_with(first).n += 1;
    }
    all.into_values().listed()
}

/// Returns the stages that are not the same in both policies.
fn changed_stages(policies: [&Policy; 2]) -> Vec<ChangedStage> {
    let place = |policy: &Policy, name: &str| policy.stages().iter().position(|it| it.name == name);
    let names = distinct(policies.iter().flat_map(|it| it.stages()).map(|it| it.name.as_str()));
    let all = names
        .into_iter()
        .map(|name| ChangedStage { name: name.to_owned(), places: policies.map(|it| place(it, name)) });
    let is_changed = |stage: &ChangedStage| match stage.places {
        [Some(base), Some(candidate)] => !is_same_stage(policies, [base, candidate]),
        _ => true,
    };
    all.filter(is_changed).listed()
}

/// Returns whether two stages do the same, with the tables and the ladders that they use.
fn is_same_stage(policies: [&Policy; 2], stage_indices: [usize; 2]) -> bool {
    let [base, candidate] = [0, 1].map(|side| {
        let stage = &policies[side].stages()[stage_indices[side]];
        let rungs = policies[side].rungs(stage).map(|it| format!("{it:?}")).listed();
        (stage, rungs)
    });
    let has_same_tables =
        policies[0].tables == policies[1].tables && policies[0].templates == policies[1].templates;
    base == candidate && has_same_tables
}

/// Returns the fields that the policies say otherwise; a stage's field is left out where a parameter says the same.
fn changed_fields(policies: [&Policy; 2]) -> Vec<FieldChange> {
    let changed = differing_fields(policies.map(|it| to_field_values(&**it))).into_iter();
    let (params, others): (Vec<_>, Vec<_>) = changed.partition(|it| it.field.starts_with("params."));
    let is_said = |it: &FieldChange| params.iter().any(|param| param.says == it.says);
    let others: Vec<FieldChange> = others.into_iter().filter(|it| !is_said(it)).listed();
    params.into_iter().chain(others).listed()
}

/// Returns what an input says that affects what it does, by field.
pub(super) fn to_field_values<T: Encode>(spec: &T) -> IndexMap<String, String> {
    let mut leaves = IndexMap::new();
    if let Ok(Value::Object(mut fields)) = to_json(spec) {
        fields.retain(|name, _| !SILENT.contains(&name.as_str()));
        collect_leaves(&Value::Object(fields), String::new(), &mut leaves);
    }
    leaves
}

/// Returns the fields that two inputs say otherwise.
pub(super) fn differing_fields([base, candidate]: [IndexMap<String, String>; 2]) -> Vec<FieldChange> {
    let paths = ctxsim_report::distinct(base.keys().chain(candidate.keys()));
    let changed = paths.into_iter().filter(|it| base.get(*it) != candidate.get(*it)).map(|field| {
        FieldChange { field: field.clone(), says: [base.get(field).cloned(), candidate.get(field).cloned()] }
    });
    changed.listed()
}

/// Collects the leaves of a tree; elements of a list go by name, if they have one.
fn collect_leaves(value: &Value, path: String, leaves: &mut IndexMap<String, String>) {
    let below = |step: &str| if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| collect_leaves(inner, below(name), leaves));
        }
        Value::Array(all) if all.iter().any(Value::is_object) => {
            for (nth, inner) in all.iter().enumerate() {
                let name = inner.get("name").and_then(|it| it.as_str());
                // A name that is a sentence ends before the dot of the path.
                let name = name.map_or(nth.to_string(), |it| it.trim_end_matches('.').to_owned());
                collect_leaves(inner, below(&name), leaves);
            }
        }
        serde_json::Value::Null => {}
        leaf => _ = leaves.insert(path, leaf.to_string()),
    }
}
