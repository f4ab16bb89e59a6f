//! Whom each lever concerns: what it saves each person and each project, as a table and as rows.

use super::{Advice, AgentAdvice};
use crate::lever::{GroupSaving, Lever};
use crate::prelude::*;
use ctxsim_timeline::import::user_of;

/// The most groups that have a column, the dearest first.
const SHOWN: usize = 5;
/// An estimate with a smaller share of its own is the others'.
const OWN: f64 = 0.5;

/// Who is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    People,
    Projects,
}

impl Whom {
    fn of(self, lever: &Lever) -> &[GroupSaving] {
        match self {
            Self::People => &lever.people,
            Self::Projects => &lever.projects,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::People => "What each saves by person, in dollars a month",
            Self::Projects => "What each saves by project, in dollars a month",
        }
    }
}

/// Says what a star is.
pub(super) const STAR: &str = "* Mostly by the sessions of the others, as there are too few of one's own. Levers overlap, so columns do not add up.";

/// Returns what each of the best levers saves the dearest groups; `None` where there are no two of them.
pub(super) fn table(it: &AgentAdvice, whom: Whom) -> Option<Grid> {
    let levers = it.best_levers().into_iter().filter(|it| !whom.of(it).is_empty()).listed();
    let mut groups: Vec<&GroupSaving> = Vec::new();
    for it in levers.iter().flat_map(|it| whom.of(it)) {
        if !groups.iter().any(|own| own.group == it.group) {
            groups.push(it);
        }
    }
    groups.retain(|it| it.month_usd > 0.0);
    if groups.len() < 2 {
        return None;
    }
    groups.order_by(|one, other| other.month_usd.total_cmp(&one.month_usd));
    groups.truncate(SHOWN);
    let spent = std::iter::once("spent".to_owned()).chain(groups.iter().map(|it| fixed(it.month_usd, 2)));
    let row = |lever: &&Lever| {
        let cell = |group: &&GroupSaving| {
            let own = whom.of(lever).iter().find(|it| it.group == group.group);
            own.map_or_else(|| "–".to_owned(), written)
        };
        std::iter::once(lever.title.clone()).chain(groups.iter().map(cell)).listed()
    };
    let rows = std::iter::once(spent.listed()).chain(levers.iter().map(row)).listed();
    let names = groups.iter().map(|it| name(&it.group)).listed();
    let is_shared = |name: &String| names.iter().filter(|it| *it == name).count() > 1;
    let names = groups.iter().zip(&names).map(|(it, name)| match is_shared(name) {
        true => format!("{}/{name}", self::name(user_of(&it.group))),
        false => name.clone(),
    });
    let names = names.listed();
    let headings = std::iter::once("what").chain(names.iter().map(String::as_str)).listed();
    Some(Grid::new(whom.title(), 0, &headings, rows).with(CellKind::Text, &[0]))
}

fn written(it: &GroupSaving) -> String {
    let star = if it.own_share < OWN { "*" } else { "" };
    // No minus before what rounds to nothing.
    let saved = if it.saved_month.abs() < 0.005 { 0.0 } else { it.saved_month };
    let sign = if saved < 0.0 { "−" } else { "" };
    format!("{sign}{}{star}", fixed(saved.abs(), 2))
}

/// Returns the last part of a folder.
fn name(group: &str) -> String {
    let last = group.rsplit(['/', '\\']).find(|it| !it.is_empty()).unwrap_or(group);
    in_one_line(last).into_owned()
}

/// What a lever saves everybody, or a person or a project.
#[derive(Serialize)]
struct LeverRow<'a> {
    agent: &'a str,
    lever: &'a str,
    of: &'a str,
    settings: String,
    title: &'a str,
    word: &'static str,
    known_by: &'static str,
    /// `all`, `user` or `project`.
    by: &'static str,
    group: &'a str,
    sessions: Option<usize>,
    usd_a_month: Option<f64>,
    saved_usd_a_month: Option<f64>,
    saved_usd_low: Option<f64>,
    saved_usd_high: Option<f64>,
    /// The share of the estimate that is the group's own.
    own_share: Option<f64>,
    evidence_kept: Option<f64>,
    why: &'a str,
}

impl<'a> LeverRow<'a> {
    fn all(agent: &'a str, it: &'a Lever) -> Self {
        Self {
            agent,
            lever: it.name,
            of: &it.of,
            settings: it.set.join(" "),
            title: &it.title,
            word: it.word.map_or("", |it| it.text()),
            known_by: it.known_by.text(),
            by: "all",
            group: "",
            sessions: None,
            usd_a_month: it.month_usd,
            saved_usd_a_month: it.saved_month,
            saved_usd_low: it.saved_interval.map(|it| it[0]),
            saved_usd_high: it.saved_interval.map(|it| it[1]),
            own_share: None,
            evidence_kept: it.evidence_kept,
            why: &it.why,
        }
    }

    fn of_group(agent: &'a str, it: &'a Lever, by: &'static str, group: &'a GroupSaving) -> Self {
        let [low, high] = group.saved_interval;
        Self {
            by,
            group: &group.group,
            sessions: Some(group.sessions),
            usd_a_month: Some(group.month_usd),
            saved_usd_a_month: Some(group.saved_month),
            saved_usd_low: Some(low),
            saved_usd_high: Some(high),
            own_share: Some(group.own_share),
            evidence_kept: None,
            ..Self::all(agent, it)
        }
    }
}

impl Advice {
    /// Returns every lever as rows: what it saves in all, each person, and each project.
    pub fn as_rows(&self) -> Rows {
        let mut rows = Vec::new();
        let others = self.by_bills.iter().map(|it| (&it.agent, &it.levers));
        for (agent, levers) in self.agents.iter().map(|it| (&it.agent, &it.levers)).chain(others) {
            for it in levers {
                rows.push(LeverRow::all(agent, it));
                rows.extend(it.people.iter().map(|group| LeverRow::of_group(agent, it, "user", group)));
                rows.extend(it.projects.iter().map(|group| LeverRow::of_group(agent, it, "project", group)));
            }
        }
        Rows::of(&rows)
    }
}
