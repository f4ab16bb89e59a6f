//! The levers of an agent: what each choice of its menu does to all sessions, and the word that the rule gives it.

use crate::prelude::*;

use super::agents::MaintainerWish;
use super::in_force::{SettingValues, SettingsInForce};
use super::menu::{MenuChoice, SettingMenu};
use super::play::PlayedSession;
use ctxsim_engine::measure::limits::sum_of_pairs;
use ctxsim_engine::measure::month::Calendar;
use ctxsim_input::policy::Lanes;
use ctxsim_report::advise::saved::{EarlierBills, SCHEMA, SavingsForecast};
use ctxsim_report::advise::{MonthCost, WishEffect};
use ctxsim_report::decide::{FamilySession, SessionEffect, TriedFamily, index_of_best_do};
use ctxsim_report::known_task as task;
use ctxsim_report::lever::{KnownBy, Lever, SETTINGS, TurnsBreakEven, Word};

/// The sessions of an agent, ready to be judged.
pub(super) struct AgentSessions<'a> {
    pub(super) menu: &'a SettingMenu<'a>,
    pub(super) month: AgentMonth<'a>,
    pub(super) played: &'a [&'a PlayedSession],
    pub(super) min_evidence: f64,
}

/// What the rule says of everything that was tried.
pub(super) struct Verdicts {
    /// Everything that does something in some session; most saved first.
    pub(super) levers: Vec<Lever>,
    /// What to paste.
    pub(super) pasted: Option<PlacedChoice>,
    /// What was asked for.
    pub(super) asked: Option<PlacedChoice>,
    /// Of single settings that are not *do*, the one that comes first: a *your call* that is judged, else a *try*.
    pub(super) next: Option<PlacedChoice>,
}

/// A choice among the verdicts.
pub(super) struct PlacedChoice {
    /// Its place among the levers.
    pub(super) lever: usize,
    pub(super) choice: MenuChoice,
}

/// What a month of an agent's sessions costs.
pub(super) struct AgentMonth<'a> {
    calendar: &'a Calendar,
    known_by: KnownBy,
}

impl<'a> AgentMonth<'a> {
    /// Takes the logs' bills, or where no session has one, what is simulated.
    pub(super) fn new(calendar: &'a Calendar, played: &[&PlayedSession]) -> Self {
        let is_billed = played.iter().any(|it| it.logged_bill().is_some_and(|it| it.requests > 0));
        Self { calendar, known_by: if is_billed { KnownBy::Bills } else { KnownBy::Simulated } }
    }

    /// Returns how much of a session counts.
    pub(super) fn session_weight(&self, session: &PlayedSession) -> f64 {
        self.calendar.weight(session.seen.span_ms, session.logged_bill().map(|it| &it.by_day))
    }

    /// Returns what a session costs of it; none if its price is unknown.
    pub(super) fn session_month_usd(&self, session: &PlayedSession) -> Option<f64> {
        match self.known_by {
            KnownBy::Bills => {
                Some(session.logged_bill().map_or(0.0, |it| self.calendar.bill(&it.by_day).usd()))
            }
            KnownBy::Simulated => Some(session.base.costs.total()? * self.session_weight(session)),
        }
    }

    /// Adds sessions up.
    pub(super) fn cost_of_sessions(&self, played: &[&PlayedSession]) -> MonthCost {
        let usd = played.iter().map(|it| self.session_month_usd(it)).sum();
        MonthCost { usd, basis: self.calendar.basis, days: self.calendar.days, known_by: self.known_by }
    }
}

