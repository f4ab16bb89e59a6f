//! What moves a comparison's cost: its parts, and of those that move most what each follows from, in words that a reviewer knows.

use super::Contrast;
use super::words::{format_signed_usd, plus_or_minus, times_in_words};
use crate::prelude::*;

/// The most parts that are explained.
const CAUSES: usize = 3;

/// The longest bar, in characters.
const BAR: f64 = 20.0;

impl Contrast {
    /// Says what the parts of the cost that differ most follow from, the largest difference first.
    pub fn main_causes(&self) -> Vec<String> {
        let mut parts = self.moved_parts();
        parts.order_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        let cause = |(name, usd): (&'static str, f64)| {
            let usd = format!("{}${}", plus_or_minus(usd), fixed(usd.abs(), self.usd_decimals()));
            format!("{}: {usd} of {name}", self.reason_for_part(name))
        };
        parts.into_iter().take(CAUSES).map(cause).listed()
    }

    /// Returns the parts of the cost that differ, and by how many US dollars.
    fn moved_parts(&self) -> Vec<(&'static str, f64)> {
        let decimals = self.usd_decimals();
        let parts = self.split.iter().map(|it| (it.name, it.usd[1] - it.usd[0]));
        parts.filter(|it| fixed(it.1.abs(), decimals) != fixed(0.0, decimals)).listed()
    }

    /// Says what changes a part of the cost.
    fn reason_for_part(&self, part: &str) -> String {
        let counted = |place: &str, what: &str| {
            let delta = &self.number_at(&format!("totals.{place}"))?.delta;
            let more = if delta.difference < 0.0 { "fewer" } else { "more" };
            let n = thousands(delta.difference.abs().round() as u64);
            (delta.difference != 0.0).then(|| format!("{n} {more} tokens are {what}"))
        };
        let calls = self.number_at("totals.recovery.expected_calls").map(|it| it.delta);
        let fetched = calls.map(|it| [it.candidate, it.base].map(|calls| fixed(calls, 2)));
        let fetched = fetched.map(|[own, base]| format!("{own} results are fetched again ({base} before)"));
        let reason = match part {
            "cache writes" => {
                self.broken_prefix_reason().or_else(|| counted("cache_write_tokens", "written"))
            }
            "cache reads" => counted("cache_read_tokens", "read from the cache"),
            "uncached input" => counted("uncached_tokens", "sent uncached"),
            "recovery" | "exploration" | "reaction to what is fetched" => fetched,
            _ => None,
        };
        reason.or_else(|| self.fired_stage_reason()).unwrap_or_else(|| "the policy changed".to_owned())
    }

    /// Says whose breaks of the cached prefix changed most and, of a single load, at which request the first is.
    fn broken_prefix_reason(&self) -> Option<String> {
        let all = self.breaks.iter().filter(|(_, [base, own])| base != own);
        let (who, both) = all.max_by_key(|(_, [base, own])| base.tokens.abs_diff(own.tokens))?;
        let [base, own] = both.map(|it| times_in_words(it.times));
        let stage = who.trim_start_matches("stage ").trim_matches('`');
        let first = |side: usize| {
            let sent = self.traces.get(side).filter(|_| self.pairs == 1)?.sent.iter();
            sent.zip(1..).find(|(bar, _)| bar.edited_by.as_deref() == Some(stage)).map(|it| it.1)
        };
        let first = match [first(0), first(1)] {
            [Some(base), Some(own)] if base != own => format!(", first at request {own} ({base} before)"),
            [None, Some(own)] => format!(", first at request {own}"),
            _ => String::new(),
        };
        Some(format!("{who} breaks the cached prefix {own} ({base} before){first}"))
    }

    /// Says which changed stage fires more or less often.
    fn fired_stage_reason(&self) -> Option<String> {
        let changed = self.stages.iter().filter(|it| it.fired[0] != it.fired[1]);
        let stage = changed.max_by_key(|it| it.fired[0].unwrap_or(0).abs_diff(it.fired[1].unwrap_or(0)))?;
        let [base, own] = stage.fired.map(|it| times_in_words(it.unwrap_or(0)));
        Some(format!("`{}` fires {own} ({base} before)", stage.name))
    }

    /// Returns the parts of the cost that differ as a table, with a bar for what each adds.
    pub(super) fn cost_parts_grid(&self) -> Option<Grid> {
        let (decimals, moved) = (self.usd_decimals(), self.moved_parts());
        let largest = moved.iter().map(|it| it.1.abs()).fold(0.0, f64::max);
        let total: f64 = self.split.iter().map(|it| it.usd[1] - it.usd[0]).sum();
        let parts = self.split.iter().filter(|it| moved.iter().any(|own| own.0 == it.name)).listed();
        let rows = parts.iter().zip(&moved).map(|(part, (name, usd))| {
            let mark = if *usd < 0.0 { "░" } else { "█" };
            let bar = mark.repeat((usd.abs() / largest * BAR).ceil() as usize);
            let [base, own] = part.usd.map(|it| fixed(it, decimals));
            vec![(*name).to_owned(), base, own, format_signed_usd(*usd, decimals), bar]
        });
        let bound = self.cost_change_bound.map(|it| it.map(signed)).filter(|[low, high]| low != high);
        let bound = or_nothing(bound, |ends| {
            format!("; {} if every assumption erred the same way", ends.join(" to "))
        });
        let title = format!("What it pays for, in USD: {}{bound}", format_signed_usd(total, decimals));
        let headings = ["part", "base", "candidate", "difference", "█ more ░ less"];
        (!moved.is_empty()).then_some(Grid::new(title, 1, &headings, rows).with(CellKind::Text, &[4]))
    }
}
