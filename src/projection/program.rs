//! A declarative policy compiled for one timeline and one set of limits; it runs as a [`Projector`].

use super::edit::{Editor, Manner};
use super::firing::Firing;
use super::num::{Env, Known};
use super::prompt::{Arrived, Prompt, Shown, SlotIx, State};
use super::rung::{CompiledRung, Parts};
use super::test::Test;
use super::writer::Writer;
use super::{Ambient, Projector, text_as_it_came};
use crate::input::policy::{Lasts, Moment, Policy, Prefix, Stage};
use crate::timeline::{Texts, Timeline};

/// Every moment, in the order of its number.
const MOMENTS: [Moment; 6] = [
    Moment::Entry,
    Moment::TurnStart,
    Moment::Request,
    Moment::TurnEnd,
    Moment::SessionStart,
    Moment::SessionEnd,
];

/// A policy made ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    stages: Vec<CompiledStage>,
    /// Which stages are considered, by moment.
    by_moment: [Vec<usize>; 6],
}

/// A stage made ready.
#[derive(Clone, Debug, PartialEq)]
struct CompiledStage {
    index: u16,
    when: Test,
    rungs: Vec<CompiledRung>,
    lasts: Lasts,
    keeps_prefix: bool,
    /// What had come when the stage was last considered.
    seen: Arrived,
    /// Whether any of its conditions asks that.
    asks_every: bool,
    /// How often it has fired.
    firing: Firing,
}

/// What stays the same during one activation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activation<'a> {
    /// The prompt when the stage fired.
    pub(super) env: Env,
    pub(super) arrived: [Arrived; 2],
    pub(super) ambient: &'a Ambient,
}

impl Program {
    /// Compiles a policy.
    #[must_use]
    pub fn new(policy: &Policy, timeline: &Timeline, known: &Known) -> Self {
        let (spine, writer) = (&timeline.spine, Writer::of(timeline, known));
        let mut author = 0;
        let stage = |(index, stage): (usize, &Stage)| CompiledStage {
            index: u16::try_from(index).unwrap_or(u16::MAX),
            when: stage.when.as_ref().map_or(Test::Always, |it| Test::new(it, known)),
            rungs: policy
                .rungs(stage)
                .map(|rung| {
                    author += 1;
                    CompiledRung::new(
                        &rung,
                        author,
                        &Parts { stage, policy, spine, known, writer: writer.as_ref() },
                    )
                })
                .collect(),
            lasts: stage.lasts,
            keeps_prefix: stage.prefix == Prefix::Keeps,
            seen: Arrived::default(),
            asks_every: asks_every(policy, stage, known),
            firing: Firing::default(),
        };
        let stages = policy.stages().iter().enumerate().map(stage).collect();
        let considered = |moment: Moment| {
            let at = policy.stages().iter().enumerate().filter(|(_, it)| it.at.contains(&moment));
            at.map(|(index, _)| index).collect()
        };
        let by_moment = MOMENTS.map(considered);
        Self { stages, by_moment }
    }
}

impl Projector for Program {
    #[inline]
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        for index in &self.by_moment[moment as usize] {
            self.stages[*index].consider(moment, ambient, edit);
        }
    }

    #[inline]
    fn acts_at(&self, moment: Moment) -> bool {
        !self.by_moment[moment as usize].is_empty()
    }

    fn firings(&self) -> Vec<Firing> {
        self.stages.iter().map(|it| it.firing).collect()
    }

    /// An item's own text, or the words of the template that wrote it.
    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        let stands = prompt.slot(slot);
        let rung = || self.stages.iter().flat_map(|it| &it.rungs).find(|it| it.author == stands.by);
        match stands.state {
            State::Shown if stands.rendition == Shown::Raw => {
                text_as_it_came(stands, texts, prompt.item(slot).origin)
            }
            State::Shown | State::FoldHost => rung()?.act.text(prompt, slot),
            State::Host | State::Dropped | State::Absorbed | State::Folded | State::Past => None,
        }
    }
}

impl CompiledStage {
    #[inline]
    fn consider(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        let holds = self.when.at_a_glance(edit.prompt().tokens());
        if holds == Some(false) {
            if self.asks_every {
                self.seen = edit.prompt().arrived();
            }
            return;
        }
        self.consider_slowly(moment, ambient, edit, holds.is_some());
    }

    /// Acts where its condition holds, which may be known already.
    fn consider_slowly(
        &mut self,
        moment: Moment,
        ambient: &Ambient,
        edit: &mut Editor<'_, '_>,
        is_known_to_hold: bool,
    ) {
        let arrived = edit.prompt().arrived();
        let env = Env { start: edit.prompt().tokens(), ..Env::default() };
        let activation = Activation { env, arrived: [self.seen, arrived], ambient };
        self.seen = arrived;
        let Some(first) = self.rungs.first_mut() else { return };
        if !is_known_to_hold && !first.holds(&self.when, &activation, edit) {
            return;
        }
        let n_edits = edit.prompt().journal().len();
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
                super::act::enter(rung, edit);
            } else {
                super::act::apply(rung, &activation, edit);
            }
        }
        self.firing.count(edit.prompt().journal().len() > n_edits);
    }
}

/// Returns whether any condition of a stage asks what has come since it was last considered.
fn asks_every(policy: &Policy, stage: &Stage, known: &Known) -> bool {
    let mut asks = false;
    let rungs = policy.rungs(stage).flat_map(|it| [it.when, it.until]);
    for cond in rungs.chain([stage.when.as_ref()]).flatten() {
        Test::new(cond, known).each(&mut |test| asks |= matches!(test, Test::Every(..)));
    }
    asks
}
