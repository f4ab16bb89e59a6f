//! The chained digests of a prompt's prefixes, extended lazily from the first change.

use xxhash_rust::xxh3::xxh3_128;

use super::edit::Identities;
use super::{Prompt, ShownAs, Slot, SlotIx};
use crate::prelude::*;

/// The prefix that ends with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub slot: SlotIx,
    /// Tokens up to and including it.
    pub tokens: Tokens,
    /// A digest of the content up to and including it.
    pub digest: u128,
    /// What is there.
    pub kind: Kind,
}

impl Link {
    /// What is before the first.
    const NONE: Self = Self { slot: 0, tokens: 0, digest: 0, kind: Kind::User };
}

/// The prefixes of the current prompt, one per slot that the cache knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    links: Vec<Link>,
    /// By link: what its slot adds, apart from all that comes before. Two prefixes that grow by the same are the same.
    adds: Vec<u128>,
    n_unchanged: usize,
    n_unedited: usize,
    is_aside: bool,
    /// Whether the last prefix ends with what is asked of a summariser, after the agent's prompt.
    is_asked: bool,
}

impl Chain {
    /// Returns an empty chain with room for so many prefixes.
    pub fn with_room(n: usize) -> Self {
        Self { links: Vec::with_capacity(n), adds: Vec::with_capacity(n), ..Self::default() }
    }

    /// Updates the chain to the prompt; only what follows the first change is hashed again.
    pub fn refresh(&mut self, prompt: &mut Prompt<'_>, known: &Identities) {
        let dirty = prompt.take_dirty();
        let kept = self.links.partition_point(|link| link.slot < dirty);
        self.n_unchanged = self.extend(kept, prompt, known);
    }

    /// Brings what is after the first links up to the prompt; returns how many links are the same as before.
    fn extend(&mut self, kept: usize, prompt: &mut Prompt<'_>, known: &Identities) -> usize {
        let mut last = kept.checked_sub(1).map_or(Link::NONE, |it| self.links[it]);
        let mut from = if kept > 0 { last.slot + 1 } else { 0 };
        let mut stood = known.from(from).peekable();
        let (mut n_same, mut n) = (kept, kept);
        loop {
            // What the cache knows is visible, or hidden by edits that keep the prefix.
            let visible = prompt.visible_from(from);
            let stands = stood.peek().filter(|it| *it.0 <= visible).copied();
            let at = stands.map_or(visible, |it| *it.0);
            if at >= prompt.len() {
                break;
            }
            if stands.is_some() {
                stood.next();
            }
            let adds = adds(stands.map_or(prompt.slot(at), |it| it.1), prompt.item(at));
            let tokens = last.tokens + Tokens::from(prompt.slot(at).tokens);
            let before = self.links.get(n).filter(|_| n == n_same && self.adds.get(n) == Some(&adds));
            match before.filter(|it| (it.slot, it.tokens, it.kind) == (at, tokens, prompt.kind(at))) {
                // An edit for one request is taken back after it and made again before the next, mostly the same.
                Some(same) => {
                    last = *same;
                    n_same += 1;
                }
                None => {
                    last = Link { slot: at, tokens, digest: grown(last.digest, adds), kind: prompt.kind(at) };
                    self.cut(n);
                    self.links.push(last);
                    self.adds.push(adds);
                }
            }
            n += 1;
            from = at + 1;
        }
        self.cut(n);
        prompt.touch((n - kept) as u64);
        n_same
    }

    fn cut(&mut self, at: usize) {
        self.links.truncate(at);
        self.adds.truncate(at);
    }

    /// Returns the prefixes of the current prompt, for a request besides the agent's own.
    pub fn aside(prompt: &mut Prompt<'_>, known: &Identities) -> Self {
        let mut chain = Self { is_aside: true, ..Self::default() };
        chain.extend(0, prompt, known);
        chain
    }

    /// Becomes the chain of a request besides the agent's own, with the prompt as it stands; returns what the agent's own has from the first
    /// change on, which [`Chain::take_back`] takes. Neither copies what both have.
    pub fn lend(&mut self, prompt: &mut Prompt<'_>, known: &Identities) -> Self {
        let kept = self.links.partition_point(|link| link.slot < prompt.dirty_from());
        let own = self.part(kept);
        prompt.touch(own.links.len() as u64);
        self.extend(kept, prompt, known);
        own
    }

    /// Becomes what is told apart so of a request besides the agent's own, which is told apart here; returns what [`Chain::take_back`] takes.
    pub fn lend_told(&mut self, aside: &Self, tell: impl Fn(&Link) -> Link) -> Self {
        let own = self.part(aside.n_unchanged);
        aside.tell_the_rest_apart(self, tell);
        own
    }

    /// Keeps the first prefixes for a request besides the agent's own; returns the others.
    fn part(&mut self, kept: usize) -> Self {
        let own = Self { links: self.links.split_off(kept), adds: self.adds.split_off(kept), ..*self };
        (self.n_unchanged, self.is_aside) = (kept, true);
        own
    }

    /// Becomes the agent's own again.
    pub fn take_back(&mut self, own: Self) {
        self.cut(self.n_unchanged);
        self.links.extend(own.links);
        self.adds.extend(own.adds);
        (self.n_unchanged, self.n_unedited) = (own.n_unchanged, own.n_unedited);
        (self.is_aside, self.is_asked) = (own.is_aside, own.is_asked);
    }

