//! A check as a page: whether everything holds, what moved, and every guard.

use super::{SnapshotCheck, SuiteCheck, format_place, message_with_help};
use crate::blocks::Block;
use crate::guard::GuardVerdict;
use crate::page::{Card, Page, Tone, page_parts};
use crate::prelude::*;
use crate::shot::ChangedNumber;
use crate::template;
use ctxsim_base::diag::Diagnostic;

/// Returns the results of suites as a page.
///
/// # Errors
/// What the template says.
pub fn render_check_ups_page(check_ups: &[SuiteCheck]) -> Result<String, template::Error> {
    let is_several = check_ups.len() > 1;
    let answer = |it: &SuiteCheck| Card { of: is_several.then(|| it.suite.clone()), ..suite_result_card(it) };
    let error = |it: &Diagnostic| format!("{}: {}", format_place(&it.place), message_with_help(it));
    let causes = check_ups.iter().flat_map(|suite| {
        let errors = suite.errors.iter().map(error).listed();
        Block::list_if_any(&format!("{} could not be checked", suite.suite), errors)
    });
    let tables = check_ups.iter().flat_map(suite_grids).map(Block::Table);
    let page = Page {
        command: "check",
        title: format!("Check of {}", check_ups.iter().map(|it| it.suite.as_str()).listed().join(", ")),
        about: check_ups.iter().map(|it| format!("{}.", it.describe_result())).listed().join(" "),
        answers: check_ups.iter().map(answer).listed(),
        rests_on: check_ups.iter().flat_map(suite_basis_lines).listed(),
        parts: page_parts(Vec::new(), tables.chain(causes)),
    };
    page.into_html()
}

/// Says what the results of a suite rest on: its file, what they were made with, and whether there are newer prices.
fn suite_basis_lines(suite: &SuiteCheck) -> Vec<String> {
    let head = [format!("{}: {}", suite.suite, suite.file), format!("With {}.", suite.made.summary_line())];
    head.into_iter().chain(suite.note_lines()).listed()
}

fn suite_result_card(suite: &SuiteCheck) -> Card {
    let (n_held, n_all) = (suite.verdicts.iter().filter(|it| it.holds).count(), suite.verdicts.len());
    let n_moved: usize = suite.snapshots.iter().map(|it| it.moved.len()).sum();
    let (checks, numbers) = (counted(n_all, "guard check"), counted(n_moved, "number"));
    Card {
        number: if suite.is_passing() { "Passed" } else { "Failed" }.to_owned(),
        what: if suite.errors.is_empty() {
            format!("{n_held} of {checks} hold; {numbers} moved")
        } else {
            format!("It could not be checked: {}.", counted(suite.errors.len(), "problem"))
        },
        words: suite.verdicts.iter().filter(|it| !it.holds).map(|it| format!("{it}.")).listed(),
        tone: if suite.is_passing() { Tone::Better } else { Tone::Worse },
        ..Card::default()
    }
}

/// Returns the guards, those that fail first, the snapshots, and what moved.
fn suite_grids(suite: &SuiteCheck) -> Vec<Grid> {
    let mut verdicts: Vec<_> = suite.verdicts.iter().listed();
    verdicts.order_by_key(|it| it.holds);
    let guards: [Of<'_, &GuardVerdict>; 5] = [
        ("guard", &|it| it.title().to_owned()),
        ("verdict", &|it| if it.holds { "holds" } else { "fails" }.to_owned()),
        ("found", &|it| it.finding()),
        ("on", &|it| it.describe_run()),
        ("at", &|it| format_place(&it.place)),
    ];
    let guards = Grid::from_columns(format!("Guards of {}", suite.suite), 5, &verdicts, &guards);
    let row = |it: &SnapshotCheck| [it.file.clone(), it.describe()];
    let title = format!("Snapshots of {}", suite.suite);
    let snapshots = Grid::new(title, 2, &["snapshot", "state"], suite.snapshots.iter().map(row));
    let moved = suite.snapshots.iter().flat_map(|shot| &shot.moved).listed();
    let value = |it: &ChangedNumber, nth: usize| it.values[nth].clone().unwrap_or_else(|| NONE.to_owned());
    let numbers: [Of<'_, &ChangedNumber>; 4] = [
        ("number", &|it| format!("{}, {}", it.policy, it.column)),
        ("was", &|it| value(it, 0)),
        ("is", &|it| value(it, 1)),
        ("change", &|it| or_none(it.relative, signed)),
    ];
    let moved = Grid::from_columns(format!("Numbers of {} that moved", suite.suite), 1, &moved, &numbers);
    let all = [guards.with(CellKind::Text, &[0, 2, 3]), snapshots, moved];
    all.into_iter().filter(|it| !it.rows.is_empty()).listed()
}
