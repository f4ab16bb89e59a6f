//! What each request of a run costs, by part of its bill, and where the cached prefix broke: before and after on one axis.

use super::prelude::*;
use crate::carried::FilledKind;
use crate::counts_by_value;
use ctxsim_engine::ledger::pairing::RequestId;
use ctxsim_engine::ledger::{CacheUse, RequestRow, Role};
use ctxsim_engine::measure::missed::{MISS_MIN, Miss, all_misses};
use ctxsim_engine::price::RequestCost;
use ctxsim_engine::take::{Load, Take};
use ctxsim_input::Policy;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "requests";
/// How high the bars of a policy are, and the line of its prompts above them.
const BARS: f64 = 78.0;
const PROMPTS: f64 = 26.0;
/// How far apart these two are.
const GAP: f64 = 20.0;
/// Where the frames begin and end.
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDTH - 16.0;
/// How much narrower than [`width`] says a sentence in small letters is.
const PLAIN: f64 = 1.15;
/// The most policies that are drawn; the numbers have all.
const MOST_PANELS: usize = 4;
/// Of so many broken prefixes of a policy, those that leave most unread, each says what it is; the keyboard reaches them.
const MOST_STOPS: usize = 12;
/// The most requests in the table of those that differ most.
const MOST_DIFFERENCES: usize = 10;
/// Smaller differences in US dollars are none.
const NOTHING: f64 = 1e-9;
/// Who edits where no stage does: a recorded compaction, recalled memory, or content of the harness that changes.
const OUTSIDE: &str = "the harness or memory";
/// The parts of a request's bill with their colours, from the foot up.
const PARTS: [&str; 6] =
    ["cache read", "cache write", "uncached input", "output", "recovery and exploration", "compaction"];

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRequests {
    pub policy: String,
    pub scenario: String,
    pub profile: String,
    /// The agent's own requests, in order.
    pub sent: Vec<RequestBar>,
    /// How many requests wrote summaries.
    pub n_summaries: usize,
    /// What the run costs in US dollars; none where some of it has no price.
    pub usd: Option<f64>,
    /// The part of that which belongs to no single request, such as stored contents.
    pub whole_usd: f64,
    /// Of the first run of a recorded session: what fills its billed prompts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<FilledKind>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestBar {
    /// What it is in every run of its load.
    pub id: RequestId,
    /// Tokens of its prompt that were read, written, and billed as plain input, and of its output.
    pub tokens: [Tokens; 4],
    /// What it costs in US dollars, by the parts of a bill; a summary or keep-alive request counts towards the request that it comes before.
    pub usd: [f64; 6],
    /// The stage that was the first to edit what had been sent before; the policy itself, if it is code. A recorded compaction is no
    /// stage's doing.
    pub edited_by: Option<String>,
    /// How many edits were made since then.
    pub n_edits: u32,
    /// Why less was read than the request before had in the cache, if so, and how many tokens less.
    pub broke: Option<(String, Tokens)>,
}

/// The requests of a scenario under a profile, policy by policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestBars {
    /// Of what, and under which profile.
    pub subject: String,
    /// The policies.
    pub panels: Vec<Panel>,
    /// Those that are drawn, by their places.
    drawn: Vec<usize>,
    /// The place of what is advised, if that is not the first.
    advised: Option<usize>,
}

/// A request that costs more or less than the first policy's.
struct RequestDifference {
    number: usize,
    usd: f64,
    /// Of this request and all before it.
    sum: f64,
}

/// The requests of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    pub policy: PolicyLabel,
    /// Its requests.
    pub trace: RunRequests,
}

