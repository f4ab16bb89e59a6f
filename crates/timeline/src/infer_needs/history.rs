//! What a session has said up to a request, indexed by what calls repeat of it.

use std::path::Path;

use crate::prelude::*;

use super::result_of;
use crate::tool_form::{self, ToolForm};
use crate::{Event, EventKind, ItemIx, Spine, Texts, Timeline};
use ctxsim_base::digest::ByDigest;

/// How many places of one word are kept, the newest.
const PLACES_MAX: usize = 16;

/// Longer arguments are text, not names of things.
const NAME_BYTES_MAX: usize = 512;

/// A call and its arguments.
#[derive(Debug)]
pub(super) struct PastCall {
    /// The tool's place in the timeline's list.
    pub(super) tool: u16,
    /// Lists give one entry an element, maps one a field.
    arguments: Vec<CallArgument>,
    /// The files that its command names.
    files: Vec<String>,
}

/// One thing that a call asks for.
#[derive(Debug)]
struct CallArgument {
    /// Its name, as its harness has it; empty where it has none.
    name: String,
    /// What it says, in the word that all harnesses share.
    says: Option<&'static str>,
    value: String,
}

/// What is before a request.
pub(super) struct CallHistory<'t> {
    pub(super) spine: &'t Spine,
    texts: &'t Texts,
    events: &'t [Event],
    /// By word that some call holds: the newest items that hold it, in order.
    places: ByDigest<u64, Vec<ItemIx>>,
    /// By whole argument: the calls that had it, in order.
    calls: ByDigest<u64, Vec<ItemIx>>,
    /// By item: what it asks for, if it is a call with text.
    read: Vec<Option<PastCall>>,
    /// By item: whether the harness has taken it out.
    gone: Vec<bool>,
    n_events: usize,
    next: ItemIx,
}

impl PastCall {
    /// Reads what a call asks for; what is no JSON object is one argument without a name.
    fn read(tool: u16, form: Option<&ToolForm>, input: &str) -> Self {
        let mut named = Vec::new();
        match serde_json::from_str(input) {
            Ok(value) => collect("", value, &mut named),
            Err(_) => named.push((String::new(), input.to_owned())),
        }
        let says = |name: &str| form.and_then(|it| it.says(name)).map(tool_form::Argument::name);
        let of = |(name, value): (String, String)| CallArgument { says: says(&name), name, value };
        let mut arguments: Vec<CallArgument> = named.into_iter().map(of).collect();
        let Some(form) = form else { return Self { tool, arguments, files: Vec::new() } };
        for (path, old) in form.patched(input) {
            let says = |says: tool_form::Argument, value| CallArgument {
                name: String::new(),
                says: Some(says.name()),
                value,
            };
            arguments.push(says(tool_form::Argument::Path, path));
            arguments.push(says(tool_form::Argument::OldText, old));
        }
        let files = if form.names_files { files(form, input) } else { Vec::new() };
        Self { tool, arguments, files }
    }

    /// Returns the arguments of these names.
    pub(super) fn named<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a str> {
        self.arguments.iter().filter(|it| it.is_named(names)).map(|argument| argument.value.as_str())
    }

    /// Returns the arguments of all other names.
    pub(super) fn others<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a str> {
        self.arguments.iter().filter(|it| !it.is_named(names)).map(|argument| argument.value.as_str())
    }
}

impl CallArgument {
    /// Returns whether it goes by one of some names: its own, or that of what it says.
    fn is_named<T: AsRef<str>>(&self, names: &[T]) -> bool {
        names.iter().map(AsRef::as_ref).any(|it| it == self.name || Some(it) == self.says)
    }
}

/// Returns the files that a command names, each as it is written and from where the command runs.
fn files(form: &ToolForm, input: &str) -> Vec<String> {
    let asked = form.asked(input);
    let text = |argument| asked.iter().find(|it| it.0 == argument).and_then(|found| found.1.as_str());
    let command = text(tool_form::Argument::Command).unwrap_or_default();
    let mut files: Vec<String> = Vec::new();
    for word in words(command).filter(|it| Path::new(it).extension().is_some()) {
        if let Some(cwd) = text(tool_form::Argument::Cwd).filter(|_| !word.starts_with('/')) {
            files.push(format!("{}/{word}", cwd.trim_end_matches('/')));
        }
        files.push(word.to_owned());
    }
    files
}

