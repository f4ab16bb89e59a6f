//! What a memory's curve and answers say: each metric is a small function of plain numbers, as the paper or its code defines it.

pub mod chain;
pub mod curve;
pub mod interference;
pub mod shock;
pub mod totals;

/// Returns the mean of numbers; none of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), it| (n + 1, sum + it));
    (n > 0).then(|| sum / f64::from(n))
}

/// Returns the slope of the line that lies nearest to points by least squares, or none if it has no
/// direction.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let x = points.iter().map(|it| it.0).sum::<f64>() / n;
    let y = points.iter().map(|it| it.1).sum::<f64>() / n;
    let along = points.iter().map(|it| (it.0 - x) * (it.1 - y)).sum::<f64>();
    let square = points.iter().map(|it| (it.0 - x) * (it.0 - x)).sum::<f64>();
    (square > 0.0).then(|| along / square)
}
