//! The small policies that cache vectors name, in the stage language.

use crate::diag::Diagnostic;
use crate::model::Policy;
use crate::spec::PolicySpec;
use crate::spec::decode::{Format, decode};

/// Makes the policy of a name; its numbers are those of the file's own sentence. `None` when the name is not known.
pub(super) fn policy(name: &str, sentence: &str) -> Option<Result<Policy, Vec<Diagnostic>>> {
    let stage = stage(name, sentence)?;
    let text = format!("(name: \"vectors\", about: \"{}\", stages: [{stage}])", name.escape_default());
    let spec: Result<PolicySpec, _> = decode(&text, Format::Ron);
    Some(match spec {
        Ok(spec) => Policy::new(&spec),
        Err(problems) => Err(problems),
    })
}

/// Writes the stage of a policy.
fn stage(name: &str, sentence: &str) -> Option<String> {
    let numbers = numbers(sentence);
    let pair = || Some((*numbers.first()?, *numbers.get(1)?));
    if name == "none" {
        return Some(String::new());
    }
    if name.starts_with("mask_rolling_") {
        let (keep, marker) = pair()?;
        return Some(format!(
            "(name: \"mask\", scope: (kinds: [tool_result], keep_recent: tool_uses({keep})), apply: show(marker({marker})))"
        ));
    }
    if name.starts_with("prune_boundary_") {
        let (above, marker) = pair()?;
        return Some(format!(
            "(name: \"prune\", at: [loop_start], scope: (part: completed, kinds: [tool_result], larger_than: tokens({above}), shown: [raw]), apply: show(marker({marker})))"
        ));
    }
    let is_aligned = name.ends_with("_aligned");
    if name.starts_with("compact_") && (is_aligned || name.ends_with("_separate")) {
        let threshold = *numbers.first()?;
        let before = |what: &str| number_before(sentence, what);
        let instruction = before("-token instruction")?;
        let output = number_after(sentence, "output ").or_else(|| before("-token summary"))?;
        let system = if is_aligned { 0 } else { before("-token system")? };
        let prompt = if is_aligned { "aligned" } else { "separate" };
        return Some(format!(
            "(name: \"compact\", when: prompt(at_least: tokens({threshold})), apply: summarise(output: tokens({output}), overhead: tokens({}), prompt: {prompt}))",
            instruction + system
        ));
    }
    None
}

/// Returns the whole numbers in a sentence, in order.
fn numbers(sentence: &str) -> Vec<u64> {
    sentence.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect()
}

/// Returns the number that ends right before some words.
fn number_before(sentence: &str, words: &str) -> Option<u64> {
    let front = &sentence[..sentence.find(words)?];
    let digits = front.len() - front.bytes().rev().take_while(u8::is_ascii_digit).count();
    front[digits..].parse().ok()
}

/// Returns the number that begins right after some words.
fn number_after(sentence: &str, words: &str) -> Option<u64> {
    let rest = &sentence[sentence.find(words)? + words.len()..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}