    /// Returns the same with what a request beside the agent's own asks after it, a message of so many
    /// tokens, if any; what is asked in the same place in as many tokens is the same.
    pub fn asking(mut self, tokens: Tokens) -> Self {
        if tokens > 0 {
            let last = self.links.last().copied();
            let (slot, before, digest) =
                last.map_or((0, 0, 0), |it| (it.slot.saturating_add(1), it.tokens, it.digest));
            let mut bytes = [0_u8; 25];
            bytes[..16].copy_from_slice(&digest.to_le_bytes());
            bytes[16..24].copy_from_slice(&tokens.to_le_bytes());
            bytes[24] = Kind::User as u8;
            let (tokens, digest) = (before.saturating_add(tokens), xxh3_128(&bytes));
            self.links.push(Link { slot, tokens, digest, kind: Kind::User });
            // No slot adds a number as large.
            self.adds.push(u128::from(tokens - before) | 1 << 127);
            self.is_asked = true;
        }
        self
    }

    /// Notes from which slot on the policy has edited since the request before.
    pub fn note_edits(&mut self, from: Option<SlotIx>) {
        self.n_unedited = self.links.partition_point(|it| from.is_none_or(|from| it.slot < from));
    }

    /// Returns a chain of prefixes that are in no prompt of the engine's.
    pub fn from_links(links: Vec<Link>) -> Self {
        let adds = links.iter().map(|it| it.digest).collect();
        Self { n_unedited: links.len(), links, adds, n_unchanged: 0, is_aside: true, is_asked: false }
    }

    /// Returns the same prefixes, of which it is not known what has changed.
    pub fn as_new(&self) -> Self {
        Self { n_unchanged: 0, ..self.clone() }
    }

    /// Returns the first prefixes, as a request of another session that begins so.
    pub fn front(&self, n: usize) -> Self {
        let n = n.min(self.links.len());
        Self { adds: self.adds[..n].to_vec(), ..Self::from_links(self.links[..n].to_vec()) }
    }

    /// Returns the same prefixes as distinguished by settings besides content.
    pub fn told_apart(&self, tell: impl Fn(&Link) -> Link) -> Self {
        let mut told = Self { is_aside: true, ..Self::default() };
        self.tell_the_rest_apart(&mut told, tell);
        told
    }

    /// Brings the prefixes of the request before, told apart so, up to these; what has not changed stays as it was told.
    pub fn tell_apart(&self, told: &mut Self, tell: impl Fn(&Link) -> Link) {
        told.cut(self.n_unchanged);
        self.tell_the_rest_apart(told, tell);
    }

    fn tell_the_rest_apart(&self, told: &mut Self, tell: impl Fn(&Link) -> Link) {
        let at = told.links.len();
        told.links.extend(self.links[at..].iter().map(tell));
        let new = self.links.iter().zip(&told.links).zip(&self.adds).skip(at);
        told.adds.extend(new.map(|((link, told), adds)| adds ^ link.digest ^ told.digest));
        (told.n_unedited, told.is_asked) = (self.n_unedited, self.is_asked);
    }

    /// Returns whether it is not the agent's own: the request before may have been another than [`Chain::n_unchanged`] speaks of.
    pub fn is_aside(&self) -> bool {
        self.is_aside
    }

    /// Returns the prefixes, shortest first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns by prefix what it adds to the one before.
    pub fn adds(&self) -> &[u128] {
        &self.adds
    }

    /// Returns the prefixes without what is asked after the agent's prompt.
    pub fn own_links(&self) -> &[Link] {
        &self.links[..self.links.len() - usize::from(self.is_asked)]
    }

    /// Returns how many prefixes hold nothing that the policy has edited since the request before, what came since included.
    pub fn n_unedited(&self) -> usize {
        self.n_unedited
    }

    /// Returns how many prefixes are known to be those of the agent's own request before.
    pub fn n_unchanged(&self) -> usize {
        self.n_unchanged
    }
}

/// Returns what a slot adds to a prefix: who says it, its size, and its words; where these are not known, the item's digest and its
/// rendition, of which only the item as it came says the same as words.
fn adds(slot: &Slot, item: &Item) -> u128 {
    let (digest, shown) = match slot.content {
        Some(content) => (content.digest(), ShownAs::Raw),
        None => (item.digest, slot.rendition),
    };
    let says = role(if slot.is_summary() { Kind::Summary } else { item.kind });
    // One number instead of slices that are copied one by one: this is run for every slot that is behind a change.
    u128::from(digest) | u128::from(slot.tokens) << 64 | u128::from(says) << 96 | (shown as u128) << 104
}

/// Returns the digest of a prefix grown by what a slot adds: a step of a 128-bit congruential generator (PCG's multiplier, O'Neill 2014,
/// www.pcg-random.org), its high half mixed into its low one. It is run for every slot behind a change, and what a slot adds is a digest
/// already.
#[inline]
pub fn grown(before: u128, adds: u128) -> u128 {
    let next = (before.rotate_left(29) ^ adds).wrapping_add(INCREMENT).wrapping_mul(MULTIPLIER);
    next ^ (next >> 67)
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
const INCREMENT: u128 = 0x5851_F42D_4C95_7F2D_1405_7B7E_F767_814F;

/// Returns who says it, as a provider is told: a summary, a memory and an approval are the user's side of the talk.
#[inline]
fn role(kind: Kind) -> u8 {
    match kind {
        Kind::User | Kind::Summary | Kind::Memory | Kind::Approval => Kind::User as u8,
        kind => kind as u8,
    }
}
