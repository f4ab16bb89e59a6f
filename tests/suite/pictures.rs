//! Charts and the page: which numbers they show, that they stand alone, and that everybody can read them.

use ctxsim::measure::assumed::Assumed;
use ctxsim::report::chart::forest::{ForestLine, ForestPlot};
use ctxsim::report::chart::frontier::{Frontier, FrontierPoint, KEPT};
use ctxsim::report::chart::names::PolicyLabel;
use ctxsim::report::chart::requests::RunRequests;
use ctxsim::report::chart::{ChartData, KINDS, PageChart, curves, draw_chart, frontier, requests, stacked};
use ctxsim::report::html::{self, Traces};
use ctxsim::take::Sinks;
use indexmap::IndexSet;
use proptest::collection::btree_set;
use proptest::prelude::*;
use roxmltree::{Document, Node, ParsingOptions};
use serde::Serialize;

use crate::support::*;

const RECORDED: [&str; 2] = ["recorded/claude-code", "tests/data/recorded/pi-session.jsonl"];

/// A run with the requests of its policies.
struct Ran {
    report: Report,
    traces: Traces,
}

impl Ran {
    fn new(comparison: &Comparison, threads: usize) -> Self {
        let folder = root().join("tests/data/small");
        let catalog = bundled_catalog().with_folder(&folder).unwrap();
        let plan = Plan::new(&catalog, comparison).unwrap();
        let report = plan.report(Some(threads), &|_, _| {}).unwrap();
        let of_loads = plan.map_loads(Some(threads), &|_, _| {}, |load, progress| {
            let sinks = Sinks { rows: true, ..Sinks::default() };
            RunRequests::from_takes(load, &load.takes(&sinks, progress).takes, &load.name)
        });
        let traces = Traces { runs: of_loads.unwrap().concat(), left_out: None };
        Self { report, traces }
    }

    /// Three small policies on a load of two turns.
    fn small() -> Self {
        Self::named("small", &["one"], &["plain"])
    }

    fn named(suite: &str, scenarios: &[&str], profiles: &[&str]) -> Self {
        let suite = Some(suite.to_owned());
        Self::new(&Comparison { suite, ..comparing(&[], scenarios, profiles) }, 2)
    }

    /// Two recorded sessions.
    fn recorded(threads: usize) -> Self {
        let comparison = comparing(
            &["identity", "clear_tool_results_at_40k_min_5k", "truncate_oldest", "clairvoyant"],
            &RECORDED,
            &["anthropic/claude-opus-4.5"],
        );
        Self::new(&comparison, threads)
    }

    fn source(&self) -> ChartData<'_> {
        ChartData::new(&self.report, Detail::Groups, &self.traces.runs)
    }

    fn figures(&self) -> Vec<PageChart> {
        self.source().draw_charts()
    }

    fn page(&self) -> String {
        html::html_page(&self.report, Detail::Groups, &self.traces).unwrap()
    }

    /// Returns the rows of the only table of the page whose title begins so.
    fn rows_of(&self, title: &str) -> Vec<Vec<String>> {
        let page = self.page();
        let document = xml(&page);
        let is_it = |table: &Node<'_, '_>| {
            let mut captions = elements_of(*table, "caption");
            captions.any(|it| it.text().is_some_and(|it| it.trim().starts_with(title)))
        };
        let table = elements(&document, "table").find(is_it).unwrap_or_else(|| panic!("no table {title}"));
        let cells = |row: Node<'_, '_>| {
            let cells = row.children().filter(Node::is_element);
            cells.map(|it| it.text().unwrap_or_default().trim().to_owned()).collect()
        };
        elements_of(table, "tr").skip(1).map(cells).collect()
    }
}

fn assert_shown(name: &str, charts: &impl Serialize) {
    assert_snapshot("pictures", name, &serde_json::to_string_pretty(charts).unwrap());
}

