//! A context document: its sections, how new statements are merged into each, and what its capacity removes.

use crate::prelude::*;
use ctxsim_input::policy::memory::{ContextDocument, DocSection};

/// A context document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatDocument {
    /// The sections that it may have.
    sections: Vec<DocSection>,
    /// What is in it; Timeline in order.
    items: Vec<DocumentLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLine {
    pub section: DocSection,
    /// What it says.
    pub holds: Holds,
    /// The session in which it was last said.
    pub session: u32,
    /// How often it was said.
    pub references: u32,
    pub words: u32,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A statement of a user.
    Statement {
        /// What it is about: the first version of the fact.
        subject: FactIx,
        /// The version that it says.
        fact: FactIx,
    },
    /// That a conversation took place.
    Conversation(u32),
    /// What an old conversation was about, in a line.
    Summary(u32),
    /// A section whose length does not follow from what is said.
    Frame,
}

/// A statement that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    pub section: DocSection,
    /// What it is about.
    pub subject: FactIx,
    /// What it says.
    pub fact: FactIx,
    pub words: u32,
    /// Whether it is seen that it contradicts what is there.
    pub sees_contradiction: bool,
}

impl ChatDocument {
    /// Begins a document with some sections.
    pub fn new(sections: &[DocSection]) -> Self {
        Self { sections: sections.to_vec(), items: Vec::new() }
    }

    /// Returns its lines; those of Timeline are in order.
    pub fn items(&self) -> &[DocumentLine] {
        &self.items
    }

    pub fn words(&self) -> u64 {
        self.items.iter().map(|it| u64::from(it.words)).sum()
    }

    /// Returns the versions that its lines say.
    pub fn facts(&self) -> impl Iterator<Item = FactIx> {
        self.items.iter().filter_map(|it| match it.holds {
            Holds::Statement { fact, .. } => Some(fact),
            _ => None,
        })
    }

    /// Returns the section in which something is written: its own, else Notes, else none.
    pub fn section(&self, wanted: DocSection) -> Option<DocSection> {
        [wanted, DocSection::Notes].into_iter().find(|it| self.sections.contains(it))
    }

    /// Writes a statement of a session. What says the same is merged with it; what it is seen to contradict gives way, except in the
    /// timeline, where what happened stays.
    pub fn say(&mut self, news: &News, now: u32) {
        let Some(section) = self.section(news.section) else { return };
        let holds = Holds::Statement { subject: news.subject, fact: news.fact };
        if let Some(same) = self.items.iter_mut().find(|it| it.holds == holds) {
            same.again(now);
            return;
        }
        let mut references = 1;
        if news.sees_contradiction && section != DocSection::Timeline {
            let is_old = |it: &DocumentLine| it.section == section && subject(it) == Some(news.subject);
            let old = self.items.extract_if(.., |it| is_old(it)).map(|item| item.references).max();
            references = old.map_or(1, |it| it.saturating_add(1));
        }
        self.put(DocumentLine { section, holds, session: now, references, words: news.words });
    }

    /// Notes that something is said again that is in it already.
    pub fn mention(&mut self, subject_of: FactIx, now: u32) {
        for it in self.items.iter_mut().filter(|it| subject(it) == Some(subject_of)) {
            it.again(now);
        }
    }

    /// Lets what is over leave; what happened stays in the timeline.
    pub fn retract(&mut self, subject_of: FactIx) {
        self.items.retain(|it| it.section == DocSection::Timeline || subject(it) != Some(subject_of));
    }

    /// Notes that a conversation took place, once, and leaves a line about it.
    pub fn converse(&mut self, now: u32, date_words: u32, summary_words: u32) {
        for (section, holds, words) in [
            (DocSection::Timeline, Holds::Conversation(now), date_words),
            (DocSection::Notes, Holds::Summary(now), summary_words),
        ] {
            if self.sections.contains(&section) && !self.items.iter().any(|it| it.holds == holds) {
                self.put(DocumentLine { section, holds, session: now, references: 1, words });
            }
        }
    }

    /// Writes a section whose length does not follow from what is said, or brings it up to date.
    pub fn frame(&mut self, section: DocSection, now: u32, words: u32) {
        if self.sections.contains(&section) {
            self.items.retain(|it| it.section != section || it.holds != Holds::Frame);
            self.put(DocumentLine { section, holds: Holds::Frame, session: now, references: 1, words });
        }
    }

    /// Loses statements when it is written again; the timeline, which only grows, loses none.
    pub fn lose(&mut self, mut is_lost: impl FnMut(FactIx) -> bool) {
        self.items.retain(|it| match it.holds {
            Holds::Statement { fact, .. } if it.section != DocSection::Timeline => !is_lost(fact),
            _ => true,
        });
    }

    /// Puts a line in its place: the timeline stays in order.
    fn put(&mut self, item: DocumentLine) {
        let behind = |it: &DocumentLine| (it.section, it.session) <= (item.section, item.session);
        let at = self.items.partition_point(behind);
        // Only the timeline's lines keep the session in which they were first said, and only they stand in order.
        let at = if item.section == DocSection::Timeline { at } else { self.end_of(item.section) };
        self.items.insert(at, item);
    }

    /// Returns the place after a section's last line.
    fn end_of(&self, section: DocSection) -> usize {
        self.items.partition_point(|it| it.section <= section)
    }

    pub fn protected_words(&self, rules: &ContextDocument, now: u32) -> u64 {
        let protected = self.items.iter().filter(|it| it.is_protected(rules, now));
        protected.map(|it| u64::from(it.words)).sum()
    }

    /// Takes lines until the document is no larger than its cap, or nothing is left that may be taken; returns the words of what is
    /// protected, where these are more.
    pub fn prune(&mut self, cap_words: u64, rules: &ContextDocument, now: u32) -> Option<u64> {
        let mut words = self.words();
        if words <= cap_words {
            return None;
        }
        let mut open: Vec<usize> =
            (0..self.items.len()).filter(|it| !self.items[*it].is_protected(rules, now)).collect();
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
        (words > cap_words).then_some(words)
    }
}

impl DocumentLine {
    /// Returns whether it is protected in a session: recent facts are, the whole timeline, and key entities.
    pub fn is_protected(&self, rules: &ContextDocument, now: u32) -> bool {
        let is_said = matches!(self.holds, Holds::Statement { .. });
        match self.section {
            DocSection::Timeline => true,
            DocSection::Facts => {
                is_said && u64::from(self.session).saturating_add(rules.recent_sessions) > now.into()
            }
            DocSection::Entities => is_said && u64::from(self.references) >= rules.key_references,
            _ => false,
        }
    }

    /// Notes that it is said again; what is in the timeline keeps its place there.
    fn again(&mut self, now: u32) {
        self.references = self.references.saturating_add(1);
        if self.section != DocSection::Timeline {
            self.session = now;
        }
    }
}

/// Returns what a line is about, if it is a statement.
fn subject(item: &DocumentLine) -> Option<FactIx> {
    if let Holds::Statement { subject, .. } = item.holds { Some(subject) } else { None }
}
