//! How large a memory is in a prompt, and what represents its content.

use xxhash_rust::xxh3::xxh3_64;

use super::AgingStore;
use ctxsim_input::policy::memory::SessionStore;

impl AgingStore<'_> {
    /// Returns the tokens of the whole memory.
    pub(in crate::aging) fn tokens(&self) -> u64 {
        let words = self.numbers.assumed.words_per_statement * self.n_statements();
        (words as f64 * self.numbers.assumed.tokens_per_word).round() as u64 + self.header_tokens()
    }

    /// Returns the number of statements it has: what is exact, and the gists of what is not. Word for word, a
    /// record has a line more.
    fn n_statements(&self) -> u64 {
        let lines = match self.rules.store {
            SessionStore::Nothing => 0,
            SessionStore::Summary(_) | SessionStore::History(_) | SessionStore::Episodes(_) => {
                self.records.iter().filter(|it| self.has_gist[**it as usize]).count()
            }
            _ => self.records.len(),
        };
        (self.exact.len() + lines) as u64
    }

    /// Returns the tokens of the totals before it.
    fn header_tokens(&self) -> u64 {
        const TOTAL: u64 = 12;
        if self.rules.overlay.is_some() { TOTAL * self.stream.graph.accumulators.len() as u64 } else { 0 }
    }

    /// Returns what represents its content; a summary that is made again is written in other words.
    pub(in crate::aging) fn digest(&self) -> u64 {
        let front = [self.passes, self.order];
        let said = front.iter().chain(&self.exact).chain(&self.records);
        let mut bytes = Vec::with_capacity(4 * (front.len() + self.exact.len() + self.records.len()));
        said.for_each(|it| bytes.extend_from_slice(&it.to_le_bytes()));
        xxh3_64(&bytes)
    }
}
