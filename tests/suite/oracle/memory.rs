//! A memory as the oracle holds it: a list of what was written, looked through from the front whenever something is asked.

use ctxsim::input::policy::ShownAs;
use ctxsim::input::policy::memory::{DrawBar, FactMemory as Rules, MemoryPart, State};
use ctxsim::input::policy::memory::{Facts, RecallRule, SearchedWhen};
use ctxsim::ledger::{Loss, ProbeRow};
use ctxsim::timeline::facts::{DrawSource, FactForm, FactPlane, Plant, Probe};
use ctxsim::timeline::{Lifecycle, Timeline};

use super::history::{History, Stands};

/// What was written of one list of entries.
pub(super) struct Memory<'a> {
    with: Option<(&'a Rules, &'a FactPlane)>,
    plane: Option<&'a FactPlane>,
    /// Plants that were looked through.
    seen: Vec<usize>,
    /// Every version that was ever written, by fact.
    written: Vec<(u32, u16)>,
    /// The facts that are held, the oldest first.
    held: Vec<u32>,
    capacity: u64,
    /// All that was ever recalled; a content's number is its place.
    contents: Vec<Vec<(u32, u16)>>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(timeline: &'a Timeline, rules: Option<&'a Rules>) -> Self {
        let plane = timeline.facts.as_ref();
        let capacity =
            rules.filter(|it| !it.oracle.contains(&MemoryPart::Store)).and_then(|it| it.store.capacity());
        Self {
            with: rules.zip(plane),
            plane,
            seen: Vec::new(),
            written: Vec::new(),
            held: Vec::new(),
            capacity: capacity.unwrap_or(u64::MAX),
            contents: Vec::new(),
        }
    }

    pub(super) fn is_some(&self) -> bool {
        self.with.is_some()
    }

    pub(super) fn observe(&mut self, history: &History<'_>) {
        let Some((rules, plane)) = self.with else { return };
        for (nth, plant) in plane.plants.iter().enumerate() {
            let has_come = history.place_of(plant.item).is_some();
            let is_ready =
                rules.write.from == SearchedWhen::Session || standing(history, plant) != State::Exact;
            if has_come && is_ready && !self.seen.contains(&nth) {
                self.seen.push(nth);
                self.write(rules, plane, plant);
            }
        }
    }

    fn write(&mut self, rules: &Rules, plane: &FactPlane, plant: &Plant) {
        let DrawSource::Named(seed) = &plane.draws else {
            panic!("random timelines draw from named streams")
        };
        let is_met = |facts: Facts| match facts {
            Facts::Any => true,
            Facts::Explicit => plant.form == FactForm::Explicit,
            Facts::Implicit => plant.form == FactForm::Implicit,
        };
        for (nth, rule) in (0..).zip(rules.write.extract.iter().filter(|it| is_met(it.facts))) {
            let unit = seed.stream("memory/write", 0).nth(plant.fact.into(), nth).unit();
            let is_drawn = match rule.bar() {
                DrawBar::Below(p) => unit < p,
                DrawBar::Above(miss) => unit < 1.0 - miss,
            };
            if !is_drawn && !rules.oracle.contains(&MemoryPart::Write) {
                continue;
            }
            self.written.push((plant.fact, plant.version));
            if !self.held.contains(&plant.fact) && self.capacity > 0 {
                self.keep(self.capacity - 1);
                self.held.push(plant.fact);
            }
        }
    }

    /// Loses all but so many.
    fn keep(&mut self, count: u64) {
        while self.held.len() as u64 > count {
            self.held.remove(0);
        }
    }

    pub(super) fn happen(&mut self, event: Lifecycle) {
        match event {
            Lifecycle::Flush => self.keep(0),
            Lifecycle::Reset { keep } => self.keep(keep),
            Lifecycle::Budget { entries } => {
                self.capacity = entries;
                self.keep(entries);
            }
        }
    }

    /// The newest version of a fact that was written.
    fn version(&self, fact: u32) -> u16 {
        self.written.iter().filter(|it| it.0 == fact).map(|it| it.1).max().unwrap_or(0)
    }

    /// The tokens of what is recalled, and the number of its content.
    pub(super) fn recall(&mut self) -> (u64, u64) {
        let Some((rules, _)) = self.with else { return (0, 0) };
        let n_read = if let RecallRule::Last(count) = rules.read { count as usize } else { usize::MAX };
        let says = |fact: &u32| if rules.read == RecallRule::ByKey { 0 } else { self.version(*fact) };
        let content: Vec<(u32, u16)> =
            self.held.iter().rev().take(n_read).map(|fact| (*fact, says(fact))).collect();
        let tokens = content.len() as u64 * rules.store.tokens_per_fact();
        if tokens == 0 {
            return (0, 0);
        }
        let known = self.contents.iter().position(|it| *it == content);
        let number = known.unwrap_or(self.contents.len());
        if known.is_none() {
            self.contents.push(content);
        }
        (tokens, number as u64)
    }

    pub(super) fn answer(&self, probe: &Probe, history: &History<'_>, has_stopped: bool) -> ProbeRow {
        let plant = self.plane.unwrap().plants[probe.plant as usize];
        let shown = standing(history, &plant);
        let (known, lost_in) = self.knows(&plant);
        let order = [State::Exact, State::Summarised, State::Recoverable, State::Preview, State::Lost];
        let state = *order.iter().find(|it| **it == shown || **it == known).unwrap();
        let usual = [State::Exact, State::Summarised, State::Recoverable];
        let answers = match self.with {
            Some((rules, _)) if rules.oracle.contains(&MemoryPart::Use) => state != State::Lost,
            Some((rules, _)) => rules.answers(state),
            None => usual.contains(&state),
        };
        let loss = if state == State::Lost { lost_in.unwrap_or(Loss::Write) } else { Loss::Use };
        ProbeRow {
            fact: plant.fact,
            item: plant.item,
            quartile: probe.quartile,
            is_explicit: plant.form == FactForm::Explicit,
            state: if has_stopped { State::Lost } else { state },
            is_found: answers && !has_stopped,
            loss: if has_stopped { Some(Loss::Stopped) } else { (!answers).then_some(loss) },
        }
    }

    fn knows(&self, plant: &Plant) -> (State, Option<Loss>) {
        let Some((rules, _)) = self.with else { return (State::Lost, None) };
        let is_whole = rules.oracle.contains(&MemoryPart::Read);
        let is_read = |count: u64| self.held.iter().rev().take(count as usize).any(|it| *it == plant.fact);
        if self.version(plant.fact) < plant.version {
            return (State::Lost, Some(Loss::Write));
        }
        if !self.held.contains(&plant.fact) {
            return (State::Lost, Some(Loss::Store));
        }
        match rules.read {
            RecallRule::Last(count) if !is_whole && !is_read(count) => (State::Lost, Some(Loss::Read)),
            RecallRule::ByKey => (State::Recoverable, None),
            _ => (State::Summarised, None),
        }
    }
}

/// How the prompt shows what an item says.
fn standing(history: &History<'_>, plant: &Plant) -> State {
    let Some(place) = history.place_of(plant.item) else { return State::Lost };
    let (slot, raw) = (&history.slots[place], u64::from(history.item(place).raw));
    match slot.view.stands {
        Stands::Dropped | Stands::Past | Stands::Behind | Stands::Summary(_) => State::Lost,
        Stands::Shown if slot.view.tokens >= raw => State::Exact,
        Stands::Shown | Stands::Told | Stands::Fold(_) => match slot.view.rendition {
            ShownAs::Raw => State::Exact,
            ShownAs::Exact | ShownAs::Preview | ShownAs::Truncate => State::Preview,
            ShownAs::Summary | ShownAs::Gist => State::Summarised,
            ShownAs::Handle | ShownAs::Offload => State::Recoverable,
            ShownAs::Marker => State::Lost,
        },
    }
}
