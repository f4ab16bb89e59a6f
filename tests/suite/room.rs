//! What an answer shows of its rows: some at every width, never fewer on a wider or higher terminal, and what it counts is where it says.

use ctxsim::app::advise::AdviceRequest;
use ctxsim::app::first_screen_and_advice;
use ctxsim::grid::tint::{ROWS_LEAST, Terminal, Tint, printed_painted};
use ctxsim::grid::{CellKind, Grid, terminal};
use ctxsim::report::advise::{self, Advice};
use ctxsim::report::screen::{self, FirstScreen};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::*;

/// The widths that the law holds for.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=200;

/// Recordings of four agents.
const AGENTS: [&str; 4] = [
    "scenarios/recorded/claude-code-session.jsonl",
    "tests/data/recorded/pi-session.jsonl",
    "tests/data/recorded/gemini-part.jsonl",
    "tests/data/recorded/codex-rollout.jsonl",
];

fn own(path: &str) -> PathBuf {
    root().join(path)
}

fn answers(paths: &[PathBuf]) -> (FirstScreen, Advice) {
    let comparison = Comparison {
        scenarios: paths.iter().map(|it| it.display().to_string()).collect(),
        own_models: true,
        ..Comparison::default()
    };
    let asked = AdviceRequest { min_evidence: 0.9, ..AdviceRequest::default() };
    first_screen_and_advice(&bundled_catalog(), &comparison, &asked, None, &|_, _| {}).unwrap()
}

/// The rows of a table, and how many it says are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShownRows {
    shown: usize,
    left_out: usize,
}

/// Returns the rows of each table with some title.
fn tables(text: &str, title: &str) -> Vec<ShownRows> {
    let title = format!("\n{title}");
    let parts = text.split(&title).skip(1);
    let rows = |part: &str| {
        let body = part.split_once('─').unwrap().1.lines().skip(1).take_while(|it| !it.is_empty());
        let mut rows = ShownRows { shown: 0, left_out: 0 };
        for line in body
            .filter(|it| !it.starts_with(' '))
            .take_while(|it| !["Note: ", "Cheaper models "].iter().any(|end| it.starts_with(end)))
        {
            match line.strip_prefix("… and ") {
                Some(more) => rows.left_out = more.split(' ').next().unwrap().parse().unwrap(),
                None => rows.shown += 1,
            }
        }
        rows
    };
    parts.map(rows).collect()
}

/// The title of the settings that are advised.
const LEVERS: &str = "What you can do";

/// Holds a terminal against one that is no higher and no wider.
fn shows_no_fewer(answers: &(FirstScreen, Advice), small: Terminal, large: Terminal) {
    let (screen, advice) = answers;
    let rows = |on: Terminal| {
        let mut all = tables(&advise::draw_advice(advice, false, on), LEVERS);
        all.extend(tables(&screen::terminal_text(screen, on), LEVERS));
        all
    };
    let mut listed: Vec<usize> = advice.agents.iter().map(|it| it.best_levers().len()).collect();
    listed.retain(|it| *it > 0);
    listed.extend((!screen.levers.is_empty()).then_some(screen.levers.len()));
    // A first screen is never more than forty lines, or than the terminal.
    let mut least = vec![ROWS_LEAST; listed.len()];
    if let (false, Some(of_screen)) = (screen.levers.is_empty(), least.last_mut()) {
        *of_screen = 1;
    }
    for on in [small, large] {
        let rows = rows(on);
        assert_eq!(rows.iter().map(|it| it.shown + it.left_out).collect::<Vec<_>>(), listed, "{on:?}");
        assert!(
            rows.iter().zip(&listed).zip(&least).all(|((it, all), least)| it.shown >= *least.min(all)),
            "{on:?}: {rows:?}"
        );
    }
    let (fewer, more) = (rows(small), rows(large));
    assert!(fewer.iter().zip(&more).all(|(few, many)| few.shown <= many.shown), "{small:?}, {large:?}");
    // The command that the last lines name.
    let details = advise::draw_advice(advice, true, large);
    let named: usize = tables(&details, &format!("{LEVERS}\n")).iter().map(|it| it.shown).sum();
    assert_eq!(named, advice.agents.iter().map(|it| it.best_levers().len()).sum::<usize>(), "{details}");
    assert!(!details.contains(" more: ctxsim advise"), "{details}");
}

fn any_terminal() -> impl Strategy<Value = Terminal> {
    (WIDTHS, prop::option::of(10..90_usize)).prop_map(|(width, height)| Terminal {
        width: Some(width),
        height,
        ..Terminal::default()
    })
}

fn holds_at_every_size(answers: &(FirstScreen, Advice)) {
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let held = TestRunner::new(config).run(&[any_terminal(), any_terminal()], |[one, other]| {
        let large = Terminal {
            width: one.width.max(other.width),
            height: one.height.max(other.height),
            ..Terminal::default()
        };
        shows_no_fewer(answers, one, large);
        Ok(())
    });
    held.unwrap();
}