impl RunRequests {
    /// Returns those of the load that costs most under its first policy, with of how many loads it is one.
    pub(crate) fn of_dearest_load<'t>(loads: impl Iterator<Item = &'t [Self]>, n_loads: usize) -> Vec<Self> {
        let usd = |it: &[Self]| it.first().and_then(|it| it.usd).unwrap_or_default();
        // Of equal ones the first: in which order they were played does not matter.
        let dearest = loads.reduce(|one, other| if usd(other) > usd(one) { other } else { one });
        let mut traces = dearest.unwrap_or_default().to_vec();
        for trace in traces.iter_mut().filter(|_| n_loads > 1) {
            trace.scenario += &format!(", the most expensive of {n_loads},");
        }
        traces
    }

    /// Takes what charts show from the runs of a load that kept their rows.
    pub fn from_takes<'t>(load: &Load, takes: impl IntoIterator<Item = &'t Take>, title: &str) -> Vec<Self> {
        let missed = |it| load.timeline().map_or_else(Vec::new, |timeline| all_misses(timeline, it));
        let misses = load.profiles.iter().map(missed).listed();
        let filled = || load.timeline().map_or_else(Vec::new, |it| FilledKind::list_for_session(it));
        let traced = |take: &Take| {
            let rows = take.rows.as_ref().filter(|it| it.fault.is_none())?;
            let costs = load.costs_by_request(take).unwrap_or_default();
            let policy = &load.policies[take.cell.policy];
            let usd: Option<f64> = costs.iter().map(|it| Some(it.total()?.usd())).sum();
            let whole = |it: &RequestCost| (it.reaction + it.rest).usd();
            Some(Self {
                policy: policy.name.clone(),
                scenario: title.to_owned(),
                profile: load.profiles[take.cell.profile].name.clone(),
                sent: own_bars(policy, &rows.requests, &costs, &misses[take.cell.profile]),
                n_summaries: rows.requests.iter().filter(|it| it.role != Role::Main).count(),
                usd: usd.filter(|_| costs.len() == rows.requests.len()),
                whole_usd: costs.last().map_or(0.0, whole),
                filled: if take.cell.policy == 0 && take.cell.profile == 0 { filled() } else { Vec::new() },
            })
        };
        takes.into_iter().filter_map(traced).listed()
    }
}

/// Returns the agent's own requests, each with what was sent beside it.
fn own_bars(policy: &Policy, rows: &[RequestRow], costs: &[RequestCost], misses: &[Miss]) -> Vec<RequestBar> {
    let mut all: Vec<RequestBar> = Vec::new();
    let mut beside = 0.0;
    for (nth, (row, id)) in rows.iter().zip(RequestId::of_all(rows)).enumerate() {
        let cost = costs.get(nth).copied().unwrap_or_default();
        let own = cost.request().unwrap_or_default().usd();
        let expected = cost.total().map_or(0.0, |it| it.usd()) - own - (cost.reaction + cost.rest).usd();
        if row.role != Role::Main {
            beside += own + expected;
            continue;
        }
        let Bill { read, write, uncached, output, .. } = cost.bill;
        let [read, write, uncached, output] = [read, write, uncached, output].map(|it| it.usd());
        all.push(RequestBar {
            id,
            tokens: [row.usage.read, row.usage.write.iter().sum(), row.usage.uncached, row.output],
            usd: [read, write, uncached, output, expected, std::mem::take(&mut beside)],
            edited_by: editor_name(policy, row),
            n_edits: row.change.n_edits,
            broke: break_cause_and_lost_tokens(policy, row, all.last(), misses),
        });
    }
    if let Some(last) = all.last_mut() {
        last.usd[5] += beside;
    }
    all
}

/// Returns who edited a prompt.
fn editor_name(policy: &Policy, row: &RequestRow) -> Option<String> {
    let editor = match row.change.by {
        Some(u16::MAX) => OUTSIDE,
        by => by.and_then(|by| policy.stages.get(usize::from(by))).map_or(&policy.name, |it| &it.name),
    };
    (row.change.n_edits > 0).then(|| editor.to_owned())
}

