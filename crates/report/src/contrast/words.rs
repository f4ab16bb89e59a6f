//! The changes between two policies in words: the verdict, the numbers, the causes; for a terminal, a review, and the summary of a workflow run.

use std::borrow::Cow;

use super::*;
use crate::blocks::{Block, ComparedBlock, ListBlock, blocks_to_markdown, draw_blocks};
use crate::decide::too_few_loads;
use ctxsim_engine::measure::Standing;

/// The headings of the numbers.
const HEADINGS: [&str; 7] = ["", "base", "candidate", "difference", "relative", "95% interval", "verdict"];
/// The causes of which each line takes several.
const REQUESTS: &str = "Requests with the largest differences";
const NEEDS: &str = "Needs met differently";
/// The most changed fields that are shown.
const FIELDS_SHOWN: usize = 8;
/// The most characters of a changed text that are shown.
const TEXT_SHOWN: usize = 60;
/// Policies that differ in more fields have little in common.
const FIELDS_MAX: usize = 40;

/// The most notes and causes, unless details are asked for.
const NOTES: usize = 3;
const CAUSES: usize = 7;
const MORE: &str = "More: --details for every change, and the requests and needs that change most.";

/// How much of what explains a comparison is shown.
#[derive(Clone, Copy)]
enum Shown {
    All,
    /// Everything, the causes after a fold.
    Folded,
    /// The first lines of so many causes.
    Brief(usize),
}

/// Draws all comparisons for a terminal, with as many causes as it has room for.
pub fn draw_contrasts(
    contrasts: &[Contrast],
    context: &ComparisonContext,
    is_detailed: bool,
    terminal: impl Into<Terminal>,
) -> String {
    let drawn = |terminal, shown| draw_blocks(&contrasts_blocks(contrasts, context, shown), "\n", terminal);
    if is_detailed {
        return drawn(terminal.into(), Shown::All);
    }
    terminal.into().fitted(0..=CAUSES, |terminal, n| drawn(terminal, Shown::Brief(n)))
}

/// Returns what changes as Markdown, with every cause in the open.
pub fn contrasts_review_markdown(contrasts: &[Contrast], context: &ComparisonContext) -> Markdown {
    blocks_to_markdown(&contrasts_blocks(contrasts, context, Shown::All))
}

/// Returns the same as the summary of a workflow run: numbers first, causes after a fold.
pub fn contrasts_summary_markdown(contrasts: &[Contrast], context: &ComparisonContext) -> Markdown {
    blocks_to_markdown(&contrasts_blocks(contrasts, context, Shown::Folded))
}

fn contrasts_blocks(contrasts: &[Contrast], context: &ComparisonContext, shown: Shown) -> Vec<Block> {
    let mut blocks: Vec<Block> = context.loads.iter().map(Block::paragraph).listed();
    blocks.extend(overall_lines(contrasts).into_iter().map(Block::Answer));
    contrasts.iter().for_each(|contrast| blocks.extend(contrast.to_blocks(shown)));
    blocks.extend(contrasts.is_empty().then(|| Block::Answer(context.explain_no_comparison())));
    let heading = context.changed_inputs_heading() + ":";
    blocks.extend(Block::list_if_any(&heading, context.changed_input_lines()));
    blocks.push(Block::Made(format!("With {}.", context.made.summary_line())));
    blocks
}

