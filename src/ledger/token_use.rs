//! Tokens by how they are billed: of one request, of several, or expected.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::Tokens;

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

impl<T: Copy + Add<Output = T>> TokenUse<T> {
    /// Returns the tokens of the prompts.
    #[inline]
    pub fn prompt(&self) -> T {
        self.read + self.write[0] + self.write[1] + self.uncached
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
        Self {
            read: self.read - less.read,
            write: [self.write[0] - less.write[0], self.write[1] - less.write[1]],
            uncached: self.uncached - less.uncached,
            output: self.output - less.output,
        }
    }
}