/// Returns why less of a prompt was read than of the one before, and how many tokens less.
fn break_cause_and_lost_tokens(
    policy: &Policy,
    row: &RequestRow,
    before: Option<&RequestBar>,
    misses: &[Miss],
) -> Option<(String, Tokens)> {
    // Where writes are not billed, all of a prompt is cached.
    let cached = before.map_or(0, |bar| match bar.tokens {
        [_, 0, ..] => bar.prompt_tokens(),
        [read, written, ..] => read + written,
    });
    let less = cached.saturating_sub(row.usage.read);
    let recorded = || misses.iter().find(|it| it.step == row.step).map(|it| it.cause.about());
    let is_stage = row.change.by.is_some_and(|by| usize::from(by) < policy.stages.len());
    let why = || match editor_name(policy, row) {
        Some(by) if is_stage => format!("stage {by}"),
        Some(by) => by,
        None => recorded().unwrap_or("the entries were gone").to_owned(),
    };
    (less >= MISS_MIN && row.usage != CacheUse::default()).then(|| (why(), less))
}

/// Returns a chart for each scenario and profile.
pub fn request_charts(source: &ChartData<'_>) -> Vec<RequestBars> {
    let advised = source.report.verdicts_of(&source.sections).into_iter().filter_map(|it| it.cheapest);
    request_charts_by_load(source.traces, &source.names, &advised.map(|it| it.policy).collect())
}

/// The same of runs that are in no report.
pub fn request_charts_by_load(
    traces: &[RunRequests],
    names: &PolicyLabels,
    advised: &BTreeSet<String>,
) -> Vec<RequestBars> {
    let charts = grouped(traces.iter().filter(|it| !it.sent.is_empty()).map(|trace| {
        let panel = Panel { policy: names.label_of(&trace.policy), trace: trace.clone() };
        (format!("{} under {}", trace.scenario, trace.profile), panel)
    }));
    charts.into_iter().map(|(subject, panels)| RequestBars::new(subject, panels, advised)).listed()
}

impl RequestBar {
    /// Returns the first parts of it together, in US dollars or else in tokens.
    fn sum_of_first_parts(&self, n_parts: usize, is_priced: bool) -> f64 {
        if !is_priced {
            return self.tokens.iter().take(n_parts).map(|it| *it as f64).sum();
        }
        // What is expected to be spared is taken off the top, so that bars end at what a request costs.
        let parts: f64 = self.usd.iter().take(n_parts).map(|it| it.max(0.0)).sum();
        parts.min(self.usd.iter().sum::<f64>().max(0.0))
    }

    fn prompt_tokens(&self) -> Tokens {
        self.tokens[..3].iter().sum()
    }
}

impl Panel {
    fn longest_prompt_tokens(&self) -> Tokens {
        self.trace.sent.iter().map(RequestBar::prompt_tokens).max().unwrap_or(0)
    }

    /// Returns how often some reason was there, in the order of their first time.
    fn reason_counts<'a>(&'a self, reason_of: impl Fn(&'a RequestBar) -> Option<&'a str>) -> Vec<String> {
        let counts = counts_by_value(self.trace.sent.iter().filter_map(reason_of));
        counts.iter().map(|(why, n)| format!("{why} {n}×")).listed()
    }

    /// Says how often its cached prefix broke, and why.
    fn describe_cache_breaks(&self) -> String {
        let n_broken = self.trace.sent.iter().filter(|it| it.broke.is_some()).count();
        let times = match n_broken {
            0 => return "cache never broken".to_owned(),
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        let reasons = self.reason_counts(|it| Some(&it.broke.as_ref()?.0)).join(", ");
        // Of a single reason its number is said already.
        format!("cache broken {times}: {}", reasons.trim_end_matches(&format!(" {n_broken}×")))
    }
}

impl RequestBars {
    /// Chooses what is drawn: the first policy, what is advised, and the next ones.
    fn new(subject: String, panels: Vec<Panel>, advised: &BTreeSet<String>) -> Self {
        let rank = |nth: &usize| match &panels[*nth].policy {
            _ if *nth == 0 => 0,
            policy if advised.contains(&policy.name) => 1,
            policy => 2 + u8::from(policy.looks_ahead),
        };
        let mut drawn = (0..panels.len()).listed();
        drawn.order_by_key(rank);
        let advised = drawn.get(1).copied().filter(|it| rank(it) == 1);
        drawn.truncate(MOST_PANELS);
        drawn.sort_unstable();
        Self { subject, panels, drawn, advised }
    }

