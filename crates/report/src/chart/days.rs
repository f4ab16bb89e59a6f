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

fn date(day: i64) -> String {
    calendar::date_text(day * DAY_MS)
}

impl BillByDay {
    fn total(parts: &[f64]) -> f64 {
        parts.iter().sum()
    }

    fn highest(&self) -> Option<(i64, f64)> {
        let all = self.days.iter().map(|(day, parts)| (*day, Self::total(parts)));
        all.max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Returns the parts of which some day has any.
    fn shown(&self) -> Vec<usize> {
        (0..self.parts.len()).filter(|part| self.days.values().any(|it| it[*part] > 0.0)).listed()
    }

    /// Returns the first day that is drawn, and the last.
    fn ends(&self) -> Option<[i64; 2]> {
        let last = *self.days.keys().next_back()?;
        Some([(*self.days.keys().next()?).max(last - MOST_DAYS + 1), last])
    }
}

impl Picture for BillByDay {
    fn titles(&self) -> [String; 2] {
        ["The bill by day".to_owned(), self.subject.clone()]
    }

    fn summary(&self) -> String {
        let usd: f64 = self.days.values().map(|it| Self::total(it)).sum();
        let most = |(day, usd)| format!("; most on {}: ${}", date(day), fixed(usd, 2));
        let high = self.highest().map_or_else(String::new, most);
        let n = counted(self.days.len(), "day");
        format!("${} on {n} with requests{high}.", fixed(usd, 2))
    }

    fn table(&self) -> Grid {
        let shown = self.shown();
        let columns =
            ["day"].into_iter().chain(shown.iter().map(|it| self.parts[*it])).chain(["USD"]).listed();
        let rows = self.days.iter().rev().map(|(day, parts)| {
            let amounts = shown.iter().map(|it| parts[*it]).chain([Self::total(parts)]);
            std::iter::once(date(*day)).chain(amounts.map(|it| fixed(it, 2))).listed()
        });
        Grid::new("", 1, &columns, rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let Some([first, last]) = self.ends() else { return scene };
        let shown = self.shown();
        let entries = shown.iter().map(|it| (Swatch::Colour(ink::part(*it)), self.parts[*it].to_owned()));
        let top = legend::legend(&mut scene, entries) + LINE + 14.0;
        let (left, right, bottom) = (52.0, WIDTH - 12.0, top + HEIGHT);
        let up = Axis::new(0.0, self.highest().map_or(0.0, |it| it.1), [bottom, top], 4.0);
        up.beside(&mut scene, [left, right], "US dollars a day", |it| up.written(it));
        let n_days = (last - first + 1) as f64;
        let at = |day: i64| left + (day - first) as f64 / n_days * (right - left);
        let drawn = self.days.range(first..);
        let is_told = drawn.clone().count() <= MOST_STOPS;
        for (day, parts) in drawn {
            let [from, to] = [at(*day), at(*day + 1) - if n_days < 100.0 { 1.0 } else { 0.0 }];
            let mut sum = 0.0;
            let mut marks: Vec<DrawnMark> = Vec::new();
            for part in &shown {
                let [low, high] = [sum, sum + parts[*part]].map(|it| up.at(it));
                sum += parts[*part];
                if round(low) > round(high) {
                    let bar = rectangle([from, high], [to.max(from + 0.5), low]);
                    marks.push(Path::filled(bar, ink::part(*part)).into());
                }
            }
            if is_told {
                scene.spot(format!("{}: ${}", date(*day), fixed(sum, 2)), false, marks);
            } else {
                scene.marks.extend(marks);
            }
        }
        let ends = [(left, Anchor::Start, first), (right, Anchor::End, last)];
        for (x, anchor, day) in ends.into_iter().take(if first == last { 1 } else { 2 }) {
            scene.add(SceneText::new(x, bottom + 16.0, date(day)).anchored(anchor).faint());
        }
        scene.height = bottom + 40.0;
        scene
    }
}
