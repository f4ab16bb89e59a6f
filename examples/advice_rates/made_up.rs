//! Made-up teams: people with lifetimes of their own, projects, months, and costs with a heavy tail.

use ctxsim::measure::assumed::{Assumed, AssumedChanges, AssumedCost};
use ctxsim::quantity::Amount;
use ctxsim::recovery::Assumption;
use ctxsim::report::decide::{FamilySession, SessionEffect, TriedFamily, index_of_best_do};
use ctxsim::report::lever::Lever;
use ctxsim::rng::{Draw, Seed};

use crate::rates::{CameTo, FLOOR, Parting, Rates};

const DAY_MS: i64 = 86_400_000;
const WINDOWS: [(&str, f64); 5] =
    [("100k", 67e3), ("120k", 87e3), ("140k", 107e3), ("160k", 127e3), ("200k", 167e3)];
const LIVES: [&str; 2] = ["5m", "1h"];

/// A session of a made-up team: what it costs and keeps under each row.
struct MadeUp {
    person: String,
    project: String,
    last_ms: i64,
    /// Of the draws that the test holds.
    #[cfg(test)]
    is_hour: bool,
    base: SessionEffect,
    rows: Vec<SessionEffect>,
}

/// What is true of a team's settings.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Truth {
    Saves,
    Nothing,
    Dearer,
}

fn normal(draw: &mut Draw) -> f64 {
    (0..12).map(|_| draw.next_unit()).sum::<f64>() - 6.0
}

/// Returns the rows: every window with every lifetime, and a cap alone and beside each.
fn rows() -> Vec<Lever> {
    let mut all = Vec::new();
    for window in std::iter::once(None).chain(WINDOWS.iter().map(Some)) {
        for life in std::iter::once(None).chain(LIVES.iter().map(Some)) {
            for cap in [false, true] {
                let set: Vec<String> = window
                    .map(|it| format!("window={}", it.0))
                    .into_iter()
                    .chain(life.map(|it| format!("lifetime={it}")))
                    .chain(cap.then(|| "cap=4000".to_owned()))
                    .collect();
                if !set.is_empty() {
                    all.push(Lever { set, ..Lever::default() });
                }
            }
        }
    }
    all
}

fn effect(usd: f64, assumed: f64, kept: (f64, f64)) -> SessionEffect {
    let calls = Assumed::Recovery(Assumption::ExploredCalls);
    let changes = AssumedChanges::default()
        .with(calls, [Amount::of_usd(-0.5 * assumed), Amount::of_usd(1.1 * assumed)]);
    let cost = AssumedCost { usd, all_ends: [usd - 0.5 * assumed, usd + 1.1 * assumed], changes };
    SessionEffect { cost: Some(cost), kept: Some(kept), is_edited: true, ..SessionEffect::default() }
}

/// Draws a team's sessions: people with lifetimes of their own, projects, months, and costs with a heavy tail.
fn team(seed: u64, n: usize, truth: Truth, is_one_person: bool, rows: &[Lever]) -> Vec<MadeUp> {
    let mut draw = Seed(seed).stream("made-up team", 0).nth(0, 0);
    let n_people = if is_one_person { 1 } else { 4 + draw.next_below(5) as usize };
    let hours: Vec<bool> = (0..n_people).map(|_| draw.next_unit() < 0.55).collect();
    let of_project: Vec<f64> = (0..3 * n_people).map(|_| 0.03 * normal(&mut draw)).collect();
    let of_month: Vec<f64> = (0..6).map(|_| 0.02 * normal(&mut draw)).collect();
    let own_of_person: Vec<f64> = (0..n_people).map(|_| 0.25 * normal(&mut draw)).collect();
    let mut all: Vec<MadeUp> = (0..n)
        .map(|nth| {
            let person = draw.next_below(n_people as u64) as usize;
            let project = 3 * person + draw.next_below(3) as usize;
            let day = draw.next_below(180) as i64;
            let longest = (70e3 * (0.6 * normal(&mut draw) + own_of_person[person]).exp()).clamp(2e4, 165e3);
            let usd = 4.0 * (longest / 70e3).powf(1.7) * (0.7 * normal(&mut draw)).exp();
            let block = of_project[project] + of_month[day as usize / 30];
            let needed = longest / 1e3;
            let (depth, fade) = ((0.6 * normal(&mut draw)).exp(), draw.next_unit());
            let (pauses, cut) = (normal(&mut draw), normal(&mut draw));
            let [rare_life, rare_cut] = [draw.next_unit() < 0.08, draw.next_unit() < 0.02];
            let is_hour = hours[person];
            let row = |row: &Lever| {
                let (mut ratio, mut kept, mut assumed) = (1.0, 1.0, 0.0);
                for set in &row.set {
                    let window =
                        set.strip_prefix("window=").and_then(|it| WINDOWS.iter().find(|own| own.0 == it));
                    if let Some((_, trigger)) = window.filter(|it| longest > it.1) {
                        let over = 1.0 - trigger / longest;
                        ratio *= 1.0 - 0.40 * over * (1.0 + block * 4.0) + 0.12 * depth * over + 0.01;
                        kept -= 0.6 * over * fade;
                        assumed += 0.06 * over * usd;
                    }
                    let rare = if rare_life { 0.3 } else { 0.0 };
                    if set == "lifetime=5m" && is_hour {
                        ratio *= 1.0 - 0.06 + block + 0.08 * pauses + rare;
                    }
                    if set == "lifetime=1h" && !is_hour {
                        ratio *= 1.0 - 0.07 + block - 0.08 * pauses + rare;
                    }
                    if set == "cap=4000" {
                        ratio *= 1.0 - 0.006 + 0.008 * cut + if rare_cut { 0.2 } else { 0.0 };
                        kept -= 0.004 * fade;
                    }
                }
                effect(ratio.max(0.2) * usd, assumed, (kept.max(0.0) * needed, needed))
            };
            MadeUp {
                person: format!("person {person}"),
                project: format!("project {project}"),
                last_ms: 1_760_000_000_000 + day * DAY_MS + nth as i64,
                #[cfg(test)]
                is_hour,
                base: effect(usd, 0.0, (needed, needed)),
                rows: rows.iter().map(row).collect(),
            }
        })
        .collect();
    level(&mut all, truth, rows.len());
    all
}

