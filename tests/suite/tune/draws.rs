//! What `tune` promises on some of the shared sessions, or on some of their working folders, held against the others.

use ctxsim::app::grid::OverrideGrid;
use ctxsim::app::tune::{TunedSessions, Tuning, default_variants, variants_from_grid};
use ctxsim::measure::limits::Over;
use ctxsim::report::tune::{TunePart, Tuned, TunedSession, variant_on_all_sessions};

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

/// Counts over draws in which a choice changes something.
#[derive(Debug, Default)]
struct Counts {
    promised: usize,
    /// The change on the others was within what is promised.
    held: usize,
    recommended: usize,
    /// Of those recommended: it saved, and it kept the floor.
    saved: usize,
    kept: usize,
}

impl Counts {
    /// Tunes on half of the folders, or of the sessions, and scores on the rest.
    fn add(&mut self, played: &TunedSessions, floor: f64, over: Over, nth: u64) {
        let draw = if over == Over::Projects { drawn } else { drawn_sessions };
        let (own, rest) = draw(&played.sessions, nth);
        let [base, policy] = &played.names;
        let tuned = Tuned::new([base, policy], &own, played.tried.clone(), floor, 0);
        let [_, out] = tuned.parts.as_slice() else { return };
        if out.spread.and_then(|it| it.interval).is_none_or(|it| it[0] == it[1]) {
            return;
        }
        let chosen = played.tried.points.iter().position(|it| *it == tuned.chosen).unwrap();
        let scored = variant_on_all_sessions(&rest, chosen, floor);
        let Some(change) = scored.cost_change_share() else { return };
        let [low, high] = predicted(out, &scored);
        self.promised += 1;
        self.held += usize::from(low <= change && change <= high);
        if tuned.is_recommended {
            self.recommended += 1;
            self.saved += usize::from(change < 0.0);
            self.kept += usize::from(scored.evidence_kept.is_none_or(|it| it >= floor));
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
    let half = |places: &[(u64, usize)]| places.iter().map(|it| sessions[it.1].clone()).collect();
    let (own, rest) = places.split_at(sessions.len() / 2);
    (half(own), half(rest))
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
    let mut table = "| drawn | floor | promises | held | recommended | of these saved | kept the floor |\n\
                     |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let all = POLICIES.map(|(policy, vary)| played(&root, policy, vary));
    for (over, name) in [(Over::Sessions, "sessions"), (Over::Projects, "folders")] {
        for floor in FLOORS {
            let mut sum = Counts::default();
            all.iter().for_each(|played| (0..DRAWS).for_each(|nth| sum.add(played, floor, over, nth)));
            let Counts { promised, held, recommended, saved, kept } = sum;
            let _ = writeln!(
                table,
                "| {name} | {floor} | {promised} | {held} | {recommended} | {saved} | {kept} |"
            );
        }
    }
    super::hold_table("explanation/trust.md", "promises", &table);
}
