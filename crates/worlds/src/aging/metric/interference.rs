//! How well facts that could be confused are told apart.

use super::mean;

/// How a question for one of two such facts was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// By the right one.
    Correct,
    /// By the other.
    Confused,
    Both,
    /// By neither.
    Miss,
}

/// Returns the share of answers of one kind, or none if nothing was asked.
pub fn rate(all: &[Binding], kind: Binding) -> Option<f64> {
    mean(all.iter().map(|it| f64::from(u8::from(*it == kind))))
}

/// Returns the code's interference resistance: a session's questions about such facts count as right where the session's own
/// score is above a half. None where nothing asks; the paper prints 1 there.
pub fn resistance(scores_of_asking_sessions: &[f64]) -> Option<f64> {
    mean(scores_of_asking_sessions.iter().map(|it| f64::from(u8::from(*it > 0.5))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shares_of_all_answers_and_absent_without_any() {
        let all = [Binding::Correct, Binding::Correct, Binding::Confused, Binding::Miss];

        assert_eq!(rate(&all, Binding::Correct), Some(0.5));
        assert_eq!(rate(&all, Binding::Both), Some(0.0));
        assert_eq!(rate(&[], Binding::Correct), None);
        assert_eq!(resistance(&[0.5, 0.51, 0.2, 0.9]), Some(0.5), "a half is not above a half");
        assert_eq!(resistance(&[]), None);
    }
}
