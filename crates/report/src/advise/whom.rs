//! Whom each lever concerns: what it saves each person and each project, as a table and as rows.

use super::{Advice, AgentAdvice};
use crate::lever::{GroupSaving, Lever};
use crate::prelude::*;
use ctxsim_timeline::import::user_of;

/// The most groups that have a column, the dearest first.
const SHOWN: usize = 5;
/// An estimate with a smaller share of its own is the others'.
const OWN: f64 = 0.5;

/// Says what a star is.
pub(super) const STAR: &str = "* Mostly by the sessions of the others, as there are too few of one's own. Levers overlap, so columns do not add up.";

/// Returns what each of the best levers saves the dearest groups; `None` where there are no two of them.
pub(super) fn group_savings_grid(
    advice: &AgentAdvice,
    group_noun: &str,
    group_savings: fn(&Lever) -> &[GroupSaving],
) -> Option<Grid> {
    let mut levers = advice.best_levers();
    levers.retain(|lever| !group_savings(lever).is_empty());
    let savings = levers.iter().flat_map(|lever| group_savings(lever)).map(|it| (&it.group, it));
    let mut groups = grouped(savings).into_values().map(|of_group| of_group[0]).listed();
    groups.retain(|it| it.month_usd > 0.0);
    if groups.len() < 2 {
        return None;
    }
    groups.order_by(|one, other| other.month_usd.total_cmp(&one.month_usd));
    groups.truncate(SHOWN);
    let spent = std::iter::once("spent".to_owned()).chain(groups.iter().map(|it| fixed(it.month_usd, 2)));
    let row = |lever: &&Lever| {
        let cell = |group: &&GroupSaving| {
            let own = group_savings(lever).iter().find(|it| it.group == group.group);
            own.map_or_else(|| "–".to_owned(), format_month_saving)
        };
        std::iter::once(lever.title.clone()).chain(groups.iter().map(cell)).listed()
    };
    let rows = std::iter::once(spent.listed()).chain(levers.iter().map(row)).listed();
    let names = groups.iter().map(|it| last_folder_name(&it.group)).listed();
    let is_shared = |name: &String| names.iter().filter(|it| *it == name).count() > 1;
    let heading = |(saving, name): (&&GroupSaving, &String)| {
        text_if(is_shared(name), || last_folder_name(user_of(&saving.group)) + "/") + name
    };
    let headings = ["what".to_owned()].into_iter().chain(groups.iter().zip(&names).map(heading)).listed();
    let title = format!("What each saves by {group_noun}, in dollars a month");
    Some(Grid::new(title, 0, &headings, rows).with(CellKind::Text, &[0]))
}

fn format_month_saving(saving: &GroupSaving) -> String {
    let star = if saving.own_share < OWN { "*" } else { "" };
    // No minus before what rounds to nothing.
    let saved = if saving.saved_month.abs() < 0.005 { 0.0 } else { saving.saved_month };
    let sign = if saved < 0.0 { "−" } else { "" };
    format!("{sign}{}{star}", fixed(saved.abs(), 2))
}

/// Returns what a lever saves everybody as a row, or what it saves a person or a project.
fn lever_saving_row(agent: &str, lever: &Lever, whose: Option<(&'static str, &GroupSaving)>) -> Value {
    let (by, group) = whose.unzip();
    let interval = group.map(|it| it.saved_interval).or(lever.saved_interval);
    group! {
        "agent": agent.to_owned(),
        "lever": lever.name,
        "of": lever.of.clone(),
        "settings": lever.set.join(" "),
        "title": lever.title.clone(),
        "word": lever.word_text(),
        "known_by": lever.known_by.text(),
        "by": by.unwrap_or("all"),
        "group": or_nothing(group, |it| it.group.clone()),
        "sessions": group.map(|it| it.sessions),
        "usd_a_month": group.map(|it| it.month_usd).or(lever.month_usd),
        "saved_usd_a_month": group.map(|it| it.saved_month).or(lever.saved_month),
        "saved_usd_low": interval.map(|it| it[0]),
        "saved_usd_high": interval.map(|it| it[1]),
        // The share of the estimate that is the group's own.
        "own_share": group.map(|it| it.own_share),
        "evidence_kept": lever.evidence_kept.filter(|_| group.is_none()),
        "why": lever.why.clone(),
    }
}

impl Advice {
    /// Returns every lever as rows: what it saves in all, each person (`user`), and each project.
    pub fn levers_to_rows(&self) -> Rows {
        let mut rows = Vec::new();
        for advice in self.agents.iter().chain(&self.by_bills) {
            for lever in advice.levers.iter().chain(&advice.ceilings) {
                let people = lever.people.iter().map(|group| Some(("user", group)));
                let projects = lever.projects.iter().map(|group| Some(("project", group)));
                let whose = [None].into_iter().chain(people).chain(projects);
                rows.extend(whose.map(|whose| lever_saving_row(&advice.agent, lever, whose)));
            }
        }
        Rows::serialised(&rows)
    }
}