/// Collects the strings and numbers of a value with the names that they are under.
fn collect(name: &str, value: Value, arguments: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => fields.into_iter().for_each(|(name, it)| collect(&name, it, arguments)),
        Value::Array(elements) => elements.into_iter().for_each(|it| collect(name, it, arguments)),
        Value::String(text) => arguments.push((name.to_owned(), text)),
        Value::Number(number) => arguments.push((name.to_owned(), number.to_string())),
        Value::Null | Value::Bool(_) => {}
    }
}

impl<'t> CallHistory<'t> {
    /// Stands before the first request; looks through the calls for the words to watch for.
    pub(super) fn new(timeline: &'t Timeline) -> Self {
        let mut history = Self {
            spine: &timeline.spine,
            texts: &timeline.texts,
            events: &timeline.events,
            places: ByDigest::default(),
            calls: ByDigest::default(),
            read: (0..).take(timeline.spine.items.len()).map(|it| read(timeline, it)).collect(),
            gone: vec![false; timeline.spine.items.len()],
            n_events: 0,
            next: 0,
        };
        for CallArgument { value, .. } in history.read.iter().flatten().flat_map(|it| &it.arguments) {
            for word in words(value).chain((value.len() <= NAME_BYTES_MAX).then_some(value.as_str())) {
                history.places.entry(key(word)).or_default();
            }
        }
        history
    }

    /// Goes on to a step's request.
    pub(super) fn learn(&mut self, step: usize) {
        let end = self.spine.steps[step].reply.start;
        while self.next < end {
            self.learn_item(self.next);
            self.next += 1;
        }
        while let Some(event) =
            self.events.get(self.n_events).filter(|it| self.spine.step_at(it.at) as usize <= step)
        {
            if let EventKind::Reset(items) = &event.kind {
                let items = items.start as usize..(items.end as usize).min(self.gone.len());
                self.gone.get_mut(items).unwrap_or_default().fill(true);
            }
            self.n_events += 1;
        }
    }

    fn learn_item(&mut self, index: ItemIx) {
        let Some(text) = self.texts.text(index) else { return };
        let mut note = |word: &str| {
            let Some(places) = self.places.get_mut(&key(word)) else { return };
            if places.last() != Some(&index) {
                if places.len() == PLACES_MAX {
                    places.remove(0);
                }
                places.push(index);
            }
        };
        let Some(call) = &self.read[index as usize] else { return words(text).for_each(note) };
        for CallArgument { value, .. } in &call.arguments {
            words(value).for_each(&mut note);
            if value.len() <= NAME_BYTES_MAX {
                note(value);
                self.calls.entry(key(value)).or_default().push(index);
            }
        }
        for file in &call.files {
            self.calls.entry(key(file)).or_default().push(index);
        }
    }

    pub(super) fn call(&self, index: ItemIx) -> Option<&PastCall> {
        self.read.get(index as usize)?.as_ref()
    }

    /// Returns what an item says.
    pub(super) fn text(&self, item: ItemIx) -> &'t str {
        self.texts.text(item).unwrap_or_default()
    }

    /// Returns what an item is.
    pub(super) fn kind(&self, item: ItemIx) -> Kind {
        self.spine.items[item as usize].kind
    }

    /// Returns the items that hold a word, the newest first.
    pub(super) fn places(&self, word: &str) -> impl Iterator<Item = ItemIx> {
        let places = self.places.get(&key(word)).map_or(&[] as &[ItemIx], Vec::as_slice);
        places.iter().rev().copied().filter(|it| !self.is_gone(*it))
    }

    /// Returns the results of the calls that had an argument, the newest first.
    pub(super) fn results_for(&self, argument: &str) -> impl Iterator<Item = ItemIx> {
        let calls = self.calls.get(&key(argument)).map_or(&[] as &[ItemIx], Vec::as_slice);
        let results = calls.iter().rev().take(PLACES_MAX).filter_map(|it| result_of(self.spine, *it));
        results.filter(|it| *it < self.next && !self.is_gone(*it))
    }

    /// Returns the other items that name what a result was fetched by.
    pub(super) fn mentions(&self, result: ItemIx, arguments: &[&str]) -> Vec<ItemIx> {
        let call = self.spine.items[result as usize].pair;
        let names =
            self.call(call).into_iter().flat_map(|it| &it.arguments).filter(|it| it.is_named(arguments));
        let mut places: Vec<ItemIx> = names.flat_map(|it| self.places(&it.value)).collect();
        places.retain(|it| *it != call && *it != result);
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Returns whether the harness has taken an item out.
    fn is_gone(&self, item: ItemIx) -> bool {
        self.gone.get(item as usize).copied().unwrap_or(false)
    }
}

