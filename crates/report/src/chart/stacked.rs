//! What each policy comes to by part: its cost, and how long one waits for its answers.

use super::prelude::*;
use ctxsim_engine::measure::waiting::Waited;
use ctxsim_engine::price::Costs;

/// What a run needs for such charts.
pub(super) const NEEDS: &str = "a policy whose cost is known";
pub(super) const NEEDS_TIMES: &str = "a model whose requests were timed";
/// How high a bar is.
const BAR: f64 = 18.0;
/// The parts of a cost, in their order; the last two may be negative.
pub const PARTS: [&str; 9] = [
    "cache read",
    "cache write",
    "uncached input",
    "output",
    "recovery and exploration",
    "compaction",
    "other",
    "reaction to what is fetched",
    "left by other sessions",
];

/// The parts of waiting, in their order.
const WAITS: [&str; 3] = ["requests", "recovery and exploration", "compaction"];

/// What is divided into parts.
#[derive(Debug, PartialEq)]
struct StackedKind {
    title: &'static str,
    parts: &'static [&'static str],
    axis: &'static str,
    column: &'static str,
    /// What stands before and behind a number.
    signs: [&'static str; 2],
    /// What policies are without a number.
    unknown: &'static str,
    /// Whether its decimals are those of money.
    is_money: bool,
}

const COST: StackedKind = StackedKind {
    title: "Cost by part of the bill",
    parts: &PARTS,
    axis: "cost in US dollars",
    column: "total USD",
    signs: ["$", ""],
    unknown: "Unpriced",
    is_money: true,
};

const WAITING: StackedKind = StackedKind {
    title: "Waiting for answers by part",
    parts: &WAITS,
    axis: "minutes, with the 90% interval of a session's total",
    column: "total minutes",
    signs: ["", " min"],
    unknown: "Without data",
    is_money: false,
};

/// The policies of a table by parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackedBars {
    #[serde(skip)]
    of: &'static StackedKind,
    /// Of what, and under which profile.
    pub subject: String,
    /// The policies whose number is known.
    pub bars: Vec<StackedBar>,
    /// The others.
    pub left_out: Vec<String>,
}

/// A policy by parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackedBar {
    pub policy: PolicyLabel,
    /// US dollars or minutes, in the order of the parts; what is negative is taken off the others.
    pub amounts: Vec<f64>,
    /// All of it.
    pub total: f64,
    /// The same at either end of what is assumed.
    pub interval: Option<[f64; 2]>,
    /// Where it stopped at a limit.
    pub stopped: Option<String>,
}

/// Returns a chart for each table with a known cost.
pub fn cost_charts(source: &ChartData<'_>) -> Vec<StackedBars> {
    let bar = |it: &Tally| Some((cost_parts_usd(&it.costs), it.costs.total()?, it.cost_interval()));
    charts_of_kind(source, &COST, bar)
}

/// Returns a chart for each table whose model has data on waiting.
pub fn waiting_charts(source: &ChartData<'_>) -> Vec<StackedBars> {
    let bar = |tally: &Tally| {
        let (waiting, all) = (&tally.waiting, tally.waiting.total());
        let parts = [waiting.main, waiting.recovery, waiting.compaction];
        let parts: Option<Vec<f64>> = parts.iter().map(Waited::minutes).collect();
        Some((parts?, all.minutes()?, all.interval()))
    };
    charts_of_kind(source, &WAITING, bar)
}

/// Returns a chart for each table in which something has a number: its parts, all of them, and the ends of that.
fn charts_of_kind(
    source: &ChartData<'_>,
    kind: &'static StackedKind,
    parts_total_interval: impl Fn(&Tally) -> Option<(Vec<f64>, f64, Option<[f64; 2]>)>,
) -> Vec<StackedBars> {
    let of_section = source.sections.iter().map(|section| {
        let (mut bars, mut left_out) = (Vec::new(), Vec::new());
        for line in &section.lines {
            let (policy, stopped) = (source.names.label_of(&line.policy), line.stopped.clone());
            match parts_total_interval(&line.tally) {
                Some((amounts, total, interval)) => {
                    bars.push(StackedBar { policy, amounts, total, interval, stopped });
                }
                None => left_out.push(line.policy.clone()),
            }
        }
        StackedBars { of: kind, subject: section.subject_and_profile(), bars, left_out }
    });
    of_section.filter(|it| it.bars.iter().any(|bar| bar.total > 0.0)).listed()
}

