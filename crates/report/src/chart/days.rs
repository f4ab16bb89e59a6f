//! What was billed day by day, by what it was paid for.

use super::prelude::*;
use ctxsim_input::profile::calendar::{self, DAY_MS};

/// How high the frame is.
const HEIGHT: f64 = 190.0;
/// The most days that are drawn, and the most that each say what they are.
const MOST_DAYS: i64 = 400;
const MOST_STOPS: usize = 62;

/// Bills by day.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BillByDay {
    pub subject: String,
    /// What is paid for, in a few words.
    pub parts: Vec<&'static str>,
    /// By days since 1970: US dollars by part.
    pub days: BTreeMap<i64, Vec<f64>>,
}

fn format_day(epoch_day: i64) -> String {
    calendar::date_text(epoch_day * DAY_MS)
}

impl BillByDay {
    fn dearest_day_and_usd(&self) -> Option<(i64, f64)> {
        let all = self.days.iter().map(|(day, parts)| (*day, parts.iter().sum::<f64>()));
        all.max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Returns the parts of which some day has any.
    fn used_part_indices(&self) -> Vec<usize> {
        (0..self.parts.len()).filter(|part| self.days.values().any(|it| it[*part] > 0.0)).listed()
    }
}

impl Picture for BillByDay {
    fn title_and_subject(&self) -> [String; 2] {
        ["The bill by day".to_owned(), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let usd: f64 = self.days.values().map(|it| it.iter().sum::<f64>()).sum();
        let most = |(day, usd)| format!("; most on {}: ${}", format_day(day), fixed(usd, 2));
        let high = or_nothing(self.dearest_day_and_usd(), most);
        let n = counted(self.days.len(), "day");
        format!("${} on {n} with requests{high}.", fixed(usd, 2))
    }

    fn numbers_grid(&self) -> Grid {
        let shown = self.used_part_indices();
        let parts = shown.iter().map(|it| self.parts[*it]);
        let columns = ["day"].into_iter().chain(parts).chain(["USD"]).listed();
        let rows = self.days.iter().rev().map(|(day, parts)| {
            let amounts = shown.iter().map(|it| parts[*it]).chain([parts.iter().sum()]);
            std::iter::once(format_day(*day)).chain(amounts.map(|it| fixed(it, 2))).listed()
        });
        Grid::new("", 1, &columns, rows)
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let days = || self.days.keys().copied();
        let Some((first, last)) = days().next().zip(days().next_back()) else { return scene };
        let first = first.max(last - MOST_DAYS + 1);
        let shown = self.used_part_indices();
        let entries = shown.iter().map(|it| (Swatch::Colour(ink::part_ink(*it)), self.parts[*it].to_owned()));
        let top = legend::draw_legend(&mut scene, legend::TOP, entries) + LINE + 14.0;
        let (left, right, bottom) = (52.0, WIDTH - 12.0, top + HEIGHT);
        let up = Axis::rounded(0.0, self.dearest_day_and_usd().map_or(0.0, |it| it.1), [bottom, top], 4.0);
        up.draw_left_of_frame(&mut scene, [left, right], "US dollars a day", |it| up.format_number(it));
        let n_days = (last - first + 1) as f64;
        let at = |day: i64| left + (day - first) as f64 / n_days * (right - left);
        let drawn = self.days.range(first..);
        let is_told = drawn.clone().count() <= MOST_STOPS;
        for (day, parts) in drawn {
            let [from, to] = [at(*day), at(*day + 1) - if n_days < 100.0 { 1.0 } else { 0.0 }];
            let mut sum = 0.0;
            let mut marks: Vec<SvgPath> = Vec::new();
            for part in &shown {
                let [low, high] = [sum, sum + parts[*part]].map(|it| up.position_of(it));
                sum += parts[*part];
                if to_tenth(low) > to_tenth(high) {
                    let bar = box_path([from, high], [to.max(from + 0.5), low]);
                    marks.push(SvgPath::filled(bar, ink::part_ink(*part)));
                }
            }
            if is_told {
                scene.add_spot_with_tip(format!("{}: ${}", format_day(*day), fixed(sum, 2)), false, marks);
            } else {
                marks.into_iter().for_each(|it| scene.draw(it));
            }
        }
        let ends = [(left, Anchor::Start, first), (right, Anchor::End, last)];
        for (x, anchor, day) in ends.into_iter().take(if first == last { 1 } else { 2 }) {
            scene.add(SceneText::new(x, bottom + 16.0, format_day(day)).with_anchor(anchor).faint());
        }
        scene.height = bottom + 40.0;
        scene
    }
}