impl AgentSessions<'_> {
    /// Returns what is known of the settings in force.
    pub(super) fn settings_in_force(&self) -> SettingsInForce<'_> {
        let seen = self.played.iter().map(|session| &session.seen).listed();
        SettingsInForce { agent: self.menu.agent, seen, file: &self.menu.file }
    }

    /// Judges everything that is tried as one family.
    pub(super) fn judge_choices(&self) -> Verdicts {
        let effects = self.played.iter().map(|session| SessionEffects::new(session, self.menu)).listed();
        // A choice with a pair that does nothing in any session is the same as a smaller one.
        let acts = |pair: &usize| self.played.iter().any(|session| session.pair_has_effect(*pair));
        let is_row = |it: &&MenuChoice| it.iter().all(acts) || self.menu.is_requested_choice(it);
        let choices = self.menu.choices.iter().filter(is_row).listed();
        let family = TriedFamily {
            sessions: effects.iter().map(|session| session.to_family_session(&choices, &self.month)).listed(),
            levers: choices.iter().map(|choice| self.unjudged_lever(choice)).listed(),
            floor: self.min_evidence,
        };
        let judged = family.judge_levers();
        let best = index_of_best_do(&judged);
        let month_usd = self.month.cost_of_sessions(self.played).usd;
        let mut levers: Vec<(usize, Lever)> = Vec::new();
        for (nth, judged) in judged.into_iter().enumerate() {
            let choice = choices[nth];
            let mut lever = self.complete_lever(choice, judged, month_usd);
            // Whom a choice concerns is asked of what a reader may set alone, and of what is pasted.
            if lever.word.is_some() || self.menu.is_requested_choice(choice) {
                if lever.set.len() == 1 || Some(nth) == best {
                    lever.people = family.savings_by_group(nth, |session| session.person);
                    lever.projects = family.savings_by_group(nth, |session| session.project);
                }
                levers.push((nth, lever));
            }
        }
        levers
            .sort_by(|(_, one), (_, other)| other.monthly_saving_usd().total_cmp(&one.monthly_saving_usd()));
        let placed = |row: usize| {
            let lever = levers.iter().position(|(nth, _)| *nth == row)?;
            Some(PlacedChoice { lever, choice: choices[row].clone() })
        };
        let pasted = best.and_then(placed);
        let asked = choices.iter().position(|choice| self.menu.is_requested_choice(choice)).and_then(placed);
        let may_follow =
            |lever: &Lever| lever.set.len() == 1 && matches!(lever.word, Some(Word::YourCall | Word::Try));
        let open = levers.iter().filter(|(_, lever)| may_follow(lever));
        let next = open.min_by_key(|(_, lever)| (lever.unjudged.is_some(), lever.word));
        let next = next.and_then(|(nth, _)| placed(*nth));
        Verdicts { levers: levers.into_iter().map(|(_, lever)| lever).listed(), pasted, asked, next }
    }

    /// Describes a choice as a lever, before it is judged.
    fn unjudged_lever(&self, choice: &MenuChoice) -> Lever {
        let pairs = choice.iter().map(|pair| &self.menu.pairs[*pair]).listed();
        let either = |one: Lanes, other: Lanes| if one == other { one } else { Lanes::Both };
        let unjudged = pairs.iter().find_map(|pair| pair.setting.unjudged.clone());
        // A window that is small against the requests of the sessions is its user's to judge.
        let narrow = || {
            let policies = self.menu.policy_and_base_by_lane(choice);
            let kept = policies.iter().filter_map(|it| it.0.newest_requests()).min()?;
            task::narrow_window_reason(kept, &self.played.iter().map(|it| it.seen.requests).listed())
        };
        Lever {
            name: SETTINGS,
            set: pairs.iter().map(|pair| pair.to_key_value()).listed(),
            title: pairs.iter().map(|pair| pair.setting.title_for_value(&pair.value)).listed().join(" + "),
            effects: pairs.iter().map(|pair| pair.setting.effects.clone()).listed(),
            lanes: pairs.iter().map(|pair| pair.setting.lane).reduce(either).unwrap_or_default(),
            unjudged: unjudged.or_else(narrow),
            ..Lever::default()
        }
    }

    /// Returns the minutes less that one waits for answers a month in main conversations with a choice, over the sessions whose models have data.
    fn saved_wait_minutes_a_month(&self, choice: &MenuChoice) -> Option<f64> {
        let saved = |session: &&PlayedSession| {
            let [base, own] =
                [&session.base, session.tally_under(choice)].map(|it| it.waiting.total().minutes());
            Some((base? - own?) * self.month.session_weight(session))
        };
        let main = self.played.iter().filter(|it| !it.seen.is_of_agent);
        // Nothing is never less than nothing.
        main.filter_map(saved).reduce(|sum, it| sum + it).map(|it| 0.0 + it)
    }

    /// Adds to a lever that was judged what it is worth in a month, and what is known of its choice.
    fn complete_lever(&self, choice: &MenuChoice, judged: Lever, month_usd: Option<f64>) -> Lever {
        let expected = if judged.word == Some(Word::Do) { judged.expected } else { judged.change };
        let families = self.menu.added_policy_families(choice);
        // Lifetimes edit no prompt, so that no turn is added for them.
        let shown = expected.zip(judged.again).filter(|_| !families.is_empty());
        let mut lever = Lever {
            saved_minutes_month: self.saved_wait_minutes_a_month(choice),
            expected,
            gone_at_extra_turns: shown
                .and_then(|(change, again)| TurnsBreakEven::new(change, judged.interval, again)),
            known_of_task: task::published_task_effects(&families),
            ..judged
        }
        .with_monthly_cost(month_usd);
        if lever.word == Some(Word::Try) {
            let is_by_cost = !self.values_before_choice(choice).is_empty();
            let bills = self.earlier_bills(choice, is_by_cost);
            lever.sessions_to_know = expected.and_then(|change| bills.n_later_sessions_needed(change));
        }
        lever
    }

    /// Returns what only maintainers can change, where it would save.
    pub(super) fn saving_wishes(&self) -> Vec<WishEffect> {
        let base: f64 = self.played.iter().filter_map(|it| it.base.costs.total()).sum();
        let one = |(nth, wish): (usize, &MaintainerWish)| {
            let own: Option<f64> = self.played.iter().map(|it| it.wishes[nth].costs.total()).sum();
            let change = own? / base - 1.0;
            let kept = sum_of_pairs(self.played.iter().map(|it| it.wishes[nth].sums.needs.evidence()));
            (base > 0.0 && change < 0.0).then(|| WishEffect {
                about: wish.about.clone(),
                reason: wish.reason.clone(),
                change,
                evidence_kept: (kept.1 > 0.0).then(|| kept.0 / kept.1),
            })
        };
        self.menu.wishes.iter().enumerate().filter_map(one).listed()
    }

    /// Returns the settings in force that a choice changes, where later sessions can be played with them.
    fn values_before_choice(&self, choice: &MenuChoice) -> SettingValues {
        let changed = self.menu.values_of_choice(choice);
        self.settings_in_force().replay_values(changed.keys()).unwrap_or_default()
    }

    /// Returns what sessions were billed, and what a choice does to them.
    fn earlier_bills(&self, choice: &MenuChoice, is_sized_by_cost: bool) -> EarlierBills {
        let earlier = self.played.iter().map(|it| it.to_earlier_session(choice, is_sized_by_cost));
        EarlierBills::new(&earlier.listed(), is_sized_by_cost)
    }

    /// Returns what to write down of a choice, so that later sessions can be held against it. Sessions are measured by what they cost with
    /// what is in force, where later ones can be played with it. Nothing is expected of what changes nothing.
    pub(super) fn forecast_to_save(&self, choice: &MenuChoice, lever: &Lever) -> Option<SavingsForecast> {
        lever.word?;
        let before = self.values_before_choice(choice);
        let EarlierBills { kinds, pooled, drift } = self.earlier_bills(choice, !before.is_empty());
        let versions = self.played.iter().map(|it| it.seen.version.clone());
        Some(SavingsForecast {
            schema: SCHEMA.to_owned(),
            agent: self.menu.agent.name.clone(),
            set: lever.set.clone(),
            word: lever.word_text().to_owned(),
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
    session: &'a PlayedSession,
    base: SessionEffect,
    runs: IndexMap<&'a MenuChoice, SessionEffect>,
}

impl<'a> SessionEffects<'a> {
    fn new(session: &'a PlayedSession, menu: &SettingMenu<'_>) -> Self {
        debug_assert!(session.acts.len() == menu.pairs.len() || session.acts.is_empty(), "one for each pair");
        let runs = session.runs.iter().map(|(choice, run)| (choice, SessionEffect::from_tally(run)));
        Self { session, base: SessionEffect::from_tally(&session.base), runs: runs.collect() }
    }

    fn to_family_session<'s>(&'s self, choices: &[&MenuChoice], month: &AgentMonth<'_>) -> FamilySession<'s> {
        let seen = &self.session.seen;
        let effect = |choice: &MenuChoice| self.runs.get(&self.session.pairs_with_effect(choice));
        FamilySession {
            project: &seen.project,
            person: user_of(&seen.project),
            last_ms: seen.span_ms.map(|[_, end]| end),
            is_of_agent: seen.is_of_agent,
            month_usd: month.session_month_usd(self.session),
            base: &self.base,
            rows: choices.iter().map(|it| effect(it).unwrap_or(&self.base)).listed(),
        }
    }
}