/// Says what the comparisons of a candidate come to together, where there are several: cost, evidence and prompts.
fn overall_lines(contrasts: &[Contrast]) -> Vec<String> {
    let line = |(candidate, all): (&String, &Vec<&Contrast>)| {
        let known = |place: &str| {
            let numbers = all.iter().filter_map(|it| it.number_at(&format!("totals.{place}")));
            numbers.map(|it| [it.delta.base, it.delta.candidate]).listed()
        };
        let costs = known(metric::COST);
        let [base, own] = [0, 1].map(|side| costs.iter().map(|it| it[side]).sum::<f64>());
        let mut changes = costs.iter().map(|it| it[1] / it[0] - 1.0).filter(|it| it.is_finite()).listed();
        changes.sort_by(f64::total_cmp);
        let end = |place, pick: fn(f64, f64) -> f64| {
            let ends = [0, 1].map(|side| known(place).iter().map(|it| it[side]).reduce(pick));
            ends[0].zip(ends[1])
        };
        let kept = or_nothing(end("evidence_kept", f64::min), |(base, own)| {
            format!("; evidence kept at least {} ({} before)", percent(own), percent(base))
        });
        let prompt = or_nothing(end("prompt_tokens_max", f64::max), |(base, own)| {
            let [base, own] = [base, own].map(|it| thousands(it as u64));
            format!("; longest prompt {own} tokens ({base} before)")
        });
        let n = counted(all.len(), "comparison");
        let [change, least, most] = [own / base - 1.0, *changes.first()?, *changes.last()?].map(signed);
        Some(format!("{candidate}, {n}: cost {change} ({least} to {most}){kept}{prompt}."))
    };
    let by_candidate = grouped(contrasts.iter().map(|it| (&it.candidate, it)));
    by_candidate.iter().filter(|it| it.1.len() > 1).filter_map(|(name, all)| line((name, all))).listed()
}

impl Contrast {
    /// Returns the policies, the load and the profile.
    pub fn describe_subject(&self) -> String {
        let what = if self.are_trials { "paired trial" } else { "paired session" };
        let pairs = text_if(self.pairs > 1, || format!(", {}", counted(self.pairs, what)));
        let Self { base, candidate, load, profile, as_of, .. } = self;
        format!("{candidate} against {base} · {load} · {profile} ({as_of}){pairs}")
    }

    /// Returns the numbers as a table; of a difference, the relative one is hidden first.
    pub fn numbers_grid(&self) -> Grid {
        let decimals = self.usd_decimals();
        let grid = Grid::new("", 1, &HEADINGS, self.numbers.iter().map(|it| it.table_cells(decimals)));
        let grid = grid.with(CellKind::Name, &[HEADINGS.len() - 1]).leaving(&["relative", "difference"]);
        grid.hued(Hue::Words, &["verdict"]).hued(Hue::AsWords, &["difference", "relative"])
    }

    fn to_blocks(&self, shown: Shown) -> Vec<Block> {
        let ([answer, more], numbers) = (self.verdict_and_remarks(), self.numbers_grid());
        let (subject, causes) = (self.describe_subject(), self.main_causes());
        let mut blocks = vec![Block::Compared(ComparedBlock { subject, answer, more, causes, numbers })];
        if !matches!(shown, Shown::Brief(_)) {
            blocks.extend(self.cost_parts_grid().map(Block::Table));
        }
        let (causes, mut notes) = (self.cause_blocks(), self.notes.clone());
        let Shown::Brief(n) = shown else {
            let all = causes.into_iter().map(|cause| Block::List(ListBlock { most: None, ..cause })).listed();
            blocks.extend(if let Shown::Folded = shown { vec![Block::Fold("Why", all)] } else { all });
            blocks.push(Block::Notes(notes));
            return blocks;
        };
        let has_more = |cause: &ListBlock| cause.most.is_some_and(|most| most < cause.lines.len());
        let is_cut = n < causes.len() || causes.iter().any(has_more) || notes.len() > NOTES;
        notes.truncate(NOTES);
        blocks.extend(causes.into_iter().take(n).map(Block::List));
        blocks.push(Block::Notes(notes));
        blocks.extend(is_cut.then(|| Block::Aside(MORE.to_owned())));
        blocks
    }

    /// Returns in a sentence whether the candidate is cheaper, and what else gets better or worse.
    pub fn verdict_sentence(&self) -> String {
        self.verdict_and_remarks().concat()
    }

