//! The sessions of a project, over which a policy's memory is played.

use std::sync::Arc;

use super::assumed::{self, HistoryNumbers};
use super::play::{HistoryPlayer, NoteTrust, PlacedMemory, PlayedHistory};
use super::rows::FetchRow;
use super::summary::{self, MemoryNumbers};
use super::{FetchSummary, ProjectSession, ProjectStream, found, generate};
use crate::Registered;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::foreign::Foreign;
use ctxsim_base::quantity::Amount;
use ctxsim_base::rng::Seed;
use ctxsim_engine::ledger::Outcome;
use ctxsim_engine::measure::{Beside, Tally};
use ctxsim_engine::price::{Models, PriceIndex};
use ctxsim_engine::take::{
    Cell, Load, LoadKind, Progress, RowsOf, Run, Sinks, Take, World, in_order, of_run,
};
use ctxsim_input::Profile;
use ctxsim_input::policy::memory::{SourceKind, SourceMemory};
use ctxsim_input::profile::written::RecoveryPrice;
use ctxsim_input::scenario::{HistorySource, LoadSpec as Form};
use ctxsim_timeline::row::{Rows, heads};

/// What histories read of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    sources: true,
    is_of_memories: true,
    words: ["reads `memory.sources`", "histories/file"],
    ..LoadKind::NOTHING
};

/// Histories.
pub(crate) const WORLD: Registered = Registered {
    kind: |load| matches!(load, Form::History(_)).then_some(&KIND),
    check: |load| if let Form::History(load) = load { assumed::check(&load.numbers) } else { Vec::new() },
    make: |scenario, _| {
        let Form::History(load) = &scenario.load else { return None };
        let HistorySource::Generated(made) = &load.from else { return None };
        let numbers = HistoryNumbers::declared()
            .with(&load.numbers)
            .unwrap_or_else(|_| HistoryNumbers::declared().clone());
        let stream = ProjectStream::new(generate::sessions(made));
        Some(Ok(vec![Arc::new(ProjectHistory::new(&scenario.name, scenario.seed, numbers, stream)) as _]))
    },
    numbers: || HistoryNumbers::declared().names().iter().map(|it| format!("history.{it}")).collect(),
    rows: || vec![("`--rows probes` of histories: one fetch", heads::<FetchRow>())],
    findings: Some(&found::KIND),
    ..Registered::NEW
};

/// The sessions of one project or user.
#[derive(Debug)]
pub struct ProjectHistory {
    name: String,
    seed: Seed,
    numbers: HistoryNumbers,
    stream: ProjectStream,
    /// What a reader must know of how it was read.
    notes: Vec<String>,
}

/// What a memory came to, with what is noted at each end of its interval: low, declared, high.
struct NotedEnds([PlayedHistory; 3]);

impl ProjectHistory {
    /// Takes sessions.
    pub fn new(name: &str, seed: u64, numbers: HistoryNumbers, stream: ProjectStream) -> Self {
        Self { name: name.to_owned(), seed: Seed(seed), numbers, stream, notes: Vec::new() }
    }

    /// Groups sessions into the histories of a scenario: each session with the name of its project or user, and the numbers of the
    /// scenario.
    pub fn all(
        (name, seed): (&str, u64),
        numbers: &HistoryNumbers,
        sessions: Vec<(String, ProjectSession)>,
        notes: Vec<String>,
    ) -> Vec<Arc<dyn World>> {
        let mut groups: indexmap::IndexMap<String, Vec<ProjectSession>> = indexmap::IndexMap::new();
        for (group, session) in sessions {
            groups.entry(group).or_default().push(session);
        }
        groups.sort_unstable_keys();
        let mut notes = Some(notes);
        let one = |(group, sessions): (String, Vec<ProjectSession>)| {
            let history =
                Self::new(&Self::name_of(name, &group), seed, numbers.clone(), ProjectStream::new(sessions));
            Arc::new(Self { notes: notes.take().unwrap_or_default(), ..history }) as _
        };
        groups.into_iter().map(one).collect()
    }

