//! Measures the first screen on teams: which levers it names, whether their intervals hold what is true, and whether their order is right.

use std::path::Path;

use ctxsim::BoxError;
use ctxsim::app::advise::{AdviceRequest, advise};
use ctxsim::app::{Comparison, first_screen};
use ctxsim::catalog::bundled_catalog;
use ctxsim::report::verdict::MIN_EVIDENCE;
use serde_json::Value;

use crate::levers::{BUILT_IN, Truths, is_alone, own_share, pulled};
use crate::{team, write};

/// The teams over which what is true is averaged.
const TEAMS: u64 = 50;
/// How much more one lever has to save than another, so that their order counts.
const APART: f64 = 1.5;

/// What was found of a lever.
#[derive(Clone, Default)]
struct Found {
    /// The teams of which a first screen names it, alone or pasted with others, and those of which it says *do*.
    named: u64,
    done: u64,
    /// By itself, where what is true is known: how often, and how often the interval holds that.
    judged: u64,
    holds: u64,
    /// How often it holds what is true of the sessions that were read.
    own: u64,
    /// Sums of shares of the bill.
    truth: f64,
    shown: f64,
    interval: [f64; 2],
}

impl Found {
    /// Judges a lever: shares of the month's bill.
    fn judge(&mut self, [truth, own]: [f64; 2], shown: f64, interval: [f64; 2]) {
        let holds = |it| u64::from(interval[0] <= it && it <= interval[1]);
        self.judged += 1;
        self.holds += holds(truth);
        self.own += holds(own);
        self.truth += truth;
        self.shown += shown;
        self.interval = [self.interval[0] + interval[0], self.interval[1] + interval[1]];
    }
}

/// What was found on all teams.
struct Measured {
    truths: Truths,
    levers: Vec<Found>,
    /// What is pasted together.
    together: Found,
    pairs: u64,
    right: u64,
    exact: f64,
    off: f64,
}

/// Prints the tables of so many teams.
pub(crate) fn print(n: u64) -> Result<(), BoxError> {
    let mut all = Measured {
        truths: Truths::new(team::people(), TEAMS),
        levers: vec![Found::default(); BUILT_IN.len()],
        together: Found::default(),
        pairs: 0,
        right: 0,
        exact: 0.0,
        off: 0.0,
    };
    for seed in 0..n {
        all.add(&shown(seed)?, seed);
    }
    all.print(n);
    Ok(())
}

impl Measured {
    /// Adds the first screen on a team.
    fn add(&mut self, [shown, advice]: &[Value; 2], seed: u64) {
        let people = team::people();
        let predicted = |field: &str| number(&shown["predicted"][field]);
        self.exact += predicted("exact") / predicted("requests");
        self.off += predicted("predicted_usd") / predicted("billed_usd") - 1.0;
        let month = number(&shown["month"]["usd"]);
        let tried: Vec<&Value> = advice["agents"][0]["levers"].as_array().into_iter().flatten().collect();
        let mut saved: Vec<[f64; 2]> = Vec::new();
        for lever in shown["levers"].as_array().into_iter().flatten() {
            let share = number(&lever["saved_month"]) / month;
            let interval = ends(lever, month);
            let is = |nth: &usize| BUILT_IN[*nth].is(lever);
            let own: Vec<usize> = (0..BUILT_IN.len()).filter(is).collect();
            for nth in &own {
                self.levers[*nth].named += u64::from(BUILT_IN[*nth].is_decoy || share > 0.0);
                self.levers[*nth].done += u64::from(lever["word"] == "do");
                if !is_alone(lever)
                    && let Some(alone) = tried.iter().find(|it| BUILT_IN[*nth].is_of(it, lever))
                    && let Some(setting) = pulled(alone)
                {
                    let truth = [self.truths.share(&setting), own_share(&people, seed, &setting)];
                    self.levers[*nth].judge(truth, number(&alone["saved_month"]) / month, ends(alone, month));
                }
            }
            let Some(setting) = pulled(lever).filter(|_| !own.is_empty()) else { continue };
            let truth = [self.truths.share(&setting), own_share(&people, seed, &setting)];
            match own.as_slice() {
                [nth] if is_alone(lever) => self.levers[*nth].judge(truth, share, interval),
                _ => self.together.judge(truth, share, interval),
            }
            saved.push([truth[0], share]);
        }
        for (nth, one) in saved.iter().enumerate() {
            self.order(one, &saved[nth + 1..]);
        }
    }

