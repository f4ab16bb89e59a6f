//! Which records a question brings back.

use super::{AgingRun, asking};
use crate::graph::RecordIx;
use crate::similar::{best, normal};
use ctxsim_base::quantity::{ix, saturated};
use ctxsim_base::rng::Seed;
use ctxsim_input::policy::memory::MemoryPart;
use ctxsim_input::policy::memory::{SessionRead, SessionStore};

/// What a question brings back.
pub(super) enum RecallView {
    /// All that is held.
    All,
    /// These records alone.
    Records(Vec<RecordIx>),
    /// These files alone.
    Files(Vec<u16>),
}

impl RecallView {
    /// Returns whether a record of a domain is in view.
    pub(super) fn has(&self, record: RecordIx, file: u16) -> bool {
        match self {
            Self::All => true,
            Self::Records(records) => records.contains(&record),
            Self::Files(files) => files.contains(&file),
        }
    }
}

impl AgingRun<'_> {
    /// Returns what a question brings back that needs some records; `twins` are those that are as much like it as the target.
    pub(super) fn view(&self, needed: &[RecordIx], twins: &[RecordIx], asked: (usize, u32)) -> RecallView {
        let rules = &self.store.rules;
        if rules.is_oracle(MemoryPart::Read) {
            return RecallView::All;
        }
        let is_files = rules.store == SessionStore::Files;
        let n = match rules.read {
            SessionRead::All => return RecallView::All,
            SessionRead::Last(n) if is_files => return RecallView::Files(self.last_files(n)),
            SessionRead::Last(n) => {
                let n = saturated::<usize>(n).min(self.store.records.len());
                return RecallView::Records(self.store.records[self.store.records.len() - n..].to_vec());
            }
            SessionRead::Top { n, .. } => saturated(n),
        };
        // A question that is asked again in another session, or after records were put in another order, meets other noise.
        let draws = Seed(self.player.draws.similarity.bits_of(asking(asked), 0)).stream("record", 0);
        let noise = |place: u64| normal(draws.bits_of(place, self.store.order.into()));
        let fitted = self.player.numbers.fitted.similarity_margin;
        if is_files {
            let domains: u16 = ix(self.player.stream.graph.domains.len());
            let files = 0..=self.store.file_of(domains.saturating_sub(1));
            let file =
                |it: &RecordIx| self.store.file_of(self.player.stream.graph.records[*it as usize].domain);
            let wanted: Vec<u16> = needed.iter().map(file).collect();
            let margin = |it: u16| if wanted.contains(&it) { fitted } else { 0.0 };
            return RecallView::Files(best(files.map(|it| (noise(it.into()) + margin(it), it)).collect(), n));
        }
        let crowds = matches!(rules.read, SessionRead::Top { crowding: true, .. });
        let confusable = self.player.numbers.assumed.confusable_margin;
        let margin = |it: RecordIx| match (needed.contains(&it), twins.contains(&it)) {
            (true, _) if !twins.is_empty() => confusable,
            (true, _) => fitted,
            (_, true) if crowds => confusable,
            _ => 0.0,
        };
        let scored = self.store.records.iter().map(|it| (noise(u64::from(*it)) + margin(*it), *it));
        RecallView::Records(best(scored.collect(), n))
    }

    /// Returns the files that were written last.
    fn last_files(&self, n: u64) -> Vec<u16> {
        let mut last = Vec::new();
        for record in self.store.records.iter().rev() {
            let file = self.store.file_of(self.player.stream.graph.records[*record as usize].domain);
            if last.len() as u64 == n {
                break;
            }
            if !last.contains(&file) {
                last.push(file);
            }
        }
        last
    }
}
