//! The small policies that cache vectors name, with the numbers of a file's own sentence.
//!
//! All are stages of the language but two: masks that move in batches, because a batch is counted from the first result and
//! not from the last move, and `cc_auto`.

use super::compaction::Compaction;
use crate::diag::Diagnostic;
use crate::input::policy::Moment;
use crate::input::text::decode::{Format, decode};
use crate::input::{Policy, PolicyFile};
use crate::projection::prompt::Shown;
use crate::projection::rendition::Rendered;
use crate::projection::{Ambient, Editor, Projector};
use crate::trace::Kind;

/// What a marker takes where the sentence does not say.
const USUAL_MARKER: u64 = 12;
/// The README's numbers of `opencode`, for sentences that do not say their own: loops and tokens that stay as they are,
/// tokens that must become free, tokens of a marker.
const OPENCODE_LOOPS: u64 = 2;
const OPENCODE_KEPT: u64 = 40_000;
const OPENCODE_FREED: u64 = 20_000;
const OPENCODE_MARKER: u64 = 10;
/// The names that are known; `…` stands for anything.
const KNOWN: &str =
    "none, mask_…, clear_…, prune_boundary_…, opencode…, cc_auto…, compact_…_aligned and compact_…_separate";

/// A policy ready to play.
#[derive(Clone, Debug)]
pub(super) enum Small {
    /// In the stage language.
    Stages(Box<Policy>),
    /// In code.
    Coded(Coded),
}

/// A policy in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coded {
    Masks(Masks),
    Compaction(Compaction),
}

impl Projector for Coded {
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        match self {
            Self::Masks(it) => it.project(moment, ambient, edit),
            Self::Compaction(it) => it.project(moment, ambient, edit),
        }
    }
}

/// Shows the oldest results as markers, so many at once: `floor(max(0, all - keep) / batch) × batch` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    keep: u64,
    batch: u64,
    marker: u32,
}

impl Projector for Masks {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let is_result = |edit: &Editor<'_, '_>, at: u32| edit.prompt().item(at).kind == Kind::ToolResult;
        let results: Vec<u32> = (0..edit.prompt().len()).filter(|at| is_result(edit, *at)).collect();
        let surplus = (results.len() as u64).saturating_sub(self.keep);
        let n_masked = usize::try_from(surplus / self.batch * self.batch).unwrap_or(0);
        for at in results.into_iter().take(n_masked) {
            edit.show(at, Rendered { shown: Shown::Marker, tokens: self.marker, exact: false });
        }
    }
}

/// Makes the policy of a name; its numbers are those of the file's own sentence.
///
/// # Errors
/// The name is not known, or a number is missing.
pub(super) fn policy(name: &str, sentence: &str) -> Result<Small, String> {
    if name.starts_with("mask_") {
        let masks = masks(name, sentence).ok_or("its sentence does not say which results stay")?;
        if masks.batch > 1 {
            return Ok(Small::Coded(Coded::Masks(masks)));
        }
    }
    if name.starts_with("cc_auto") {
        return Ok(Small::Coded(Coded::Compaction(Compaction::new(sentence))));
    }
    let stage = stage(name, sentence)?;
    let text = format!("(name: \"vectors\", about: \"{}\", stages: [{stage}])", name.escape_default());
    let spec: Result<PolicyFile, Vec<Diagnostic>> = decode(&text, Format::Ron);
    let policy = spec.and_then(|it| Policy::new(&it));
    let told = |it: Vec<Diagnostic>| it.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    policy.map(|it| Small::Stages(Box::new(it))).map_err(told)
}

/// Returns the numbers of masks.
fn masks(name: &str, sentence: &str) -> Option<Masks> {
    let named = numbers(name);
    let keep = after(sentence, "newest ").or_else(|| after(sentence, "k - ")).or(named.first().copied())?;
    let batch = ["poll ", "poll=", "poll = ", "batches of ", "multiples of ", "/ "];
    let batch = batch.iter().find_map(|it| after(sentence, it)).or(named.get(1).copied()).unwrap_or(1);
    let marker = u32::try_from(marker(sentence)).ok()?;
    Some(Masks { keep, batch: batch.max(1), marker })
}

/// Returns how large a marker is.
fn marker(sentence: &str) -> u64 {
    said_marker(sentence).unwrap_or(USUAL_MARKER)
}

fn said_marker(sentence: &str) -> Option<u64> {
    ["become ", "marker of ", "marker ", "become a "].iter().find_map(|it| after(sentence, it))
}

