//! A lever: something that a user can change, what that does to his bill, and the word that the rule gives it.

use crate::account::WindowFreed;
use crate::prelude::*;
use std::cmp::Ordering;

use ctxsim_input::policy::Lanes;

/// The word of a lever: what to do about it. The first that applies is its own; `decide` says when each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It saves, and keeps what is needed, whatever else was tried beside it.
    Do,
    /// It saves, but costs something that is not ctxsim's to judge.
    YourCall,
    /// It probably saves, and trying it risks little.
    Try,
    /// It probably costs.
    Dont,
    /// None of these.
    CannotTell,
}

impl Word {
    /// Returns it as a reader sees it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Do => "do",
            Self::YourCall => "your call",
            Self::Try => "try",
            Self::Dont => "don't",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// How a lever's effect is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// What the logs say was billed is enough to work it out.
    Bills,
    /// The sessions were played with it.
    #[default]
    Simulated,
}

impl KnownBy {
    /// Returns it as a reader sees it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Bills => "the bills",
            Self::Simulated => "simulated",
        }
    }
}

/// What a lever is worth to a person or a project.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSaving {
    pub group: String,
    pub sessions: usize,
    /// What its sessions cost a month, in US dollars.
    pub month_usd: f64,
    /// What the lever saves of it; negative where it costs more.
    pub saved_month: f64,
    /// The 95% interval, the least saving first.
    pub saved_interval: [f64; 2],
    /// The share of the estimate that is the group's own: 1 where its own sessions suffice.
    pub own_share: f64,
}

/// What a setting adds to others that are set together with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddedSaving {
    pub set: String,
    /// The relative change in cost beside the others: of the cost as things are.
    pub change: f64,
}

/// Of another model's prices: the sessions that they were taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CeilingSessions {
    pub sessions: usize,
    /// Those that are short enough to try the other model on.
    pub short_sessions: u64,
    /// The most requests of such a session.
    pub short_requests: u64,
}

/// The name of levers that are settings of an agent.
pub const SETTINGS: &str = "settings";

/// A setting, or several together, or a habit; and what it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lever {
    /// Whose it is, where levers of several agents stand together; else empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Which lever it is: `settings`, or the name of one that bills tell.
    pub name: &'static str,
    /// Which of several: a skill, a tool, a model; empty where there is one alone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The settings: `key=value`; none of a lever that bills tell.
    pub set: Vec<String>,
    /// What it does, in a few words that need no explanation.
    pub title: String,
    /// In a clause, what it was met in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The one person, project or tool that it concerns, if it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whom: Option<String>,
    /// None where nothing changes.
    pub word: Option<Word>,
    /// In a sentence, what keeps it from a better word, or what the word rests on.
    pub why: String,
    /// What its agent's sessions cost a month, in US dollars: what it saves is its change to expect of this.
    pub month_usd: Option<f64>,
    /// US dollars that it saves a month, negative where it costs more; and the 95% interval, the least saving first.
    pub saved_month: Option<f64>,
    pub saved_interval: Option<[f64; 2]>,
    /// Of a *do*: what it would have left free of the fullest window of an account, where the logs' own percentages tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<WindowFreed>,
    /// Minutes less that one waits for answers a month in main conversations, negative where one waits longer; null where that is not known.
    pub saved_minutes_month: Option<f64>,
    /// The relative change in cost over all sessions.
    pub change: Option<f64>,
    /// The change to expect, which the dollars are: of a *do*, shrunk, because the best of many looks better than it is.
    pub expected: Option<f64>,
    /// The 95% interval of the change in as many later sessions.
    pub interval: Option<[f64; 2]>,
    /// How many more turns its saving bears; none where it saves nothing, or no play tells what a turn costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at_extra_turns: Option<TurnsBreakEven>,
    /// What published runs tell of the task under such a setting, and under which conditions; in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_of_task: Option<String>,
    /// The share of the needed evidence that prompts still hold, and what as many later sessions hold with 95%.
    pub evidence_kept: Option<f64>,
    pub evidence_low: Option<f64>,
    /// The chance that as many later sessions hold less than the share that is asked for.
    pub floor_risk: Option<f64>,
    /// Of a combination: what each setting adds to the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adds: Vec<AddedSaving>,
    pub known_by: KnownBy,
    /// What else it changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Of a *try*: the bills of about so many sessions with it would tell whether it saves; none where no number would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions_to_know: Option<u64>,
    /// What it is worth to each person and each project, the most saved first; empty where there is one, or none is told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<GroupSaving>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<GroupSaving>,
    /// Of another model: it is not a lever but the most that prices could save, without a word or an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<CeilingSessions>,
    /// Whose sessions it changes.
    #[serde(skip)]
    pub lanes: Lanes,
    /// Whether all bills of its agent's sessions name a plan: shares come before dollars.
    #[serde(skip)]
    pub is_by_plan: bool,
    /// What it costs that is not ctxsim's to judge, in a clause; none where there is nothing.
    #[serde(skip)]
    pub unjudged: Option<String>,
    /// What as many turns again would cost with it, as a share of what they cost as things are.
    #[serde(skip)]
    pub again: Option<f64>,
}

impl Lever {
    /// Says what it saves of a month of its agent's sessions.
    pub fn with_monthly_cost(self, month_usd: Option<f64>) -> Self {
        // Nothing is never less than nothing.
        let dollars = |change: f64| month_usd.map(|it| 0.0 - change * it);
        Self {
            month_usd,
            saved_month: self.expected.and_then(dollars),
            saved_interval: self.interval.and_then(|[low, high]| Some([dollars(high)?, dollars(low)?])),
            ..self
        }
    }

