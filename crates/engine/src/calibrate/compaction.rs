//! Real compactions as natural experiments: predictions made without looking ahead, and what followed.

use crate::prelude::*;

use super::forecast::{Chance, Forecast};
use crate::engine::Simulation;
use crate::ledger::TokenUse;
use crate::price;
use ctxsim_input::scenario::refetch::Terms;
use ctxsim_input::{Action, End, PolicyFile, Rates};
use ctxsim_timeline::Capability;
use ctxsim_timeline::tool_form::Argument;

/// One compaction: its prediction, and what followed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aftermath {
    /// The step of the first request after it.
    pub step: StepIx,
    /// Tokens of the prompt before it, as billed.
    pub prompt_before: Option<Tokens>,
    /// Tokens of the first prompt after it: as predicted, if it is known how the session's harness compacts.
    pub predicted_prompt: Option<Tokens>,
    /// As billed.
    pub prompt_after: Option<Tokens>,
    /// The files that the agent had read and that the compaction hid.
    pub files: Vec<HiddenFile>,
    /// The number of requests that followed before the session ended or its history was removed again, up to
    /// the window.
    pub followed: u32,
    /// The length of the window.
    pub window: u32,
    /// Expected US dollars for reading files again, up to the end of the window.
    pub predicted_usd: Option<f64>,
    /// Actual US dollars; `None` if the window is cut short.
    pub actual_usd: Option<f64>,
}

/// A file that a compaction hid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenFile {
    /// The file, as the agent's calls name it.
    pub path: String,
    /// Requests from its last use to the first after the compaction.
    pub idle_requests: u32,
    /// The probability that it is read again within the window.
    pub chance: Chance,
    /// The step that read it again, within the window.
    pub read_at: Option<StepIx>,
    /// The probability that it is read again or searched by its path.
    pub fetch_chance: Chance,
    /// The step that did either, within the window.
    pub fetched_at: Option<StepIx>,
}

/// A predicted event of a hidden file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// A tool for reading files reads it again.
    Read,
    /// It is read again, or searched by its path.
    Fetched,
}

impl ReadOutcome {
    /// Returns how probable it was for a file, and whether it happened.
    pub fn of(self, file: &HiddenFile) -> (Chance, bool) {
        match self {
            Self::Read => (file.chance, file.read_at.is_some()),
            Self::Fetched => (file.fetch_chance, file.fetched_at.is_some()),
        }
    }
}

impl Aftermath {
    /// Returns whether as many requests followed as the window has, and whether there was a file to predict.
    pub fn is_scored(&self) -> bool {
        self.followed == self.window && !self.files.is_empty()
    }

    /// Returns to how many hidden files something was expected to happen: as declared, and at either end of the interval.
    pub fn predicted(&self, outcome: ReadOutcome) -> [f64; 3] {
        [0, 1, 2].map(|bound| self.files.iter().map(|it| outcome.of(it).0.after[bound]).sum())
    }

    /// Returns to how many hidden files something happened.
    pub fn actual(&self, outcome: ReadOutcome) -> usize {
        self.files.iter().filter(|it| outcome.of(it).1).count()
    }
}

/// Returns a policy that compacts as another one does, whatever the prompt, when a session ends; nothing where the other one never compacts.
pub fn compacting(spec: &PolicyFile) -> Option<Policy> {
    let mut spec = spec.clone();
    spec.stages.retain(|it| matches!(it.apply, Some(Action::Summarise(_))));
    for stage in &mut spec.stages {
        stage.at = Some(vec![Moment::SessionEnd]);
        stage.when = None;
        stage.pause = None;
    }
    Policy::new(&spec).ok().filter(|it| !it.stages().is_empty())
}

/// Returns the tokens of the prompt that a policy leaves which [compacts](compacting) before a step's request, without what follows it.
pub fn prompt_behind(timeline: &Timeline, step: StepIx, policy: &Policy) -> Tokens {
    let history = timeline.before(step);
    let play = Simulation::new(&history, policy, &Limits::NONE, &CacheRules::None);
    play.run(&mut Sums::default()).end_tokens
}

/// Predicts the outcome of every compaction of a session, and finds what followed; the policy compacts as the session's harness does.
pub(super) fn aftermaths(
    timeline: &Timeline,
    rows: &[RequestRow],
    prices: &Prices,
    policy: Option<&Policy>,
) -> Vec<Aftermath> {
    let steps = timeline.recorded.as_ref().map_or(&[][..], |it| &it.summarised);
    if steps.is_empty() {
        return Vec::new();
    }
    let calls = timeline.spine.items.iter().filter(|it| it.kind == Kind::ToolCall);
    let study = Study {
        timeline,
        steps,
        rows,
        policy,
        rates: prices.usual(),
        terms: timeline.refetch.terms(End::Value),
        forecast: Forecast::declared(),
        uses: calls.filter_map(|it| file_use(timeline, it)).collect(),
        gone: gone_at(timeline),
    };
    steps.iter().map(|it| study.aftermath(*it)).collect()
}

