//! What a memory holds: notes of sources, how large they are in a prompt, and what is written when a session goes on.

use indexmap::{IndexMap, IndexSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::assumed::HistoryNumbers;
use super::session::Fetch;
use ctxsim_base::quantity::{Tokens, UNLIMITED, or_unlimited, saturated};
use ctxsim_input::policy::memory::{Keeps, SourceKind, SourceMemory, SourceRead, SourceStore};

/// A note of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub source: u64,
    pub content: u64,
    pub tokens: Tokens,
    kind: SourceKind,
    topic: u64,
    /// How many sessions fetched the source.
    sessions: u32,
    /// The number of the last of them.
    number: u32,
}

impl Note {
    /// Returns what it says: of which content of which source it is.
    fn said(&self) -> [u64; 2] {
        [self.source, self.content]
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenNote {
    /// Tokens that were written.
    pub tokens: Tokens,
    /// Whether any note is another, so that something was written.
    pub(super) is_written: bool,
    /// Whether the text of the memory in prompts is another.
    pub is_changed: bool,
}

/// The notes of a memory.
#[derive(Debug)]
pub(super) struct NoteStore<'a> {
    spec: &'a SourceMemory,
    numbers: &'a HistoryNumbers,
    /// By source, and where notes are only appended, by content, too; the oldest first.
    notes: IndexMap<(u64, u64), Note>,
    /// What was fetched since notes were last written.
    pending: IndexMap<u64, Note>,
    /// What prompts hold, by source, where that is not all.
    top: Option<IndexSet<u64>>,
    shown: Tokens,
}

impl<'a> NoteStore<'a> {
    /// Begins with nothing.
    pub(super) fn new(spec: &'a SourceMemory, numbers: &'a HistoryNumbers) -> Self {
        Self { spec, numbers, notes: IndexMap::new(), pending: IndexMap::new(), top: None, shown: 0 }
    }

    /// Takes a fetch, to be noted when notes are written next.
    pub(super) fn take(&mut self, fetch: &Fetch, number: u32) {
        let tokens = match self.spec.write.keeps {
            Keeps::Note => fetch.result.min(self.numbers.sizes.note_tokens),
            Keeps::Whole => fetch.result,
        };
        let (source, content, kind, topic) = (fetch.source, fetch.content, fetch.kind, fetch.topic);
        self.pending.insert(source, Note { source, content, tokens, kind, topic, sessions: 1, number });
    }

    /// Returns the tokens that every prompt holds.
    pub(super) fn shown(&self) -> Tokens {
        self.shown
    }

    /// Returns what the memory tells of a source: the newest note that a prompt holds, or that a call reads.
    pub(super) fn find(&self, source: u64) -> Option<&Note> {
        if self.top.as_ref().is_some_and(|it| !it.contains(&source)) {
            return None;
        }
        match self.spec.store {
            SourceStore::Entries { .. } => self.notes.values().rev().find(|it| it.source == source),
            _ => self.notes.get(&(source, 0)),
        }
    }

    /// Returns the tokens of the file that a note is in, and its topic, where a call has to read it.
    pub(super) fn read(&self, note: &Note) -> Option<(u64, Tokens)> {
        let SourceStore::Topics { .. } = self.spec.store else { return None };
        let own = self.notes.values().filter(|it| it.topic == note.topic);
        Some((note.topic, own.map(|it| it.tokens).sum()))
    }

    /// Writes what was fetched since the last time.
    pub(super) fn write(&mut self) -> WrittenNote {
        let before: IndexSet<[u64; 2]> = self.notes.values().map(Note::said).collect();
        let shown_before = self.text();
        let appends = matches!(self.spec.store, SourceStore::Entries { .. });
        for (_, note) in std::mem::take(&mut self.pending) {
            let old = self.find_any(note.source).copied();
            let sessions = old.map_or(1, |it| it.sessions + u32::from(it.number < note.number));
            let note = Note { sessions, ..note };
            let key = (note.source, if appends { note.content } else { 0 });
            // What is appended stays where it is; anything else becomes the newest.
            match self.notes.get_mut(&key).filter(|_| appends) {
                Some(own) => *own = note,
                None => {
                    self.notes.shift_remove(&key);
                    self.notes.insert(key, note);
                }
            }
        }
        self.evict();
        self.choose();
        let new = self.notes.values().filter(|it| !before.contains(&it.said()));
        let is_written = new.clone().next().is_some() || self.notes.len() < before.len();
        WrittenNote {
            tokens: new.map(|it| it.tokens).sum(),
            is_written,
            is_changed: self.text() != shown_before,
        }
    }

