//! What random numbers within the declared intervals score on the held-out figures of ageing, beside the fit and a constant guess.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, thread};

use super::played::AgingRuns;
use super::scored::{self, DRAWS, FILE, Score, Units, drawn, of_file, percentile, play};
use ctxsim::catalog::bundled_catalog;

/// Plays the draws anew if it writes, and says what they score beside the fit and a constant guess.
pub(crate) fn run(writes: bool) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let catalog = bundled_catalog();
    let figures = catalog.suite("aging-responses").unwrap().spec.figures;
    let declared = AgingRuns::of(&catalog, &scored::judged(&figures), &|_| Vec::new());
    let units = Units::new(&figures, &declared);
    println!(
        "declared: {:?} of {} distinct predictions, {} figures and {} signs; constants {}",
        units.score(&declared),
        units.units.len(),
        units.held_out.len(),
        units.signs.len(),
        units.constants()
    );
    if writes {
        let fit = fs::read_to_string(root.join("assumptions/aging/fit.toml")).unwrap();
        let numbers = drawn(&fit);
        let (next, all) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let work = || {
            loop {
                let draw = next.fetch_add(1, Ordering::Relaxed);
                if draw >= DRAWS {
                    return;
                }
                let runs = play(&catalog, &scored::judged(&figures), &numbers, draw);
                let Score { hits, rows, signs } = Units::new(&figures, &runs).score(&runs);
                println!("{draw},{hits},{rows},{signs}");
                all.lock().unwrap().push((draw, hits, rows, signs));
            }
        };
        thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(work)));
        });
        let mut all = all.into_inner().unwrap();
        all.sort_unstable();
        let lines = all.iter().map(|it| format!("{},{},{},{}\n", it.0, it.1, it.2, it.3));
        let text: String = ["draw,hits,rows,signs\n".to_owned()].into_iter().chain(lines).collect();
        fs::write(root.join(FILE), text).unwrap();
    }
    let all = of_file(&fs::read_to_string(root.join(FILE)).unwrap());
    for (name, scores) in [("hits", 0), ("rows", 1), ("signs", 2)] {
        let of = |share| percentile(all.iter().map(|it| it[scores]).collect(), share);
        println!("random {name}: median {}, 95th percentile {}", of(0.5), of(0.95));
    }
}