/// Reads a page or a drawing as XML.
pub(crate) fn xml(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn elements<'a, 'i>(document: &'a Document<'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    document.descendants().filter(move |it| it.has_tag_name(name))
}

#[test]
fn cost_against_evidence_is_that_of_the_tables() {
    assert_shown("frontier", &frontier::frontier_charts(&Ran::small().source()));
}

#[test]
fn costs_are_divided_into_their_parts() {
    let ran = Ran::small();
    let charts = stacked::cost_charts(&ran.source());

    for bar in charts.iter().flat_map(|it| &it.bars) {
        let sum: f64 = bar.amounts.iter().sum();
        assert!((sum - bar.total).abs() <= 1e-9 * bar.total, "{bar:?}");
    }
    assert_shown("cost", &charts);
}

/// A text of a drawing that is seen, with its place.
#[derive(Clone, Debug, PartialEq)]
struct Label {
    at: [f64; 2],
    words: String,
}

/// Returns the texts of a drawing, and of the parts that can be pointed at without what these say when they are.
fn labels(document: &Document<'_>) -> Vec<Label> {
    let seen = elements_of(document.root_element(), "text").filter(|it| it.attribute("class").is_none());
    let place = |of: Node<'_, '_>, axis: &str| of.attribute(axis).unwrap().parse().unwrap();
    let label = |of: Node<'_, '_>| Label {
        at: [place(of, "x"), place(of, "y")],
        words: of.text().unwrap_or_default().to_owned(),
    };
    seen.map(label).collect()
}

/// Returns what can be pointed at: what each says, and its paths.
fn spots<'a, 'i>(document: &'a Document<'i>) -> Vec<(&'a str, Vec<Node<'a, 'i>>)> {
    let spots = document.descendants().filter(|it| it.attribute("class") == Some("spot"));
    let spot = |of: Node<'a, 'i>| {
        let title = elements_of(of, "title").next().unwrap().text().unwrap();
        (title, elements_of(of, "path").collect())
    };
    spots.map(spot).collect()
}

/// Returns the corners of a path of straight lines; of a circle, its middle alone.
fn corners(path: Node<'_, '_>) -> Vec<[f64; 2]> {
    let (mut all, mut at) = (Vec::new(), [0.0; 2]);
    let d = path.attribute("d").unwrap();
    let mut rest = d;
    while let Some(pen) = rest.chars().next() {
        let end = rest[1..].find(|it: char| it.is_ascii_alphabetic()).map_or(rest.len(), |it| it + 1);
        let numbers: Vec<f64> = rest[1..end].split_whitespace().map(|it| it.parse().unwrap()).collect();
        rest = &rest[end..];
        match pen {
            'M' | 'L' => at = [numbers[0], numbers[1]],
            'H' => at[0] = numbers[0],
            'V' => at[1] = numbers[0],
            'h' => at[0] += numbers[0],
            'v' => at[1] += numbers[0],
            'a' => return vec![[at[0] + numbers[0], at[1]]],
            _ => continue,
        }
        all.push(at);
    }
    all
}

/// Returns the right end of a path.
fn right_end(path: Node<'_, '_>) -> f64 {
    corners(path).into_iter().map(|it| it[0]).fold(f64::MIN, f64::max)
}

#[test]
fn bars_end_at_what_stands_beside_them_and_their_parts_add_up() {
    let ran = Ran::recorded(2);
    let mut has_negative = false;
    for (chart, name) in stacked::cost_charts(&ran.source()).iter().zip(["cost", "cost-2"]) {
        let text = ran.figures().into_iter().find(|it| it.name == name).unwrap().to_svg_file().unwrap();
        let document = xml(&text);
        let labels = labels(&document);
        // Two numbers of the axis tell where all others stand.
        let ticks = labels.iter().filter_map(|it| Some((it.words.parse::<f64>().ok()?, it.at[0])));
        let ticks: Vec<(f64, f64)> = ticks.collect();
        let [(low, from), .., (high, to)] = ticks.as_slice() else { panic!("{labels:?}") };
        let place = |usd: f64| from + (usd - low) / (high - low) * (to - from);

        for (bar, (told, paths)) in chart.bars.iter().zip(spots(&document)) {
            let sum: f64 = bar.amounts.iter().sum();
            assert!((sum - bar.total).abs() <= 1e-9 * bar.total, "{bar:?}");
            let solid = paths.iter().filter(|it| it.attribute("fill") != Some("none"));
            let end = solid.map(|it| right_end(*it)).fold(f64::MIN, f64::max);
            assert!((end - place(bar.total)).abs() < 0.2, "{told}: {end} for {}", place(bar.total));
            let written = format!("${:.2}", bar.total);
            assert!(labels.iter().any(|it| it.words == written), "{written}: {labels:?}");
            has_negative |= bar.amounts.iter().any(|it| *it < 0.0);
        }
    }
    assert!(has_negative, "a bar without what is taken off shows little");
}

#[test]
fn the_line_of_prompts_stands_where_its_axis_says_and_no_footnote_is_cut() {
    let ran = Ran::recorded(2);
    let chart = &requests::request_charts(&ran.source())[0];
    let text = ran.figures().into_iter().find(|it| it.name == "requests").unwrap().to_svg_file().unwrap();
    let document = xml(&text);
    let labels = labels(&document);
    let lines = elements_of(document.root_element(), "path");
    let lines = lines.filter(|it| it.attribute("stroke-width") == Some("1.2")).map(corners);
    let highest: Vec<f64> =
        lines.map(|line| line.into_iter().map(|it| it[1]).fold(f64::MAX, f64::min)).collect();
    let sent = chart.panels.iter().flat_map(|it| &it.trace.sent);
    let longest = sent.map(|it| it.tokens[..3].iter().sum::<u64>()).max().unwrap();
    let longest = format!("{}k", (longest as f64 / 1e3).round());
    let ends: Vec<f64> = labels.iter().filter(|it| it.words == longest).map(|it| it.at[1] - 4.0).collect();

    assert!(highest.iter().any(|y| ends.iter().any(|end| (end - y).abs() < 0.2)), "{longest}: {labels:?}");
    assert!(highest.iter().all(|y| ends.iter().any(|end| *end <= y + 0.2)), "none is above its axis");
    let whole: Vec<&Label> = labels.iter().filter(|it| it.words.contains("no single request")).collect();
    let n_whole = chart.panels.iter().filter(|it| it.trace.whole_usd.abs() >= 0.01).count();
    assert!(n_whole > 1 && whole.len() == n_whole, "{whole:?}");
    for it in whole {
        let named = chart.panels.iter().filter(|panel| it.words.contains(&panel.policy.label)).count();
        assert!(named == 1 && !it.words.contains('…'), "{it:?}");
    }
}

/// Draws a change for each of some names, and returns the label of each.
fn forest_labels(names: &[String]) -> Vec<String> {
    let line = |(nth, name): (usize, &String)| {
        ForestLine::of_relative_cost(name.clone(), nth as f64 / 10.0, None, String::new())
    };
    let forest = ForestPlot {
        title: "Changes".to_owned(),
        subject: "of names".to_owned(),
        base: "base".to_owned(),
        of: "name",
        lines: names.iter().enumerate().map(line).collect(),
    };
    let text = draw_chart("forest", &forest).to_svg_file().unwrap();
    let document = xml(&text);
    let names = labels(&document).into_iter().filter(|it| it.at[0] == 24.0 && !it.words.ends_with('%'));
    names.map(|it| it.words).collect()
}

proptest! {
    #[test]
    fn names_that_differ_have_labels_that_differ(
        head in "[a-z=]{0,60}", tails in btree_set("[a-z=,/_ ]{1,70}[a-z]", 2..12), end in "[a-z=,_]{0,60}",
    ) {
        let names: Vec<String> = tails.iter().map(|it| format!("{head}{it}{end}")).collect();
        let labels = forest_labels(&names);

        prop_assert_eq!(labels.len(), names.len());
        prop_assert_eq!(labels.iter().collect::<BTreeSet<_>>().len(), labels.len(), "{:?} of {:?}", labels, names);
    }
}

#[test]
fn a_label_keeps_the_part_in_which_its_name_differs() {
    let name = |count: u32| {
        format!("trigger.tokens=27000, keep.count={count}, clear_at_least.tokens=22000/11000, of=results")
    };
    let names: Vec<String> = (1..8).map(name).collect();

    for (label, count) in forest_labels(&names).iter().zip(1..) {
        assert!(label.contains(&format!("keep.count={count}")), "{label}");
    }
}

#[test]
fn policies_with_names_that_are_long_and_alike_are_told_apart_in_every_chart() {
    let mut ran = Ran::recorded(2);
    let named = |nth: usize| {
        format!(
            "a_policy_whose_name_is_as_long_as_names_of_frameworks_are_with_number_{nth}_in_the_middle_of_all_of_it"
        )
    };
    let policies: Vec<String> = ran.report.runs.iter().map(|it| it.policy.clone()).collect();
    let policies: IndexSet<String> = policies.into_iter().collect();
    let rename = |policy: &mut String| *policy = named(policies.get_index_of(policy).unwrap());
    ran.report.runs.iter_mut().for_each(|it| rename(&mut it.policy));
    ran.traces.runs.iter_mut().for_each(|it| rename(&mut it.policy));

    for name in ["frontier", "cost", "waiting", "requests"] {
        let text = ran.figures().into_iter().find(|it| it.name == name).unwrap().to_svg_file().unwrap();
        let document = xml(&text);
        for nth in 0..policies.len() {
            let is_named = |it: &Label| {
                it.words.contains(&format!("number_{nth}")) || nth == 0 && it.words.ends_with("(base)")
            };
            let all = labels(&document);
            assert!(all.iter().any(is_named), "{name} does not show {nth}: {all:?}");
        }
    }
}

#[test]
fn a_name_beside_a_point_is_nearer_to_it_than_to_any_other() {
    let point = |nth: u32| {
        let (turn, reach) = (f64::from(nth) * 0.7, f64::from(nth) / 20.0);
        let label = PolicyLabel::new(&format!("policy_{nth}"), nth as usize);
        FrontierPoint::new(label, 5.0 + 4.0 * reach * turn.cos(), 0.5 + 0.5 * reach * turn.sin())
    };
    let frontier = Frontier::new("a spiral".to_owned(), KEPT, (0..14).map(point).map(Ok));
    let text = draw_chart("frontier", &frontier).to_svg_file().unwrap();
    let document = xml(&text);
    let middle = |paths: &[Node<'_, '_>]| {
        let corners = corners(*paths.last().unwrap());
        [0, 1].map(|axis| {
            let ends = corners.iter().map(|it| it[axis]);
            ends.clone().fold(f64::MAX, f64::min).midpoint(ends.fold(f64::MIN, f64::max))
        })
    };
    let spots = spots(&document);
    let marks: Vec<(&str, [f64; 2])> =
        spots.iter().map(|(told, paths)| (told.split_once(':').unwrap().0, middle(paths))).collect();
    let mut n_beside = 0;
    for text in elements_of(document.root_element(), "text").filter(|it| it.attribute("class").is_none()) {
        let Some((own, at)) = marks.iter().find(|it| text.text() == Some(it.0)) else { continue };
        let [x, y]: [f64; 2] = ["x", "y"].map(|it| text.attribute(it).unwrap().parse().unwrap());
        // What is below the frame is a legend.
        if y > 320.0 {
            continue;
        }
        n_beside += 1;
        let wide = own.len() as f64 * 7.8;
        let left = match text.attribute("text-anchor") {
            None => x,
            Some("middle") => x - wide / 2.0,
            _ => x - wide,
        };
        let distance = |at: [f64; 2]| {
            (at[0] - at[0].clamp(left, left + wide)).hypot(at[1] - at[1].clamp(y - 11.0, y + 4.0))
        };
        for (other, mark) in marks.iter().filter(|it| it.0 != *own) {
            assert!(distance(*mark) + 1.5 > distance(*at), "{own} is nearer to {other}");
        }
    }
    assert!(n_beside > 6, "{n_beside} names beside points");
}

#[test]
fn waiting_is_divided_into_its_parts_where_the_model_has_data() {
    let ran = Ran::recorded(2);
    let charts = stacked::waiting_charts(&ran.source());

    for bar in charts.iter().flat_map(|it| &it.bars) {
        let sum: f64 = bar.amounts.iter().sum();
        let [low, high] = bar.interval.unwrap();
        assert!((sum - bar.total).abs() <= 1e-9 * bar.total, "{bar:?}");
        assert!(low < bar.total && bar.total < high, "{bar:?}");
    }
    assert_shown("waiting", &charts);
    assert!(stacked::waiting_charts(&Ran::small().source()).is_empty(), "nobody measured its model");
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
    let table = ran.rows_of("Effect of each assumption on the change in cost: ");
    let policies: BTreeSet<&str> = table.iter().map(|row| &*row[0]).collect();
    assert_eq!(policies.len(), 2, "each policy that forgets: {table:?}");
    assert!(table.len() > 2 * policies.len(), "{table:?}");
}

#[test]
fn requests_are_those_of_the_rows_with_the_stage_that_edited_them() {
    assert_shown("requests", &requests::request_charts(&Ran::small().source()));
}

#[test]
fn changes_are_those_of_recorded_sessions_against_the_first_policy() {
    let ran = Ran::recorded(2);
    let table = ran.rows_of("Change in cost by recorded session under ");
    let at = |policy: &str, run: usize| {
        let mut of_policy = ran.report.runs.iter().filter(|it| it.policy == policy);
        of_policy.nth(run).unwrap().tally.costs.total().unwrap()
    };

    assert_eq!(table.len(), 3, "{table:?}");
    for row in table {
        let mut changes = [0, 1].map(|run| at(&row[0], run) / at("identity", run) - 1.0);
        changes.sort_by(f64::total_cmp);
        let [low, high] =
            changes.map(|it| format!("{:+.1}%", it * 100.0).replace('-', "−").replace("+0.0", "0.0"));
        assert_eq!((&*row[1], &row[4], &row[8]), ("2", &low, &high), "{row:?}");
    }
    assert!(!Ran::small().page().contains("Change in cost by recorded session"), "none was recorded");
}

#[test]
fn shares_of_facts_found_are_those_of_the_tables() {
    let ran = Ran::named("context-decay", &[], &[]);
    let source = ran.source();

    assert_shown("depth", &curves::recall_by_depth(&source));
    assert_shown("length", &curves::recall_by_length(&source));
}

#[test]
fn a_policy_has_one_colour_in_all_charts() {
    let ran = Ran::recorded(2);
    let source = ran.source();
    let of_frontier = frontier::frontier_charts(&source).remove(0).points.into_iter().map(|it| it.policy);
    let of_cost = stacked::cost_charts(&source).remove(0).bars.into_iter().map(|it| it.policy);
    let of_requests = requests::request_charts(&source).remove(0).panels.into_iter().map(|it| it.policy);
    let policies: Vec<_> = of_frontier.collect();

    assert!(of_cost.eq(policies.iter().cloned()) && of_requests.eq(policies.iter().cloned()));
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
            let text = figure.to_svg_file().unwrap();
            let document = xml(&text);
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
    let document = xml(&page);

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
    let document = xml(&page);

    let shown = "a<b>&\"c\u{2401}'{{ d }}";
    assert_eq!(elements(&document, "h1").next().unwrap().text().unwrap().split_once(": ").unwrap().1, shown);
    assert!(elements(&document, "th").any(|it| it.text() == Some(shown)));
    for figure in ran.figures() {
        xml(&figure.to_svg_file().unwrap());
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
