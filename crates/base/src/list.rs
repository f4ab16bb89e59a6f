//! Lists of what an iterator gives, for code that no simulation waits for.
//!
//! `collect` is compiled for each iterator with its hints of size, its folds and their closures, some four hundred lines of IR; this
//! takes one value after the other, a sixth of that. What runs for each request collects.

/// An iterator that can be written down as a list.
pub trait Listed: Iterator + Sized {
    /// Returns all values in a list.
    fn listed(self) -> Vec<Self::Item> {
        let mut list = Vec::new();
        for item in self {
            list.push(item);
        }
        list
    }
}

impl<I: Iterator> Listed for I {}