/// A session whose compactions are examined.
struct Study<'a> {
    timeline: &'a Timeline,
    /// The requests before which a summary replaced the history.
    steps: &'a [StepIx],
    rows: &'a [RequestRow],
    /// What compacts as the harness does, if that is known.
    policy: Option<&'a Policy>,
    rates: &'a Rates,
    terms: Terms,
    forecast: &'static Forecast,
    uses: Vec<FileUse>,
    gone: Vec<StepIx>,
}

/// An expected or actual read of a hidden file, and its cost.
struct ReadCost {
    /// Its probability.
    chance: f64,
    /// Tokens of the prompt that a request of its own sends again. Even a lone read may stand in for a request that would have been made anyway,
    /// so both sides are charged the measured share of such requests.
    prompt: Tokens,
    /// Tokens of the call.
    call: f64,
    /// Tokens of its result.
    fetched: f64,
    /// Later requests that carry it.
    carried_requests: u32,
}

impl Study<'_> {
    fn aftermath(&self, step: StepIx) -> Aftermath {
        let window = self.forecast.window_requests;
        let hidden = hidden_files(&self.uses, &self.gone, step);
        let predicted_prompt = self.policy.map(|it| prompt_behind(self.timeline, step, it));
        let end = self.end(step);
        let files: Vec<HiddenFile> = hidden.iter().map(|it| self.file(it, step, end)).collect();
        let followed = end - step;
        Aftermath {
            step,
            prompt_before: self.billed(step - 1),
            predicted_prompt,
            prompt_after: self.billed(step),
            followed,
            window,
            predicted_usd: predicted_prompt.and_then(|it| self.predicted_usd(&hidden, it, step)),
            actual_usd: (followed == window).then(|| self.actual_usd(&files, step)).flatten(),
            files,
        }
    }

    /// Returns the step at which the window of a compaction ends: it is over, the session is, or what the compaction left went too.
    fn end(&self, step: StepIx) -> StepIx {
        let spine = &self.timeline.spine;
        let n_steps = ix(spine.steps.len());
        let first = spine.steps.get(step as usize).map_or(0, |it| it.reply.start);
        let gone = or_unlimited(self.gone.get(first as usize).copied());
        let end = step.saturating_add(self.forecast.window_requests).min(n_steps).min(gone);
        // What follows a second compaction follows that one.
        let next = self.steps.iter().copied().find(|it| *it > step);
        next.map_or(end, |it| it.min(end)).max(step)
    }

    fn file(&self, hidden: &Hidden<'_>, step: StepIx, end: StepIx) -> HiddenFile {
        let first = |deeds: &[Deed]| {
            let mut later = self.uses.iter().filter(|it| (step..end).contains(&it.step) && it.fetches(deeds));
            later.find(|it| it.path == hidden.path).map(|it| it.step)
        };
        let chance = self.forecast.chance(hidden.idle_requests);
        HiddenFile {
            path: hidden.path.to_owned(),
            idle_requests: hidden.idle_requests,
            chance,
            read_at: first(&[Deed::Read]),
            fetch_chance: chance.and(self.forecast.searched_only),
            fetched_at: first(&[Deed::Read, Deed::Search]),
        }
    }

    /// Returns the tokens of a step's prompt, as billed.
    fn billed(&self, step: StepIx) -> Option<Tokens> {
        let usage = &self.timeline.recorded.as_ref()?.usage;
        usage.get(step as usize).copied().flatten().map(|it| it.prompt)
    }

    fn predicted_usd(&self, hidden: &[Hidden<'_>], prompt: Tokens, step: StepIx) -> Option<f64> {
        let reads = hidden.iter().map(|it| ReadCost {
            chance: self.forecast.chance(it.idle_requests).after[0],
            prompt,
            call: f64::from(self.terms.call_tokens),
            fetched: self.forecast.read_tokens.value,
            carried_requests: self.forecast.carried_requests(),
        });
        self.usd(reads, step)
    }

    fn actual_usd(&self, files: &[HiddenFile], step: StepIx) -> Option<f64> {
        let reads = files.iter().filter_map(|file| {
            let at = file.read_at?;
            let is_it = |it: &&FileUse| it.step == at && it.path == file.path && it.fetches(&[Deed::Read]);
            let read = self.uses.iter().find(is_it)?;
            let result = self.timeline.spine.items.get(read.result? as usize)?;
            let call = self.timeline.spine.items.get(result.pair as usize)?;
            Some(ReadCost {
                chance: 1.0,
                prompt: self.row(at).map_or(0, |it| it.prompt),
                call: f64::from(call.raw),
                fetched: f64::from(result.raw),
                carried_requests: (step + self.forecast.window_requests).saturating_sub(at + 2),
            })
        });
        self.usd(reads, step)
    }

    /// Returns the US dollars of reads that follow a compaction: what is sent again is read from the cache, what is new is billed
    /// as the request before the compaction was.
    fn usd(&self, reads: impl Iterator<Item = ReadCost>, step: StepIx) -> Option<f64> {
        let before = self.row(step - 1)?;
        let mut tokens = TokenUse::default();
        for ReadCost { chance, prompt, call, fetched, carried_requests } in reads {
            let new = call + fetched;
            let carried = self.terms.own_request * prompt as f64 + new * f64::from(carried_requests);
            tokens += TokenUse {
                read: chance * carried,
                output: chance * call,
                ..before.added_tokens(chance * new)
            };
        }
        price::usd_of_expected(&tokens, self.rates)
    }

    fn row(&self, step: StepIx) -> Option<&RequestRow> {
        self.rows.iter().find(|it| it.role == Role::Main && it.step == step)
    }
}