    /// Returns whether the candidate is cheaper, and what else there is to say.
    pub(super) fn verdict_and_remarks(&self) -> [String; 2] {
        let cost = self.number_at(&format!("totals.{}", metric::COST));
        let answer = match cost {
            None => "The costs cannot be compared.".to_owned(),
            Some(it) => {
                let sure = self.describe_certainty(it);
                let change = or_nothing(it.delta.relative, |it| format!(" ({}, {sure})", signed(it)));
                let (name, doubts) = (&self.candidate, self.trust.doubts_clause());
                match it.delta.standing {
                    Standing::Better => format!("{name} is cheaper{change}{doubts}."),
                    Standing::Worse | Standing::Differs => format!("{name} costs more{change}{doubts}."),
                    Standing::Same => format!("{name} costs the same."),
                    Standing::WithinNoise => format!(
                        "Whether {name} is cheaper is not known{change}: other sessions may show the opposite{doubts}."
                    ),
                }
            }
        };
        let unknown = " Nothing says which evidence is needed, so what it loses is unknown.";
        let mut words = text_if(self.loses_unknown, || unknown.to_owned());
        if self.cost_change_assumed.is_some_and(|[low, high]| low * high < 0.0) {
            words += " The order depends on what is assumed.";
        }
        let too_few = too_few_loads(self.pairs, "scenario").filter(|_| self.pairs > 1 && !self.are_trials);
        match (self.word.zip(self.why.as_ref()), too_few) {
            (Some((word, why)), _) => words += &format!(" The word for it is “{}”: {why}.", word.text()),
            (None, Some(few)) => words += &format!(" {few}."),
            (None, None) => {}
        }
        let is_cheaper = cost.is_some_and(|it| it.delta.standing == Standing::Better);
        let gone = self.gone_at_extra_turns.filter(|_| is_cheaper);
        words += &or_nothing(gone, |it| format!(" The saving is {}.", it.break_even_clause()));
        for (standing, verb) in [(Standing::Better, "Better"), (Standing::Worse, "Worse")] {
            let others = self.numbers.iter().filter(|it| it.delta.standing == standing);
            let others = others.filter(|it| cost.is_none_or(|cost| cost.place != it.place));
            let named = others.map(|it| format!("{} ({})", it.heading, it.format_change())).listed();
            words += &text_if(!named.is_empty(), || format!(" {verb}: {}.", named.join(", ")));
        }
        // New stages that did nothing are ignored if others did something: they belong to a different policy.
        let are_all_idle = self.stages.iter().all(|it| it.idle.is_some());
        let is_idle = |it: &&StageChange| it.idle.is_some() && (are_all_idle || it.fired[0].is_some());
        // What edited something in the base and does nothing in the candidate has an effect.
        let has_stopped = |it: &&StageChange| it.idle.is_some() && it.acted[0].is_some_and(|it| it > 0);
        let idle = self.stages.iter().filter(is_idle).filter(|it| !has_stopped(it));
        let idle: Vec<String> = idle.map(|it| format!("`{}`", it.name)).listed();
        words += &text_if_any(idle.len(), |n| {
            let stages = if n == 1 { "stage" } else { "stages" };
            format!(" The changed {stages} {} had no effect here.", listed(&idle))
        });
        for stage in self.stages.iter().filter(has_stopped) {
            let (name, fired) = (&stage.name, stage.fired[0].map(times_in_words).unwrap_or_default());
            words += &format!(" The changed stage `{name}` no longer fires; in the base it fired {fired}.");
        }
        [answer, words]
    }

    /// Says how far a change in cost holds for others: its interval, or what it is of.
    fn describe_certainty(&self, cost: &ContrastNumber) -> String {
        match cost.delta.interval.filter(|_| cost.delta.base > 0.0) {
            Some(ends) => {
                let [low, high] = ends.map(|it| signed(it / cost.delta.base));
                format!("95% interval {low} to {high}")
            }
            None => counted(self.pairs, if self.are_trials { "trial" } else { "scenario" }),
        }
    }

