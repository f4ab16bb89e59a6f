//! What a cache knows of a prompt before processing it, to explain how much was read.

use serde::Serialize;

use ctxsim_base::quantity::Tokens;

/// What a cache knows of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The breakpoints of the prompt, where the rule has them, in order.
    pub marks: Vec<MarkFound>,
    /// What earlier requests left that this prompt begins with, the longest first.
    pub entries: Vec<EntryFound>,
}

/// A breakpoint of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarkFound {
    /// The slot after which it stands.
    pub slot: u32,
    /// Tokens before it.
    pub tokens: Tokens,
    /// How long its entry lives, in milliseconds.
    pub life_ms: u64,
    /// The shortest prefix that is cached, if this one is shorter: the breakpoint is then ignored.
    pub too_short_for: Option<Tokens>,
}

/// Something that an earlier request left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntryFound {
    /// The slot that ends it, where the rule knows what it holds.
    pub slot: Option<u32>,
    pub tokens: Tokens,
    /// Milliseconds since what its life is counted from, which is its last use unless nothing renews it; where the rule has a clock.
    pub age_ms: Option<u64>,
    /// How long it lives after its last use, in milliseconds, where the rule says so.
    pub life_ms: Option<u64>,
    /// What became of it.
    pub fate: Fate,
}

/// What happens to an entry when a request looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was read, so many tokens of it.
    Read(Tokens),
    /// It was not there: the harness stored it first, in a call of its own, and then so many tokens of it were read.
    Stored(Tokens),
    /// A longer one was read.
    Shorter,
    /// It had expired.
    Expired,
    /// It could not be read yet: its writer's response begins so many milliseconds later.
    NotReadable {
        /// Milliseconds from this request's start on.
        in_ms: u64,
    },
    /// It is too many positions before the next breakpoint.
    OutOfLookback {
        /// How many, that of the breakpoint counted.
        positions: u64,
        looked_at: u64,
    },
    /// No breakpoint that counts is at or after it.
    NoBreakpoint,
    /// It is shorter than the shortest that is cached.
    TooShort {
        /// The shortest that is cached.
        min_tokens: Tokens,
    },
    /// The store has let it go.
    Evicted,
    /// The rules assume that an edit broke it after a number of tokens.
    Capped(Tokens),
}
