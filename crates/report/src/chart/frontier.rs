//! What each policy costs against what it keeps of needed evidence, and which policies no other beats in both.

use super::legend::draw_name_beside;
use super::prelude::*;
use ctxsim_base::grid::Row;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "two policies with known cost and known kept evidence";
/// How high the frame is.
const HEIGHT: f64 = 280.0;
/// Names are shortened to this where there is no room for all of them.
const SHORT: f64 = 190.0;
/// Points nearer than this are one to the eye.
const NEAR: f64 = 4.0;
/// Of more points, only those that no other beats, and the marked ones, have colours and names.
const MOST_NAMED: usize = 16;

/// The policies of a table by cost and evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frontier {
    /// Of what, and under which profile.
    pub subject: String,
    /// What is kept, in words.
    pub kept: &'static str,
    /// The policies whose cost and evidence are known.
    pub points: Vec<FrontierPoint>,
    /// The policies that stopped early, or whose cost or evidence is unknown.
    pub left_out: Vec<String>,
    /// Whether points are called by their numbers, because their names are long and alike.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_numbered: bool,
}

/// A policy by cost and evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FrontierPoint {
    pub policy: PolicyLabel,
    /// What it costs, in US dollars.
    pub usd: f64,
    /// The same at either end of what is assumed of recovery, or of its 95% interval.
    pub usd_interval: Option<[f64; 2]>,
    /// The share of needed evidence that it keeps.
    pub kept: f64,
    /// Its 95% interval, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_interval: Option<[f64; 2]>,
    /// Whether no other policy costs less and keeps as much, or keeps more and costs as much; one that looks ahead neither is
    /// nor hinders.
    pub is_efficient: bool,
    /// What it is to the reader: the base, what is advised, the knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<&'static str>,
}

/// The mark of what others are measured against.
pub const BASE: &str = "base";
/// The mark of what the verdict names.
pub const ADVISED: &str = "advised";

/// Returns a chart for each table with two such policies at least, and for each load on which something is remembered.
pub fn frontier_charts(source: &ChartData<'_>) -> Vec<Frontier> {
    let verdicts = source.report.verdicts();
    let of_section = source.sections.iter().map(|section| {
        let verdict = verdicts.iter().find(|it| it.load == section.load && it.profile == section.profile);
        let best = verdict.filter(|it| it.knows_evidence).and_then(|verdict| verdict.cheapest.as_ref());
        let points = section.lines.iter().enumerate().map(|(nth, line)| {
            let known = line.tally.costs.total().zip(line.tally.evidence_kept());
            let point = known.filter(|_| line.stopped.is_none()).map(|(usd, kept)| {
                let is_best = best.is_some_and(|it| it.policy == line.policy);
                let mark = if nth == 0 { Some(BASE) } else { is_best.then_some(ADVISED) };
                let point = FrontierPoint::new(source.names.label_of(&line.policy), usd, kept);
                FrontierPoint { usd_interval: line.tally.cost_interval(), mark, ..point }
            });
            point.ok_or_else(|| line.policy.clone())
        });
        Frontier::new(section.subject_and_profile(), KEPT, points)
    });
    of_section.chain(cost_vs_recall_frontiers(source)).filter(Frontier::is_worth_drawing).listed()
}

/// What a policy keeps where needs are declared.
pub const KEPT: &str = "needed evidence kept";

/// Returns a chart for each load on which something is remembered, under each profile: its first number stands for the evidence.
fn cost_vs_recall_frontiers<'s>(source: &'s ChartData<'_>) -> impl Iterator<Item = Frontier> + 's {
    let runs: Vec<&Run> = source.report.runs.iter().filter(|it| it.findings.is_some()).listed();
    let groups = runs.chunk_by(|one, other| one.is_beside(other)).map(<[_]>::to_vec);
    groups.take(super::MOST_TABLES).listed().into_iter().map(|group| {
        let known =
            |run: &Run| Some((run.tally.costs.total()?, run.remembered().next().filter(|it| it.is_share)?));
        let heading = group.iter().rev().find_map(|it| known(it)).map_or(KEPT, |(_, main)| main.heading);
        let points = group.iter().enumerate().map(|(nth, run)| {
            let point = known(run).map(|(usd, main)| {
                let mark = (nth == 0).then_some(BASE);
                let point = FrontierPoint::new(source.names.label_of(&run.policy), usd, main.number.mean);
                FrontierPoint { kept_interval: main.number.ci95, mark, ..point }
            });
            point.ok_or_else(|| run.policy.clone())
        });
        let subject = group.first().map(|it| it.subject()).unwrap_or_default();
        Frontier::new(subject, heading, points)
    })
}