    /// Returns what causes the differences.
    pub(super) fn cause_blocks(&self) -> Vec<ListBlock> {
        let changes = match self.changed.len() {
            n if n > FIELDS_MAX => vec![format!("{n} fields: these are different policies")],
            _ => describe_field_changes(&self.changed),
        };
        let decimals = numbers::decimals(self.requests.iter().flat_map(|it| it.usd).fold(0.0, f64::max));
        let facts = |it: &FactsChanged| {
            format!("{} → {}: {} (as {})", it.from, it.to, counted(it.n as usize, "fact"), it.example)
        };
        let all = [
            ("Changes in the policy", changes),
            ("Changed stages", self.stages.iter().map(describe_stage_change).listed()),
            ("Broken prefixes", self.breaks.iter().filter_map(describe_broken_prefixes).listed()),
            (REQUESTS, self.requests.iter().map(|it| describe_request_change(it, decimals)).listed()),
            (NEEDS, self.need_change_lines()),
            ("Facts in a different state", self.facts.iter().map(facts).listed()),
        ];
        let cause = |(heading, lines): (&str, _)| {
            // What each request and need is takes several lines.
            let most = Some(if [REQUESTS, NEEDS].contains(&heading) { 1 } else { 2 });
            ListBlock { heading: heading.to_owned(), lines, most }
        };
        all.into_iter().filter(|(_, lines)| !lines.is_empty()).map(cause).listed()
    }

    fn need_change_lines(&self) -> Vec<String> {
        let [less, more] = self.needs_changed;
        if less + more == 0 {
            return Vec::new();
        }
        let is_cut = self.needs.len() < less + more;
        let most = text_if(is_cut, || format!("; these {} change most", self.needs.len()));
        let head = format!("{} met less, {} met more{most}", thousands(less as u64), thousands(more as u64));
        let needs = self.needs.iter().map(|need| {
            let NeedChange { scenario, what, .. } = need;
            let (weight, met) = (numbers::expected(need.weight), need.met.map(percent).join(" → "));
            let turn = need.turn.saturating_add(1);
            format!("{scenario}, turn {turn}: {what} of weight {weight}: met {met}")
        });
        std::iter::once(head).chain(needs).listed()
    }
}

impl ContrastNumber {
    /// Returns its cells.
    fn table_cells(&self, decimals: usize) -> [String; 7] {
        let delta = &self.delta;
        let verdict = match delta.standing {
            Standing::Better => "better",
            Standing::Worse => "worse",
            Standing::Same => "same",
            Standing::WithinNoise => "cannot tell",
            Standing::Differs => NONE,
        };
        [
            self.heading.clone(),
            self.format_number(delta.base, decimals),
            self.format_number(delta.candidate, decimals),
            self.format_difference(delta.difference, decimals),
            or_none(delta.relative.filter(|_| !self.is_share), signed),
            or_none(delta.interval, |ends| ends.map(|it| self.format_difference(it, decimals)).join(" … ")),
            verdict.to_owned(),
        ]
    }

    /// Returns a difference as people read it.
    fn format_difference(&self, difference: f64, decimals: usize) -> String {
        if self.is_share {
            return format_percentage_points(difference);
        }
        let size = self.format_number(difference.abs(), decimals);
        let is_nothing = size.chars().all(|it| matches!(it, '0' | '.'));
        if is_nothing { size } else { format!("{}{size}", plus_or_minus(difference)) }
    }

    /// Returns its change in a few characters.
    fn format_change(&self) -> String {
        match self.delta.relative {
            Some(relative) if !self.is_share => signed(relative),
            _ => self.format_difference(self.delta.difference, 6),
        }
    }
}

/// Returns the sign that a difference is written with.
pub(super) fn plus_or_minus(difference: f64) -> &'static str {
    if difference < 0.0 { "−" } else { "+" }
}

/// Returns a difference of shares in percentage points.
pub(crate) fn format_percentage_points(share_difference: f64) -> String {
    let size = format!("{:.1}", share_difference.abs() * 100.0);
    if size == "0.0" { "0.0 pp".to_owned() } else { format!("{}{size} pp", plus_or_minus(share_difference)) }
}

