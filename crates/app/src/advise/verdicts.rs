//! The levers of an agent: what each choice of its menu does to all sessions, and the word that the rule gives it.

use crate::prelude::*;

use super::agents::{ShownBy, Wish};
use super::in_force::Force;
use super::in_force::SettingValues;
use super::menu::{Menu, MenuChoice};
use super::play::PlayedSession;
use ctxsim_engine::measure::Tally;
use ctxsim_engine::measure::limits::sum_of_pairs;
use ctxsim_engine::measure::month::Calendar;
use ctxsim_report::advise::saved::{EarlierBills, SCHEMA, Saved};
use ctxsim_report::advise::{MonthCost, WishFor};
use ctxsim_report::decide::groups::{GroupedSession, by_group};
use ctxsim_report::decide::{FamilyRow, FamilySession, Judgement, SessionEffect, TriedFamily, pasted};
use ctxsim_report::distinct;
use ctxsim_report::known_task as task;
use ctxsim_report::lever::TurnsBreakEven;
use ctxsim_report::lever::{GroupSaving, KnownBy, Lever, SETTINGS, Word};
use ctxsim_timeline::import::user_of;

/// The sessions of an agent, ready to be judged.
pub(super) struct AgentSessions<'a> {
    pub(super) menu: &'a Menu<'a>,
    pub(super) month: &'a AgentMonth<'a>,
    pub(super) played: &'a [&'a PlayedSession],
    pub(super) min_evidence: f64,
}

/// What the rule says of everything that was tried.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    /// Everything that does something in some session; most saved first.
    pub(super) levers: Vec<Lever>,
    /// What to paste: a place in `levers`, and the choice.
    pub(super) pasted: Option<(usize, MenuChoice)>,
    /// What was asked for: a place in `levers`, and the choice.
    pub(super) asked: Option<(usize, MenuChoice)>,
}

/// What a month of an agent's sessions costs.
pub(super) struct AgentMonth<'a> {
    calendar: &'a Calendar,
    known_by: KnownBy,
}

impl<'a> AgentMonth<'a> {
    /// Takes the logs' bills, or where no session has one, what is simulated.
    pub(super) fn new(calendar: &'a Calendar, played: &[&PlayedSession]) -> Self {
        let is_billed = played.iter().any(|it| it.bill().is_some_and(|it| it.requests > 0));
        Self { calendar, known_by: if is_billed { KnownBy::Bills } else { KnownBy::Simulated } }
    }

    /// Returns how much of a session counts.
    pub(super) fn weight(&self, session: &PlayedSession) -> f64 {
        self.calendar.weight(session.seen.span_ms, session.bill().map(|it| &it.by_day))
    }

    /// Returns what a session costs of it; none if its price is unknown.
    pub(super) fn of(&self, session: &PlayedSession) -> Option<f64> {
        match self.known_by {
            KnownBy::Bills => Some(session.bill().map_or(0.0, |it| self.calendar.bill(&it.by_day).usd())),
            KnownBy::Simulated => Some(session.base.costs.total()? * self.weight(session)),
        }
    }

    /// Adds sessions up.
    pub(super) fn cost(&self, played: &[&PlayedSession]) -> MonthCost {
        let usd = played.iter().map(|it| self.of(it)).sum();
        MonthCost { usd, basis: self.calendar.basis, days: self.calendar.days, known_by: self.known_by }
    }
}

