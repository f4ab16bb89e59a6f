//! An axis: where a number stands, and which numbers are written beside it.

use super::prelude::*;

/// An axis from one number to another, and from one place to another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    places: [f64; 2],
    /// The numbers that are written.
    pub(super) ticks: Vec<f64>,
    /// How far apart they are.
    step: f64,
}

impl Axis {
    /// Returns an axis whose ends are round numbers around those given, with about so many steps.
    pub(super) fn rounded(low: f64, high: f64, ends_px: [f64; 2], about_steps: f64) -> Self {
        let span = if high > low { high - low } else { high.abs().max(1.0) };
        let step = round_up_step(span / about_steps);
        let (first, last) = ((low / step).floor(), ((low + span) / step - 1e-9).ceil());
        let n_steps = (last - first).clamp(1.0, 100.0) as u32;
        let ticks: Vec<f64> = (0..=n_steps).map(|it| (first + f64::from(it)) * step).listed();
        Self { from: first * step, to: (first + f64::from(n_steps)) * step, places: ends_px, ticks, step }
    }

    /// Returns an axis of counts that ends at the last of them.
    pub(super) fn for_counts(high: f64, ends_px: [f64; 2], about_steps: f64) -> Self {
        let axis = Self::rounded(0.0, high.max(about_steps), ends_px, about_steps);
        let ticks = axis.ticks.iter().copied().filter(|it| *it <= high).listed();
        Self { to: high.max(1.0), ticks, ..axis }
    }

    /// Returns an axis from nothing to a number, whatever that is, with round numbers below it.
    pub(super) fn up_to_exactly(high: f64, ends_px: [f64; 2], about_steps: f64) -> Self {
        let axis = Self::rounded(0.0, high, ends_px, about_steps);
        let ticks = axis.ticks.iter().copied().filter(|it| *it <= high).listed();
        Self { to: if high > 0.0 { high } else { axis.to }, ticks, ..axis }
    }

    /// Returns an axis for points: it begins at nothing, unless all of them are far from it.
    pub(super) fn from_zero_unless_far(low: f64, high: f64, ends_px: [f64; 2], about_steps: f64) -> Self {
        let low = if low > high / 2.0 && high > low { low } else { 0.0 };
        Self::rounded(low, high, ends_px, about_steps)
    }

    /// Returns the place of a number.
    pub(super) fn position_of(&self, number: f64) -> f64 {
        let [start, end] = self.places;
        start + (number - self.from) / (self.to - self.from) * (end - start)
    }

    /// Writes a number as the axis has it, with no more decimals than its steps need.
    pub(super) fn format_number(&self, number: f64) -> String {
        let mut decimals = 0;
        let mut step = self.step;
        while decimals < 9 && (step - step.round()).abs() > 1e-6 {
            (decimals, step) = (decimals + 1, step * 10.0);
        }
        fixed(number + 0.0, decimals)
    }

    /// Draws it below a frame, with lines through the frame.
    pub(super) fn draw_below_frame(
        &self,
        scene: &mut Scene,
        [top, bottom]: [f64; 2],
        name: &str,
        format: impl Fn(f64) -> String,
    ) {
        for tick in &self.ticks {
            let x = self.position_of(*tick);
            scene.draw(SvgPath::stroked(line_path([[x, top], [x, bottom]]), ink::GRID, 1.0));
            scene.add(SceneText::new(x, bottom + 15.0, format(*tick)).with_anchor(Anchor::Middle).faint());
        }
        let [start, end] = self.places;
        scene.add(SceneText::new((start + end) / 2.0, bottom + 33.0, name).with_anchor(Anchor::Middle));
    }

    /// Draws it left of a frame, with lines through the frame and its name above.
    pub(super) fn draw_left_of_frame(
        &self,
        scene: &mut Scene,
        [left, right]: [f64; 2],
        name: &str,
        format: impl Fn(f64) -> String,
    ) {
        for tick in &self.ticks {
            let y = self.position_of(*tick);
            scene.draw(SvgPath::stroked(line_path([[left, y], [right, y]]), ink::GRID, 1.0));
            scene.add(SceneText::new(left - 6.0, y + 4.0, format(*tick)).with_anchor(Anchor::End).faint());
        }
        scene.add(SceneText::new(4.0, self.places[1].min(self.places[0]) - 12.0, name));
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is not below a step.
fn round_up_step(step: f64) -> f64 {
    let mut power = 1.0;
    while power > step {
        power /= 10.0;
    }
    while power * 10.0 <= step {
        power *= 10.0;
    }
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|it| it * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_round_numbers_around_what_it_shows() {
        let axis = Axis::rounded(0.0, 0.93, [0.0, 100.0], 5.0);

        assert_eq!((axis.from, axis.ticks.len()), (0.0, 6));
        assert!((axis.to - 1.0).abs() < 1e-12 && (axis.position_of(0.5) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_have_the_decimals_of_their_steps() {
        let written = |high| {
            let axis = Axis::rounded(0.0, high, [0.0, 1.0], 4.0);
            axis.ticks.iter().map(|it| axis.format_number(*it)).collect::<Vec<_>>()
        };

        assert_eq!(written(0.07), ["0.00", "0.02", "0.04", "0.06", "0.08"]);
        assert_eq!(written(9_000.0), ["0", "5,000", "10,000"]);
    }

    #[test]
    fn points_far_from_nothing_are_seen_from_nearby() {
        let near = Axis::from_zero_unless_far(90.0, 100.0, [0.0, 1.0], 5.0);
        let far = Axis::from_zero_unless_far(10.0, 100.0, [0.0, 1.0], 5.0);
        let equal = Axis::from_zero_unless_far(7.0, 7.0, [0.0, 1.0], 5.0);

        assert_eq!((near.from, far.from, equal.from), (90.0, 0.0, 0.0));
    }
}
