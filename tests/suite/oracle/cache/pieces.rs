//! Units and blocks: pieces known by the whole content in front of them.

use ctxsim::input::profile::{Touch, cache};

use super::*;

struct Unit {
    content: Vec<Key>,
    tokens: u64,
    touched_ms: i64,
    readable_ms: i64,
}

pub(super) struct Units {
    rules: cache::UnitRules,
    all: Vec<Unit>,
    /// Every prompt, when it was sent, and from when on what followed it can be read.
    sent: Vec<(Vec<Key>, i64, i64)>,
}

impl Units {
    pub(super) fn new(rules: cache::UnitRules) -> Self {
        Self { rules, all: Vec::new(), sent: Vec::new() }
    }

    fn leave(&mut self, sent: &Sent<'_>, end: u64, readable_ms: i64) {
        let tokens = whole_steps(self.rules.steps, end);
        let Some(at) = sent.covering(tokens).filter(|_| tokens > 0) else { return };
        let (content, now_ms) = (sent.prefix(at), sent.now_ms());
        match self.all.iter_mut().find(|it| it.tokens == tokens && it.content == content) {
            Some(unit) => unit.readable_ms = unit.readable_ms.min(readable_ms),
            None => self.all.push(Unit { content, tokens, touched_ms: now_ms, readable_ms }),
        }
    }

    pub(super) fn submit(&mut self, sent: &Sent<'_>) -> CacheUse {
        let now_ms = sent.now_ms();
        let ttl_ms = self.rules.ttl_ms;
        self.all.retain(|it| within(ttl_ms, it.touched_ms, now_ms));
        if self.rules.at_output_end {
            self.leave_output(sent);
        }
        let mut longest = (0, 0);
        for unit in &mut self.all {
            let Some(at) = sent.begins_with(&unit.content) else { continue };
            unit.touched_ms = now_ms;
            if unit.readable_ms <= now_ms && (at, unit.tokens) >= longest {
                longest = (at, unit.tokens);
            }
        }
        // Edits that keep the prefix may have made it shorter than it was.
        let longest = if longest.1 == 0 { 0 } else { longest.1.min(sent.end(longest.0)) };
        let readable_ms = sent.readable_ms(self.rules.readable, self.rules.readable_after_ms);
        let remembered = self.sent.iter().filter(|it| within(ttl_ms, it.1, now_ms));
        let n_known = remembered.map(|it| shared(&it.0, &sent.prompt)).max().unwrap_or(0);
        let known: u64 = sent.prompt[..n_known].iter().map(|it| it.tokens).sum();
        let end = sent.tokens();
        if let Some(interval) = self.rules.interval_tokens {
            let multiples = (1..).map(|it| it * interval).take_while(|it| *it <= end);
            multiples.filter(|it| *it > longest).for_each(|it| self.leave(sent, it, readable_ms));
        }
        if self.rules.at_common_prefix && known > longest {
            self.leave(sent, known, readable_ms);
        }
        if self.rules.at_input_end {
            self.leave(sent, end, readable_ms);
        }
        let ended_ms = sent.row.end_ms + i64::try_from(self.rules.readable_after_ms).unwrap();
        let keys = sent.prompt.iter().map(|it| it.key).collect();
        self.sent.push((keys, now_ms, readable_ms.max(ended_ms)));
        read(end, longest, sent.prompt.get(n_known).map(|it| it.slot))
    }

    /// What the model wrote last is a unit, if this prompt shows it as it was.
    fn leave_output(&mut self, sent: &Sent<'_>) {
        let Some((before, at_ms, readable_ms)) = self.sent.last().cloned() else { return };
        if sent.begins_with(&before).is_none() || !within(self.rules.ttl_ms, at_ms, sent.now_ms()) {
            return;
        }
        let reply = sent.prompt[before.len()..].iter().take_while(|it| {
            matches!(it.kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall)
                && sent.edited_from.is_none_or(|from| it.slot < from)
        });
        let n = reply.count();
        if n > 0 {
            self.leave(sent, sent.end(before.len() + n - 1), readable_ms);
        }
    }
}

pub(super) struct Blocks {
    rules: cache::Blocks,
    /// The content that covers a block and its number, the least recently used first.
    held: Vec<(Vec<Key>, u64)>,
}

impl Blocks {
    pub(super) fn new(rules: cache::Blocks) -> Self {
        Self { rules, held: Vec::new() }
    }

    pub(super) fn submit(&mut self, sent: &Sent<'_>) -> CacheUse {
        let size = self.rules.block_tokens;
        let number_of = |n: u64| sent.covering((n + 1) * size).map(|at| (sent.prefix(at), n));
        let mut blocks: Vec<(Vec<Key>, u64)> = (0..sent.tokens() / size).filter_map(number_of).collect();
        let n_hits = blocks.iter().take_while(|it| self.held.contains(it)).count() as u64;
        if self.rules.touch == Touch::TailFirst {
            blocks.reverse();
        }
        for block in blocks {
            self.held.retain(|it| *it != block);
            if self.rules.capacity_blocks.is_some_and(|it| self.held.len() == it as usize) {
                self.held.remove(0);
            }
            self.held.push(block);
        }
        let tokens = (n_hits * size).min(sent.tokens());
        let broke_at =
            (0..sent.prompt.len()).find(|it| sent.end(*it) > tokens).map(|it| sent.prompt[it].slot);
        read(sent.tokens(), tokens, broke_at)
    }
}