impl AgentSessions<'_> {
    /// Returns how many projects the sessions are of; 0 where they are not known.
    pub(super) fn n_projects(&self) -> usize {
        distinct(self.played.iter().map(|it| it.seen.project.as_str()).filter(|it| !it.is_empty())).len()
    }

    /// Returns the share of needed evidence that prompts hold as things are.
    pub(super) fn evidence_kept(&self) -> Option<f64> {
        let (met, all) = sum_of_pairs(self.played.iter().map(|it| it.base.sums.needs.evidence()));
        (all > 0.0).then(|| met / all)
    }

    /// Judges everything that is tried as one family.
    pub(super) fn verdicts(&self, force: &Force<'_>) -> Verdicts {
        let effects = self.played.iter().map(|it| SessionEffects::new(it, self.menu)).listed();
        let is_row = |it: &&MenuChoice| self.is_distinct(it) || self.menu.is_asked(it);
        let choices = self.menu.choices.iter().filter(is_row).listed();
        let family = TriedFamily {
            sessions: effects.iter().map(|it| it.session(&choices)).listed(),
            rows: choices.iter().map(|it| self.row(it)).listed(),
            floor: self.min_evidence,
        };
        let judged = family.judged();
        let best = pasted(&judged);
        let month = self.month.cost(self.played).usd;
        let lever = |(nth, it): (usize, &Judgement)| (nth, self.lever(choices[nth], it, month, force));
        let mut levers: Vec<(usize, Lever)> = judged.iter().enumerate().map(lever).listed();
        levers.retain(|it| it.1.word.is_some() || self.menu.is_asked(choices[it.0]));
        // Whom a choice concerns is asked of what a reader may set alone, and of what is pasted.
        for (nth, lever) in levers.iter_mut().filter(|it| it.1.set.len() == 1 || Some(it.0) == best) {
            lever.people = self.groups(&effects, choices[*nth], |it| it.person);
            lever.projects = self.groups(&effects, choices[*nth], |it| &it.of.seen.project);
        }
        levers.sort_by(|one, other| other.1.saved().total_cmp(&one.1.saved()));
        let found = |nth: usize| Some((levers.iter().position(|it| it.0 == nth)?, choices[nth].clone()));
        let pasted = best.and_then(found);
        let asked = choices.iter().position(|it| self.menu.is_asked(it)).and_then(found);
        Verdicts { levers: levers.into_iter().map(|it| it.1).listed(), pasted, asked }
    }

    /// Returns whether each pair of a choice does something in some session: else a smaller choice is the same.
    fn is_distinct(&self, choice: &MenuChoice) -> bool {
        choice.iter().all(|it| self.played.iter().any(|one| one.acts(*it)))
    }

    fn row(&self, choice: &MenuChoice) -> FamilyRow {
        let pairs = choice.iter().map(|it| &self.menu.pairs[*it]);
        FamilyRow {
            set: pairs.clone().map(super::menu::MenuPair::text).listed(),
            lanes: pairs.clone().map(|it| [false, true].map(|of| it.setting.lane.include(of))).listed(),
            is_lifetime: pairs.clone().any(|it| it.setting.shown_by == Some(ShownBy::Lifetimes)),
            unjudged: pairs
                .clone()
                .find_map(|it| it.setting.unjudged.clone())
                .or_else(|| self.narrow(choice)),
        }
    }

    /// Returns why a choice is its user's to judge whose window is small against the requests of the sessions.
    fn narrow(&self, choice: &MenuChoice) -> Option<String> {
        let requests = self.played.iter().map(|it| it.seen.requests).listed();
        task::narrow(self.menu.newest_requests(choice)?, &requests)
    }

    /// Returns what a choice saves each person or project.
    fn groups<'e>(
        &'e self,
        effects: &'e [SessionEffects<'e>],
        choice: &MenuChoice,
        group: impl Fn(&'e SessionEffects<'e>) -> &'e str,
    ) -> Vec<GroupSaving> {
        let of = |it: &'e SessionEffects<'e>| {
            let pair = (it.effect(choice).cost?.usd, it.base.cost?.usd);
            Some(GroupedSession { group: group(it), pair, month_usd: self.month.of(it.of)? })
        };
        by_group(&effects.iter().filter_map(of).listed())
    }

    /// Returns the minutes less that one waits for answers a month in main conversations with a choice, over the sessions whose models have data.
    fn saved_minutes(&self, choice: &MenuChoice) -> Option<f64> {
        let saved = |it: &&PlayedSession| {
            let [base, own] = [&it.base, it.run(choice)].map(|it| it.waiting.total().minutes());
            Some((base? - own?) * self.month.weight(it))
        };
        let main = self.played.iter().filter(|it| !it.seen.is_of_agent);
        // Nothing is never less than nothing.
        main.filter_map(saved).reduce(|sum, it| sum + it).map(|it| 0.0 + it)
    }

    fn lever(&self, choice: &MenuChoice, it: &Judgement, month: Option<f64>, force: &Force<'_>) -> Lever {
        let is_do = it.word == Some(Word::Do);
        let expected = if is_do { it.expected } else { it.change };
        let pairs = choice.iter().map(|it| &self.menu.pairs[*it]).listed();
        let mut lever = Lever {
            name: SETTINGS,
            set: pairs.iter().map(|it| it.text()).listed(),
            title: pairs.iter().map(|it| it.setting.titled(&it.value)).listed().join(" + "),
            word: it.word,
            why: it.why.clone(),
            saved_minutes_month: self.saved_minutes(choice),
            change: it.change,
            expected,
            interval: it.interval,
            gone_at_extra_turns: self.gone_at(choice, it),
            known_of_task: task::known(&self.menu.families(choice)),
            evidence_kept: it.kept,
            evidence_low: it.kept_low,
            effects: pairs.iter().map(|it| it.setting.effects.clone()).listed(),
            ..Lever::default()
        }
        .in_month(month);
        if it.word == Some(Word::Try) {
            let is_by_cost = !self.before(choice, force).is_empty();
            let bills = self.bills(choice, is_by_cost);
            lever.sessions_to_know = expected.and_then(|it| bills.sessions_to_know(it));
        }
        lever
    }

    /// Returns how many more turns the saving of a choice bears: what it is shown to save, of what turns cost under it. Lifetimes edit no prompt, so
    /// that no turn is added for them.
    fn gone_at(&self, choice: &MenuChoice, it: &Judgement) -> Option<TurnsBreakEven> {
        let shown = if it.word == Some(Word::Do) { it.expected } else { it.change };
        let edits = !self.menu.families(choice).is_empty();
        TurnsBreakEven::new(shown?, it.interval, it.again?).filter(|_| edits)
    }

    /// Returns what only maintainers can change, where it would save.
    pub(super) fn wishes(&self) -> Vec<WishFor> {
        let base: f64 = self.played.iter().filter_map(|it| it.base.costs.total()).sum();
        let one = |(nth, wish): (usize, &Wish)| {
            let own: Option<f64> = self.played.iter().map(|it| it.wishes[nth].costs.total()).sum();
            let change = own? / base - 1.0;
            let kept = sum_of_pairs(self.played.iter().map(|it| it.wishes[nth].sums.needs.evidence()));
            (base > 0.0 && change < 0.0).then(|| WishFor {
                about: wish.about.clone(),
                reason: wish.reason.clone(),
                change,
                evidence_kept: (kept.1 > 0.0).then(|| kept.0 / kept.1),
            })
        };
        self.menu.wishes.iter().enumerate().filter_map(one).listed()
    }

    /// Returns the settings in force that a choice changes, where later sessions can be played with them.
    fn before(&self, choice: &MenuChoice, force: &Force<'_>) -> SettingValues {
        force.playable(self.menu.values(choice).keys()).unwrap_or_default()
    }

    /// Returns what sessions were billed, and what a choice does to them.
    fn bills(&self, choice: &MenuChoice, is_by_cost: bool) -> EarlierBills {
        EarlierBills::new(&self.played.iter().map(|it| it.earlier(choice, is_by_cost)).listed(), is_by_cost)
    }

    /// Returns what to write down of a choice, so that later sessions can be held against it. Sessions are measured by what they cost with
    /// what is in force, where later ones can be played with it.
    pub(super) fn saved(&self, choice: &MenuChoice, lever: &Lever, force: &Force<'_>) -> Option<Saved> {
        let before = self.before(choice, force);
        let EarlierBills { kinds, pooled, drift } = self.bills(choice, !before.is_empty());
        let versions = self.played.iter().map(|it| it.seen.version.clone());
        Some(Saved {
            schema: SCHEMA.to_owned(),
            agent: self.menu.agent.name.clone(),
            set: lever.set.clone(),
            word: lever.word.map_or_else(String::new, |it| it.text().to_owned()),
            until_ms: self.played.iter().filter_map(|it| it.seen.span_ms).map(|it| it[1]).max(),
            versions: distinct(versions.filter(|it| !it.is_empty())),
            change: lever.expected?,
            interval: lever.interval?,
            before: before.iter().map(|it| format!("{}={}", it.0, it.1)).listed(),
            kinds,
            pooled,
            drift,
            former: Vec::new(),
            trial: Vec::new(),
        })
    }
}