/// Marks the points that no other beats.
fn mark_efficient(points: &mut [FrontierPoint]) {
    let real = points.iter().filter(|it| !it.policy.looks_ahead).map(|it| (it.usd, it.kept)).listed();
    for point in points.iter_mut().filter(|it| !it.policy.looks_ahead) {
        point.is_efficient = !real.iter().any(|(usd, kept)| {
            *usd <= point.usd && *kept >= point.kept && (*usd < point.usd || *kept > point.kept)
        });
    }
}

impl FrontierPoint {
    /// A point without intervals.
    pub fn new(policy: PolicyLabel, usd: f64, kept_share: f64) -> Self {
        Self { policy, usd, kept: kept_share, ..Self::default() }
    }

    /// Returns whether its numbers have places on axes.
    fn has_finite_numbers(&self) -> bool {
        let ends = self.usd_and_kept_ranges();
        [self.usd, self.kept].iter().chain(ends.as_flattened()).all(|it| it.is_finite())
    }

    /// Returns its name, with what it is to the reader.
    fn name_with_mark(&self) -> String {
        self.policy.label.clone() + &or_nothing(self.mark, |it| format!(" ({it})"))
    }

    /// Returns the ends of what it may cost, and of what it may keep.
    fn usd_and_kept_ranges(&self) -> [[f64; 2]; 2] {
        [self.usd_interval.unwrap_or([self.usd; 2]), self.kept_interval.unwrap_or([self.kept; 2])]
    }
}

/// A point as it is drawn.
struct PlacedPoint<'f> {
    point: &'f FrontierPoint,
    at: [f64; 2],
    /// Its intervals, across and up.
    reach: [[[f64; 2]; 2]; 2],
    is_coloured: bool,
}

impl PlacedPoint<'_> {
    fn draw(&self, scene: &mut Scene, usd_decimals: usize) {
        let Self { point, at, .. } = self;
        let (nth, usd) = (point.policy.nth, fixed(point.usd, usd_decimals));
        let label = format!("{}: ${usd}, {} kept", point.name_with_mark(), percent(point.kept));
        let ink = if self.is_coloured { ink::policy_ink(nth) } else { ink::FAINT };
        let mark = match self.is_coloured {
            _ if point.policy.looks_ahead => legend::policy_ring(nth, *at),
            true => legend::policy_point(nth, *at, 5.5),
            false => SvgPath::filled(policy_shape_path(0, *at, 2.5), ink),
        };
        let reach = self.reach.iter().filter(|[from, to]| from != to);
        let reach = reach.map(|line| SvgPath::stroked(line_path(*line), ink, 1.5));
        let ring = point.mark.map(|_| SvgPath::stroked(policy_shape_path(0, *at, 9.5), ink::TEXT, 1.5));
        let marks = reach.chain(ring).chain([mark]).listed();
        let mut keys = point.policy.table_row_keys();
        keys.push(format!("#{nth} {}", point.policy.label));
        scene.add_row_link(keys, label, marks);
    }
}

