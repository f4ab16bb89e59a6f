//! What hits on held-out figures are worth: distinct predictions beside random numbers and a constant guess.

use ctxsim::input::suite::Figure;

use super::played::AgingRuns;
use super::scored::{DRAWS, FILE, Score, Units, drawn, judged, of_file, percentile, play};
use crate::support::*;

fn file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns what the first paragraph of the study says of held-out figures.
pub(super) fn claim(figures: &[Figure], declared: &AgingRuns) -> String {
    let units = Units::new(figures, declared);
    let Score { hits, rows, signs } = units.score(declared);
    let all = of_file(&file(FILE));
    let of = |score: usize, share| percentile(all.iter().map(|it| it[score]).collect(), share);
    format!(
        "**{hits} of {} distinct predictions lie in their bands.** Random numbers within the declared intervals meet {} in the median and {} at \
        the\n95th percentile (1,000 draws); one constant for each kind of number, chosen with the answers in view, meets {}. Counted by rows, it is \
        {rows} of {}\n(random: {} and {}), and {signs} of {} directions are beyond two standard errors (random: {} and {}).",
        units.units.len(),
        of(0, 0.5),
        of(0, 0.95),
        units.constants(),
        units.held_out.len(),
        of(1, 0.5),
        of(1, 0.95),
        units.signs.len(),
        of(2, 0.5),
        of(2, 0.95),
    )
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn five_of_the_random_draws_score_what_the_file_has() {
    let catalog = bundled_catalog();
    let figures = catalog.suite("aging-responses").unwrap().spec.figures;
    let numbers = drawn(&file("assumptions/aging/fit.toml"));
    let all = of_file(&file(FILE));
    assert_eq!(all.len() as u64, DRAWS);

    for draw in [0, 250, 500, 750, 999] {
        let runs = play(&catalog, &judged(&figures), &numbers, draw);
        let Score { hits, rows, signs } = Units::new(&figures, &runs).score(&runs);
        let at = usize::try_from(draw).unwrap();
        assert_eq!(
            [hits, rows, signs],
            all[at],
            "draw {draw}: `cargo bench --package ctxsim-benches --bench fit_aging -- --draws --write` makes the file anew"
        );
    }
}