/// Reads a call; `None` for any other item, and for one without text.
fn read(Timeline { spine, texts, .. }: &Timeline, index: ItemIx) -> Option<PastCall> {
    let item = spine.items.get(index as usize).filter(|it| it.kind == Kind::ToolCall)?;
    Some(PastCall::read(item.tool, texts.form(index), texts.text(index)?))
}

/// Stands for a word.
fn key(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

/// By byte: whether it is in words, as an ASCII character; 2 is a part of another one.
const IN_WORDS: [u8; 256] = {
    let mut table = [2; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let joins = matches!(byte, b'_' | b'/' | b'.' | b'-' | b'#' | b'@' | b'~' | b'+');
        table[byte as usize] = (byte.is_ascii_alphanumeric() || joins) as u8;
        byte += 1;
    }
    table
};

/// Returns where what is in words, or is not, ends that begins at a place.
#[inline(always)]
fn end_of(text: &str, from: usize, is_in: bool) -> usize {
    let mut at = from;
    // Every result of a session passes here, and nearly all of it is ASCII.
    while let Some(byte) = text.as_bytes().get(at) {
        at += match IN_WORDS[usize::from(*byte)] {
            class if class == u8::from(is_in) => 1,
            2 => match text[at..].chars().next() {
                Some(it) if (!is_sign(it) && it.is_alphanumeric()) == is_in => it.len_utf8(),
                _ => break,
            },
            _ => break,
        };
    }
    at
}

/// Returns whether a character is among the dashes, arrows and frames that tools print by the line: Unicode's tables take hundreds of
/// steps to say that they are no letters.
fn is_sign(it: char) -> bool {
    matches!(it, '\u{2010}'..='\u{206F}' | '\u{2190}'..='\u{245F}' | '\u{2500}'..='\u{2775}')
}

/// Returns the words of a text: names, paths, numbers, and whatever else has no space or bracket in it.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let runs = std::iter::from_fn(move || {
        let from = end_of(text, at, false);
        at = end_of(text, from, true);
        (from < at).then(|| &text[from..at])
    });
    runs.map(trimmed).filter(|run| run.len() > 1)
}

/// Returns a word without the dashes before it and what ends a sentence, a list or a folder; nearly all words have neither, and need
/// no search.
fn trimmed(word: &str) -> &str {
    let (first, last) = (word.as_bytes().first(), word.as_bytes().last());
    match (first, last) {
        (Some(b'-'), _) | (_, Some(b'.' | b'-' | b'/')) => {
            word.trim_start_matches('-').trim_end_matches(['.', '-', '/'])
        }
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_sign_is_a_letter_or_a_digit() {
        let signs = ('\0'..=char::MAX).filter(|it| is_sign(*it));
        assert_eq!(signs.clone().find(|it| it.is_alphanumeric()), None);
        assert!(signs.count() > 1_000);
    }

    proptest! {
        #[test]
        fn words_are_what_splitting_at_all_other_characters_leaves(text in "[a-z0-9_/.@ é–→二\\n(){}\\-]{0,60}") {
            let is_part = |it: char| it.is_alphanumeric() || "_/.-#@~+".contains(it);
            let split = text.split(|it| !is_part(it));
            let split = split.map(|it| it.trim_start_matches('-').trim_end_matches(['.', '-', '/']));

            prop_assert_eq!(words(&text).collect::<Vec<_>>(), split.filter(|it| it.len() > 1).collect::<Vec<_>>());
        }
    }
}
