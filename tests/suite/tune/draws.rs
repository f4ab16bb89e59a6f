//! What `tune` promises on some of the shared sessions, or on some of their working folders, held against the others.

use ctxsim::app::grid::OverrideGrid;
use ctxsim::app::tune::{TunedSessions, Tuning, default_variants, variants_from_grid};
use ctxsim::measure::limits::Over;
use ctxsim::report::tune::{TunePart, Tuned, TunedSession, variant_on_all_sessions};
use indexmap::IndexMap;

use crate::support::*;

/// The floors of evidence: the default, and none, under which the cheapest is chosen, whatever it forgets.
const FLOORS: [f64; 2] = [0.9, 0.0];
/// How often folders are drawn.
const DRAWS: u64 = 50;
/// Policies with numbers that can be set, and the values that are tried; none for those that are tried by default.
const POLICIES: [(&str, &[&str]); 4] = [
    ("agents/claude_code/auto_compact", &[]),
    (
        "clear_tool_results",
        &["params.trigger.tokens=40000,70000,100000,130000", "params.clear_at_least.tokens=0,20000"],
    ),
    (
        "agents/anthropic/clear_tool_uses_at_least",
        &["params.trigger.tokens=40000,70000,100000,130000", "params.clear_at_least.tokens=10000,40000"],
    ),
    (
        "duckagent/duckagent_recoverable_decay_guarded_mid",
        &["params.active.tokens=40000,70000,100000,130000"],
    ),
];

/// Counts over draws.
#[derive(Debug, Default)]
struct Counts {
    /// Draws with too few sessions to hold some out.
    too_few: usize,
    /// Draws in which the choice changes nothing.
    idle: usize,
    /// The others, in which there is a promise.
    promised: usize,
    /// The change on the others was within what is promised.
    covered: usize,
    /// It was not above the interval.
    not_worse: usize,
    /// How wide the promised intervals are.
    widths: Vec<f64>,
    recommended: usize,
    /// Of those recommended: it was within, it saved, and it kept the floor.
    recommended_covered: usize,
    recommended_saved: usize,
    recommended_kept: usize,
}

impl Counts {
    fn of(played: &TunedSessions, floor: f64, drawn: Over) -> Self {
        let mut counts = Self::default();
        (0..DRAWS).for_each(|nth| counts.add(played, floor, drawn, nth));
        counts
    }

    /// Returns the median width of the promised intervals, in percentage points.
    fn width(&mut self) -> f64 {
        self.widths.sort_by(f64::total_cmp);
        self.widths.get(self.widths.len() / 2).map_or(0.0, |it| it * 100.0)
    }

    /// Tunes on half of the folders, or of the sessions, and scores on the rest.
    fn add(&mut self, played: &TunedSessions, floor: f64, over: Over, nth: u64) {
        let (own, rest) = if over == Over::Projects {
            drawn(&played.sessions, nth)
        } else {
            drawn_sessions(&played.sessions, nth)
        };
        let [base, policy] = &played.names;
        let tuned = Tuned::new([base, policy], &own, played.tried.clone(), floor, 0);
        let [_, out] = tuned.parts.as_slice() else {
            self.too_few += 1;
            return;
        };
        if out.spread.and_then(|it| it.interval).is_none_or(|it| it[0] == it[1]) {
            self.idle += 1;
            return;
        }
        let chosen = played.tried.points.iter().position(|it| *it == tuned.chosen).unwrap();
        let scored = variant_on_all_sessions(&rest, chosen, floor);
        let Some(change) = scored.cost_change_share() else { return };
        let [low, high] = predicted(out, &scored);
        let is_within = low <= change && change <= high;
        self.promised += 1;
        self.covered += usize::from(is_within);
        self.not_worse += usize::from(change <= high);
        self.widths.push(high - low);
        if tuned.is_recommended {
            self.recommended += 1;
            self.recommended_covered += usize::from(is_within);
            self.recommended_saved += usize::from(change < 0.0);
            self.recommended_kept += usize::from(scored.evidence_kept.is_none_or(|it| it >= floor));
        }
    }
}

/// Returns where the change on the other sessions is to be expected: as far as the promise and chance among those sessions reach together.
fn predicted(out: &TunePart, scored: &TunePart) -> [f64; 2] {
    let half =
        |part: &TunePart| part.spread.and_then(|it| it.interval).map_or(0.0, |it| (it[1] - it[0]) / 2.0);
    let (change, reach) = (out.cost_change_share().unwrap(), half(out).hypot(half(scored)));
    [change - reach, change + reach]
}

