//! A load in the tokens of other models than those that it was recorded with.

use super::{EventKind, Timeline};
use crate::prelude::*;
use ctxsim_input::profile::{Factor, Family, ImageRule};
use ctxsim_input::scenario::refetch::AssumedNumber;

impl Timeline {
    /// Returns the family whose tokens its sizes are: that of the model that was billed, else that of the tokenizer that counted its texts.
    /// `None` where nobody counted, as in generated loads.
    pub fn counted_by(&self) -> Option<&'static Family> {
        let recorded = self.recorded.as_ref()?;
        let is_billed = recorded.usage.iter().any(Option::is_some);
        let model = self.main_model().filter(|_| is_billed);
        let of_tokenizer = || Family::named(tokens::name(self.tokenizer?).trim_end_matches("_base"));
        model.map_or_else(of_tokenizer, |it| Family::of_model(&it.name))
    }

    /// Returns it in the tokens of another family, its images by the rule of other models; texts, needs and times stay.
    pub fn recounted(&self, factor: Factor, images: &'static ImageRule) -> Self {
        let mut it = if factor.is_one() { self.clone() } else { self.recounted_texts(factor) };
        it.images.rule = Some(images);
        let from = self.images.rule.unwrap_or(images);
        for (item, size) in &self.images.items {
            let (was, is) = (from.tokens(*size), images.tokens(*size));
            let of = |tokens: u32| (f64::from(tokens) * f64::from(is) / f64::from(was)).ceil() as u32;
            let (Some(before), Some(now)) =
                (self.spine.items.get(*item as usize), it.spine.items.get_mut(*item as usize))
            else {
                continue;
            };
            (now.raw, now.excerpt, now.summary) = (of(before.raw), of(before.excerpt), of(before.summary));
        }
        it
    }

    fn recounted_texts(&self, factor: Factor) -> Self {
        let mut it = self.clone();
        for item in &mut it.spine.items {
            for size in [&mut item.raw, &mut item.excerpt, &mut item.summary, &mut item.handle] {
                *size = factor.size(*size);
            }
        }
        it.spine.steps.iter_mut().for_each(|step| step.output_tokens = factor.tokens(step.output_tokens));
        it.needs.recount(factor);
        for event in &mut it.events {
            if let EventKind::Compaction(compaction) = &mut event.kind {
                compaction.instruction = factor.tokens(compaction.instruction);
                compaction.output = factor.tokens(compaction.output);
            }
        }
        let harness = &mut it.harness;
        harness.unread_tokens = factor.tokens(harness.unread_tokens);
        harness.side_request_cold_tokens = factor.tokens(harness.side_request_cold_tokens);
        if let Some(recorded) = &mut it.recorded {
            recorded.tails.iter_mut().for_each(|tail| *tail = factor.tokens(*tail));
            recorded.avoided_below = factor.tokens(recorded.avoided_below);
            recorded.harness_limits.trigger = recorded.harness_limits.trigger.map(|it| factor.tokens(it));
        }
        // What an agent needs to fetch something again has sizes, too.
        let ends = |it: AssumedNumber<u32>| AssumedNumber {
            value: factor.size(it.value),
            low: factor.size(it.low),
            high: factor.size(it.high),
        };
        it.refetch = self.refetch.with_sizes();
        it.refetch.fetched_tokens_max = it.refetch.fetched_tokens_max.map(ends);
        it.refetch.call_tokens = it.refetch.call_tokens.map(|size| factor.size(size));
        if let Some(exploration) = &mut it.refetch.exploration {
            let sizes = exploration.fetched_tokens;
            exploration.fetched_tokens = sizes.map(|all| all.map(|size| factor.size(size)));
        }
        let chars = format!("{:.4}", self.chars_per_token.to_f64() / factor.value);
        it.chars_per_token = Decimal::parse(&chars).unwrap_or(self.chars_per_token);
        it
    }
}
