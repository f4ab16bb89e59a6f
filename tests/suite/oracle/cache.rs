//! Cache rules over whole prompts: each request is compared with every earlier one.

use ctxsim::ledger::CacheUse;
use ctxsim::model::CacheRules;
use ctxsim::model::policy::Moment;
use ctxsim::model::profile::Steps;

use super::history::{History, View};

/// Everything that was sent and is not forgotten.
pub(super) struct Cache {
    rules: CacheRules,
    /// What was sent, and when.
    earlier: Vec<(Vec<(u64, View)>, i64)>,
    previous_tokens: u64,
}

fn whole_steps(steps: Steps, tokens: u64) -> u64 {
    if tokens < steps.min { 0 } else { tokens - (tokens - steps.min) % steps.step }
}

impl Cache {
    pub(super) fn new(rules: CacheRules) -> Self {
        Self { rules, earlier: Vec::new(), previous_tokens: 0 }
    }

    pub(super) fn submit(&mut self, history: &History<'_>, now_ms: i64) -> CacheUse {
        let prompt = history.tokens();
        let (read, broke_at) = match self.rules {
            CacheRules::PrefixCap(steps) => (self.capped(steps, history), None),
            CacheRules::PrefixInterval { steps, ttl_ms } => self.longest(steps, ttl_ms, history, now_ms),
            _ => (0, None),
        };
        self.previous_tokens = prompt;
        CacheUse { read, write: [0; 2], uncached: prompt - read, broke_at }
    }

    /// The previous prompt, up to where a pass is taken to have broken it.
    fn capped(&self, steps: Steps, history: &History<'_>) -> u64 {
        let mut common = self.previous_tokens;
        for visit in &history.visits {
            common = match visit.moment {
                Moment::LoopEnd if visit.n_changed > 0 => common.min(visit.tokens_before_steps),
                Moment::LoopStart | Moment::Request if visit.n_changed > 0 || visit.is_active => {
                    common.min(history.stable_tokens())
                }
                _ => common,
            };
        }
        whole_steps(steps, common).min(history.tokens())
    }

    /// The longest prefix that any earlier prompt shares.
    fn longest(
        &mut self,
        steps: Steps,
        ttl_ms: Option<u64>,
        history: &History<'_>,
        now_ms: i64,
    ) -> (u64, Option<u32>) {
        // A request renews every prefix of its prompt: what no live prompt shares is forgotten.
        self.earlier.retain(|it| ttl_ms.is_none_or(|ttl| now_ms - it.1 <= i64::try_from(ttl).unwrap()));
        let known = (0..history.slots.len()).filter(|it| history.slots[*it].identity.is_visible());
        let places: Vec<usize> = known.collect();
        let prompt: Vec<(u64, View)> =
            places.iter().map(|it| (history.item(*it).digest, history.slots[*it].identity)).collect();
        let shared =
            |other: &Vec<(u64, View)>| other.iter().zip(&prompt).take_while(|(a, b)| same(a, b)).count();
        let common = self.earlier.iter().map(|it| shared(&it.0)).max().unwrap_or(0);
        self.earlier.push((prompt, now_ms));
        let tokens = places[..common].iter().map(|it| history.slots[*it].view.tokens).sum();
        (whole_steps(steps, tokens).min(history.tokens()), places.get(common).map(|it| *it as u32))
    }
}

/// Whether the provider sees the same.
fn same(a: &(u64, View), b: &(u64, View)) -> bool {
    a.0 == b.0 && (a.1.tokens, a.1.rendition, a.1.stands) == (b.1.tokens, b.1.rendition, b.1.stands)
}
