//! How often `realised` is right, as in the table of docs/reference/advice.md.
//!
//! `cargo run --release --example realised_rates FOLDER…` draws sessions anew and cuts them by date. The later ones are billed anew: each
//! is changed by a multiple of what is forecast for it. What a setting does differs from session to session as it does in the recorded
//! ones, and is scaled so that the forecast over all of them is the one named.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints tables")]

mod changes;

use changes::{CHANGES, Change, Folder, Told};
use ctxsim::app::Comparison;
use ctxsim::app::advise::{AdviceRequest, PlayedSessions};
use ctxsim::catalog::bundled_catalog;

const AGENT: &str = "Claude Code";
const SEEDS: u64 = 50;

fn main() {
    let catalog = bundled_catalog();
    let folders: Vec<String> = std::env::args().skip(1).collect();
    let comparison = Comparison { scenarios: folders, own_models: true, ..Comparison::default() };
    let asked = AdviceRequest { min_evidence: 0.9, ..AdviceRequest::default() };
    let folder = match PlayedSessions::read_and_play(&catalog, &comparison, &asked) {
        Ok(it) => it,
        Err(error) => {
            eprintln!("{error}");
            return;
        }
    };
    println!(
        "| what changed | forecast | 30: answered | 30: wrong | 120: answered | 120: right of these | half-width at 120 |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut sums = [Told::default(); 2];
    for change in &CHANGES {
        let Some(folder) = Folder::new(&folder, AGENT, change) else { continue };
        let told = [30, 120].map(|n| told(&folder, change, n));
        println!("{}", row(change.name, &format!("{:+.0}%", 100.0 * change.level), told));
        if change.counts {
            sums.iter_mut().zip(told).for_each(|(sum, it)| *sum = sum.plus(it));
        }
    }
    println!("{}", row("all but the last six", "", sums));
}

fn told(folder: &Folder, change: &Change, n: usize) -> Told {
    (0..SEEDS).map(|seed| folder.told(change, seed, n)).fold(Told::default(), Told::plus)
}

fn row(name: &str, level: &str, [few, many]: [Told; 2]) -> String {
    let share = |n: usize, of: usize| {
        if of == 0 { "–".to_owned() } else { format!("{:.0}%", 100.0 * n as f64 / of as f64) }
    };
    format!(
        "| {name} | {level} | {} | {} | {} | {} | {:.1}% |",
        share(few.answered, few.asked),
        share(few.answered - few.right, few.asked),
        share(many.answered, many.asked),
        share(many.right, many.answered),
        100.0 * many.reach / many.asked as f64
    )
}