    /// Returns the name of the history of a project or user, of a scenario.
    pub fn name_of(scenario: &str, group: &str) -> String {
        let group = if group.is_empty() { "(unknown)" } else { group.trim_start_matches('/') };
        format!("{scenario}/{}", Foreign(group))
    }

    /// Returns what plays memories under the profiles of a load.
    fn player(&self, load: &Load) -> HistoryPlayer<'_> {
        let is_flat = |it: &Profile| it.prices.flat().is_some();
        let summarisers = load.policies.iter().filter_map(|it| it.summariser());
        let keeps_rows = !load.profiles.iter().chain(summarisers).all(is_flat);
        HistoryPlayer { stream: &self.stream, numbers: &self.numbers, seed: self.seed, keeps_rows }
    }

    /// Plays each policy.
    fn played(&self, load: &Load) -> Vec<NotedEnds> {
        let player = self.player(load);
        let ends = self.numbers.ends("write.takes");
        in_order(load.policies.len(), |at| {
            NotedEnds(ends.map(|takes| player.play(PlacedMemory::of(&load.policies[at]), takes)))
        })
    }

    /// Prices a play with what an agent makes of it.
    fn tally(&self, played: &PlayedHistory, trust: NoteTrust, models: Models<'_>, beside: Beside) -> Tally {
        let is_flat = [models.session, models.summariser].iter().all(|it| it.prices.flat().is_some());
        let index = (!is_flat).then(|| PriceIndex::from(played.rows.clone()));
        let outcome = Outcome::default();
        Tally::beside(
            &played.sums(trust),
            index.as_ref(),
            &outcome,
            models,
            &Beside { has_needs: true, ..beside },
        )
    }

    /// Returns how likely an agent goes by a policy's notes: low, declared, high.
    fn trust(&self, spec: &SourceMemory) -> [f64; 3] {
        self.numbers.ends(HistoryNumbers::trust(spec.write.keeps))
    }

    /// Returns the cost in US dollars at the ends of all that is assumed, the lowest and the highest, if prices are known.
    fn interval(&self, played: &NotedEnds, spec: &SourceMemory, models: Models<'_>) -> Option<[Amount; 2]> {
        let mut interval: Option<[Amount; 2]> = None;
        for end in &played.0 {
            for trusts in self.trust(spec) {
                for stale_fetches in self.numbers.ends("stale.fetches") {
                    let trust = NoteTrust { trusts, stale_fetches };
                    let cost = self.tally(end, trust, models, Beside::default()).costs.exact()?;
                    let [low, high] = interval.unwrap_or([cost; 2]);
                    interval = Some([low.min(cost), high.max(cost)]);
                }
            }
        }
        interval
    }

    /// Returns the numbers of a run.
    fn run(
        &self,
        load: &Load,
        cell: Cell,
        played: &NotedEnds,
        without: &PlayedHistory,
    ) -> (Tally, FetchSummary) {
        let (policy, models) = (&load.policies[cell.policy], load.models_of(cell));
        let rates = models.session.prices.usual();
        let summary = FetchSummary::new(&self.stream, rates).with_lags(&played.0[1]);
        let Some(spec) = policy.source_memory() else {
            let trust = NoteTrust { trusts: 0.0, stale_fetches: 1.0 };
            return (self.tally(&played.0[1], trust, models, Beside::default()), summary);
        };
        let trust = NoteTrust { trusts: self.trust(spec)[1], stale_fetches: self.numbers.stale.fetches };
        let declared = self.tally(&played.0[1], trust, models, Beside::default());
        let none = NoteTrust { trusts: 0.0, stale_fetches: 1.0 };
        let bare = self.tally(without, none, models, Beside::default()).costs.total();
        let rest = declared.costs.exact().map(|it| it - declared.costs.recovery);
        let ends = self.interval(played, spec, models);
        // The interval of a run is one of recovery: what else differs between the ends is put there.
        let interval = ends.zip(rest).map(|(ends, rest)| ends.map(|it| it - rest));
        let tally = self.tally(&played.0[1], trust, models, Beside { interval, ..Beside::default() });
        let net = |usd: f64| usd - bare.unwrap_or_default();
        let net_usd = net(declared.costs.total().unwrap_or_default());
        let net_interval = ends.unwrap_or_default().map(|it| net(it.usd()));
        let told = (trust.trusts, spec.write.notes(SourceKind::Action));
        let memory: MemoryNumbers =
            summary::memory(&played.0[1], &self.stream, &self.numbers, told, (rates, net_usd, net_interval));
        (tally, FetchSummary { memory: Some(memory), ..summary })
    }
}