/// Divides a cost among [`PARTS`].
fn cost_parts_usd(costs: &Costs) -> Vec<f64> {
    let main = &costs.main;
    let other = costs.keep_alive + costs.storage + costs.memory + costs.penalty;
    let exact = [main.read, main.write, main.uncached, main.output].map(|cost| cost.usd());
    let rest = [costs.assumed().usd(), costs.compaction.usd(), other.usd()];
    [&exact[..], &rest, &[costs.reaction.usd(), costs.left.usd()]].concat()
}

impl StackedBar {
    /// Returns its name, with a mark if it stopped and so did less work.
    fn label_marking_stopped(&self) -> String {
        let mark = if self.stopped.is_some() { " (stopped)" } else { "" };
        format!("{}{mark}", self.policy.label)
    }
}

impl StackedBars {
    /// Returns the parts that some policy has.
    fn used_part_indices(&self) -> Vec<usize> {
        let parts = 0..self.of.parts.len();
        parts.filter(|part| self.bars.iter().any(|it| it.amounts[*part] != 0.0)).listed()
    }

    fn n_decimals(&self) -> usize {
        let most = self.bars.iter().map(|it| it.total).fold(0.0, f64::max);
        if self.of.is_money { usd_decimals_up_to(most) } else { 1 }
    }

    /// Writes a number with its unit.
    fn format_with_unit(&self, number: f64) -> String {
        let [before, behind] = self.of.signs;
        format!("{before}{}{behind}", fixed(number, self.n_decimals()))
    }

    /// Draws a bar that ends at its total, what is taken off hollow behind it, and the interval of its end.
    fn draw_bar(bar: &StackedBar, across: &Axis, y: f64) -> Vec<SvgPath> {
        let mut marks: Vec<SvgPath> = Vec::new();
        let mut sum = 0.0;
        let net = bar.total.max(0.0);
        for (part, amount) in bar.amounts.iter().enumerate().filter(|(_, amount)| **amount > 0.0) {
            let [from, to] = [sum, sum + amount].map(|usd| across.position_of(usd.min(net)));
            let path = SvgPath::filled(box_path([from, y], [to, y + BAR]), ink::part_ink(part));
            // A border would hide what is thin.
            marks.push(if to - from > 3.0 { path.with_outline(ink::PAPER, 1.0) } else { path });
            sum += amount;
        }
        let mut left = sum;
        for (part, amount) in bar.amounts.iter().enumerate().filter(|(_, amount)| **amount < 0.0) {
            let [from, to] = [left + amount, left].map(|usd| across.position_of(usd.max(net)));
            let hollow = box_path([from + 0.8, y + 0.8], [to.max(from + 1.6) - 0.8, y + BAR - 0.8]);
            marks.push(SvgPath::stroked(hollow, ink::part_ink(part), 1.5));
            left += amount;
        }
        let interval = bar.interval.map(|ends| ends.map(|it| across.position_of(it)));
        if let Some([low, high]) = interval.filter(|[low, high]| high - low > 1.0) {
            let middle = y + BAR / 2.0;
            let ends = [low, high].map(|x| line_path([[x, middle - 4.0], [x, middle + 4.0]])).concat();
            let reach = line_path([[low, middle], [high, middle]]) + &ends;
            marks.push(SvgPath::stroked(reach.clone(), ink::PAPER, 3.5));
            marks.push(SvgPath::stroked(reach, ink::TEXT, 1.5));
        }
        marks
    }
}