impl Frontier {
    /// Finds, of points and of the names of policies that have none, the points that no other beats.
    pub fn new(
        subject: String,
        kept_heading: &'static str,
        points_or_left_out: impl IntoIterator<Item = Result<FrontierPoint, String>>,
    ) -> Self {
        let (mut points, mut left_out, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for point in points_or_left_out {
            match point {
                Ok(point) if point.has_finite_numbers() => points.push(point),
                Ok(point) => unknown.push(point.policy.label),
                Err(name) => left_out.push(name),
            }
        }
        left_out.append(&mut unknown);
        mark_efficient(&mut points);
        Self { subject, kept: kept_heading, points, left_out, is_numbered: false }
    }

    /// Returns what a point is called in the drawing.
    fn drawn_name_of(&self, point: &FrontierPoint) -> String {
        if !self.is_numbered || point.mark == Some(BASE) {
            return point.name_with_mark();
        }
        let mark = or_nothing(point.mark, |mark| format!(" ({mark})"));
        format!("#{}{mark}", point.policy.nth)
    }

    /// Returns whether there are several points and something costs anything.
    fn is_worth_drawing(&self) -> bool {
        let has = |number: fn(&FrontierPoint) -> f64| self.points.iter().any(|it| number(it) > 0.0);
        self.points.len() > 1 && has(|it| it.usd) && has(|it| it.kept)
    }

    /// Returns the number of decimals its amounts have.
    fn usd_decimals(&self) -> usize {
        usd_decimals_up_to(self.points.iter().map(|it| it.usd).fold(0.0, f64::max))
    }

    /// Returns the efficient points, the cheapest first.
    fn efficient_points_by_cost(&self) -> Vec<&FrontierPoint> {
        let mut points: Vec<&FrontierPoint> = self.points.iter().filter(|it| it.is_efficient).listed();
        points.order_by(|one, other| one.usd.total_cmp(&other.usd));
        points
    }

    /// Draws the line through the efficient points, what can be had for each cost, and returns its corners.
    fn draw_frontier(&self, scene: &mut Scene, across: &Axis, up: &Axis, right: f64) -> Vec<[f64; 2]> {
        let mut corners: Vec<[f64; 2]> = Vec::new();
        for point in self.efficient_points_by_cost() {
            let at = [across.position_of(point.usd), up.position_of(point.kept)];
            corners.extend(corners.last().map(|it| [at[0], it[1]]));
            corners.push(at);
        }
        corners.extend(corners.last().map(|it| [right, it[1]]));
        let line = SvgPath::stroked(line_path(corners.clone()), ink::FAINT, 1.5);
        scene.draw(SvgPath { dash: Some("5 4".to_owned()), ..line });
        corners
    }

    /// Writes names beside points, the marked and the efficient ones first, each nearer to its own point than to any other; points in
    /// one place share a name. Returns the points for whose names there is no room.
    fn draw_names_return_unnamed<'f>(
        &self,
        scene: &mut Scene,
        placed: &[PlacedPoint<'f>],
        mut taken: Vec<legend::Area>,
        frame: legend::Area,
    ) -> Vec<&'f FrontierPoint> {
        let is_near =
            |[x, y]: [f64; 2], other: [f64; 2]| (x - other[0]).abs() < NEAR && (y - other[1]).abs() < NEAR;
        let mut named: Vec<[f64; 2]> = Vec::new();
        let mut unnamed = Vec::new();
        let mut in_order: Vec<&PlacedPoint<'f>> = placed.iter().filter(|it| it.is_coloured).listed();
        in_order.order_by_key(|it| (it.point.mark.is_none(), !it.point.is_efficient));
        let names = in_order.iter().map(|it| self.drawn_name_of(it.point)).listed();
        let shorts = shorten_names(&names, SHORT);
        for ((it, name), short) in in_order.into_iter().zip(names).zip(shorts) {
            let is_named = named.iter().any(|at| is_near(*at, it.at));
            let others = placed.iter().map(|other| other.at).filter(|at| !is_near(*at, it.at)).listed();
            let more = text_if_any(placed.len() - others.len() - 1, |n_more| format!(" +{n_more}"));
            let [name, short] = [name, short].map(|name| name + &more);
            let mut draw = |name: &str| draw_name_beside(scene, &taken, frame, &others, it.at, name);
            let area = if is_named { None } else { draw(&name).or_else(|| draw(&short)) };
            if let Some(area) = area {
                taken.push(area);
                named.push(it.at);
            } else {
                unnamed.push(it.point);
            }
        }
        unnamed.order_by_key(|it| it.policy.nth);
        unnamed
    }
}

