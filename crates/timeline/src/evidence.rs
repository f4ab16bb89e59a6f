//! The evidence plane: which later moments need which earlier evidence, how much of it,
//! and the cost of fetching it again.

use super::{Item, ItemIx, Kind, StepIx, TurnIx};
use crate::prelude::*;
use ctxsim_input::profile::Factor;
pub use ctxsim_input::scenario::Level;
use ctxsim_input::scenario::summaries::FactKind;

/// The rule by which a turn needs its own user's message.
pub const RUNNING: &str = "running_message";

/// The rule by which a turn needs the earlier messages of its session.
pub const EARLIER: &str = "earlier_messages";

/// The moment of a turn at which a need is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// After the user message and the stages of the turn's start.
    TurnStart,
    /// After the stages of the turn's final request.
    Answer,
    /// After the stages of the turn's end.
    TurnEnd,
}

/// A need for a turn's evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// The turn that holds the evidence.
    pub source: TurnIx,
    /// How much of it.
    pub level: Level,
    /// The probability of the need, 0 to 1.
    pub weight: f64,
    /// The interval of that probability.
    pub interval: [f64; 2],
    /// Tokens that fetch it again. Default: by the results' own numbers.
    pub recover_tokens: Option<u32>,
}

impl Need {
    /// A need whose probability is known.
    pub fn new(source: TurnIx, level: Level, weight: f64, recover_tokens: Option<u32>) -> Self {
        Self { source, level, weight, interval: [weight; 2], recover_tokens }
    }
}

/// The origin of an inferred need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The rule that found it.
    pub rule: &'static str,
    /// The step whose call revealed it; the need is due at its request.
    pub step: StepIx,
    /// The result that is needed.
    pub item: ItemIx,
    /// What the call named of it, if rates are published of how long summaries keep it.
    pub names: Option<FactKind>,
}

/// A need for one result.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemNeed {
    /// Its origin.
    pub inferred: Inferred,
    /// The level and the probability.
    pub need: Need,
    /// The result's own evidence.
    pub evidence: TurnEvidence,
    mentions: Range<u32>,
}

/// All needs of a timeline, by the turn and the moment at which they are due.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    needs: Vec<Need>,
    /// By turn: where its needs begin, by moment, and where the last ones end.
    ends: Vec<[u32; 3]>,
    /// The evidence of each turn.
    pub evidence: Vec<TurnEvidence>,
    /// Needs for single results, by step.
    of_items: Vec<ItemNeed>,
    /// Other items that name a result's source.
    mentions: Vec<ItemIx>,
}

impl Needs {
    /// Returns whether there are no needs at all, so that recovery and evidence are unknown rather than zero.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty() && self.of_items.is_empty()
    }

    /// Returns all needs for single results, in the order of the steps at which they are due.
    pub fn of_items(&self) -> &[ItemNeed] {
        &self.of_items
    }

    /// Returns the needs for single results at a step's request.
    #[inline]
    pub fn due_at(&self, step: StepIx) -> &[ItemNeed] {
        if self.of_items.is_empty() {
            return &[];
        }
        let start = self.of_items.partition_point(|it| it.inferred.step < step);
        let n_due = self.of_items[start..].partition_point(|it| it.inferred.step == step);
        &self.of_items[start..start + n_due]
    }

    /// Returns the other items that name the source of a need's result: any of them is enough to fetch it
    /// again.
    pub fn mentions(&self, need: &ItemNeed) -> &[ItemIx] {
        self.mentions.get(need.mentions.start as usize..need.mentions.end as usize).unwrap_or_default()
    }

    /// Appends a need of one result; steps in order.
    pub(super) fn push_item(&mut self, inferred: Inferred, need: Need, turn: TurnEvidence, named: &[ItemIx]) {
        debug_assert!(self.of_items.last().is_none_or(|it| it.inferred.step <= inferred.step));
        let start = ix(self.mentions.len());
        self.mentions.extend(named);
        self.of_items.push(ItemNeed {
            inferred,
            need,
            evidence: turn,
            mentions: start..ix(self.mentions.len()),
        });
    }

    /// Returns the needs that are due at a moment of a turn.
    #[inline]
    pub fn due(&self, turn_ix: TurnIx, due: Due) -> &[Need] {
        let Some(ends) = self.ends.get(turn_ix as usize) else { return &[] };
        let moment = due as usize;
        let start = match (moment, turn_ix) {
            (0, 0) => 0,
            (0, _) => self.ends[turn_ix as usize - 1][2],
            _ => ends[moment - 1],
        };
        &self.needs[start as usize..ends[moment] as usize]
    }

    /// Counts every size anew.
    pub(super) fn recount(&mut self, factor: Factor) {
        let needs = self.needs.iter_mut().chain(self.of_items.iter_mut().map(|it| &mut it.need));
        needs.for_each(|it| it.recover_tokens = it.recover_tokens.map(|size| factor.size(size)));
        let evidence = self.evidence.iter_mut().chain(self.of_items.iter_mut().map(|it| &mut it.evidence));
        evidence.for_each(|it| it.recount(factor));
    }

    /// Appends the needs of the next turn, one list per moment.
    pub(super) fn push_turn(&mut self, by_moment: [Vec<Need>; 3]) {
        let ends = by_moment.map(|needs| {
            self.needs.extend(needs);
            ix(self.needs.len())
        });
        self.ends.push(ends);
    }
}