/// What a session comes to under each choice that does something in it.
struct SessionEffects<'a> {
    of: &'a PlayedSession,
    person: &'a str,
    base: SessionEffect,
    runs: IndexMap<&'a MenuChoice, SessionEffect>,
}

impl<'a> SessionEffects<'a> {
    fn new(of: &'a PlayedSession, menu: &Menu<'_>) -> Self {
        debug_assert!(of.acts.len() == menu.pairs.len() || of.acts.is_empty(), "one for each pair");
        let effect = |it: (&'a MenuChoice, &Tally)| (it.0, SessionEffect::of(it.1));
        Self {
            of,
            person: user_of(&of.seen.project),
            base: SessionEffect::of(&of.base),
            runs: of.runs.iter().map(effect).collect(),
        }
    }

    /// Returns what it comes to under a choice.
    fn effect(&self, choice: &[usize]) -> &SessionEffect {
        self.runs.get(&self.of.acting(choice)).unwrap_or(&self.base)
    }

    fn session<'s>(&'s self, choices: &[&MenuChoice]) -> FamilySession<'s> {
        let seen = &self.of.seen;
        let [short, long] = seen.written.map(|it| usize::from(it > 0));
        FamilySession {
            project: &seen.project,
            person: self.person,
            last_ms: seen.span_ms.map(|it| it[1]),
            lifetimes: short + 2 * long,
            is_of_agent: seen.is_of_agent,
            base: &self.base,
            rows: choices.iter().map(|it| self.effect(it)).listed(),
        }
    }
}