impl Picture for Frontier {
    fn title_and_subject(&self) -> [String; 2] {
        let kept = if self.kept == KEPT { "evidence kept" } else { self.kept };
        [format!("Cost against {kept}"), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let decimals = self.usd_decimals();
        let said = |point: &&FrontierPoint| {
            let usd = fixed(point.usd, decimals);
            format!("{} (${usd}, {} kept)", point.name_with_mark(), percent(point.kept))
        };
        let efficient = self.efficient_points_by_cost().iter().map(said).listed().join(", ");
        let ahead = or_nothing(self.points.iter().find(|it| it.policy.looks_ahead), |it| {
            format!(" {} knows later needs and is not compared.", said(&it))
        });
        let left_out = text_if_any(self.left_out.len(), |_| {
            let names = self.left_out.join(", ");
            format!(" Excluded because they stopped early or a number is unknown: {names}.")
        });
        let n = self.points.len();
        format!("{n} points; no other is cheaper and keeps as much as {efficient}.{ahead}{left_out}")
    }

    fn numbers_grid(&self) -> Grid {
        let decimals = self.usd_decimals();
        let mut points: Vec<&FrontierPoint> = self.points.iter().listed();
        points.order_by(|one, other| one.usd.total_cmp(&other.usd));
        let usd = |usd: f64| fixed(usd, decimals);
        let rows = points.into_iter().map(|point| {
            let is_numbered = self.is_numbered && point.mark != Some(BASE);
            let number = text_if(is_numbered, || format!("#{} ", point.policy.nth));
            let cells = [
                number + &point.policy.label,
                usd(point.usd),
                percent(point.kept),
                if point.is_efficient { "yes" } else { "no" }.to_owned(),
                or_none(point.usd_interval, |ends| ends.map(usd).join(" … ")),
                or_none(point.kept_interval, |ends| ends.map(percent).join(" … ")),
            ];
            Row { cells: cells.to_vec(), note: point.mark.map(str::to_owned) }
        });
        let columns = ["policy", "cost USD", self.kept, "unbeaten", "USD from … to", "kept, 95%"];
        let mut grid = Grid::new("", 1, &columns, rows);
        // A column in which nothing stands says nothing.
        for at in [5, 4] {
            if grid.rows.iter().all(|it| it.cells[at] == NONE) {
                grid.columns.remove(at);
                grid.rows.iter_mut().for_each(|it| drop(it.cells.remove(at)));
            }
        }
        grid
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let top = 40.0;
        let (bottom, left, right) = (top + HEIGHT, 52.0, WIDTH - 20.0);
        let is_few = self.points.len() <= MOST_NAMED;
        let is_coloured = |it: &FrontierPoint| is_few || it.is_efficient || it.mark.is_some();
        // Intervals of what is not named would hide what is.
        let ends = |it: &FrontierPoint| {
            if is_coloured(it) { it.usd_and_kept_ranges() } else { [[it.usd; 2], [it.kept; 2]] }
        };
        let all = |nth: usize| self.points.iter().flat_map(move |it| ends(it)[nth]);
        let [low, high] = [all(0).fold(f64::INFINITY, f64::min), all(0).fold(0.0, f64::max)];
        let lowest = all(1).fold(1.0, f64::min).max(0.0);
        // Where nothing comes near to all of it, the axis ends with what there is.
        let most = all(1).fold(0.0, f64::max);
        let highest = if most < 0.5 { most } else { 1.0 };
        let across = Axis::from_zero_unless_far(low, high, [left, right], 5.0);
        let up = Axis::from_zero_unless_far(lowest, highest, [bottom, top], 5.0);
        let written = |share: f64| format!("{:.0}%", share * 100.0);
        let begins = up.ticks.first().filter(|it| **it > 0.0);
        let begins = or_nothing(begins, |it| format!(" (axis from {})", written(*it)));
        let usd = "cost in US dollars";
        across.draw_below_frame(&mut scene, [top, bottom], usd, |it| across.format_number(it));
        up.draw_left_of_frame(&mut scene, [left, right], &format!("{}{begins}", self.kept), written);
        let corners = self.draw_frontier(&mut scene, &across, &up, right);
        let placed = self.points.iter().map(|point| {
            let [usd, kept] = ends(point);
            let at = [across.position_of(point.usd), up.position_of(point.kept)];
            let usd = usd.map(|end| [across.position_of(end), at[1]]);
            let kept = kept.map(|end| [at[0], up.position_of(end.clamp(0.0, 1.0))]);
            PlacedPoint { point, at, reach: [usd, kept], is_coloured: is_coloured(point) }
        });
        let placed: Vec<PlacedPoint<'_>> = placed.listed();
        // Names lie over no point, no interval and no part of the line.
        let parts = corners.windows(2).map(|ends| [ends[0], ends[1]]);
        let lines = placed.iter().flat_map(|it| it.reach).chain(parts);
        let coloured = placed.iter().filter(|it| it.is_coloured);
        let points = coloured.map(|it| it.at).map(|[x, y]| [x - 6.0, y - 6.0, x + 6.0, y + 6.0]);
        let taken = points.chain(lines.map(legend::area_around_line)).listed();
        let frame = [left, top - 8.0, WIDTH, bottom];
        let unnamed = self.draw_names_return_unnamed(&mut scene, &placed, taken, frame);
        let (plain, coloured): (Vec<_>, Vec<_>) = placed.iter().partition(|it| !it.is_coloured);
        plain.into_iter().chain(coloured).for_each(|it| it.draw(&mut scene, self.usd_decimals()));
        let sample = |point: &FrontierPoint| {
            let kind = if point.policy.looks_ahead { Swatch::Ring } else { Swatch::Shape };
            kind(point.policy.nth)
        };
        let is_told = |it: &FrontierPoint| self.is_numbered && is_coloured(it) && it.mark != Some(BASE);
        let number = |it: &FrontierPoint| format!("{}: {}", self.drawn_name_of(it), it.policy.label);
        let numbered = self.points.iter().filter(|it| is_told(it)).map(|it| (sample(it), number(it)));
        let unnamed = unnamed.iter().filter(|_| is_few && !self.is_numbered);
        let unnamed = unnamed.map(|it| (sample(it), it.name_with_mark()));
        let entries = numbered.chain(unnamed).listed();
        scene.height = legend::draw_legend(&mut scene, bottom + 56.0, entries) + 20.0;
        scene
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::DrawnMark;
    use super::*;

    fn point(nth: usize, usd: f64, kept_share: f64, looks_ahead: bool) -> FrontierPoint {
        let name = format!("policy_{nth}");
        let policy = PolicyLabel { label: name.clone(), name, nth, looks_ahead };
        FrontierPoint::new(policy, usd, kept_share)
    }

    #[test]
    fn a_policy_is_efficient_where_no_other_is_as_good_in_both_and_better_in_one() {
        let mut points = [
            point(0, 1.0, 0.9, false),
            point(1, 1.0, 0.9, false),
            point(2, 1.0, 0.8, false),
            point(3, 0.5, 0.2, false),
            point(4, 2.0, 0.9, false),
            point(5, 0.1, 1.0, true),
        ];

        mark_efficient(&mut points);

        let efficient = points.map(|it| it.is_efficient);
        assert_eq!(efficient, [true, true, false, true, false, false], "who looks ahead is out of the race");
    }

    #[test]
    fn names_never_lie_over_one_another() {
        // Points on a spiral, so that some are far apart and some are not.
        let points = (0..40).map(|nth| {
            let (turn, reach) = (nth as f64 * 0.7, nth as f64 / 90.0);
            point(nth, 5.0 + 4.0 * reach * turn.cos(), 0.5 + reach * turn.sin(), false)
        });
        let mut points: Vec<FrontierPoint> = points.collect();
        points.iter_mut().for_each(|it| it.is_efficient = true);
        let (subject, left_out) = (String::new(), Vec::new());
        let scene = Frontier { subject, kept: KEPT, points, left_out, is_numbered: false }.draw_scene();

        let area = |mark: &DrawnMark| match mark {
            DrawnMark::Text(text) => Some(text.bounding_box()),
            DrawnMark::Path(_) => None,
        };
        let areas = scene.marks.iter().filter_map(area).listed();
        assert!(areas.len() > 12 + 5, "numbers of axes, and names beside points: {} in all", areas.len());
        for (nth, one) in areas.iter().enumerate() {
            let overlaps = |other: &legend::Area| legend::do_areas_overlap(*one, *other);
            assert!(!areas[nth + 1..].iter().any(overlaps), "{:?}", scene.marks);
            assert!(one[0] >= 0.0 && one[2] <= WIDTH && one[3] <= scene.height, "{one:?}");
        }
    }
}