    fn drawn_panels(&self) -> impl Iterator<Item = &Panel> {
        self.drawn.iter().filter_map(|it| self.panels.get(*it))
    }

    /// Returns a table of the requests that cost most more or less than the first policy's, where all of them have a price.
    pub(crate) fn largest_differences_grid(&self) -> Option<Grid> {
        let (base, candidate) = (self.panels.first()?, self.compared_panel()?);
        base.trace.usd.zip(candidate.trace.usd)?;
        let mut by_request: BTreeMap<RequestId, f64> = BTreeMap::new();
        for (panel, sign) in [(base, -1.0), (candidate, 1.0)] {
            for bar in &panel.trace.sent {
                *by_request.entry(bar.id).or_default() += sign * bar.usd.iter().sum::<f64>();
            }
        }
        let (mut sum, mut differ) = (0.0, Vec::new());
        for (usd, number) in by_request.into_values().zip(1..) {
            sum += usd;
            differ.push(RequestDifference { number, usd, sum });
        }
        differ.retain(|it| it.usd.abs() > NOTHING);
        differ.order_by(|one, other| other.usd.abs().total_cmp(&one.usd.abs()));
        differ.truncate(MOST_DIFFERENCES);
        differ.order_by_key(|it| it.number);
        let dollars = |usd: f64| super::format_signed_usd(usd, if usd.abs() >= 0.995 { 2 } else { 4 });
        let columns: [Of<'_, RequestDifference>; 3] = [
            ("differs most", &|it| format!("request {}", it.number)),
            ("USD", &|it| dollars(it.usd)),
            ("sum so far", &|it| dollars(it.sum)),
        ];
        let title = format!("{} against {}: {}", candidate.policy.label, base.policy.label, self.subject);
        (!differ.is_empty()).then(|| Grid::from_columns(title, 1, &differ, &columns))
    }

    /// Returns what the first policy is compared with: what is advised, else the cheapest of the others that know no later needs.
    fn compared_panel(&self) -> Option<&Panel> {
        let usd = |it: &Panel| it.trace.usd.unwrap_or(f64::INFINITY);
        let others = self.panels.iter().skip(1).filter(|it| !it.policy.looks_ahead);
        let cheapest = others.min_by(|one, other| usd(one).total_cmp(&usd(other)));
        self.advised.and_then(|it| self.panels.get(it)).or(cheapest)
    }

    /// Returns whether all that is drawn has a price; else bars are tokens.
    fn is_priced(&self) -> bool {
        self.drawn_panels().all(|it| it.trace.usd.is_some())
            && self.drawn_panels().any(|it| it.trace.usd.is_some_and(|usd| usd > 0.0))
    }

    fn usd_decimals(&self) -> usize {
        usd_decimals_up_to(self.panels.iter().filter_map(|it| it.trace.usd).fold(0.0, f64::max))
    }

    /// Says what a policy costs, and by how much that differs from the first.
    fn describe_cost(&self, panel: &Panel) -> Option<String> {
        let usd = panel.trace.usd.filter(|_| self.is_priced())?;
        let first = self.panels.first().and_then(|it| it.trace.usd).filter(|it| *it > 0.0);
        let is_first = self.panels.first().is_some_and(|it| it.policy == panel.policy);
        let change = first.filter(|_| !is_first).map(|it| format!(", {}", signed(usd / it - 1.0)));
        Some(format!("${}{}", fixed(usd, self.usd_decimals()), change.unwrap_or_default()))
    }