    /// Returns what stands for the text that prompts hold, in whatever order.
    fn text(&self) -> u64 {
        let is_of_topics = matches!(self.spec.store, SourceStore::Topics { .. });
        let said = |it: &Note| if is_of_topics { [it.topic, 0] } else { it.said() };
        let shown =
            self.notes.values().filter(|it| self.top.as_ref().is_none_or(|top| top.contains(&it.source)));
        let all: IndexSet<[u64; 2]> = shown.map(said).collect();
        let hash = |[source, content]: &[u64; 2]| xxh3_64_with_seed(&content.to_le_bytes(), *source);
        all.iter().map(hash).fold(0, u64::wrapping_add)
    }

    /// Returns the tokens of all that it holds.
    pub(super) fn tokens(&self) -> Tokens {
        self.notes.values().map(|it| it.tokens).sum()
    }

    fn find_any(&self, source: u64) -> Option<&Note> {
        match self.spec.store {
            SourceStore::Entries { .. } => self.notes.values().rev().find(|it| it.source == source),
            _ => self.notes.get(&(source, 0)),
        }
    }

    /// Drops the oldest notes that there is no room for.
    fn evict(&mut self) {
        match self.spec.store {
            SourceStore::File { tokens }
            | SourceStore::Entries { tokens }
            | SourceStore::Document { tokens } => {
                self.keep(or_unlimited(tokens), |_| 0, |it| it.tokens);
            }
            SourceStore::Summary { words } => self.keep(self.numbers.tokens(words), |_| 0, |it| it.tokens),
            SourceStore::Topics { tokens } => {
                self.keep(or_unlimited(tokens), |it| it.topic, |source| source.tokens);
            }
            SourceStore::Banks { capacity } => self.keep(capacity, |it| it.kind as u64, |_| 1),
        }
    }

    /// Keeps the newest notes of each group that together are at most so large.
    fn keep(&mut self, room: u64, group: impl Fn(&Note) -> u64, size: impl Fn(&Note) -> u64) {
        if room == UNLIMITED {
            return;
        }
        let mut filled: IndexMap<u64, u64> = IndexMap::new();
        let mut keeps: Vec<bool> = Vec::with_capacity(self.notes.len());
        for note in self.notes.values().rev() {
            let sum = filled.entry(group(note)).or_default();
            // Once one does not fit, older ones go, too.
            *sum = sum.saturating_add(size(note));
            keeps.push(*sum <= room);
        }
        let mut keeps = keeps.into_iter().rev();
        self.notes.retain(|_, _| keeps.next().unwrap_or(true));
    }

    /// Chooses what prompts hold.
    fn choose(&mut self) {
        let sizes = &self.numbers.sizes;
        if let SourceStore::Topics { .. } = self.spec.store {
            let topics: IndexSet<u64> = self.notes.values().map(|it| it.topic).collect();
            self.shown = topics.len() as Tokens * sizes.index_tokens;
            return;
        }
        let SourceRead::Top(n) = self.spec.read else {
            self.shown = self.tokens();
            return;
        };
        let mut newest: IndexMap<u64, Note> = IndexMap::new();
        for note in self.notes.values() {
            newest.shift_remove(&note.source);
            newest.insert(note.source, *note);
        }
        let mut ranked: Vec<(usize, Note)> = newest.into_values().enumerate().collect();
        ranked.sort_by_key(|(nth, it)| std::cmp::Reverse((it.sessions, it.number, *nth)));
        ranked.truncate(saturated(n));
        self.shown = ranked.iter().map(|it| it.1.tokens).sum();
        self.top = Some(ranked.iter().map(|it| it.1.source).collect());
    }
}
