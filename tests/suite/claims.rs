//! The claims of the four sources and of the design card: each is exact, approximate by a distance that is told, or out of scope with a reason.

use ctxsim::input::suite::{Figure, FigureKind};
use serde::Deserialize;

use crate::aging::played::AgingRuns;
use crate::aging::scored::{is_certain, is_within};
use crate::support::*;

/// How many claims each source has.
const SOURCES: [(&str, usize); 5] = [("000", 27), ("004", 23), ("003", 30), ("002", 103), ("card", 17)];
/// The study that shows the claims of each source.
const STUDIES: [(&str, &str); 4] =
    [("000", "context-decay"), ("002", "aging"), ("003", "memory-runners"), ("004", "duckagent-runtime")];

#[derive(Deserialize)]
struct Claims {
    claims: Vec<Claim>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClaimStatus {
    Exact,
    Approximate,
    OutOfScope,
}

/// A claim of a source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    id: String,
    claim: String,
    status: ClaimStatus,
    /// A file, or a file and a test in it, that shows it.
    shown: Option<String>,
    /// How far it is off, where no published figure tells.
    distance: Option<String>,
    /// Why it is not exact.
    why: Option<String>,
    /// The published figures that it is read from.
    #[serde(default)]
    figures: Vec<String>,
    /// Numbers of ours that `distance` states, each with where a run has it.
    #[serde(default)]
    numbers: Vec<StatedNumber>,
}

/// A number of a run, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedNumber {
    scenario: String,
    policy: String,
    metric: String,
    /// The policy by whose number it is divided.
    over: Option<String>,
    ours: String,
}

impl Claim {
    fn source(&self) -> &str {
        self.id.rsplit_once('-').map_or("", |it| it.0)
    }
}

fn path(of: &str) -> PathBuf {
    root().join(of)
}

fn claims() -> Vec<Claim> {
    let text = fs::read_to_string(path("docs/studies/claims.toml")).unwrap();
    toml::from_str::<Claims>(&text).unwrap().claims
}

fn figures() -> Vec<Figure> {
    bundled_catalog().suite("aging-responses").unwrap().spec.figures
}

#[test]
fn two_hundred_claims_have_a_status_and_what_shows_it_or_why_not() {
    let all = claims();
    let ids: Vec<&str> = all.iter().map(|it| it.id.as_str()).collect();
    let numbered =
        |(source, n): (&str, usize)| (1..=n).map(|at| format!("{source}-{at}")).collect::<Vec<_>>();
    assert_eq!(ids, SOURCES.map(numbered).concat());

    for it in &all {
        let id = &it.id;
        assert!(it.claim.len() > 5, "{id}");
        let has_why = it.why.as_ref().is_some_and(|it| it.ends_with('.'));
        let is_exact = it.status == ClaimStatus::Exact;
        assert_eq!(has_why, !is_exact, "{id}: why it is not exact");
        let has_distance = it.distance.is_some() || !it.figures.is_empty();
        assert_eq!(has_distance, it.status == ClaimStatus::Approximate, "{id}: how far it is off");
        assert_eq!(it.shown.is_some(), it.status != ClaimStatus::OutOfScope, "{id}: what shows it");
        let Some(shown) = &it.shown else { continue };
        let (file, test) = shown.split_once('#').map_or((shown.as_str(), None), |it| (it.0, Some(it.1)));
        assert!(path(file).exists(), "{id}: no {file}");
        if let Some(test) = test {
            let text = fs::read_to_string(path(file)).unwrap();
            assert!(text.contains(&format!("fn {test}(")), "{id}: no test {test} in {file}");
        }
    }
}

#[test]
fn every_published_figure_belongs_to_a_claim_and_every_figure_of_a_claim_is_published() {
    let all = claims();
    let named: BTreeSet<&str> = all.iter().flat_map(|it| &it.figures).map(String::as_str).collect();
    let figures = figures();
    let is_judged = |it: &&Figure| !matches!(it.kind, FigureKind::Unpublished | FigureKind::Control);
    let judged: BTreeSet<&str> = figures.iter().filter(is_judged).map(|it| it.name.as_str()).collect();
    assert_eq!(named, judged);
}