/// Draws half of the sessions, of all folders; returns them and the others.
fn drawn_sessions(sessions: &[TunedSession], nth: u64) -> (Vec<TunedSession>, Vec<TunedSession>) {
    let mut draw = Seed(0).stream("drawn sessions", 0).nth(0, nth);
    let mut places: Vec<(u64, usize)> =
        (0..sessions.len()).map(|it| (draw.next_between(0, u64::MAX), it)).collect();
    places.sort_unstable();
    let [own, rest] = [0, 1].map(|half| {
        let n = sessions.len();
        let of_half = places.iter().enumerate().filter(|it| usize::from(it.0 >= n / 2) == half);
        of_half.map(|it| sessions[it.1.1].clone()).collect()
    });
    (own, rest)
}

/// Draws half of the working folders; returns their sessions and the others.
fn drawn(sessions: &[TunedSession], nth: u64) -> (Vec<TunedSession>, Vec<TunedSession>) {
    let mut folders: Vec<&str> = sessions.iter().map(|it| it.project.as_str()).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut draw = Seed(0).stream("drawn folders", 0).nth(0, nth);
    let mut places: Vec<(u64, &str)> =
        folders.into_iter().map(|it| (draw.next_between(0, u64::MAX), it)).collect();
    places.sort_unstable();
    let own: Vec<&str> = places.iter().take(places.len() / 2).map(|it| it.1).collect();
    sessions.iter().cloned().partition(|it| own.contains(&it.project.as_str()))
}

/// Plays all variants of a policy on the shared sessions.
fn played(root: &Path, policy: &str, vary: &[&str]) -> TunedSessions {
    let folder = |it: &str| root.join("recorded").join(it).display().to_string();
    let comparison = Comparison {
        policies: vec!["identity".to_owned(), policy.to_owned()],
        scenarios: ["claude-code", "claude-code-2"].map(folder).to_vec(),
        own_models: true,
        ..Comparison::default()
    };
    let catalog = bundled_catalog();
    let search = if vary.is_empty() {
        default_variants(&catalog, &comparison, None, &|_, _| {}).unwrap()
    } else {
        let vary: Vec<String> = vary.iter().map(|it| (*it).to_owned()).collect();
        variants_from_grid(&OverrideGrid::parse(&vary).unwrap()).unwrap()
    };
    Tuning::new(&catalog, &comparison, search, FLOORS[0], 0).unwrap().play_sessions(None, &|_, _| {}).unwrap()
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_document_says_how_often_a_promise_holds_on_other_working_folders() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let mut table = "| drawn | policy | floor | too few sessions | changes nothing | promises | change within | not above | width, points | recommended | of these: within | saved | kept the floor |\n\
                     |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let all = POLICIES.map(|(policy, vary)| (policy, played(&root, policy, vary)));
    let mut sums: IndexMap<(&str, usize), [usize; 5]> = IndexMap::new();
    for (over, name) in [(Over::Sessions, "sessions"), (Over::Projects, "folders")] {
        for ((policy, played), place) in all.iter().flat_map(|it| [0, 1].map(|place| (it, place))) {
            let floor = FLOORS[place];
            let mut it = Counts::of(played, floor, over);
            let numbers = [
                it.too_few,
                it.idle,
                it.promised,
                it.covered,
                it.not_worse,
                it.width().round() as usize,
                it.recommended,
                it.recommended_covered,
                it.recommended_saved,
                it.recommended_kept,
            ];
            // Promises, held, recommended, saved, kept the floor.
            let sums = sums.entry((name, place)).or_default();
            sums.iter_mut().zip([2, 3, 6, 8, 9]).for_each(|(sum, nth)| *sum += numbers[nth]);
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            let _ = writeln!(table, "| {name} | `{policy}` | {floor} | {} |", numbers.join(" | "));
        }
    }
    let mut short = "| drawn | floor | promises | held | recommended | of these saved | kept the floor |\n\
                     |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for ((name, place), sums) in sums {
        let sums = sums.map(|it| it.to_string());
        let _ = writeln!(short, "| {name} | {} | {} |", FLOORS[place], sums.join(" | "));
    }
    super::hold_table("reference/calibration.md", "promises", &table);
    super::hold_table("explanation/trust.md", "promises in short", &short);
}
