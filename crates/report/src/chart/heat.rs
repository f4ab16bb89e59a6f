//! A map of changes in cost over the values of two things that are varied.

use serde::Serialize;

use super::Picture;
use super::ink;
use super::scene::{Anchor, DrawnMark, LINE, Path, Scene, SceneText, WIDTH, fit, rectangle, width};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers::{NONE, or_none, percent, signed};
use ctxsim_base::list::Listed as _;

/// How high a cell is.
const HIGH: f64 = 40.0;
/// A smaller change is none.
const NOTHING: f64 = 0.000_5;
/// A change of this size and more has the full colour.
const FULL: f64 = 0.5;

/// Changes over the values of two things.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatMap {
    pub title: String,
    pub subject: String,
    /// What no change is.
    pub base: String,
    /// What is varied: down, and across.
    pub varied: [String; 2],
    /// The values, down and across.
    pub values: [Vec<String>; 2],
    /// By row and column.
    pub cells: Vec<Vec<Option<HeatCell>>>,
}

/// A change in cost at two values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatCell {
    /// −0.1 is a tenth less.
    pub change: f64,
    pub kept: Option<f64>,
    /// What it is to the reader, such as the knee.
    pub mark: Option<&'static str>,
}

impl HeatCell {
    fn told(&self) -> String {
        let kept = self.kept.map_or_else(String::new, |it| format!(", {} kept", percent(it)));
        let mark = self.mark.map_or_else(String::new, |it| format!(" ({it})"));
        format!("{}{kept}{mark}", signed(self.change))
    }
}

impl HeatMap {
    fn named(&self) -> impl Iterator<Item = (String, &HeatCell)> {
        let [down, across] = &self.values;
        self.cells.iter().zip(down).flat_map(move |(row, one)| {
            row.iter()
                .zip(across)
                .filter_map(move |(cell, other)| Some((format!("{one}, {other}"), cell.as_ref()?)))
        })
    }
}

impl Picture for HeatMap {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let lowest = self.named().min_by(|one, other| one.1.change.total_cmp(&other.1.change));
        let highest = self.named().max_by(|one, other| one.1.change.total_cmp(&other.1.change));
        let said = |what: &str, it: Option<(String, &HeatCell)>| {
            it.map(|(name, cell)| format!("{what} at {name}: {}", cell.told()))
        };
        let said: Vec<String> =
            [said("Cheapest", lowest), said("most expensive", highest)].into_iter().flatten().listed();
        format!("{}, against {}.", said.join("; "), self.base)
    }

    fn table(&self) -> Grid {
        let [down, across] = &self.values;
        let headings = [&self.varied[0]].into_iter().chain(across).listed();
        let rows = down.iter().zip(&self.cells).map(|(name, row)| {
            let cells = row.iter().map(|it| or_none(it.as_ref(), HeatCell::told));
            std::iter::once(name.clone()).chain(cells).listed()
        });
        Grid::new("", 1, &headings, rows)
    }

    fn scene(&self) -> Scene {
        let [down, across] = &self.values;
        let longest = down.iter().chain([&self.varied[0]]).map(|it| width(it)).fold(0.0, f64::max);
        let left = longest.min(WIDTH / 3.0) + 10.0;
        let (top, pitch) = (2.0 * LINE + 8.0, (WIDTH - left - 4.0) / across.len().max(1) as f64);
        let mut scene = Scene::new(top + HIGH * down.len() as f64 + LINE + 8.0);
        let middle = left + (WIDTH - left) / 2.0;
        scene.add(SceneText::new(middle, 14.0, fit(&self.varied[1], WIDTH - left)).anchored(Anchor::Middle));
        scene.add(SceneText::new(0.0, 14.0 + LINE, fit(&self.varied[0], left - 8.0)));
        for (nth, value) in across.iter().enumerate() {
            let x = left + pitch * (nth as f64 + 0.5);
            scene.add(SceneText::new(x, 14.0 + LINE, fit(value, pitch)).anchored(Anchor::Middle).faint());
        }
        for (nth, (value, row)) in down.iter().zip(&self.cells).enumerate() {
            let y = top + HIGH * nth as f64;
            let name = SceneText::new(left - 8.0, y + HIGH / 2.0 + 4.5, fit(value, left - 8.0));
            scene.add(name.anchored(Anchor::End).faint());
            for (column, cell) in row.iter().enumerate() {
                let x = left + pitch * column as f64;
                match cell {
                    Some(cell) => {
                        let label = format!("{value}, {}: {}", across[column], cell.told());
                        scene.spot(label, false, marks(cell, [x, y], pitch));
                    }
                    None => scene
                        .add(SceneText::new(x + pitch / 2.0, y + HIGH / 2.0, NONE).anchored(Anchor::Middle)),
                }
            }
        }
        let words = format!("change in cost against {}; below: evidence kept", self.base);
        let foot = scene.height - 6.0;
        scene.add(SceneText::new(middle, foot, fit(&words, WIDTH)).anchored(Anchor::Middle).faint());
        scene.height += 6.0;
        scene
    }
}

/// Draws a cell: green where it saves, orange where it costs more.
fn marks(cell: &HeatCell, [x, y]: [f64; 2], pitch: f64) -> Vec<DrawnMark> {
    let ink = match cell.change {
        it if it.abs() < NOTHING => ink::FAINT,
        it => ink::policy(if it < 0.0 { 2 } else { 1 }),
    };
    let strength = 0.1 + 0.6 * (cell.change.abs() / FULL).min(1.0);
    let area = rectangle([x + 1.0, y + 1.0], [x + pitch - 1.0, y + HIGH - 1.0]);
    let mut all: Vec<DrawnMark> = vec![Path::filled(area.clone(), ink).faded(strength).into()];
    if cell.mark.is_some() {
        all.push(Path::drawn(area, ink::TEXT, 2.0).into());
    }
    let middle = x + pitch / 2.0;
    all.push(SceneText::new(middle, y + 17.0, signed(cell.change)).anchored(Anchor::Middle).bold().into());
    if let Some(kept) = cell.kept {
        let kept = SceneText::new(middle, y + 33.0, percent(kept));
        all.push(kept.anchored(Anchor::Middle).into());
    }
    all
}