// Files that a recorded agent read, changed and searched, and which of them a compaction hid.

/// What a call does to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Reads it, or a range of it.
    Read,
    /// Writes or changes it.
    Change,
    Search,
}

/// A call that names a file.
#[derive(Clone, Debug)]
pub(super) struct FileUse {
    /// The step whose reply makes it.
    pub(super) step: StepIx,
    /// The file, as the call names it.
    pub(super) path: String,
    pub(super) deed: Deed,
    /// Its result, if it returned something.
    pub(super) result: Option<ItemIx>,
}

impl FileUse {
    /// Returns whether it brought something of the file by one of some deeds.
    pub(super) fn fetches(&self, deeds: &[Deed]) -> bool {
        self.result.is_some() && deeds.contains(&self.deed)
    }
}

/// A file that the agent had read, and of which a compaction removed everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hidden<'t> {
    pub(super) path: &'t str,
    /// Requests from the agent's last read or change of it to the first after the compaction.
    pub(super) idle_requests: u32,
}

/// Reads what a call does with a file, or nothing if it names none.
fn file_use(timeline: &Timeline, call: &Item) -> Option<FileUse> {
    let form = timeline.texts.form(call.origin)?;
    let deed = match form.capability {
        Capability::ReadFile => Deed::Read,
        Capability::WriteFile | Capability::EditFile => Deed::Change,
        Capability::Search => Deed::Search,
        _ => return None,
    };
    let asked = form.asked(timeline.texts.text(call.origin)?);
    let (_, path) = asked.iter().find(|it| it.0 == Argument::Path)?;
    let result = timeline.spine.brings(call.pair).then_some(call.pair);
    Some(FileUse { step: call.step_ix, path: path.as_str()?.to_owned(), deed, result })
}

/// Returns, by item, the step before whose request the harness took it out; [`StepIx::MAX`] where it never did.
pub(super) fn gone_at(timeline: &Timeline) -> Vec<StepIx> {
    let mut gone = vec![StepIx::MAX; timeline.spine.items.len()];
    for event in &timeline.events {
        let EventKind::Reset(items) = &event.kind else { continue };
        let step = timeline.spine.step_at(event.at);
        let items = items.start as usize..(items.end as usize).min(gone.len());
        for gone in gone.get_mut(items).unwrap_or_default() {
            *gone = step.min(*gone);
        }
    }
    gone
}

/// Returns the files that the compaction before a step's request hid, in the order in which they were first used.
pub(super) fn hidden_files<'t>(uses: &'t [FileUse], gone: &[StepIx], step: StepIx) -> Vec<Hidden<'t>> {
    let mut by_path: IndexMap<&str, Vec<&FileUse>> = IndexMap::new();
    for earlier in uses.iter().filter(|it| it.step < step && it.deed != Deed::Search) {
        by_path.entry(&earlier.path).or_default().push(earlier);
    }
    let hidden = |(path, uses): (&'t str, Vec<&FileUse>)| {
        let results = uses.iter().filter(|it| it.deed == Deed::Read).filter_map(|it| it.result);
        let standing: Vec<ItemIx> = results.filter(|it| gone.get(*it as usize) >= Some(&step)).collect();
        let is_hidden = standing.iter().all(|it| gone[*it as usize] == step);
        let idle_requests = step - uses.last()?.step;
        (is_hidden && !standing.is_empty()).then_some(Hidden { path, idle_requests })
    };
    by_path.into_iter().filter_map(hidden).collect()
}
