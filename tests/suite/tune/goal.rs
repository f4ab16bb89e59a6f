//! A search for what a memory does best: its choice is never dominated, keeps what it has to, and its word follows from its interval.

use ctxsim::report::sweep::{Objective, PointGuard};
use ctxsim::report::tune::{TriedVariants, TuneGoal, Tuned, TunedSession};

use crate::support::*;

/// Sessions under twelve seeds with drawn numbers: of the base, then of each variant.
fn sessions(seed: u64, n_variants: usize, n_numbers: usize) -> Vec<TunedSession> {
    let mut draws = Seed(seed).stream("goal", 0);
    let means: Vec<Vec<f64>> =
        (0..=n_variants).map(|_| (0..n_numbers).map(|_| draws.unit()).collect()).collect();
    let one = |nth: u64| TunedSession {
        project: format!("seed {nth}"),
        last_ms: None,
        base: Tally::empty(),
        variants: vec![Tally::empty(); n_variants],
        remembered: None,
        numbers: means
            .iter()
            .map(|own| own.iter().map(|it| Some(it + 0.2 * draws.nth(nth, 0).next_unit())).collect())
            .collect(),
    };
    (0..12).map(one).collect()
}

fn tuned(sessions: &[TunedSession], n: usize, goal: &TuneGoal) -> Tuned {
    let points = (0..n).map(|it| vec![format!("a={it}")]).collect();
    let tried = TriedVariants { points, goal: goal.clone(), ..TriedVariants::default() };
    Tuned::new(["base", "policy"], sessions, tried, 0.9, 0)
}

fn goal(objectives: &[&str], guards: &[&str]) -> TuneGoal {
    TuneGoal {
        objectives: objectives.iter().map(|it| Objective::try_from((*it).to_owned()).unwrap()).collect(),
        guards: guards.iter().map(|it| PointGuard::try_from((*it).to_owned()).unwrap()).collect(),
    }
}

#[test]
fn what_is_chosen_is_never_dominated_on_the_objectives_asked_for_and_keeps_its_guards() {
    for seed in 0..200 {
        let goal = goal(&["accumulator_error", "final"], &["binding>=0.3"]);
        let all = sessions(seed, 9, 3);
        let found = tuned(&all, 9, &goal).goal.unwrap();
        let own = &found.points[0];
        let means =
            |it: &ctxsim::report::tune::GoalPoint| [it.numbers[0][0].unwrap(), -it.numbers[0][1].unwrap()];
        let keeping = found.points.iter().filter(|it| it.keeps);
        assert!(own.keeps || keeping.clone().count() == 0, "seed {seed}");
        for other in keeping.filter(|_| own.keeps) {
            let ([a, b], [c, d]) = (means(other), means(own));
            assert!(!(a <= c && b <= d && (a < c || b < d)), "seed {seed}: {other:?} dominates {own:?}");
        }
    }
}

#[test]
fn the_word_is_that_of_the_interval_on_the_seeds_held_out() {
    let with = |change: f64| {
        let mut all = sessions(7, 1, 1);
        for (nth, it) in all.iter_mut().enumerate() {
            let base = 20.0 + (nth % 3) as f64;
            it.numbers = vec![vec![Some(base)], vec![Some(base + change + 0.1 * (nth % 2) as f64)]];
        }
        tuned(&all, 1, &goal(&["accumulator_error"], &[])).word.unwrap().text()
    };

    assert_eq!(with(-5.0), "do", "a smaller error is better");
    assert_eq!(with(5.0), "don't");
    assert_eq!(with(-0.05), "cannot tell");
}

#[test]
fn names_of_objectives_and_guards_are_read_and_mistakes_are_answered() {
    for (text, name) in [
        ("cost", "cost"),
        ("accumulator_error", "accumulator_error"),
        ("error in totals", "accumulator_error"),
        ("aging.final", "final"),
        ("memory_calls.accuracy.overall.mean", "overall"),
    ] {
        assert_eq!(Objective::try_from(text.to_owned()).unwrap().name(), name);
    }
    let told = Objective::try_from("acumulator_error".to_owned()).unwrap_err();
    assert_eq!(told, "unknown objective `acumulator_error`; did you mean `accumulator_error`?");
    let guard = PointGuard::try_from("final >= 0.5".to_owned()).unwrap();
    assert_eq!(
        (guard.to_string(), guard.allows(0.5), guard.allows(0.4)),
        ("final>=0.5".to_owned(), true, false)
    );
    assert!(PointGuard::try_from("final=0.5".to_owned()).unwrap_err().contains("has no `>=` or `<=`"));
}
