//! A declarative policy compiled for one timeline and one set of limits; it implements [`Projector`].

use super::{
    Activation, Arrived, CompiledRung, Context, Editor, Env, Known, Left, Manner, Measure, Num, Projector,
    Prompt, RungParts, ShownAs, SlotIx, State, Test, Writer, text_as_it_came,
};
use crate::prelude::*;
use ctxsim_input::{Cond, EditsLast, Pause, PrefixRule, Relation, Stage};

/// Every moment, in the order of its number.
const MOMENTS: [Moment; 7] = [
    Moment::Entry,
    Moment::TurnStart,
    Moment::Request,
    Moment::TurnEnd,
    Moment::SessionStart,
    Moment::SessionEnd,
    Moment::Idle,
];

/// A compiled policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    stages: Vec<CompiledStage>,
    /// Which stages are considered, by moment.
    by_moment: [Vec<usize>; 7],
    /// The smallest prompt at which any of them acts, by moment.
    wakes: [Tokens; 7],
    /// By stage: how it last left the prompt, if some condition asks after it.
    marks: Vec<Option<StageMark>>,
    /// Whether some condition asks how long the cache keeps entries.
    asks_lifetime: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct CompiledStage {
    index: u16,
    /// After how long a pause it is considered; such a stage is never looked at in a glance.
    pause: Option<Pause>,
    when: Test,
    rungs: Vec<CompiledRung>,
    lasts: EditsLast,
    keeps_prefix: bool,
    /// What had come when the stage was last considered.
    seen: Arrived,
    /// Whether any of its conditions asks that.
    asks_every: bool,
    /// Whether some condition asks when it last acted.
    is_marked: bool,
    /// How often it has fired.
    firing: Firing,
}

impl Program {
    /// Compiles a policy.
    pub fn new(policy: &Policy, timeline: &Timeline, known: &Known) -> Self {
        let writer = Writer::of(timeline, known);
        let (mut author, mut asks_lifetime) = (0, false);
        let stage = |(index, stage): (usize, &Stage)| {
            let context = Context { known, stages: policy.stages(), own: index };
            let parts = RungParts { stage, policy, timeline, context, writer: writer.as_ref() };
            CompiledStage {
                index: ix(index),
                pause: stage.pause,
                when: match (&stage.when, stage.pause) {
                    (None, None) => Test::Always,
                    (Some(when), None) => Test::new(when, &context),
                    (when, Some(_)) => Test::All(when.iter().map(|it| Test::new(it, &context)).collect()),
                },
                rungs: policy
                    .rungs(stage)
                    .map(|rung| {
                        author += 1;
                        CompiledRung::new(&rung, author, &parts)
                    })
                    .collect(),
                lasts: stage.lasts,
                keeps_prefix: stage.prefix == PrefixRule::Keeps,
                seen: Arrived::default(),
                asks_every: asks(policy, stage, &context, |it| {
                    asks_lifetime |= matches!(it, Test::CacheCold);
                    matches!(it, Test::Every(..))
                }),
                is_marked: false,
                firing: Firing::default(),
            }
        };
        let mut stages: Vec<CompiledStage> = policy.stages().iter().enumerate().map(stage).collect();
        let marked = marked(policy, known);
        stages.iter_mut().enumerate().for_each(|(index, it)| it.is_marked = marked.contains(&index));
        let marks = if marked.is_empty() { Vec::new() } else { vec![None; stages.len()] };
        let considered = |moment: Moment| {
            let at = policy.stages().iter().enumerate().filter(|(_, it)| it.at.contains(&moment));
            at.map(|(index, _)| index).collect::<Vec<usize>>()
        };
        let by_moment = MOMENTS.map(considered);
        let wakes = std::array::from_fn(|moment| {
            let stages = by_moment[moment].iter().map(|it| stages[*it].wakes_at());
            or_unlimited(stages.min())
        });
        Self { stages, by_moment, wakes, marks, asks_lifetime }
    }

    /// Returns whether what it does depends on how long the cache keeps entries.
    pub(crate) fn asks_lifetime(&self) -> bool {
        self.asks_lifetime
    }
}

impl Projector for Program {
    #[inline]
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        for index in &self.by_moment[moment as usize] {
            self.stages[*index].consider(moment, ambient, &mut self.marks, edit);
        }
    }

    #[inline]
    fn may_act(&self, moment: Moment, prompt: Tokens) -> bool {
        prompt >= self.wakes[moment as usize]
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        let idle = self.by_moment[Moment::Idle as usize].iter();
        idle.filter_map(|it| self.stages[*it].pause?.next(idle_ms)).min()
    }

    fn firings(&self) -> Vec<Firing> {
        self.stages.iter().map(|it| it.firing).collect()
    }

    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        let by = prompt.slot(slot).by;
        self.stages.iter().flat_map(|it| &it.rungs).find(|it| it.author == by)?.act.left(prompt, slot)
    }

    /// An item's own text, or the words of the template that wrote it.
    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        let stands = prompt.slot(slot);
        let rung = || self.stages.iter().flat_map(|it| &it.rungs).find(|it| it.author == stands.by);
        match stands.state {
            State::Shown if stands.rendition == ShownAs::Raw => {
                text_as_it_came(stands, texts, prompt.item(slot).origin)
            }
            State::Shown | State::FoldHost => rung()?.act.text(prompt, slot),
            State::Host | State::Dropped | State::Absorbed | State::Folded | State::Past => None,
        }
    }
}

impl CompiledStage {
    /// Returns the smallest prompt at which it does anything, as far as that is known beforehand.
    fn wakes_at(&self) -> Tokens {
        if self.asks_every { 0 } else { self.when.least_prompt() }
    }

