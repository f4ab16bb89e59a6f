//! Patterns of model ids: a name, `*` for anything, and `{revision}` at the end for builds of the same version.

use crate::prelude::*;

/// At the end of a pattern: nothing, or what names a build of the same version, such as `-20251101`, `@default` or `-v1:0`.
pub(crate) const REVISION: &str = "{revision}";

/// Returns the part of an id that a pattern names, which is what stands before its revision, if the pattern covers it. Both are in lower case.
pub fn named_part<'i>(pattern: &str, id: &'i str) -> Option<&'i str> {
    let Some(name) = pattern.strip_suffix(REVISION) else {
        return wildcard(pattern, id).then_some(id);
    };
    std::iter::successors(Some(id), |id| without_revision(id)).find(|plain| wildcard(name, plain))
}

/// Returns a pattern without its `{revision}`.
pub fn without_mark(pattern: &str) -> &str {
    pattern.trim_end_matches(REVISION)
}

/// Returns an id without what names a build.
pub(crate) fn without_revisions(id: &str) -> &str {
    std::iter::successors(Some(id), |id| without_revision(id)).last().unwrap_or(id)
}

/// Returns the name in a pattern that leaves its end open.
pub(super) fn name_in(pattern: &str) -> &str {
    without_mark(pattern).trim_end_matches('*').trim_end_matches('-')
}

/// Returns an id without the last part that names a build, if it has one.
fn without_revision(id: &str) -> Option<&str> {
    let ends = id.rmatch_indices(['-', '@', ':']).take(3);
    ends.filter(|(at, mark)| is_revision(&id[at + 1..], *mark == ":")).last().map(|(at, _)| &id[..at])
}

/// Returns whether a text names a build: a date in one of the forms of vendors, `001`, `latest`, `default`, and at Amazon Bedrock `v1:0` and,
/// behind a colon, `200k`. A version, as in `-5-2` or `-2`, never does, and neither does a size that is sold as another model, as in `-32k`.
fn is_revision(text: &str, is_behind_colon: bool) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_length = is_behind_colon && text.strip_suffix('k').is_some_and(is_number);
    if is_length || matches!(text, "latest" | "default" | "v1") {
        return true;
    }
    if let Some((major, minor)) = text.strip_prefix('v').and_then(|version| version.split_once(':')) {
        return is_number(major) && is_number(minor);
    }
    if !text.split('-').all(is_number) {
        return false;
    }
    let within = |text: &str, least: u32, most: u32| {
        text.parse().is_ok_and(|number: u32| (least..=most).contains(&number))
    };
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let digits = text.replace('-', "");
    let (year, month, day) = match lengths.as_slice() {
        [8] | [4, 2, 2] => (&digits[2..4], &digits[4..6], &digits[6..]),
        [6] => (&digits[..2], &digits[2..4], &digits[4..]),
        [2, 4] => (&digits[4..], &digits[..2], "01"),
        [4] if within(&digits[..2], 23, 99) => (&digits[..2], &digits[2..], "01"),
        [4] | [2, 2] => ("25", &digits[..2], &digits[2..]),
        [3] => return digits.starts_with("00"),
        _ => return false,
    };
    within(year, 23, 99) && within(month, 1, 12) && within(day, 1, 31)
}
