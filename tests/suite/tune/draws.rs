//! What `tune` promises on some working folders of the shared sessions, held against the others.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use ctxsim::catalog::Catalog;
use ctxsim::compare::Comparison;
use ctxsim::compare::tune::{Search, TunedSessions, Tuning};
use ctxsim::report::tune::{Tuned, TunedSession, whole};
use ctxsim::rng::Seed;

/// The floor of evidence: the default.
const FLOOR: f64 = 0.9;
/// How often folders are drawn.
const DRAWS: u64 = 200;
/// Policies with numbers that can be set.
const POLICIES: [&str; 4] = [
    "agents/claude_code/auto_compact",
    "clear_tool_results",
    "agents/anthropic/clear_tool_uses_at_least",
    "duckagent/duckagent_recoverable_decay_guarded_mid",
];

/// Counts over draws.
#[derive(Debug, Default)]
struct Counts {
    /// Draws in which there was a promise: enough sessions to hold some out.
    promised: usize,
    /// The change on the other folders was within the promised interval.
    covered: usize,
    /// It was not above the interval.
    not_worse: usize,
    recommended: usize,
    /// Of those recommended: it was within, it saved, and it kept the floor.
    recommended_covered: usize,
    recommended_saved: usize,
    recommended_kept: usize,
}

impl Counts {
    fn of(played: &TunedSessions) -> Self {
        let mut counts = Self::default();
        for nth in 0..DRAWS {
            counts.add(played, nth);
        }
        counts
    }

    /// Tunes on half of the folders, and scores on the rest.
    fn add(&mut self, played: &TunedSessions, nth: u64) {
        let (own, rest) = drawn(&played.sessions, nth);
        let [base, policy] = &played.names;
        let tuned = Tuned::new([base, policy], &own, played.tried.clone(), FLOOR, 0);
        let [_, out] = tuned.parts.as_slice() else { return };
        let Some([low, high]) = out.spread.and_then(|it| it.interval) else { return };
        let chosen = played.tried.points.iter().position(|it| *it == tuned.chosen).unwrap();
        let scored = whole(&rest, chosen);
        let Some(change) = scored.change() else { return };
        let is_within = low <= change && change <= high;
        self.promised += 1;
        self.covered += usize::from(is_within);
        self.not_worse += usize::from(change <= high);
        if tuned.is_recommended {
            self.recommended += 1;
            self.recommended_covered += usize::from(is_within);
            self.recommended_saved += usize::from(change < 0.0);
            self.recommended_kept += usize::from(scored.evidence_kept.is_none_or(|it| it >= FLOOR));
        }
    }
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
fn played(root: &Path, policy: &str) -> TunedSessions {
    let folder = |it: &str| root.join("recorded").join(it).display().to_string();
    let comparison = Comparison {
        policies: vec!["identity".to_owned(), policy.to_owned()],
        scenarios: ["claude-code", "claude-code-2"].map(folder).to_vec(),
        own_models: true,
        ..Comparison::default()
    };
    let catalog = Catalog::bundled();
    let search = Search::by_default(&catalog, &comparison, None, &|_, _| {}).unwrap();
    Tuning::new(&catalog, &comparison, search, (FLOOR, 0)).unwrap().played(None, &|_, _| {}).unwrap()
}

#[test]
#[ignore = "slow: each policy is played under up to a hundred variants"]
fn the_document_says_how_often_a_promise_holds_on_other_working_folders() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let mut table = "| policy | draws with a promise | change within it | not above it | recommended | of these: within | saved | kept 90% |\n\
                     |---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for policy in POLICIES {
        let played = played(&root, policy);
        let it = Counts::of(&played);
        let _ = writeln!(
            table,
            "| `{policy}` | {} | {} | {} | {} | {} | {} | {} |",
            it.promised,
            it.covered,
            it.not_worse,
            it.recommended,
            it.recommended_covered,
            it.recommended_saved,
            it.recommended_kept
        );
        println!("{table}");
    }

    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/calibration.md");
    let document = fs::read_to_string(&page).unwrap();
    let [from, to] = ["<!-- promises -->\n", "<!-- /promises -->"];
    let (before, rest) = document.split_once(from).unwrap();
    let (shown, after) = rest.split_once(to).unwrap();
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(&page, format!("{before}{from}{table}{to}{after}")).unwrap();
        return;
    }
    assert!(shown == table, "set CTXSIM_BLESS to write what was found: {table}");
}