/// The evidence of a turn's results, and the cost of fetching it again; all sizes in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnEvidence {
    /// How many results there are.
    pub n_results: u32,
    /// How many of them are working evidence.
    pub n_working: u32,
    pub has_handle: bool,
    /// Tokens for a handle's next part.
    pub handle: u32,
    /// Tokens for a detail.
    pub local: u32,
    /// Tokens for an exact excerpt.
    pub exact: u32,
    /// Tokens for the largest result as a whole.
    pub raw: u32,
    /// The largest exact range, with its handle, that replaces a whole file.
    pub file_range: Option<u32>,
    /// The largest file that is larger than its handle.
    pub file: u32,
    /// Whether this is one result by itself.
    pub is_single: bool,
}

impl TurnEvidence {
    /// Adds one result: its sizes, its recovery sizes by level, and whether it is a file that can be read by range.
    pub fn add(&mut self, item: &Item, recover: &Recover, is_file: bool) {
        debug_assert_eq!(item.kind, Kind::ToolResult);
        self.n_results += 1;
        self.n_working += u32::from(item.preserve.is_exact());
        self.has_handle |= item.handle > 0;
        self.handle = self.handle.max(recover.handle);
        self.local = self.local.max(recover.local);
        self.exact = self.exact.max(recover.exact);
        self.raw = self.raw.max(item.raw);
        if !is_file {
            return;
        }
        let exact = recover.exact.max(item.excerpt);
        if exact > 0 {
            self.file_range = self.file_range.max(Some(item.raw.min(exact.saturating_add(item.handle))));
        }
        if item.raw > item.handle {
            self.file = self.file.max(item.raw);
        }
    }

    /// Returns one result's own evidence: being needed makes it working evidence, whatever class its tool
    /// has.
    pub fn of_item(item: &Item, is_file: bool) -> Self {
        let mut evidence = Self::default();
        let recover = Recover { handle: item.summary, local: item.raw, exact: item.raw };
        evidence.add(item, &recover, is_file);
        Self { n_working: 1, is_single: true, ..evidence }
    }

    fn recount(&mut self, factor: Factor) {
        let sizes = [&mut self.handle, &mut self.local, &mut self.exact, &mut self.raw, &mut self.file];
        sizes.into_iter().chain(self.file_range.as_mut()).for_each(|it| *it = factor.size(*it));
    }

    /// Returns the tokens for evidence of a level by the results' own numbers; 0 if nothing leads to it.
    pub fn recover_tokens(&self, level: Level) -> u32 {
        match level {
            Level::None | Level::GlobalConclusion => 0,
            Level::ContinuationHandle => self.handle,
            Level::LocalDetail => self.local,
            Level::ExactEvidence => self.exact,
            Level::RawContent => self.raw,
        }
    }
}

/// Tokens needed to fetch one result again, by level; 0 if not possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recover {
    /// A handle's next part.
    pub handle: u32,
    /// A detail.
    pub local: u32,
    /// An exact excerpt.
    pub exact: u32,
}

/// Returns the turn that lies so many turns back, if there is one.
pub fn turns_back(turn_ix: TurnIx, back: u64) -> Option<TurnIx> {
    u64::from(turn_ix).checked_sub(back).and_then(|it| TurnIx::try_from(it).ok())
}

/// Scales weights to a sum of 1, dropping zeros; without weights nothing is needed.
pub fn normalised(weights: impl IntoIterator<Item = (Level, f64)>) -> Vec<(Level, f64)> {
    let weights: Vec<(Level, f64)> = weights.into_iter().collect();
    // Expected values are summed in ascending order.
    let total: f64 = Level::ALL.iter().map(|level| weight_of(&weights, *level)).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let scaled = Level::ALL.iter().map(|level| (*level, weight_of(&weights, *level) / total));
    scaled.filter(|(level, weight)| *level != Level::None && *weight > 0.0).collect()
}

/// Returns the weight of a level.
fn weight_of(weights: &[(Level, f64)], level: Level) -> f64 {
    weights.iter().find(|(it, _)| *it == level).map_or(0.0, |(_, weight)| *weight)
}