impl Picture for StackedBars {
    fn title_and_subject(&self) -> [String; 2] {
        [self.of.title.to_owned(), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let parts = self.of.parts;
        let said = self.bars.iter().map(|bar| {
            let amounts = &bar.amounts;
            let largest = (0..parts.len()).max_by(|one, other| amounts[*one].total_cmp(&amounts[*other]));
            let share = largest.filter(|_| bar.total > 0.0);
            let share = share.map(|it| format!(", {} of it {}", percent(amounts[it] / bar.total), parts[it]));
            let (label, total) = (bar.label_marking_stopped(), self.format_with_unit(bar.total));
            format!("{label} {total}{}", share.unwrap_or_default())
        });
        let left_out = text_if_any(self.left_out.len(), |_| {
            format!(" {}: {}.", self.of.unknown, self.left_out.join(", "))
        });
        format!("{}.{left_out}", said.listed().join("; "))
    }

    fn numbers_grid(&self) -> Grid {
        let (shown, decimals) = (self.used_part_indices(), self.n_decimals());
        let parts = shown.iter().map(|it| self.of.parts[*it]);
        let columns: Vec<&str> = ["policy"].into_iter().chain(parts).chain([self.of.column]).listed();
        let rows = self.bars.iter().map(|bar| {
            let amounts = shown.iter().map(|part| bar.amounts[*part]).chain([bar.total]);
            let amounts = amounts.map(|it| fixed(it, decimals));
            [bar.policy.label.clone()].into_iter().chain(amounts).listed()
        });
        Grid::new("", 1, &columns, rows)
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let entry = |it: usize| (Swatch::Colour(ink::part_ink(it)), self.of.parts[it].to_owned());
        let entries = self.used_part_indices().into_iter().map(entry);
        let is_reduced = self.bars.iter().any(|bar| bar.amounts.iter().any(|amount| *amount < 0.0));
        let hollow = is_reduced.then(|| (Swatch::Hollow, "hollow: taken off".to_owned()));
        let top = legend::draw_legend(&mut scene, legend::TOP, entries.chain(hollow)) + 4.0;
        let (left, right) = (12.0, WIDTH - 24.0);
        let (bars, more) = cheapest_with_note(&self.bars, 1, |it| it.total);
        let gross = |bar: &StackedBar| bar.amounts.iter().filter(|it| **it > 0.0).sum();
        let high = bars.iter().map(|it| it.interval.map_or(0.0, |ends| ends[1]).max(gross(it)));
        let across = Axis::rounded(0.0, high.fold(0.0, f64::max), [left, right], 5.0);
        let pitch = LINE + BAR + 10.0;
        let bottom = top + pitch * bars.len() as f64 + 2.0;
        across.draw_below_frame(&mut scene, [top, bottom], self.of.axis, |it| across.format_number(it));
        let totals = bars.iter().map(|bar| self.format_with_unit(bar.total)).listed();
        let widest = totals.iter().map(|total| text_width(total)).fold(0.0, f64::max);
        let names = bars.iter().map(|bar| bar.label_marking_stopped()).listed();
        let names = shorten_names(&names, right - left - widest - 24.0);
        for ((nth, bar), (name, total)) in bars.into_iter().enumerate().zip(names.into_iter().zip(totals)) {
            let y = top + pitch * nth as f64 + LINE + 2.0;
            // Lines of the axis do not run through words.
            scene.draw(SvgPath::filled(box_path([left, y - LINE], [right + 1.0, y - 2.0]), ink::PAPER));
            scene.draw(legend::policy_point(bar.policy.nth, [left + 4.0, y - 8.5], 4.5));
            scene.add(SceneText::new(left + 14.0, y - 4.0, name));
            scene.add(SceneText::new(right, y - 4.0, total).with_anchor(Anchor::End).in_bold());
            let amounts = bar.amounts.iter().copied().zip(self.of.parts.iter().copied());
            let mut parts: Vec<(f64, &str)> = amounts.filter(|it| it.0 != 0.0).listed();
            parts.order_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
            // The table has the others.
            let said = parts.iter().take(3);
            let said = said.map(|(amount, part)| format!("{part} {}", percent(amount / bar.total)));
            let label = format!("{}: {}", bar.label_marking_stopped(), said.listed().join(", "));
            scene.add_row_link(bar.policy.table_row_keys(), label, Self::draw_bar(bar, &across, y));
        }
        if let Some(more) = more {
            scene.add(SceneText::new(left, bottom + 52.0, more).faint());
        }
        scene.height = bottom + 62.0;
        scene
    }
}