    /// Says what is not drawn.
    fn not_drawn_notes(&self) -> Vec<String> {
        let n = self.panels.len() - self.drawn.len();
        let more = (n > 0).then(|| format!("and {}, in the numbers", numbers::counted(n, "more run")));
        let least = 0.1f64.powi(self.usd_decimals() as i32);
        let has_whole = |it: &&Panel| self.is_priced() && it.trace.whole_usd.abs() >= least;
        let panels = self.drawn_panels().filter(has_whole).listed();
        let usd = |it: &&Panel| super::format_signed_usd(it.trace.whole_usd, self.usd_decimals());
        let words = panels.iter().map(|it| format!("{} in no single request: ", usd(it))).listed();
        let widest = words.iter().map(|words| text_width(words)).fold(0.0, f64::max);
        let names = panels.iter().map(|it| it.policy.label.clone()).listed();
        let names = shorten_names(&names, PLAIN * (WIDTH - 8.0) - widest);
        // A policy a line: no line is cut.
        let whole = words.into_iter().zip(names).map(|(words, name)| words + &name);
        more.into_iter().chain(whole).listed()
    }
}

impl Picture for RequestBars {
    fn title_and_subject(&self) -> [String; 2] {
        let what = if self.is_priced() { "costs" } else { "sends" };
        [format!("What each request {what}, and where the cache broke"), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let said = self.drawn_panels().map(|panel| {
            let (label, breaks) = (&panel.policy.label, panel.describe_cache_breaks());
            let cost = or_nothing(self.describe_cost(panel), |it| format!("{it}, "));
            let longest = numbers::short(panel.longest_prompt_tokens());
            let n = counted(panel.trace.sent.len(), "request");
            format!("{label}: {cost}{n}, longest prompt {longest} tokens, {breaks}")
        });
        format!("{}.", said.listed().join("; "))
    }

    fn numbers_grid(&self) -> Grid {
        let sum = |it: &Panel, part: usize| it.trace.sent.iter().map(|it| it.tokens[part]).sum();
        let edited_by = |panel: &Panel| {
            let said = panel.reason_counts(|it| it.edited_by.as_deref());
            if said.is_empty() { "none".to_owned() } else { said.join(", ") }
        };
        let columns: [Of<'_, Panel>; 9] = [
            ("policy", &|it| it.policy.label.clone()),
            ("edited by", &edited_by),
            ("cost", &|it| self.describe_cost(it).unwrap_or_else(|| NONE.to_owned())),
            ("requests", &|it| numbers::thousands(it.trace.sent.len() as u64)),
            ("longest prompt tokens", &|it| numbers::thousands(it.longest_prompt_tokens())),
            ("read", &|it| numbers::short(sum(it, 0))),
            ("written", &|it| numbers::short(sum(it, 1))),
            ("uncached", &|it| numbers::short(sum(it, 2))),
            ("summaries", &|it| it.trace.n_summaries.to_string()),
        ];
        Grid::from_columns("", 2, &self.panels, &columns)
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let frame = RequestFrame::new(self);
        let shown = (0..PARTS.len()).filter(|part| frame.has[*part]);
        let parts = shown.map(|it| (Swatch::Colour(ink::part_ink(it)), PARTS[it].to_owned()));
        let broke = self.drawn_panels().any(|it| it.trace.sent.iter().any(|it| it.broke.is_some()));
        let broke = broke.then(|| (Swatch::Broken, "cached prefix broken".to_owned()));
        let top = legend::draw_legend(&mut scene, legend::TOP, parts.chain(broke)) + 12.0;
        let pitch = LINE * 2.0 + PROMPTS + GAP + BARS + 18.0;
        let costs = self.drawn_panels().map(|it| self.describe_cost(it).unwrap_or_default()).listed();
        let widest = costs.iter().map(|cost| text_width(cost)).fold(0.0, f64::max);
        let names = self.drawn_panels().map(|it| it.policy.label.clone()).listed();
        let names = shorten_names(&names, WIDTH - 44.0 - widest);
        for ((nth, panel), (name, cost)) in self.drawn_panels().enumerate().zip(names.into_iter().zip(costs))
        {
            let y = top + pitch * nth as f64;
            scene.draw(legend::policy_point(panel.policy.nth, [9.0, y + 7.5], 4.5));
            scene.add(SceneText::new(20.0, y + 12.0, name).in_bold());
            scene.add(SceneText::new(RIGHT, y + 12.0, cost).with_anchor(Anchor::End).in_bold());
            let longest = numbers::short(panel.longest_prompt_tokens());
            let words = format!("prompt up to {longest}; {}", panel.describe_cache_breaks());
            let words = shorten_end(&words, PLAIN * (WIDTH - 36.0));
            scene.add(SceneText::new(20.0, y + 12.0 + LINE, words).faint());
            frame.draw_panel(panel, &mut scene, y + 2.0 * LINE + 6.0);
        }
        let bottom = top + pitch * self.drawn.len() as f64 - 12.0;
        let unit = if frame.is_priced { "US dollars" } else { "tokens" };
        let name = format!("requests; bars: {unit}, line: prompt tokens");
        frame.across.draw_below_frame(&mut scene, [bottom; 2], &name, |it| frame.across.format_number(it));
        let mut foot = bottom + 52.0;
        for more in self.not_drawn_notes() {
            scene.add(SceneText::new(4.0, foot, more).faint());
            foot += LINE;
        }
        scene.height = foot + 10.0;
        scene
    }
}

/// Where requests stand: one axis for all policies, on which what is the same request stands at the same place.
struct RequestFrame {
    is_priced: bool,
    /// The place of each request among those of all policies.
    places: IndexMap<RequestId, usize>,
    across: Axis,
    /// The highest bar and the longest prompt.
    highest: [f64; 2],
    has: [bool; 6],
}

impl RequestFrame {
    fn new(bars: &RequestBars) -> Self {
        let sent = || bars.drawn_panels().flat_map(|it| &it.trace.sent);
        let places: BTreeSet<RequestId> = sent().map(|it| it.id).collect();
        let is_priced = bars.is_priced();
        let highest = |of: &dyn Fn(&RequestBar) -> f64| sent().map(of).fold(0.0, f64::max);
        let sum = |bar: &RequestBar, n_parts: usize| bar.sum_of_first_parts(n_parts, is_priced);
        Self {
            is_priced,
            across: Axis::for_counts(places.len() as f64, [LEFT, RIGHT], 6.0),
            places: places.into_iter().zip(0..).collect(),
            highest: [highest(&|bar| sum(bar, PARTS.len())), highest(&|bar| bar.prompt_tokens() as f64)],
            has: [0, 1, 2, 3, 4, 5].map(|part| sent().any(|bar| sum(bar, part + 1) > sum(bar, part))),
        }
    }

