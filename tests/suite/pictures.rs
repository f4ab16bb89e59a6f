//! Charts and the page: which numbers they show, that they stand alone, and that everybody can read them.

use std::path::Path;

use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::bundled_catalog;
use ctxsim::measure::assumed::Assumed;
use ctxsim::report::Report;
use ctxsim::report::chart::requests::RunRequests;
use ctxsim::report::chart::{
    ChartData, KINDS, PageChart, curves, distribution, frontier, requests, stacked, tornado,
};
use ctxsim::report::html::{self, Traces};
use ctxsim::report::sections::Detail;
use ctxsim::take::Sinks;
use roxmltree::{Document, Node, ParsingOptions};
use serde::Serialize;

const RECORDED: [&str; 2] = ["recorded/claude-code", "tests/data/recorded/pi-session.jsonl"];

/// A run with the requests of its policies.
struct Ran {
    report: Report,
    traces: Traces,
}

impl Ran {
    fn new(comparison: &Comparison, threads: usize) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small");
        let catalog = bundled_catalog().with_folder(&folder).unwrap();
        let plan = Plan::new(&catalog, comparison).unwrap();
        let report = plan.report(Some(threads), &|_, _| {}).unwrap();
        let of_loads = plan.each(Some(threads), &|_, _| {}, |load, progress| {
            let sinks = Sinks { rows: true, ..Sinks::default() };
            RunRequests::of_load(load, &load.takes(&sinks, progress).takes, &load.name)
        });
        let traces = Traces { runs: of_loads.unwrap().concat(), left_out: None };
        Self { report, traces }
    }

    /// Three small policies on a load of two turns.
    fn small() -> Self {
        Self::named("small", &["one"], &["plain"])
    }

    fn named(suite: &str, scenarios: &[&str], profiles: &[&str]) -> Self {
        let list = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        let suite = Some(suite.to_owned());
        Self::new(
            &Comparison {
                suite,
                scenarios: list(scenarios),
                profiles: list(profiles),
                ..Comparison::default()
            },
            2,
        )
    }

    /// Two recorded sessions.
    fn recorded(threads: usize) -> Self {
        let list = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        let comparison = Comparison {
            policies: list(&[
                "identity",
                "clear_tool_results_at_40k_min_5k",
                "truncate_oldest",
                "clairvoyant",
            ]),
            scenarios: list(&RECORDED),
            profiles: list(&["anthropic/claude-opus-4.5"]),
            ..Comparison::default()
        };
        Self::new(&comparison, threads)
    }

    fn source(&self) -> ChartData<'_> {
        ChartData::new(&self.report, Detail::Groups, &self.traces.runs)
    }

    fn figures(&self) -> Vec<PageChart> {
        self.source().figures()
    }

    fn page(&self) -> String {
        html::report(&self.report, Detail::Groups, &self.traces).unwrap()
    }
}

fn assert_shown(name: &str, charts: &impl Serialize) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/pictures");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, serde_json::to_string_pretty(charts).unwrap()));
}

/// Reads a page or a drawing as XML.
fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn elements<'a, 'i>(document: &'a Document<'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    document.descendants().filter(move |it| it.has_tag_name(name))
}

#[test]
fn cost_against_evidence_is_that_of_the_tables() {
    assert_shown("frontier", &frontier::all(&Ran::small().source()));
}

#[test]
fn costs_are_divided_into_their_parts() {
    let ran = Ran::small();
    let charts = stacked::all(&ran.source());

    for bar in charts.iter().flat_map(|it| &it.bars) {
        let sum: f64 = bar.amounts.iter().sum();
        assert!((sum - bar.total).abs() <= 1e-9 * bar.total, "{bar:?}");
    }
    assert_shown("cost", &charts);
}

#[test]
fn waiting_is_divided_into_its_parts_where_the_model_has_data() {
    let ran = Ran::recorded(2);
    let charts = stacked::all_of_waiting(&ran.source());

    for bar in charts.iter().flat_map(|it| &it.bars) {
        let sum: f64 = bar.amounts.iter().sum();
        let [low, high] = bar.interval.unwrap();
        assert!((sum - bar.total).abs() <= 1e-9 * bar.total, "{bar:?}");
        assert!(low < bar.total && bar.total < high, "{bar:?}");
    }
    assert_shown("waiting", &charts);
    assert!(stacked::all_of_waiting(&Ran::small().source()).is_empty(), "nobody measured its model");
}

#[test]
fn a_single_assumption_moves_a_cost_no_further_than_all_together() {
    let ran = Ran::recorded(2);

    for run in &ran.report.runs {
        let [low, declared, high] = run.tally.cost_ends();
        for ends in Assumed::ALL.map(|it| run.tally.assumed.of(it)) {
            let [at_low, at_high] = ends.map(|it| declared + it);
            assert!(at_low <= declared + 1e-12 && declared <= at_high + 1e-12, "{}: {ends:?}", run.policy);
            assert!(low <= at_low + 1e-12 && at_high <= high + 1e-12, "{}: {ends:?}", run.policy);
        }
    }
    let charts = tornado::all(&ran.source());
    let bars = charts.iter().flat_map(|it| &it.lines).map(|it| &it.bars);
    assert!(bars.clone().count() > 0 && bars.clone().all(|it| it.len() > 1), "{charts:?}");
    assert_shown("tornado", &charts);
}

#[test]
fn requests_are_those_of_the_rows_with_the_stage_that_edited_them() {
    assert_shown("requests", &requests::all(&Ran::small().source()));
}

#[test]
fn changes_are_those_of_recorded_sessions_against_the_first_policy() {
    assert_shown("change", &distribution::all(&Ran::recorded(2).source()));
    assert!(distribution::all(&Ran::small().source()).is_empty(), "these are no recorded sessions");
}