/// Writes the stage of a policy.
fn stage(name: &str, sentence: &str) -> Result<String, String> {
    let said = |number: Option<u64>, what: &str| number.ok_or(format!("its sentence does not say {what}"));
    if name == "none" {
        return Ok(String::new());
    }
    if let Some(masks) = name.strip_prefix("mask_").and_then(|_| masks(name, sentence)) {
        return Ok(format!(
            "(name: \"mask\", scope: (kinds: [tool_result], keep_recent: tool_uses({})), apply: show(marker({})))",
            masks.keep, masks.marker
        ));
    }
    if name.starts_with("clear_") {
        let trigger = said(threshold(sentence), "from which prompt on")?;
        let bound =
            if sentence.contains(">=") && !sentence.contains("prompt > ") { "at_least" } else { "above" };
        let keep = after(sentence, "newest ").or_else(|| after(sentence, "keep "));
        let keep = said(keep, "how many results stay")?;
        let least = ["frees >= ", "clear_at_least ", "frees at least "];
        let least = least.iter().find_map(|it| after(sentence, it)).unwrap_or(1).max(1);
        return Ok(format!(
            "(name: \"clear\", when: all([prompt({bound}: tokens({trigger})), reclaimable(at_least: tokens({least}))]), \
             scope: (kinds: [tool_result], keep_recent: tool_uses({keep})), apply: show(marker({})))",
            marker(sentence)
        ));
    }
    if name.starts_with("prune_boundary_") {
        let above = after(sentence, "> ").or(numbers(name).first().copied());
        let above = said(above, "which results are large")?;
        return Ok(format!(
            "(name: \"prune\", at: [loop_start], scope: (part: completed, kinds: [tool_result], \
             larger_than: tokens({above}), shown: [raw]), apply: show(marker({})))",
            marker(sentence)
        ));
    }
    if name.starts_with("opencode") {
        return Ok(opencode(sentence));
    }
    let is_aligned = name.ends_with("_aligned");
    if name.starts_with("compact_") && (is_aligned || name.ends_with("_separate")) {
        let threshold = threshold(sentence).or(numbers(name).first().copied());
        let threshold = said(threshold, "from which prompt on")?;
        let instruction = said(before(sentence, "-token instruction"), "how long the instruction is")?;
        let output = after(sentence, "output ").or_else(|| before(sentence, "-token summary"));
        let output = said(output, "how long the summary is")?;
        let system = if is_aligned {
            0
        } else {
            said(before(sentence, "-token system"), "how long its system prompt is")?
        };
        let prompt = if is_aligned { "aligned" } else { "separate" };
        return Ok(format!(
            "(name: \"compact\", when: prompt(at_least: tokens({threshold})), \
             apply: summarise(output: tokens({output}), overhead: tokens({}), prompt: {prompt}))",
            instruction + system
        ));
    }
    Err(format!("a policy of this name is not known; known are {KNOWN}"))
}

/// Writes the stage of `opencode`: results outside the last loops and beyond the newest tokens of them, if that frees enough.
fn opencode(sentence: &str) -> String {
    let (loops, kept) = (after(sentence, "last "), after(sentence, "beyond "));
    let freed = ["> ", "more than ", "above "].iter().find_map(|it| after(sentence, it));
    let loops = loops.unwrap_or(OPENCODE_LOOPS);
    // The loop that begins is one of the newest, too.
    format!(
        "(name: \"prune\", at: [loop_start], when: reclaimable(above: tokens({})), \
         scope: (part: completed, kinds: [tool_result], keep: [(recent: loops({}))], keep_recent: tokens({})), \
         apply: show(marker({})))",
        freed.unwrap_or(OPENCODE_FREED),
        loops + 1,
        kept.unwrap_or(OPENCODE_KEPT),
        said_marker(sentence).unwrap_or(OPENCODE_MARKER)
    )
}

/// Returns how long a summariser's own system prompt is, where it has one.
pub(super) fn own_system(name: &str, sentence: &str) -> Option<u64> {
    if name.ends_with("_separate") { before(sentence, "-token system") } else { None }
}

/// Returns the size of the prompt that a sentence names as a trigger.
pub(super) fn threshold(sentence: &str) -> Option<u64> {
    ["prompt >= ", "prompt > ", "prompt is above ", ">= ", "above "].iter().find_map(|it| after(sentence, it))
}

/// Returns the whole numbers in a text, in order.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect()
}

/// Returns the number that ends right before some words.
pub(super) fn before(sentence: &str, words: &str) -> Option<u64> {
    let front = &sentence[..sentence.find(words)?];
    let digits = front.len() - front.bytes().rev().take_while(|it| is_of_number(*it)).count();
    number(&front[digits..])
}

/// Returns the number that begins right after some words.
pub(super) fn after(sentence: &str, words: &str) -> Option<u64> {
    let rest = &sentence[sentence.find(words)? + words.len()..];
    let digits = rest.bytes().take_while(|it| is_of_number(*it)).count();
    let thousands = rest[digits..].trim_start().strip_prefix(['K', 'k']);
    let is_thousands = thousands.is_some_and(|it| !it.starts_with(|it: char| it.is_alphanumeric()));
    number(&rest[..digits])?.checked_mul(if is_thousands { 1_000 } else { 1 })
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b',' || byte == b'_'
}

/// Reads a number with or without separators.
fn number(digits: &str) -> Option<u64> {
    digits.replace([',', '_'], "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_where_a_sentence_has_them() {
        let sentence = "when the prompt >= 167,000: own 2K system, newest 5 back, 100-token instruction";

        assert_eq!(threshold(sentence), Some(167_000));
        assert_eq!((after(sentence, "own "), after(sentence, "newest ")), (Some(2_000), Some(5)));
        assert_eq!((before(sentence, "-token instruction"), after(sentence, "output ")), (Some(100), None));
    }

    #[test]
    fn masks_move_in_the_batches_that_the_sentence_names() {
        let of = |name, sentence| masks(name, sentence).unwrap();

        let rolling =
            of("mask_rolling_2", "before each request results older than the newest 2 become 10 tokens");
        assert_eq!(rolling, Masks { keep: 2, batch: 1, marker: 10 });
        let polled = of("mask_10_5", "floor(max(0, k - 10) / 5) x 5 oldest results; marker 12");
        assert_eq!(polled, Masks { keep: 10, batch: 5, marker: 12 });
    }

    #[test]
    fn what_a_sentence_lacks_is_named() {
        let unknown = policy("observation_masking", "").unwrap_err();
        assert!(unknown.starts_with("a policy of this name is not known; known are none, "), "{unknown}");
        let problem = policy("compact_5000_aligned", "when the prompt >= 5000").unwrap_err();
        assert_eq!(problem, "its sentence does not say how long the instruction is");
    }
}