/// Makes every row of a team cost what the truth says, over all of its sessions.
fn level(all: &mut [MadeUp], truth: Truth, n_rows: usize) {
    let times = match truth {
        Truth::Saves => return,
        Truth::Nothing => 1.0,
        Truth::Dearer => 1.01,
    };
    for nth in 0..n_rows {
        let sum = |of: &dyn Fn(&MadeUp) -> f64| all.iter().map(of).sum::<f64>();
        let scale = times * sum(&|it| usd(&it.base)) / sum(&|it| usd(&it.rows[nth]));
        for it in all.iter_mut() {
            if let Some(cost) = &mut it.rows[nth].cost {
                cost.usd *= scale;
                cost.all_ends = cost.all_ends.map(|it| it * scale);
            }
        }
    }
}

fn usd(it: &SessionEffect) -> f64 {
    it.cost.map_or(0.0, |it| it.usd)
}

/// Puts sessions together as a family.
fn family<'s>(sessions: &[&'s MadeUp], rows: &[Lever]) -> TriedFamily<'s> {
    let session = |it: &&'s MadeUp| FamilySession {
        project: &it.project,
        person: &it.person,
        last_ms: Some(it.last_ms),
        is_of_agent: false,
        month_usd: None,
        base: &it.base,
        rows: it.rows.iter().collect(),
    };
    TriedFamily { sessions: sessions.iter().map(session).collect(), levers: rows.to_vec(), floor: FLOOR }
}

/// Returns a row's saving on sessions, and the share that it keeps.
fn on(sessions: &[&MadeUp], nth: usize) -> (f64, f64) {
    let sum = |of: &dyn Fn(&MadeUp) -> f64| sessions.iter().map(|it| of(it)).sum::<f64>();
    let saving = 1.0 - sum(&|it| usd(&it.rows[nth])) / sum(&|it| usd(&it.base));
    let kept = |it: &MadeUp| it.rows[nth].kept.unwrap_or_default();
    (saving, sum(&|it| kept(it).0) / sum(&|it| kept(it).1))
}

/// Measures the rule on teams of twice as many sessions: it reads a half, and is judged on the other one.
pub(crate) fn rates(truth: Truth, n: usize, parting: Parting, halves: usize) -> Rates {
    let rows = rows();
    let mut found = Rates::default();
    for seed in 0..halves as u64 {
        let team = team(seed, 2 * n, truth, parting == Parting::OnePerson, &rows);
        let whole: Vec<&MadeUp> = team.iter().collect();
        let [read, other] = parting.parts(seed, team.len(), |nth| team[nth].last_ms);
        let [read, other] = [read, other].map(|it| it.into_iter().map(|it| &team[it]).collect::<Vec<_>>());
        let best = (0..rows.len())
            .filter(|nth| on(&whole, *nth).1 >= FLOOR)
            .max_by(|one, two| on(&whole, *one).0.total_cmp(&on(&whole, *two).0));
        let judged = family(&read, &rows).judge_levers();
        let pasted = index_of_best_do(&judged);
        let came = |(nth, lever): (usize, Lever)| {
            let (saving, kept) = on(&other, nth);
            (lever, CameTo { saving, kept })
        };
        let judged = judged.into_iter().enumerate().map(came).collect::<Vec<_>>();
        found.add(best.map_or(0.0, |it| on(&other, it).0), &judged, pasted);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// Rates are compared before and after a change of the rule, so what it is measured on must not move with it.
    #[test]
    fn the_teams_that_are_made_up_are_pinned() {
        let rows = rows();
        let mut text = String::new();
        for (seed, truth) in [(0, Truth::Saves), (1, Truth::Nothing), (2, Truth::Dearer)] {
            for made in team(seed, 40, truth, seed == 1, &rows) {
                text += &format!("{} {} {} {}", made.person, made.project, made.last_ms, made.is_hour);
                for effect in std::iter::once(&made.base).chain(&made.rows) {
                    let cost = effect.cost.unwrap_or_default();
                    text += &format!(" {:.5} {:.5?} {:.5?}", cost.usd, cost.all_ends, effect.kept);
                }
            }
        }
        assert_eq!(Sha256::digest(text)[..4], [88, 231, 131, 222]);
    }
}
