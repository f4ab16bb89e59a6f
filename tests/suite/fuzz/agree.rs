//! The reader of RON against the `ron` crate, and inputs that are written against what is read again; shared with `fuzz/`.

use std::fmt::Debug;

use ctxsim::diag::Diagnostic;
use ron::extensions::Extensions;
use serde::de::DeserializeOwned;

use crate::support::*;

/// The suffixes of numbers in Rust, which no input has.
const SUFFIXES: [&str; 10] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];

/// Reads a RON text with both readers, which must take and mean the same; returns whether they take it.
pub(crate) fn reads_as_ron<T: Decode + Encode + DeserializeOwned + PartialEq + Debug>(text: &str) -> bool {
    match (decode::<T>(text, Format::Ron), dialect().from_str::<T>(text)) {
        (Ok(ours), Ok(theirs)) => {
            assert!(is_same(&ours, &theirs), "{ours:?}\n{theirs:?}\n{text}");
            returns(&ours);
            return true;
        }
        // The crate counts a bracket once for each type that it passes, and reads attributes, which ask inputs for nothing.
        (Ok(_), Err(error)) => {
            let is_deep = error.code == ron::Error::ExceededRecursionLimit;
            assert!(is_deep || text.contains("#!["), "{error}\n{text}");
        }
        (Err(problems), Ok(_)) => {
            assert!(is_set_twice(&problems) || is_foreign(text), "{problems:?}\n{text}");
        }
        (Err(problems), Err(_)) => assert!(!problems.is_empty(), "{text}"),
    }
    false
}

/// Writes an input in both formats, and reads it again as the same.
pub(crate) fn returns<T: Decode + Encode + PartialEq + Debug>(spec: &T) {
    for format in [Format::Ron, Format::Toml] {
        // TOML holds no number above the largest signed one.
        let Ok(text) = encode(spec, format) else { continue };
        let again: T = decode(&text, format).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
        assert!(is_same(&again, spec), "{again:?}\n{spec:?}\n{text}");
    }
}

/// Whether two inputs are the same; one that is no number equals nothing.
pub(crate) fn is_same<T: PartialEq + Debug>(one: &T, other: &T) -> bool {
    one == other || format!("{one:?}").contains("NaN")
}

/// Returns the dialect of inputs as the crate knows it.
fn dialect() -> ron::Options {
    ron::Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    )
}

/// Whether a key is set twice, of which the crate takes the last.
fn is_set_twice(problems: &[Diagnostic]) -> bool {
    problems.iter().any(|it| it.code.name() == "duplicate-key")
}

/// Whether a text has something that the crate takes and no input needs: bytes, numbers with the suffix of a type, in another
/// base where a fraction may stand, or of more digits than any type has, and `Some` without brackets.
fn is_foreign(text: &str) -> bool {
    let is_number = |it: char| it.is_ascii_digit() || matches!(it, '_' | '.');
    let is_suffix = |it: &&str| text.split(it).any(|before| before.ends_with(is_number));
    let is_long = || text.split(|it| !is_number(it)).any(|it| it.len() > 38);
    let others = ["Some", "0x", "0o", "0b", "b'", "b\"", "br", "inff", "NaNf"];
    others.iter().any(|it| text.contains(it)) || SUFFIXES.iter().any(is_suffix) || is_long()
}
