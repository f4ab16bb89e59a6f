//! The progress of long work on a terminal: what is done now, and how far all of it is.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ctxsim_engine::take::Progress;

use crate::prelude::*;

/// Work shorter than this shows no progress.
const QUIET: Duration = Duration::from_secs(1);
/// The shortest time between two updates of the progress bar.
const BEAT: Duration = Duration::from_millis(200);
/// The cells of the bar.
const CELLS: usize = 30;

/// What long work does, pass by pass over the same sessions.
pub(super) type Passes = &'static [&'static str];

/// Work of one pass that simulates.
pub(super) const SIMULATES: Passes = &["Simulating"];
/// Work of one pass that only reads.
pub(super) const READS: Passes = &["Reading"];
/// Work that reads what sessions did before it simulates them.
pub(super) const READS_AND_SIMULATES: Passes = &["Reading", "Simulating"];

/// How far work is.
struct ProgressBar {
    passes: Passes,
    start: Instant,
    /// The pass, from 0.
    pass: usize,
    /// What was told last: how much of the pass is done, of how much.
    last: [usize; 2],
    shown: Option<Instant>,
}

impl ProgressBar {
    #[allow(clippy::disallowed_methods, reason = "someone waits")]
    fn new(passes: Passes) -> Self {
        Self { passes, start: Instant::now(), pass: 0, last: [0, 0], shown: None }
    }

    /// Takes in how much of a pass is done; a pass that begins again after its end is the next one.
    fn note_done(&mut self, done: usize, all: usize) {
        let [last, total] = self.last;
        if last == total && last > 0 && done < last && self.pass + 1 < self.passes.len() {
            self.pass += 1;
        }
        self.last = [done, all];
    }

    /// Returns the share of all passes that is done.
    fn done_share(&self) -> f64 {
        let [done, all] = self.last;
        (self.pass as f64 + done as f64 / all.max(1) as f64) / self.passes.len().max(1) as f64
    }

    fn draw_line(&self, elapsed: Duration) -> String {
        let [done, all] = self.last.map(|it| thousands(it as u64));
        let full = ((self.done_share() * CELLS as f64) as usize).min(CELLS);
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(CELLS - full));
        let name = self.passes.get(self.pass).copied().unwrap_or_default();
        format!("{bar} {name} {done} of {all}{}", time_left_text(elapsed, self.done_share()))
    }

    #[allow(clippy::disallowed_methods, reason = "someone waits")]
    fn show_if_due(&mut self) {
        let elapsed = self.start.elapsed();
        if elapsed >= QUIET && self.shown.is_none_or(|it| it.elapsed() >= BEAT) {
            output::show_progress_line(&self.draw_line(elapsed));
            self.shown = Some(Instant::now());
        }
    }
}

/// Returns the estimated time left; empty until a twentieth of the work is done.
fn time_left_text(elapsed: Duration, done_share: f64) -> String {
    if !(0.05..1.0).contains(&done_share) {
        return String::new();
    }
    match elapsed.as_secs_f64() * (1.0 - done_share) / done_share {
        it if it < 90.0 => format!(", about {it:.0} s left"),
        it => format!(", about {:.0} min left", it / 60.0),
    }
}

/// Shows the progress of long work on a terminal, and clears it.
pub(super) fn run_with_progress<T>(passes: Passes, work: impl FnOnce(Progress<'_>) -> T) -> T {
    if !std::io::stderr().is_terminal() || output::is_quiet() {
        return work(&|_, _| {});
    }
    let bar = Mutex::new(ProgressBar::new(passes));
    let result = work(&|done, all| {
        if let Ok(mut bar) = bar.try_lock() {
            bar.note_done(done, all);
            bar.show_if_due();
        }
    });
    output::show_progress_line("");
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_passes_count_as_one_and_each_is_named() {
        let mut bar = ProgressBar::new(READS_AND_SIMULATES);
        let mut told = Vec::new();
        for [done, all] in [[1, 4], [4, 4], [1, 4], [4, 4]] {
            bar.note_done(done, all);
            told.push((
                bar.draw_line(Duration::from_secs(10)).split_once(' ').map(|it| it.1.to_owned()),
                bar.done_share(),
            ));
        }

        let expected = [
            ("Reading 1 of 4, about 70 s left", 0.125),
            ("Reading 4 of 4, about 10 s left", 0.5),
            ("Simulating 1 of 4, about 6 s left", 0.625),
            ("Simulating 4 of 4", 1.0),
        ];
        assert_eq!(told, expected.map(|(line, share)| (Some(line.to_owned()), share)));
    }
}