    #[inline]
    fn consider(
        &mut self,
        moment: Moment,
        ambient: &Ambient,
        marks: &mut [Option<StageMark>],
        edit: &mut Editor<'_, '_>,
    ) {
        let tokens = edit.prompt().tokens();
        let holds = self.when.at_a_glance(tokens);
        if holds == Some(false) {
            edit.sway(|more| self.when.at_a_glance(tokens + more) == Some(true));
            if self.asks_every {
                self.seen = edit.prompt().arrived();
            }
            return;
        }
        self.consider_slowly(moment, ambient, marks, edit, holds.is_some());
    }

    /// Acts where its condition holds, which may be known already.
    fn consider_slowly(
        &mut self,
        moment: Moment,
        ambient: &Ambient,
        marks: &mut [Option<StageMark>],
        edit: &mut Editor<'_, '_>,
        is_known_to_hold: bool,
    ) {
        if self.pause.is_some_and(|it| !it.is_at(ambient.idle_ms)) {
            return;
        }
        let arrived = edit.prompt().arrived();
        let env = Env { start: edit.prompt().tokens(), ..Env::default() };
        let session = edit.prompt().history().session_from();
        let activation = Activation { env, arrived: [self.seen, arrived], session, marks, ambient };
        if self.asks_every {
            self.seen = arrived;
        }
        let Some(first) = self.rungs.first_mut() else { return };
        if !is_known_to_hold && !first.holds(&self.when, &activation, edit) {
            return;
        }
        let (n_edits, n_asked) = (edit.prompt().journal().len(), edit.n_asked());
        for (n, rung) in self.rungs.iter_mut().enumerate() {
            if n > 0 && (!rung.is_due(&activation, edit) || rung.begins_done(&activation, edit)) {
                continue;
            }
            edit.set_manner(Manner {
                moment,
                author: rung.author,
                stage: self.index,
                for_request: self.lasts.is_taken_back(moment),
                keeps_prefix: self.keeps_prefix,
            });
            if moment == Moment::Entry && rung.takes_one() {
                rung.act.enter(rung, edit);
            } else {
                rung.apply(&activation, edit);
            }
        }
        let has_edited = edit.prompt().journal().len() > n_edits;
        self.firing.count(has_edited || edit.n_asked() > n_asked);
        if self.is_marked && has_edited {
            let tokens = edit.prompt().tokens();
            marks[usize::from(self.index)] = Some(StageMark { session, tokens, arrived });
        }
    }
}

// The state in which stages last left a prompt, for conditions about what has changed since.

/// How a stage last left a prompt that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageMark {
    /// Where the session begins that this was in.
    pub session: SlotIx,
    /// Tokens of the prompt.
    pub tokens: Tokens,
    /// What had come.
    pub arrived: Arrived,
}

/// Returns whether any condition of a stage asks something.
pub(super) fn asks(
    policy: &Policy,
    stage: &Stage,
    context: &Context<'_>,
    mut asks_it: impl FnMut(&Test) -> bool,
) -> bool {
    let mut asks = false;
    let rungs = policy.rungs(stage).flat_map(|it| [it.when, it.until]);
    for cond in rungs.chain([stage.when.as_ref()]).flatten() {
        Test::new(cond, context).each(&mut |test| asks |= asks_it(test));
    }
    asks
}

/// Returns the stages of which some condition asks when they last acted.
pub(super) fn marked(policy: &Policy, known: &Known) -> BTreeSet<usize> {
    let mut marked = BTreeSet::new();
    for (own, stage) in policy.stages().iter().enumerate() {
        let context = Context { known, stages: policy.stages(), own };
        asks(policy, stage, &context, |test| match test {
            Test::Tokens(Measure::Grown(of), ..) | Test::Since(of, ..) => marked.insert(*of),
            _ => false,
        });
    }
    marked
}

// How often stages fire, and which prompt lengths they need.

/// How often a stage fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firing {
    /// How often its trigger was true when it was checked.
    pub fired: u64,
    /// Of these, how often it edited anything.
    pub acted: u64,
}

ctxsim_base::quantity::packed!(Firing: [fired, acted]);

impl Firing {
    /// Counts another time.
    pub fn count(&mut self, has_acted: bool) {
        self.fired += 1;
        self.acted += u64::from(has_acted);
    }
}

/// A length of the prompt without which a stage does not fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Threshold {
    /// The length.
    pub tokens: Tokens,
    /// Whether that length itself is long enough.
    pub is_inclusive: bool,
    /// Whether the stable prefix is not counted.
    pub is_of_body: bool,
}

impl Threshold {
    /// Reads a trigger: a length that is known beforehand, by itself or as a part that must hold.
    pub fn new(cond: &Cond, known: &Known) -> Option<Self> {
        Self::of(&Test::new(cond, &Context::alone(known)))
    }

    fn of(test: &Test) -> Option<Self> {
        let (relation, tokens, is_of_body) = match test {
            Test::Tokens(Measure::Prompt, relation, Num::Const(tokens)) => (relation, *tokens, false),
            Test::Tokens(Measure::Body, relation, Num::Const(tokens)) => (relation, *tokens, true),
            Test::All(parts) => return parts.iter().find_map(Self::of),
            _ => return None,
        };
        match relation {
            Relation::Above => Some(Self { tokens, is_inclusive: false, is_of_body }),
            Relation::AtLeast => Some(Self { tokens, is_inclusive: true, is_of_body }),
            Relation::Below | Relation::AtMost => None,
        }
    }
}