#[test]
fn shares_of_facts_found_are_those_of_the_tables() {
    let ran = Ran::named("context-decay", &[], &[]);
    let source = ran.source();

    assert_shown("depth", &curves::by_depth(&source));
    assert_shown("length", &curves::by_length(&source));
}

#[test]
fn a_policy_has_one_colour_in_all_charts() {
    let ran = Ran::recorded(2);
    let source = ran.source();
    let of_frontier = frontier::all(&source).remove(0).points.into_iter().map(|it| it.policy);
    let of_cost = stacked::all(&source).remove(0).bars.into_iter().map(|it| it.policy);
    let of_requests = requests::all(&source).remove(0).panels.into_iter().map(|it| it.policy);
    let of_change = distribution::all(&source).remove(0).lines.into_iter().map(|it| it.policy);
    let policies: Vec<_> = of_frontier.collect();

    assert!(of_cost.eq(policies.iter().cloned()) && of_requests.eq(policies.iter().cloned()));
    assert!(of_change.eq(policies[1..].iter().cloned()), "the first is what the others are measured against");
}

#[test]
fn every_chart_of_every_kind_is_a_drawing_with_a_title_and_an_alternative() {
    let mut seen = Vec::new();
    for ran in [
        Ran::small(),
        Ran::recorded(2),
        Ran::named("context-decay", &[], &[]),
        Ran::named("aging-lite", &[], &[]),
    ] {
        for figure in ran.figures() {
            let text = figure.document().unwrap();
            let document = parsed(&text);
            let root = document.root_element();

            assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
            let drawing = elements_of(root, "g").find(|it| it.attribute("role") == Some("img")).unwrap();
            assert_eq!(drawing.attribute("aria-label"), Some(figure.summary.as_str()));
            assert!(figure.summary.chars().any(|it| it.is_ascii_digit()), "{}", figure.summary);
            for spot in elements_of(root, "g").filter(|it| it.attribute("class") == Some("spot")) {
                assert!(spot.children().any(|it| it.tag_name().name() == "title" && it.text().is_some()));
            }
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            seen.push(figure.name);
        }
    }
    for kind in KINDS {
        assert!(seen.iter().any(|it| it == kind.name), "{} is never drawn: {seen:?}", kind.name);
    }
}

fn elements_of<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.descendants().filter(move |it| it.tag_name().name() == name)
}

#[test]
fn a_page_needs_nothing_else_and_is_reached_by_keyboard_and_by_ear() {
    let page = Ran::recorded(2).page();
    let document = parsed(&page);

    for loading in ["src", "href", "action", "data", "srcset"] {
        let targets = document.descendants().filter_map(|it| it.attribute(loading));
        assert!(targets.clone().count() > 0 || loading != "href");
        targets.for_each(|it| assert!(it.starts_with('#') || it == "data:,", "{it} is loaded"));
    }
    assert!(!page.contains("url(") && !page.contains("@import") && !page.contains("http:"), "no address");
    let n_figures = elements(&document, "figure").count();
    assert!(n_figures >= 4, "{n_figures}");
    for figure in elements(&document, "figure") {
        for part in ["figcaption", "table"] {
            assert_eq!(elements_of(figure, part).count(), 1, "{part}");
        }
        if elements_of(figure, "svg").next().is_none() {
            continue;
        }
        let drawings = elements_of(figure, "g").filter(|it| it.attribute("role") == Some("img"));
        let alternatives: Vec<Option<&str>> = drawings.map(|it| it.attribute("aria-label")).collect();
        assert!(
            !alternatives.is_empty() && alternatives.iter().all(|it| it.is_some_and(|it| !it.is_empty()))
        );
        assert!(figure.descendants().any(|it| it.attribute("class") == Some("spot")));
    }
    let mut ids: Vec<&str> = document.descendants().filter_map(|it| it.attribute("id")).collect();
    for link in elements(&document, "a").filter_map(|it| it.attribute("href")) {
        assert!(ids.contains(&link.trim_start_matches('#')), "{link} leads nowhere");
    }
    ids.sort_unstable();
    assert!(ids.windows(2).all(|it| it[0] != it[1]), "{ids:?}");
}

#[test]
fn a_page_shows_any_name_as_it_is() {
    let mut ran = Ran::small();
    let name = "a<b>&\"c\u{1}'{{ d }}";
    ran.report.runs.iter_mut().for_each(|it| name.clone_into(&mut it.scenario));
    ran.report.runs[0].policy = name.to_owned();
    ran.traces.runs[0].policy = name.to_owned();

    let page = ran.page();
    let document = parsed(&page);

    let shown = "a<b>&\"c\u{2401}'{{ d }}";
    assert_eq!(elements(&document, "h1").next().unwrap().text().unwrap().split_once(": ").unwrap().1, shown);
    assert!(elements(&document, "th").any(|it| it.text() == Some(shown)));
    for figure in ran.figures() {
        parsed(&figure.document().unwrap());
    }
}

#[test]
fn a_page_is_the_same_with_any_number_of_threads() {
    assert_eq!(Ran::recorded(1).page(), Ran::recorded(2).page());
}

#[test]
fn too_many_tables_have_charts_of_the_first_only_and_it_is_said() {
    let ran = Ran::named("small", &["one"], &["openai/*", "anthropic/*", "google/*"]);

    let n_tables = ran.report.sections(Detail::Groups).len();
    assert!(n_tables > 24, "{n_tables}");
    let n_charts = ran.figures().iter().filter(|it| it.title.starts_with("Cost by part")).count();
    assert_eq!(n_charts, 24);
    assert!(
        ran.page().contains(&format!("Charts cover the first 24 tables; {} more have none.", n_tables - 24))
    );
}