impl World for ProjectHistory {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn model(&self) -> Option<&str> {
        let mut models: indexmap::IndexMap<&str, u64> = indexmap::IndexMap::new();
        for session in self.stream.sessions.iter().filter(|it| !it.model.is_empty()) {
            let input =
                session.requests.iter().filter_map(|it| it.tokens).map(|tokens| tokens.prompt()).sum::<u64>();
            *models.entry(&session.model).or_default() += input;
        }
        models.into_iter().rev().max_by_key(|it| it.1).map(|most| most.0)
    }

    fn premises(&self) -> Option<[&'static str; 2]> {
        Some([
            "What was fetched, and what it was billed, is as recorded. What a model would have noted, and whether it would have gone by \
                its notes, is assumed with the numbers in `assumptions/histories`; no model ran.",
            "A memory adds its tokens to each recorded request, and changes neither what else an agent says nor when.",
        ])
    }

    fn notes(&self, load: &Load) -> Vec<String> {
        let mut notes = self.notes.clone();
        let main = self.model().unwrap_or_default();
        if load.profiles.is_empty() {
            let help = "it takes no part; name one with `--profile`";
            notes.push(format!("{}: no profile covers the model `{main}`: {help}.", self.name));
            return notes;
        }
        let n_others = self.stream.sessions.iter().filter(|it| it.model != main).count();
        if n_others > 0 {
            notes.push(format!("{}: {n_others} sessions of other models are priced as {main}.", self.name));
        }
        let n_unbilled = self
            .stream
            .sessions
            .iter()
            .flat_map(|it| &it.requests)
            .filter(|request| request.tokens.is_none())
            .count();
        if n_unbilled > 0 {
            notes.push(format!("{}: {n_unbilled} requests have no bill and cost nothing here.", self.name));
        }
        notes
    }

    fn refusal(&self, profile: &Profile) -> Option<Diagnostic> {
        if profile.assumptions.recovery == RecoveryPrice::Requests {
            return None;
        }
        let message = format!("{} prices a call that fetches something at a flat rate", profile.name);
        let help = "name a profile without `recovery = \"flat\"`, such as `anthropic/claude-opus-4.5`";
        Some(Diagnostic::at(Code::ProfileFlat, "", message).help(help))
    }

    fn play(&self, load: &Load, _: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        let played = self.played(load);
        progress(1, 1);
        let player = self.player(load);
        let without = player.play(None, 0.0);
        let assumed = load.assumed();
        let cells: Vec<Cell> = load.cells().collect();
        in_order(cells.len(), |at| {
            let cell = cells[at];
            let (tally, summary) = self.run(load, cell, &played[cell.policy], &without);
            Take::of(cell, Run { findings: Some(Arc::new(summary)), ..load.run(cell, tally, &assumed) })
        })
    }

    fn rows(&self, load: &Load, of: RowsOf, _progress: Progress<'_>) -> Vec<Rows> {
        if of != RowsOf::Questions {
            return Vec::new();
        }
        // What a fetch found does not depend on the policy.
        let first = load.cells().next();
        let rows = || FetchRow::all(&self.stream);
        first.map(|it| of_run(load.run_name(it), &rows())).into_iter().collect()
    }

    fn without_rows(&self, _of_needs: bool) -> Option<Diagnostic> {
        let message = format!("{} has no request rows: its requests are those of many sessions", self.name);
        let help = "use `--rows probes` for one row per fetch, or `--rows runs`";
        Some(Diagnostic::at(Code::RowsHistory, "", message).help(help))
    }
}
