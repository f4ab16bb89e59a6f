//! How far stated totals are from the true ones.

use super::{mean, slope};

/// A total as it was stated, and as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// The session that was asked about.
    pub session: f64,
    /// What is true.
    pub gold: f64,
    /// What was stated, or none if there was no number.
    pub stated: Option<f64>,
}

impl Stated {
    /// Returns how far it is off; without a number, by all of it.
    pub fn error(&self) -> f64 {
        self.stated.map_or(self.gold.abs(), |it| (it - self.gold).abs())
    }
}

/// Returns the mean error.
pub fn error(all: &[Stated]) -> Option<f64> {
    mean(all.iter().map(Stated::error))
}

/// Returns the mean of errors as shares of what is true.
pub fn relative_error(all: &[Stated]) -> Option<f64> {
    mean(all.iter().map(|it| it.error() / it.gold.abs().max(1.0)))
}

/// Returns whether the error never falls, over three questions or more: as the code has it, over all of them.
pub fn compounds(all: &[Stated]) -> Option<bool> {
    (all.len() >= 3).then(|| all.windows(2).all(|it| it[0].error() <= it[1].error()))
}

/// Returns whether the error does not fall over some three questions in a row, as the paper has it.
pub fn compounds_of_paper(all: &[Stated]) -> Option<bool> {
    let rises = |it: &[Stated]| it[0].error() <= it[1].error() && it[1].error() <= it[2].error();
    (all.len() >= 3).then(|| all.windows(3).any(rises))
}

/// Returns by how much the error grows with a session.
pub fn growth(all: &[Stated]) -> f64 {
    let points: Vec<(f64, f64)> = all.iter().map(|it| (it.session, it.error())).collect();
    if points.len() < 3 { 0.0 } else { slope(&points).unwrap_or(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(errors: &[f64]) -> Vec<Stated> {
        let one = |(at, error): (usize, &f64)| Stated {
            session: at as f64,
            gold: 200.0,
            stated: Some(200.0 - error),
        };
        errors.iter().enumerate().map(one).collect()
    }

    #[test]
    fn an_error_is_the_distance_and_all_of_it_without_a_number() {
        let none = Stated { session: 0.0, gold: -40.0, stated: None };

        assert_eq!(none.error(), 40.0);
        assert_eq!(error(&all(&[10.0, 30.0])), Some(20.0));
        assert_eq!(relative_error(&all(&[10.0, 30.0])), Some(0.1));
        assert_eq!(relative_error(&[Stated { gold: 0.5, stated: Some(1.5), session: 0.0 }]), Some(1.0));
        assert_eq!(error(&[]), None);
    }

    #[test]
    fn compounding_is_over_all_questions_in_the_code_and_over_any_three_in_the_paper() {
        assert_eq!(compounds(&all(&[1.0, 1.0, 2.0])), Some(true));
        assert_eq!(compounds(&all(&[3.0, 1.0, 1.0, 2.0])), Some(false));
        assert_eq!(compounds_of_paper(&all(&[3.0, 1.0, 1.0, 2.0])), Some(true));
        assert_eq!(compounds_of_paper(&all(&[3.0, 1.0])), None);
        assert_eq!(growth(&all(&[0.0, 2.0, 4.0])), 2.0);
    }
}
