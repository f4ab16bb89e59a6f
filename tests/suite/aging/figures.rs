//! The published figures of ageing beside ours: labels that agree with the fit, bands by one rule, and the tables of `docs/studies/aging.md`.

use ctxsim::input::suite::{Figure, FigureKind};
use ctxsim::report::ComparedFigure;

use super::played::AgingRuns;
use super::scored::judged;

use super::*;

/// A figure whose half width is that of a share without a published spread, or of a difference of two.
const OF_SHARE: f64 = 0.10;
/// The half width of other figures, as a share of the published number.
const OF_OTHERS: f64 = 0.25;
/// The standard error of a mean of the benchmark's three seeds, in standard deviations, twice.
const OF_SPREAD: f64 = 1.154_700_538;

fn file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn figures() -> Vec<Figure> {
    bundled_catalog().suite("aging-responses").unwrap().spec.figures
}

fn fits() -> Vec<toml::Table> {
    let text: toml::Table = file("assumptions/aging/fit.toml").parse().unwrap();
    text["fits"].as_array().unwrap().iter().map(|it| it.as_table().unwrap().clone()).collect()
}

/// Plays what figures are read from, and nothing else: a scenario once for all of its figures.
fn played(figures: &[Figure]) -> Report {
    let mut policies: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for figure in figures {
        let [of_figure, scenarios] = figure.read_from();
        for scenario in scenarios {
            let of_file = scenario.split('/').take(2).collect::<Vec<_>>().join("/");
            policies.entry(of_file).or_default().extend(of_figure.iter().map(|it| (*it).to_owned()));
        }
    }
    let catalog = bundled_catalog();
    let profiles = catalog.suite("aging-responses").unwrap().spec.profiles;
    let mut all: Option<Report> = None;
    for (scenario, policies) in policies {
        let comparison = Comparison {
            policies: policies.into_iter().collect(),
            scenarios: vec![scenario],
            profiles: profiles.clone(),
            ..Comparison::default()
        };
        let report = Plan::new(&catalog, &comparison).unwrap().report(None, &|_, _| {}).unwrap();
        match &mut all {
            Some(all) => all.runs.extend(report.runs),
            None => all = Some(report),
        }
    }
    all.unwrap()
}