    /// Returns what some number is at each place, half a unit wide; of requests that share a place the highest is seen.
    fn heights_of_span(&self, panel: &Panel, height_of: impl Fn(&RequestBar) -> f64) -> Vec<[f64; 3]> {
        let mut steps: Vec<[f64; 3]> = Vec::new();
        for bar in &panel.trace.sent {
            let Some(place) = self.places.get(&bar.id) else { continue };
            let edge = |place: usize| (self.across.position_of(place as f64) * 2.0).floor() / 2.0;
            let from = edge(*place);
            let to = edge(place + 1).max(from + 0.5);
            match steps.last_mut() {
                Some(last) if from < last[1] => last[2] = last[2].max(height_of(bar)),
                _ => steps.push([from, to, height_of(bar)]),
            }
        }
        steps
    }

    /// Draws a policy below a height.
    fn draw_panel(&self, panel: &Panel, scene: &mut Scene, top: f64) {
        let prompts = Axis::up_to_exactly(self.highest[1], [top + PROMPTS, top], 1.0);
        let foot = top + PROMPTS + GAP + BARS;
        let bars = Axis::up_to_exactly(self.highest[0], [foot, foot - BARS], 3.0);
        let mut tick = |y: f64, written: String| {
            scene.draw(SvgPath::stroked(line_path([[LEFT, y], [RIGHT, y]]), ink::GRID, 1.0));
            scene.add(SceneText::new(LEFT - 6.0, y + 4.0, written).with_anchor(Anchor::End).faint());
        };
        let short = |tokens: f64| numbers::short(tokens as u64).replace(".0", "");
        [0.0, self.highest[1]].into_iter().for_each(|it| tick(prompts.position_of(it), short(it)));
        for at in &bars.ticks {
            let usd = || format!("${}", bars.format_number(*at));
            tick(bars.position_of(*at), if self.is_priced { usd() } else { short(*at) });
        }
        let line = steps_path(&self.heights_of_span(panel, |it| it.prompt_tokens() as f64), &prompts, None);
        scene.draw(SvgPath::stroked(line, ink::TEXT, 1.2));
        for part in (0..PARTS.len()).rev().filter(|it| self.has[*it]) {
            let steps = self.heights_of_span(panel, |it| it.sum_of_first_parts(part + 1, self.is_priced));
            scene.draw(SvgPath::filled(steps_path(&steps, &bars, Some(foot)), ink::part_ink(part)));
        }
        self.mark_broken_prefixes(panel, scene, foot - BARS - 6.0);
    }