/// Returns a number of a run as a figure, which a report can look up.
fn as_figure(it: &StatedNumber) -> Figure {
    Figure {
        name: it.ours.clone(),
        about: String::new(),
        paper: None,
        spread: None,
        kind: FigureKind::Unpublished,
        policy: it.policy.clone(),
        scenario: it.scenario.clone(),
        profile: None,
        metric: it.metric.clone(),
        minus: None,
        minus_scenario: None,
        over: it.over.clone(),
        at_least: None,
        at_most: None,
    }
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn numbers_that_claims_state_are_those_of_runs() {
    let all = claims();
    let stated: Vec<(&Claim, &StatedNumber)> =
        all.iter().flat_map(|claim| claim.numbers.iter().map(move |it| (claim, it))).collect();
    assert!(stated.len() > 8, "{}", stated.len());
    let scenarios: BTreeSet<&str> = stated.iter().map(|it| it.1.scenario.as_str()).collect();
    for scenario in scenarios {
        let of: Vec<_> = stated.iter().filter(|it| it.1.scenario == scenario).collect();
        let policies: BTreeSet<String> =
            of.iter().flat_map(|it| [Some(&it.1.policy), it.1.over.as_ref()]).flatten().cloned().collect();
        let comparison = Comparison {
            policies: policies.into_iter().collect(),
            ..comparing(&[], &[scenario], &["anthropic/claude-haiku-4.5"])
        };
        let report = reported(&comparison);
        for (claim, it) in of {
            let ours = report.compare_figure(&as_figure(it)).ours.unwrap_or(f64::NAN);
            let decimals = it.ours.split_once('.').map_or(0, |it| it.1.len());
            assert_eq!(format!("{ours:.decimals$}"), it.ours, "{}: {}", claim.id, it.metric);
        }
    }
}

/// Returns how far a claim is off: what it says, or how many of its figures lie in their bands and which lies farthest.
fn distance(claim: &Claim, figures: &[Figure], runs: &AgingRuns) -> String {
    let of = |name: &String| figures.iter().find(|it| it.name == *name).unwrap();
    let ours = |it: &Figure| runs.ours(it).map(|it| it.value);
    let known: Vec<&Figure> =
        claim.figures.iter().map(of).filter(|it| it.metric.starts_with("aging.")).collect();
    let beside = known.len() < claim.figures.len();
    if known.is_empty() {
        let told = claim.distance.clone();
        return told.unwrap_or_else(|| "see *All figures*".to_owned());
    }
    // A direction within two standard errors is not met.
    let is_met = |it: &&&Figure| match it.kind {
        FigureKind::Sign => is_certain(it, runs.ours(it)),
        _ => is_within(it, ours(it)),
    };
    let n_within = known.iter().filter(is_met).count();
    let mut text = format!("{n_within} of {} in their bands", known.len());
    let off = |it: &&&Figure| -> Option<f64> {
        let [low, high] = [it.at_least?, it.at_most?];
        Some((ours(it)? - it.paper?).abs() / ((high - low) / 2.0).max(1e-9))
    };
    let farthest = known
        .iter()
        .filter(|it| off(it).is_some())
        .max_by(|one, other| off(one).unwrap().total_cmp(&off(other).unwrap()));
    if let Some(it) = farthest {
        let _ = write!(text, "; farthest {} of {}", number(ours(it).unwrap()), number(it.paper.unwrap()));
    }
    if beside {
        text.push_str("; others in *All figures*");
    }
    claim.distance.iter().fold(text, |text, it| format!("{it}; {text}"))
}

fn number(it: f64) -> String {
    if it.abs() >= 10.0 { format!("{it:.1}") } else { format!("{it:.3}") }
}

/// Returns the table of a source's claims that are not exact, below how many are.
fn table(of: &[&Claim], figures: &[Figure], runs: &AgingRuns) -> String {
    let count = |status| of.iter().filter(|it| it.status == status).count();
    let mut text = format!(
        "{} claims: {} exact, {} approximate, {} out of scope (`docs/studies/claims.toml`).\n",
        of.len(),
        count(ClaimStatus::Exact),
        count(ClaimStatus::Approximate),
        count(ClaimStatus::OutOfScope)
    );
    if count(ClaimStatus::Exact) < of.len() {
        text.push_str("\n| claim | what it says | how far off | why |\n|---|---|---|---|\n");
    }
    for it in of.iter().filter(|it| it.status != ClaimStatus::Exact) {
        let far = match it.status {
            ClaimStatus::OutOfScope => "out of scope".to_owned(),
            _ => distance(it, figures, runs),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {far} | {} |",
            it.id,
            it.claim,
            it.why.as_deref().unwrap_or_default()
        );
    }
    text
}

/// `CTXSIM_BLESS` writes the tables.
#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_studies_show_the_distance_of_every_claim_that_is_not_exact() {
    let (all, figures) = (claims(), figures());
    let named: BTreeSet<&str> = all.iter().flat_map(|it| &it.figures).map(String::as_str).collect();
    let wanted: Vec<&Figure> = figures
        .iter()
        .filter(|it| named.contains(it.name.as_str()) && it.metric.starts_with("aging."))
        .collect();
    let runs = AgingRuns::of(&bundled_catalog(), &wanted, &|_| Vec::new());
    for (source, study) in STUDIES {
        let of: Vec<&Claim> = all.iter().filter(|it| it.source() == source).collect();
        let file = path(&format!("docs/studies/{study}.md"));
        let shown = fs::read_to_string(&file).unwrap();
        let (front, rest) =
            shown.split_once("<!-- claims -->\n").unwrap_or_else(|| panic!("{study}: no marks"));
        let (_, back) = rest.split_once("<!-- /claims -->").unwrap();
        let now = format!("{front}<!-- claims -->\n{}<!-- /claims -->{back}", table(&of, &figures, &runs));
        if std::env::var_os("CTXSIM_BLESS").is_some() {
            fs::write(file, now).unwrap();
        } else {
            assert!(shown == now, "{study}: set CTXSIM_BLESS to write the table anew");
        }
    }
}