#[test]
fn a_figure_is_labelled_fitted_where_the_objective_of_the_fit_has_it_and_nowhere_else() {
    let strings = |it: &toml::Table| -> Vec<String> {
        it["figures"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let objective: BTreeSet<String> = fits().iter().flat_map(strings).collect();
    let fitted = figures().into_iter().filter(|it| it.kind == FigureKind::Fitted).map(|it| it.name);
    assert_eq!(fitted.collect::<BTreeSet<_>>(), objective);

    let numbers: toml::Table = file("assumptions/aging/numbers.toml").parse().unwrap();
    let declared: BTreeSet<&str> = numbers["fitted"].as_table().unwrap().keys().map(String::as_str).collect();
    let all = fits();
    let of_model = |it: &&toml::Table| it.contains_key("model");
    let own: BTreeSet<&str> =
        all.iter().filter(|it| !of_model(it)).map(|it| it["number"].as_str().unwrap()).collect();
    assert_eq!(own, declared, "each number of `[fitted]` has its fit");

    let models: BTreeSet<String> =
        all.iter().filter(of_model).map(|it| it["model"].as_str().unwrap().to_owned()).collect();
    let labelled = ctxsim::worlds::aging::Model::all().iter().filter(|it| it.kind == "fitted");
    assert_eq!(labelled.map(|it| it.name.clone()).collect::<BTreeSet<_>>(), models);
}

/// Returns the half width of a figure's band by the rule.
fn half_width(figure: &Figure, paper: f64) -> f64 {
    let others = ["accumulator_error", "slope", "half_life.mean", "cost_usd", "tokens", "requests"];
    let is_share = figure.over.is_none() && !others.iter().any(|it| figure.metric.contains(it));
    match figure.spread {
        Some(spread) => OF_SPREAD * spread,
        None if is_share => OF_SHARE,
        None => OF_OTHERS * paper.abs(),
    }
}

#[test]
fn bands_follow_from_the_published_spread_or_from_one_rule_and_none_leaves_out_its_figure() {
    // What the paper prints itself in place of a spread.
    let printed = ["s3_fidelity_moved", "s3_fidelity_moved_lossy"];
    for figure in figures() {
        let band = [figure.at_least, figure.at_most];
        let name = &figure.name;
        let judged = !matches!(figure.kind, FigureKind::Unpublished);
        assert_eq!(band.iter().any(Option::is_some), judged, "{name} has a band where there is a claim");
        let Some(paper) = figure.paper else { continue };
        if figure.kind == FigureKind::Sign || printed.contains(&name.as_str()) {
            continue;
        }
        let [Some(low), Some(high)] = band else { panic!("{name} has half a band") };
        assert!(low <= paper && paper <= high, "{name}: {paper} is not in {low} to {high}");
        // Half a digit of what is printed, where that is more.
        let least =
            if figure.metric.contains("slope") || figure.metric.contains("final") { 0.005 } else { 0.0 };
        let half =
            half_width(&figure, paper).max(if figure.metric.contains("slope") { 0.0005 } else { least });
        let rounding = if paper.abs() >= 20.0 { 0.51 } else { 0.0001 };
        assert!((paper - low - half).abs() <= rounding, "{name}: {low}, by the rule {}", paper - half);
        assert!((high - paper - half).abs() <= rounding, "{name}: {high}, by the rule {}", paper + half);
    }
}

/// Writes a number with so many digits as say something.
fn number(it: Option<f64>) -> String {
    let Some(it) = it else { return "–".to_owned() };
    match it.abs() {
        large if large >= 1_000.0 => format!("{it:.0}"),
        large if large >= 10.0 => format!("{it:.1}"),
        small if small > 0.0 && small < 0.02 => format!("{it:.4}"),
        _ => format!("{it:.3}"),
    }
}

/// Returns the table of all figures, by kind.
fn table(lines: &[ComparedFigure]) -> String {
    let mut text =
        "| figure | kind | paper | ours | ± 95% | band | in band |\n|---|---|---:|---:|---:|---|---|\n"
            .to_owned();
    for kind in FigureKind::ALL {
        for it in lines.iter().filter(|it| it.kind == kind) {
            let reach = it.ci95.map(|[low, high]| (high - low) / 2.0);
            let band = match it.band {
                [None, None] => "–".to_owned(),
                [Some(low), None] => format!("≥ {}", number(Some(low))),
                [None, Some(high)] => format!("≤ {}", number(Some(high))),
                [low, high] => format!("{} to {}", number(low), number(high)),
            };
            let within = it.within.map_or("–", |it| if it { "yes" } else { "no" });
            let [paper, ours, reach] = [it.paper, it.ours, reach].map(number);
            let _ = writeln!(
                text,
                "| `{}` | {} | {paper} | {ours} | {reach} | {band} | {within} |",
                it.name,
                kind.word().replace('_', " ")
            );
        }
    }
    text
}

/// Returns how many figures of each kind there are, and how many of them lie in their bands.
fn counts(lines: &[ComparedFigure]) -> String {
    let mut text = "| kind | figures | in their band |\n|---|---:|---:|\n".to_owned();
    for kind in FigureKind::ALL {
        let of_kind = || lines.iter().filter(|it| it.kind == kind);
        let n_within = of_kind().filter(|it| it.within == Some(true)).count();
        let within = if kind == FigureKind::Unpublished { "–".to_owned() } else { n_within.to_string() };
        let _ = writeln!(text, "| {} | {} | {within} |", kind.word().replace('_', " "), of_kind().count());
    }
    text
}

/// Puts a text between two marks of a document.
fn marked(document: &str, name: &str, text: &str) -> String {
    let [open, close] = [format!("<!-- {name} -->"), format!("<!-- /{name} -->")];
    let (front, rest) = document.split_once(&open).unwrap_or_else(|| panic!("no {open}"));
    let (_, back) = rest.split_once(&close).unwrap_or_else(|| panic!("no {close}"));
    let gap = if text.contains('|') { "\n" } else { "" };
    format!("{front}{open}{gap}{text}{close}{back}")
}

/// `CTXSIM_BLESS` writes the tables.
#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_document_has_every_figure_with_its_label_its_band_and_whether_it_is_met() {
    let figures = figures();
    let report = played(&figures);
    let lines: Vec<ComparedFigure> = figures.iter().map(|it| report.compare_figure(it)).collect();

    for line in lines.iter().filter(|it| it.kind == FigureKind::Control) {
        assert_eq!(line.within, Some(false), "{} is without its mechanism, and must miss", line.name);
    }
    for line in lines.iter().filter(|it| it.kind == FigureKind::HeldOut) {
        assert!(line.within.is_some(), "{} has no band", line.name);
    }
    let declared = AgingRuns::of(&bundled_catalog(), &judged(&figures), &|_| Vec::new());
    for (figure, line) in figures.iter().zip(&lines).filter(|it| declared.ours(it.0).is_some()) {
        let ours = declared.ours(figure).map(|it| it.value);
        assert_eq!(ours, line.ours, "{}: played without requests", figure.name);
    }
    let path = "docs/studies/aging.md";
    let shown = file(path);
    let now = [
        ("held-out", baselines::claim(&figures, &declared)),
        ("counts", counts(&lines)),
        ("figures", table(&lines)),
    ]
    .iter()
    .fold(shown.clone(), |document, (name, text)| marked(&document, name, text));
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(root().join(path), now).unwrap();
        return;
    }
    assert!(shown == now, "{path}: set CTXSIM_BLESS to write the tables anew");
}