    /// Counts the levers that save half more or less than one, and those that are shown so.
    fn order(&mut self, one: &[f64; 2], others: &[[f64; 2]]) {
        for other in others {
            let [less, more] = if one[0] < other[0] { [one, other] } else { [other, one] };
            if more[0] > 0.0 && more[0] >= APART * less[0] {
                self.pairs += 1;
                self.right += u64::from(more[1] > less[1]);
            }
        }
    }

    fn print(&self, n: u64) {
        println!("| built in | named | do | judged | holds | of these sessions | true | shown | interval |");
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (it, found) in BUILT_IN.iter().zip(&self.levers) {
            row(it.what, found, n);
        }
        row("what is pasted together", &self.together, n);
        let (holds, judged) =
            self.levers.iter().fold((0, 0), |sum, it| (sum.0 + it.holds, sum.1 + it.judged));
        println!(
            "\nThe interval holds what is true of later sessions in {} of {judged} cases ({}).",
            holds,
            percent(holds, judged)
        );
        let (right, pairs) = (self.right, self.pairs);
        println!(
            "In the right order where one truly saves half more: {right} of {pairs} pairs ({}).",
            percent(right, pairs)
        );
        let [exact, off] = [self.exact, self.off].map(|it| 100.0 * it / n as f64);
        println!(
            "Predicted exactly are {exact:.1}% of the requests; in sum, the predicted input costs {off:+.1}%."
        );
    }
}

fn percent(n: u64, of: u64) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.0}%", 100.0 * n as f64 / of as f64) }
}

fn row(what: &str, found: &Found, n: u64) {
    let mean = |sum: f64| match found.judged {
        0 => "–".to_owned(),
        n => format!("{:.1}%", 100.0 * sum / n as f64),
    };
    println!(
        "| {what} | {} | {} | {} | {} | {} | {} | {} | {} to {} |",
        percent(found.named, n),
        percent(found.done, n),
        found.judged,
        percent(found.holds, found.judged),
        percent(found.own, found.judged),
        mean(found.truth),
        mean(found.shown),
        mean(found.interval[0]),
        mean(found.interval[1])
    );
}

/// Returns a number, 0 where there is none.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// Returns the interval of what a lever saves, as shares of the month's bill.
fn ends(lever: &Value, month: f64) -> [f64; 2] {
    [0, 1].map(|end| number(&lever["saved_interval"][end]) / month)
}

/// Returns the first screen on a team and the advice with all that was tried, as JSON.
fn shown(seed: u64) -> Result<[Value; 2], BoxError> {
    let folder = tempfile::tempdir()?;
    write(folder.path(), seed, |_| true)?;
    screen_on(folder.path())
}

fn screen_on(folder: &Path) -> Result<[Value; 2], BoxError> {
    let folder = folder.display().to_string();
    let scenarios = vec![folder];
    let comparison = Comparison { scenarios, own_models: true, ..Comparison::default() };
    let (catalog, asked) =
        (bundled_catalog(), AdviceRequest { min_evidence: MIN_EVIDENCE, ..AdviceRequest::default() });
    let screen = first_screen(&catalog, &comparison, None, &|_, _| {})?;
    let (advice, _) = advise(&catalog, &comparison, &asked, None, &|_, _| {})?;
    Ok([serde_json::to_value(screen)?, serde_json::to_value(advice)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bill::{AS_IS, bill};
    use crate::team::{Session, Tool};
    use sha2::{Digest, Sha256};

    /// What the first screen finds is compared before and after a change of its rule, so what it is measured on must not move with it.
    #[test]
    fn the_sessions_that_are_made_up_are_pinned() {
        let people = team::people();
        let usd = |it: &Session| bill(it, people[it.person].model, &AS_IS, team::LEAD).1;
        let text: String = team::sessions(&people, 1).iter().map(|it| format!("{:.6} ", usd(it))).collect();
        assert_eq!(Sha256::digest(text)[..4], [101, 19, 30, 143]);
    }

    #[test]
    fn the_bill_of_sessions_without_the_skill_is_predicted_exactly() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 1, |it| {
            it.person == 1 && it.requests.iter().all(|it| it.calls != Some(Tool::HouseStyle))
        })
        .unwrap();

        let [shown, _] = screen_on(folder.path()).unwrap();

        assert!(number(&shown["predicted"]["requests"]) > 200.0, "{shown}");
        assert_eq!(shown["predicted"]["exact"], shown["predicted"]["requests"]);
    }
}