#[test]
fn advice_on_one_to_four_agents_shows_rows_of_each_and_a_larger_terminal_never_fewer() {
    for n in 1..=AGENTS.len() {
        let answers = answers(&AGENTS[..n].iter().map(|it| own(it)).collect::<Vec<_>>());
        assert_eq!(answers.1.agents.len(), n);
        holds_at_every_size(&answers);
    }
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn advice_on_shared_sessions_of_three_agents_shows_rows_of_each_and_a_larger_terminal_never_fewer() {
    let Ok(shared) = std::env::var("CTXSIM_REFERENCE") else { return };
    let recorded = Path::new(&shared).join("recorded");
    let first = |folder: &str| {
        let mut files: Vec<PathBuf> =
            fs::read_dir(recorded.join(folder)).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        files.truncate(2);
        files
    };
    let files: Vec<Vec<PathBuf>> = ["2026/auth-go", "codex", "pi"].map(first).to_vec();
    for n in 2..=files.len() {
        holds_at_every_size(&answers(&files[..n].concat()));
    }
}

fn printed(line: &str, session: &Path) -> String {
    let args = line.split(' ').skip(1).map(str::to_owned).chain([session.display().to_string()]);
    let out = ctxsim(root(), args);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn variants_that_are_left_out_are_counted_and_the_command_that_is_named_shows_them() {
    let values: Vec<String> = (20..80).step_by(2).map(|it| format!("{it}000")).collect();
    let line =
        format!("ctxsim tune --policy clear_tool_results --vary params.trigger.tokens={}", values.join(","));
    let session = own(AGENTS[0]);
    let shown = tables(&printed(&line, &session), "clear_tool_results tuned against");
    assert!(shown[0].left_out > 0, "{shown:?}");

    let all = tables(&printed(&format!("{line} --details"), &session), "clear_tool_results tuned against");

    assert_eq!(all, [ShownRows { shown: shown[0].shown + shown[0].left_out, left_out: 0 }]);
}

#[test]
fn rows_are_as_many_as_fit_a_hundred_columns_at_every_width_and_never_none() {
    let shown = |width, height, n_fixed: usize| {
        let on = Terminal { width: Some(width), height, ..Terminal::default() };
        // A narrow terminal takes two lines for each row.
        let row = |on: Terminal| if on.width < Some(100) { "row\n\n" } else { "row\n" };
        let text = on.fitted(ROWS_LEAST..=60, |on, n| row(on).repeat(n) + &"fixed\n".repeat(n_fixed));
        text.matches("row").count()
    };

    assert_eq!([60, 99, 100, 200].map(|it| shown(it, None, 30)), [10; 4]);
    assert_eq!([24, 50, 100].map(|it| shown(100, Some(it), 30)), [10, 20, 60]);
    assert_eq!(shown(100, None, 60), ROWS_LEAST);
    let most = 2;
    assert_eq!(Terminal::default().fitted(ROWS_LEAST..=most, |_, n| n.to_string()), "2");
}

#[test]
fn no_code_of_another_is_printed_wherever_it_stands_and_ours_are_where_there_are_colours() {
    let evil = "\x1b[32mgreen\x1b[0m \x1b[2J";
    let on = Terminal { width: Some(100), is_coloured: true, ..Terminal::default() };
    let mut grid = Grid::new(evil, 1, &[evil, "kept"], [[evil, evil].map(str::to_owned)]);
    grid.rows[0].note = Some(evil.to_owned());
    let mut text = terminal::draw_with_note(&grid, on) + "\n";
    on.paragraph(Tint::Plain, "", evil, &mut text);
    on.paragraph(Tint::Bad, "", evil, &mut text);
    on.answer(evil, evil, &mut text);
    text += &on.paint(Tint::Good, evil);

    let told = printed_painted(&text, true);

    assert_eq!(told, text, "every code is ours");
    assert_eq!(told.matches("\x1b[32m").count(), 1, "{told:?}");
    assert_eq!(told.matches("␛[2J").count(), 9, "{told:?}");
    assert!(!printed_painted(&text, false).contains('\x1b'));
    let other = "\x1b[32mread\x1b[0m \x1b[8mhidden \x1b]52;c;x\x07\n";
    assert_eq!(printed_painted(other, true), "\x1b[32mread\x1b[0m ␛[8mhidden ␛]52;c;x␇\n");
    assert_eq!(ctxsim::foreign::printed(other), "␛[32mread␛[0m ␛[8mhidden ␛]52;c;x␇\n");
}

#[test]
fn sentences_wrap_before_a_column_is_hidden_and_colours_take_no_room() {
    let row = ["1", "read", "by stage `clear` of identity"].map(str::to_owned);
    let grid = Grid::new("", 0, &["", "", ""], [row]).with(CellKind::Text, &[1, 2]);
    let grid = grid.hued(ctxsim::grid::Hue::Cache, &[""]);

    let drawn = terminal::draw(&grid, Terminal { width: Some(28), is_coloured: true, ..Terminal::default() });

    assert!(drawn.text.contains("\x1b[32mread\x1b[0m") && drawn.text.lines().count() == 2, "{}", drawn.text);
    assert!(drawn.hidden.is_empty());
}