    /// Marks where the prefix broke, and says why where most was left unread.
    fn mark_broken_prefixes(&self, panel: &Panel, scene: &mut Scene, y: f64) {
        let bars = panel.trace.sent.iter().enumerate();
        let mut broken = bars.filter_map(|(nth, bar)| Some((nth, bar, bar.broke.as_ref()?))).listed();
        broken.order_by_key(|(_, _, (_, less))| std::cmp::Reverse(*less));
        let mark = |bar: &RequestBar| {
            let place = self.places.get(&bar.id).copied().unwrap_or_default() as f64;
            legend::broken_prefix_path([self.across.position_of(place + 0.5), y])
        };
        let (told, rest) = broken.split_at(broken.len().min(MOST_STOPS));
        let marks: String = rest.iter().map(|(_, bar, _)| mark(bar)).collect();
        if !marks.is_empty() {
            scene.draw(SvgPath::filled(marks, ink::TEXT));
        }
        for (nth, bar, (why, less)) in told {
            let [less, prompt] = [*less, bar.prompt_tokens()].map(thousands);
            let usd = text_if(self.is_priced, || format!(", ${}", fixed(bar.usd.iter().sum(), 2)));
            let n = nth + 1;
            let label = format!("request {n}: {why}; {less} cached tokens not read, prompt {prompt}{usd}");
            scene.add_spot_with_tip(label, true, vec![SvgPath::filled(mark(bar), ink::TEXT)]);
        }
    }
}

/// Draws steps as a line, or as an area above a foot; where a request is missing, there is nothing.
fn steps_path(steps: &[[f64; 3]], up: &Axis, foot: Option<f64>) -> String {
    let y_of = |step: &[f64; 3]| to_tenth(up.position_of(step[2]));
    let mut d = String::new();
    for run in steps.chunk_by(|one, other| one[1] == other[0]) {
        let mut y = y_of(&run[0]);
        let foot_first = or_nothing(foot, |it| format!("{}V", to_tenth(it)));
        d.push_str(&format!("M{} {foot_first}{y}", run[0][0]));
        for level in run.chunk_by(|one, other| y_of(one) == y_of(other)) {
            let before = std::mem::replace(&mut y, y_of(&level[0]));
            let wide = level.iter().fold(0.0, |sum, [from, to, _]| sum + (to - from));
            d.push_str(&text_if(y != before, || format!("v{}", to_tenth(y - before))));
            d.push_str(&format!("h{wide}"));
        }
        d.push_str(&or_nothing(foot, |it| format!("V{}Z", to_tenth(it))));
    }
    d
}
