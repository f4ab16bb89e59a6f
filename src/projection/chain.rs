//! The chained digests of a prompt's prefixes, extended lazily from the first change on.

use xxhash_rust::xxh3::xxh3_128;

use super::edit::ChangeLog;
use super::prompt::{Prompt, SlotIx};
use crate::quantity::Tokens;
use crate::timeline::Kind;

/// The prefix that ends with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The slot.
    pub slot: SlotIx,
    /// Tokens up to and with it.
    pub tokens: Tokens,
    /// Stands for the content up to and with it.
    pub digest: u128,
    /// What stands there.
    pub kind: Kind,
}

/// The prefixes of the current prompt, one a slot that the cache knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    links: Vec<Link>,
    n_unchanged: usize,
    is_aside: bool,
}

impl Chain {
    /// Brings the chain up to the prompt; only what lies behind the first change is hashed again.
    pub fn refresh(&mut self, prompt: &mut Prompt<'_>, log: &ChangeLog) {
        let dirty = prompt.take_dirty();
        let kept = self.links.partition_point(|link| link.slot < dirty);
        self.links.truncate(kept);
        self.n_unchanged = kept;
        self.extend(prompt, log);
    }

    /// Appends what stands behind the last link.
    fn extend(&mut self, prompt: &mut Prompt<'_>, log: &ChangeLog) {
        let kept = self.links.len();
        let mut last =
            self.links.last().copied().unwrap_or(Link { slot: 0, tokens: 0, digest: 0, kind: Kind::User });
        let mut at = log.known_from(prompt, self.links.last().map_or(0, |it| it.slot + 1));
        while at < prompt.len() {
            last = Link {
                slot: at,
                tokens: last.tokens + Tokens::from(prompt.slot(at).tokens),
                digest: link(last.digest, prompt, log, at),
                kind: prompt.kind(at),
            };
            self.links.push(last);
            at = log.known_from(prompt, at + 1);
        }
        prompt.touch((self.links.len() - kept) as u64);
    }

    /// Returns the prefixes of a prompt as it stands, for a request beside the agent's own.
    #[must_use]
    pub fn aside(prompt: &mut Prompt<'_>, log: &ChangeLog) -> Self {
        let mut chain = Self { is_aside: true, ..Self::default() };
        chain.extend(prompt, log);
        chain
    }

    /// Returns a chain of prefixes that stand in no prompt of the engine's.
    #[must_use]
    pub fn of(links: Vec<Link>) -> Self {
        Self { links, n_unchanged: 0, is_aside: true }
    }

    /// Returns whether [`Chain::n_unchanged`] says nothing of the request before.
    #[must_use]
    pub fn is_aside(&self) -> bool {
        self.is_aside
    }

    /// Returns the prefixes, shortest first.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns how many prefixes are the same as at the refresh before.
    #[must_use]
    pub fn n_unchanged(&self) -> usize {
        self.n_unchanged
    }
}

/// Returns the digest of a prefix grown by one slot.
fn link(before: u128, prompt: &Prompt<'_>, log: &ChangeLog, index: SlotIx) -> u128 {
    let slot = log.identity(prompt, index);
    let mut bytes = [0_u8; 34];
    bytes[..16].copy_from_slice(&before.to_le_bytes());
    bytes[16..24].copy_from_slice(&prompt.item(index).digest.to_le_bytes());
    bytes[24..28].copy_from_slice(&slot.tokens.to_le_bytes());
    bytes[28] = slot.rendition as u8;
    bytes[29] = slot.state as u8;
    bytes[30..].copy_from_slice(&slot.serial.to_le_bytes());
    xxh3_128(&bytes)
}
