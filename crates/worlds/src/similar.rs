//! What is most like a question: noise that is the same on any machine, and the best of what is scored.

/// Returns 64 random bits as a number that is distributed almost normally: the sum of four even ones, which is the same on any machine.
pub(super) fn normal(bits: u64) -> f64 {
    let parts = [bits & 0xffff, bits >> 16 & 0xffff, bits >> 32 & 0xffff, bits >> 48];
    let sum: u64 = parts.iter().sum();
    // Four even numbers from 0 to 1 have the mean 2 and the variance 1/3.
    (sum as f64 / 65_535.0 - 2.0) * 1.732_050_807_568_877_2
}

/// Returns the n that score most.
pub(super) fn best<T: Copy + Ord>(mut scored: Vec<(f64, T)>, n: usize) -> Vec<T> {
    if n > 0 && n < scored.len() {
        scored
            .select_nth_unstable_by(n - 1, |one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    }
    scored.truncate(n);
    scored.into_iter().map(|it| it.1).collect()
}
