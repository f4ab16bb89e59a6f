//! What many recordings hold, in a few lines: the costliest files, and what is left out most.

use std::cmp::Reverse;

use super::FileContents;
use crate::as_logged::sum_of;
use crate::prelude::*;

/// The most files that are shown.
const FILES_SHOWN: usize = 20;
/// The most kinds of losses that are shown.
const LOSSES_SHOWN: usize = 10;

/// A file in a row.
struct FileRow<'f> {
    file: &'f FileContents,
    cost: Option<Cost>,
}

impl<'f> FileRow<'f> {
    fn new(file: &'f FileContents) -> Self {
        let bill = sum_of(file.sessions.iter().filter_map(|it| it.as_logged.as_ref()));
        Self { file, cost: bill.filter(|it| it.requests > 0).map(|it| it.total()) }
    }

    fn sum(&self, of: fn(&super::SessionHeld) -> usize) -> String {
        thousands(self.file.sessions.iter().map(of).sum::<usize>() as u64)
    }
}

/// Returns a table of the costliest files, what is left out most, and what shows the rest.
pub(super) fn table(files: &[FileContents]) -> String {
    let mut rows = files.iter().map(FileRow::new).listed();
    rows.order_by_key(|it| Reverse(it.cost));
    let more = rows.len().saturating_sub(FILES_SHOWN);
    rows.truncate(FILES_SHOWN);
    let n_sessions = files.iter().map(|it| it.sessions.len()).sum::<usize>();
    let columns: [Of<'_, FileRow<'_>>; 6] = [
        ("file", &|it| it.file.file.clone()),
        ("format", &|it| it.file.format.to_owned()),
        ("sessions", &|it| thousands(it.file.sessions.len() as u64)),
        ("requests", &|it| it.sum(|it| it.requests)),
        ("billed", &|it| it.sum(|it| it.billed_requests)),
        ("USD", &|it| or_none(it.cost, |it| fixed(it.usd(), 2))),
    ];
    let counts = format!("{}, {}", counted(files.len(), "file"), counted(n_sessions, "session"));
    let mut text = format!("\n{counts}\n\n{}", draw_whole(&Grid::of("", 2, &rows, &columns)));
    if more > 0 {
        text += &format!("… and {} more, which cost no more\n", thousands(more as u64));
    }
    text += &left_out(files);
    text + "\n`--details` shows the sessions of each file, and all that is left out, with its lines; `--by KEY` divides the bill; `--fixed` shows \
            what every prompt begins with.\n"
}

/// Returns what is left out of all files, by what it is.
fn left_out(files: &[FileContents]) -> String {
    let mut by_what: IndexMap<&str, [usize; 2]> = IndexMap::new();
    for loss in files.iter().flat_map(|it| &it.left_out) {
        let sum = by_what.entry(&loss.what).or_default();
        *sum = [sum[0] + loss.count, sum[1] + 1];
    }
    let mut all = by_what.into_iter().listed();
    all.order_by_key(|it| Reverse(it.1[0]));
    let more = all.len().saturating_sub(LOSSES_SHOWN);
    let row = |(what, [count, files]): &(&str, [usize; 2])| {
        [thousands(*count as u64), format!("{what} ({})", counted(*files, "file"))]
    };
    let rows = all.iter().take(LOSSES_SHOWN).map(row);
    let mut text = "\nnothing is left out\n".to_owned();
    if !all.is_empty() {
        text = format!(
            "\nleft out\n{}",
            draw_whole(&Grid::new("", 0, &[""; 2], rows).with(CellKind::Text, &[1]))
        );
    }
    if more > 0 {
        text += &format!("… and {} more kinds\n", thousands(more as u64));
    }
    text
}
