//! Tokens by how they are billed: of one request, of several, or expected.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use ctxsim_base::quantity::Tokens;

/// Tokens by how they are billed; exact numbers, or expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUse<T = Tokens> {
    /// Read from the cache.
    pub read: T,
    /// Written to it, by lifetime class: short, long.
    pub write: [T; 2],
    /// Plain input.
    pub uncached: T,
    /// Written by the model.
    pub output: T,
}

impl<T: Serialize> Serialize for TokenUse<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.read, &self.write, &self.uncached, &self.output).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TokenUse<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (read, write, uncached, output) = Deserialize::deserialize(from)?;
        Ok(Self { read, write, uncached, output })
    }
}

impl<T: Copy> TokenUse<T> {
    /// Returns what each kind of token becomes.
    pub fn map<U>(self, one: impl Fn(T) -> U) -> TokenUse<U> {
        let Self { read, write, uncached, output } = self;
        TokenUse { read: one(read), write: write.map(&one), uncached: one(uncached), output: one(output) }
    }

    /// Returns what each kind of token becomes together with that of another bill.
    pub fn zip<U>(self, other: Self, both: impl Fn(T, T) -> U) -> TokenUse<U> {
        TokenUse {
            read: both(self.read, other.read),
            write: [0, 1].map(|it| both(self.write[it], other.write[it])),
            uncached: both(self.uncached, other.uncached),
            output: both(self.output, other.output),
        }
    }
}

impl<T: Copy + Add<Output = T>> TokenUse<T> {
    /// Returns the tokens of the prompts.
    #[inline]
    pub fn prompt(&self) -> T {
        self.read + self.write[0] + self.write[1] + self.uncached
    }
}

impl TokenUse {
    /// Returns the first tokens of its prompt: reads stand before long writes, those before short ones, and plain input behind all.
    pub fn up_to(&self, end: Tokens) -> Self {
        let mut left = end;
        let mut take = |tokens: Tokens| {
            let taken = tokens.min(left);
            left -= taken;
            taken
        };
        let (read, long, short) = (take(self.read), take(self.write[1]), take(self.write[0]));
        Self { read, write: [short, long], uncached: take(self.uncached), output: 0 }
    }
}

impl<T: Copy + AddAssign> AddAssign for TokenUse<T> {
    #[inline]
    fn add_assign(&mut self, more: Self) {
        self.read += more.read;
        self.write[0] += more.write[0];
        self.write[1] += more.write[1];
        self.uncached += more.uncached;
        self.output += more.output;
    }
}

impl<T: Copy + Sub<Output = T>> Sub for TokenUse<T> {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        self.zip(less, Sub::sub)
    }
}
