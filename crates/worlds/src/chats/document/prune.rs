//! What a document's cap takes: the oldest and least referenced first, and never what is protected.

use super::{ChatDocument, DocumentLine, Holds};
use ctxsim_base::quantity::saturated;
use ctxsim_input::policy::memory::{ContextDocument, DocSection};

/// What is protected: recent facts, the whole timeline, key entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protect {
    /// Facts said in so many sessions, the last one among them.
    pub recent_sessions: u32,
    /// Entities said so many times.
    pub key_references: u32,
}

/// Protected parts that are larger than the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    pub protected_words: u64,
    pub cap_words: u64,
}

impl Protect {
    /// Takes what a policy declares.
    pub fn new(spec: &ContextDocument) -> Self {
        Self {
            recent_sessions: saturated(spec.recent_sessions),
            key_references: saturated(spec.key_references),
        }
    }

    /// Returns whether a line is protected in a session.
    pub fn covers(&self, item: &DocumentLine, now: u32) -> bool {
        let is_said = matches!(item.holds, Holds::Statement { .. });
        match item.section {
            DocSection::Timeline => true,
            DocSection::Facts => is_said && item.session.saturating_add(self.recent_sessions) > now,
            DocSection::Entities => is_said && item.references >= self.key_references,
            _ => false,
        }
    }
}

impl ChatDocument {
    pub fn protected_words(&self, protect: &Protect, now: u32) -> u64 {
        let protected = self.items.iter().filter(|it| protect.covers(it, now));
        protected.map(|it| u64::from(it.words)).sum()
    }

    /// Takes lines until the document is no larger than its cap, or nothing is left that may be taken; says so, where what is protected
    /// is larger.
    pub fn prune(&mut self, cap_words: u64, protect: &Protect, now: u32) -> Option<Overflow> {
        let mut words = self.words();
        if words <= cap_words {
            return None;
        }
        let mut open: Vec<usize> =
            (0..self.items.len()).filter(|it| !protect.covers(&self.items[*it], now)).collect();
        // Sessions since it was last said, for each time that it was said: the most go first. Equal ones go in the document's order.
        let age = |at: &usize| u64::from(now.saturating_sub(self.items[*at].session).saturating_add(1));
        let said = |at: &usize| u64::from(self.items[*at].references.max(1));
        open.sort_by(|one, other| {
            (age(other) * said(one)).cmp(&(age(one) * said(other))).then(one.cmp(other))
        });
        let mut taken = vec![false; self.items.len()];
        for at in open {
            if words <= cap_words {
                break;
            }
            words -= u64::from(self.items[at].words);
            taken[at] = true;
        }
        let mut nth = 0;
        self.items.retain(|_| {
            nth += 1;
            !taken[nth - 1]
        });
        (words > cap_words).then_some(Overflow { protected_words: words, cap_words })
    }
}