/// Returns an amount with its sign.
pub(super) fn format_signed_usd(usd: f64, decimals: usize) -> String {
    format!("{}{}", plus_or_minus(usd), fixed(usd.abs(), decimals))
}

/// Describes the first changed fields, and says how many more there are.
pub(super) fn describe_field_changes(changes: &[FieldChange]) -> Vec<String> {
    let more = changes.len().saturating_sub(FIELDS_SHOWN);
    let line = |change: &FieldChange| {
        let says = change.says.each_ref().map(|it| it.as_deref().map_or("(nothing)".into(), readable_value));
        format!("`{}`: {}", change.field, says.join(" → "))
    };
    changes.iter().take(FIELDS_SHOWN).map(line).chain((more > 0).then(|| format!("and {more} more"))).listed()
}

/// Returns a value as people read it: of a long text with marks of its own, its beginning as it stands in the file.
fn readable_value(value: &str) -> Cow<'_, str> {
    let has_marks = value.contains("\\\"") || value.contains("\\n");
    let is_plain = |it: &String| !it.chars().any(|it| it.is_control() && !it.is_ascii_whitespace());
    match serde_json::from_str::<String>(value).ok().filter(|it| has_marks && is_plain(it)) {
        Some(text) => {
            let start: String = text.split_whitespace().listed().join(" ").chars().take(TEXT_SHOWN).collect();
            Cow::Owned(if start.len() < text.len() { start + " …" } else { start })
        }
        None => Cow::Borrowed(value),
    }
}

/// Says how often something happened.
pub(crate) fn times_in_words(n: u64) -> String {
    match n {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        n => format!("{} times", thousands(n)),
    }
}

/// Describes a changed stage.
fn describe_stage_change(changed: &StageChange) -> String {
    let name = &changed.name;
    let [base, candidate] = changed.fired.map(|n| n.map(times_in_words));
    match (base, candidate, &changed.idle) {
        (_, Some(_), Some(idle)) if changed.fired[0] == Some(0) => format!(
            "`{name}` {idle}; the stage never fired in the base either, so this change has no effect here"
        ),
        (Some(base), Some(_), Some(idle)) => format!("`{name}` {idle}; in the base it fired {base}"),
        (None, Some(_), Some(idle)) => format!("`{name}` {idle}; the base does not have it"),
        (None, Some(own), None) => format!("`{name}` is new and fired {own}"),
        (Some(base), None, _) => format!("`{name}` was removed; in the base it fired {base}"),
        (Some(base), Some(own), None) => format!("`{name}` fired {own} (base: {base})"),
        (None, None, _) => format!("`{name}`"),
    }
}

/// Counts the prefixes broken by one author; `None` if both policies broke the same.
fn describe_broken_prefixes((who, both): (&String, &[BrokenPrefixes; 2])) -> Option<String> {
    let broken = |it: &BrokenPrefixes| (counted(it.times as usize, "break"), thousands(it.tokens));
    let [(base, base_tokens), (own, own_tokens)] = both.each_ref().map(broken);
    (both[0] != both[1])
        .then(|| format!("{who}: {own}, {own_tokens} tokens (base: {base}, {base_tokens} tokens)"))
}

/// Describes a request's cost, and the command that explains it.
fn describe_request_change(request: &RequestChange, decimals: usize) -> String {
    let usd = |side: usize| or_none(request.rows[side], |_| fixed(request.usd[side], decimals));
    let (scenario, costs) = (&request.scenario, [0, 1].map(usd).join(" → "));
    let difference = format_signed_usd(request.usd[1] - request.usd[0], decimals);
    let command = request.commands[1].as_ref().or(request.commands[0].as_ref());
    let command = or_nothing(command, |it| format!(": `{it}`"));
    let (turn, step) = (request.turn.saturating_add(1), request.step.saturating_add(1));
    let beside = or_nothing(request.pair.beside(), |it| format!(" ({it})"));
    format!("{scenario}, turn {turn}, step {step}{beside}: {costs} USD ({difference}){command}")
}