    /// Says which word the rule gives it, and why; nothing where nothing changes.
    pub fn verdict_sentence(&self) -> Option<String> {
        Some(format!("The word for it is “{}”: {}.", self.word?.text(), self.why))
    }

    /// Returns its word as a reader sees it; nothing where nothing changes.
    pub fn word_text(&self) -> &'static str {
        self.word.map_or("", Word::text)
    }

    /// Returns what its saving is worth, as a share of the cost: a saving that does not keep the floor is none, and loses half of it besides.
    pub fn worth(&self) -> f64 {
        const BROKEN_FLOOR: f64 = 1.5;
        -self.expected.unwrap_or_default() * (1.0 - BROKEN_FLOOR * self.floor_risk.unwrap_or_default())
    }

    /// Returns whether as many later sessions hold the share that is asked for with 95%.
    pub fn keeps_floor_surely(&self) -> bool {
        self.floor_risk.is_none_or(|risk| risk <= 0.05)
    }

    /// Puts levers in the order in which one reads them: what to do, then what can be judged, then what no play can; of each, the most saved
    /// first.
    pub fn reading_order(&self, other: &Self) -> Ordering {
        let rank = |it: &Self| (it.word != Some(Word::Do), it.unjudged.is_some());
        let by_saving = || other.monthly_saving_usd().total_cmp(&self.monthly_saving_usd());
        rank(self).cmp(&rank(other)).then_with(by_saving)
    }

    /// Returns what it saves, to be put in order: what is unknown comes last.
    pub fn monthly_saving_usd(&self) -> f64 {
        self.saved_month.unwrap_or(f64::NEG_INFINITY)
    }

    /// Returns the settings that it changes, without their values; of a lever that bills tell, its name and whom it concerns.
    fn setting_keys(&self) -> Vec<&str> {
        if self.known_by == KnownBy::Bills {
            return vec![self.name, self.whom.as_deref().unwrap_or_default()];
        }
        self.set.iter().map(|it| it.split_once('=').map_or(it.as_str(), |it| it.0)).collect()
    }
}

/// A smaller part of a bill is not worth a line.
const SEEN: f64 = 0.01;

/// Returns what is worth a reader's time: what is pasted first, then the best of each setting alone and of each lever that bills tell, the most
/// saved first. Of a setting that is pasted, it is what would save more, at a price.
pub fn best_lever_of_each_setting(levers: &[Lever], pasted_index: Option<usize>) -> Vec<&Lever> {
    let pasted = pasted_index.and_then(|it| levers.get(it));
    let mut best: Vec<&Lever> = Vec::new();
    // Of two that are *do*, the one whose saving is worth more comes first.
    let worth = |lever: &Lever| if lever.word == Some(Word::Do) { -lever.worth() } else { 0.0 };
    let rank = |lever: &Lever| (lever.word, worth(lever));
    let is_news = |lever: &&Lever| {
        let own = pasted.filter(|pasted| pasted.setting_keys().contains(&lever.setting_keys()[0]));
        own.is_none_or(|pasted| {
            lever.word == Some(Word::YourCall) && lever.monthly_saving_usd() > pasted.monthly_saving_usd()
        })
    };
    // What bills tell of habits is worth a line only if it saves more than by chance, or was a part of the bill that is seen.
    let is_seen = |it: &Lever| it.interval.is_some() && it.change.is_some_and(|it| it <= -SEEN);
    let is_told =
        |it: &&Lever| it.known_by == KnownBy::Simulated || it.word <= Some(Word::Try) || is_seen(it);
    let alone = levers.iter().filter(|it| it.set.len() <= 1 && Some(*it) != pasted);
    for lever in alone.filter(is_told).filter(is_news) {
        match best.iter().position(|own| own.setting_keys() == lever.setting_keys()) {
            Some(nth) if rank(lever) < rank(best[nth]) => best[nth] = lever,
            Some(_) => {}
            None => best.push(lever),
        }
    }
    best.sort_by(|one, other| one.reading_order(other));
    pasted.into_iter().chain(best).collect()
}

/// The turns that a saving bears, in percent of those that the agent takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TurnsBreakEven {
    /// At so many percent more turns, nothing is saved.
    pub percent: f64,
    /// The 95% interval: that of the saving, in turns.
    pub interval: Option<[f64; 2]>,
}

impl TurnsBreakEven {
    /// Returns at how many more turns a change in cost is none, if as many turns again cost so much of the base's cost; nothing where nothing is
    /// saved.
    pub fn new(change: f64, interval: Option<[f64; 2]>, doubling_turns_cost: f64) -> Option<Self> {
        let percent = |change: f64| 0.0 - 100.0 * change / doubling_turns_cost;
        let interval = interval.map(|[low, high]| [percent(high), percent(low)]);
        (change < 0.0 && doubling_turns_cost > 0.0).then(|| Self { percent: percent(change), interval })
    }

    /// Returns it as the end of a sentence on a saving.
    pub fn break_even_clause(&self) -> String {
        let (percent, ends) = (format_turns_percent(self.percent), self.interval_in_brackets());
        format!("gone if the agent needs {percent} more turns{ends}")
    }

    /// Returns its interval in brackets; a saving that may be none bears nothing at its lower end.
    pub fn interval_in_brackets(&self) -> String {
        let ends = self.interval.map(|ends| ends.map(|it| format_turns_percent(it.max(0.0))));
        ends.map_or_else(String::new, |[low, high]| format!(" ({low} to {high})"))
    }
}

/// Writes a number of percent.
pub fn format_turns_percent(percent: f64) -> String {
    format!("{}%", fixed(percent, usize::from(percent < 9.95)))
}
