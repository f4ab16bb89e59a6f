//! The kinds of load, each with its play, findings and rows.

#[cfg(feature = "worlds")]
pub mod aging;
#[cfg(feature = "worlds")]
pub mod blocks;
#[cfg(feature = "worlds")]
pub mod chats;
#[cfg(feature = "worlds")]
pub mod graph;
mod items;
#[cfg(feature = "worlds")]
pub mod needles;
#[cfg(feature = "worlds")]
mod numbers;
#[cfg(feature = "worlds")]
mod prelude;
#[cfg(feature = "worlds")]
pub mod trial;

use std::io::BufRead;
use std::sync::Arc;

use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::take::{FindingsKind, LoadKind, World};
use ctxsim_input::Scenario;
use ctxsim_input::policy::memory::MemorySpec;
use ctxsim_input::scenario::LoadSpec;
use ctxsim_timeline::Timeline;
use ctxsim_timeline::row::Head;

pub use items::Items;

/// All worlds; a load is of the first that knows it.
static ALL: &[Registered] = &[
    #[cfg(feature = "worlds")]
    needles::WORLD,
    #[cfg(feature = "worlds")]
    aging::WORLD,
    #[cfg(feature = "worlds")]
    chats::WORLD,
    #[cfg(feature = "worlds")]
    blocks::WORLD,
    items::WORLD,
];

/// A file that a load names, which may be larger than what is held of it.
pub struct NamedFile {
    pub reader: Box<dyn BufRead>,
    /// Reads it again as text, to show a mistake in it.
    pub again: Box<dyn Fn() -> Option<String>>,
}

#[cfg(feature = "worlds")]
impl NamedFile {
    /// Returns problems with their places in the text, where they have a line and a column alone.
    fn placed(&self, problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let is_due = |it: &Diagnostic| it.place.span.is_none() && it.place.line_column.is_some();
        let text = if problems.iter().any(is_due) { (self.again)() } else { None };
        let Some(text) = text else { return problems };
        let placed = problems.into_iter().map(|mut it| {
            if let Some((line, column)) = it.place.line_column.filter(|_| it.place.span.is_none()) {
                let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
                let at = (start + column.max(1) - 1).min(text.len());
                it.place.span = text.is_char_boundary(at).then_some(at..at);
            }
            it
        });
        placed.collect()
    }
}

/// What is made of a load: its worlds, or every problem of the file that it names.
type MadeWorlds = Result<Vec<Arc<dyn World>>, Vec<Diagnostic>>;

/// What is made of a recording: its world, or the first problem of the text.
type ReadWorld = Result<Arc<dyn World>, Box<Diagnostic>>;

/// What a world does before there is one.
struct Registered {
    /// Returns what it reads of a policy, if a load is of it.
    kind: fn(&LoadSpec) -> Option<&'static LoadKind>,
    /// Finds what is wrong with a load of it.
    check: fn(&LoadSpec) -> Vec<Diagnostic>,
    /// Finds what is wrong with a memory that only it reads.
    check_memory: fn(&MemorySpec) -> Vec<Diagnostic>,
    /// Makes the loads of a scenario; the files are those that it names.
    make: fn(&Scenario, &mut [NamedFile]) -> Option<MadeWorlds>,
    /// Returns the load that a file stands for that is named like a recording, by how the file begins and what it is called.
    of_file: fn(&str, &str) -> Option<LoadSpec>,
    /// Returns the files that a load of it names, relative to the scenario's folder, with the fields that do.
    beside: fn(&LoadSpec) -> Vec<(String, String)>,
    /// Returns the paths that override its numbers, as in `--set`.
    numbers: fn() -> Vec<String>,
    /// Reads a recording, if the text is of a format of its own.
    read: fn(&str, &str) -> Option<ReadWorld>,
    /// Returns the world of a timeline, if it is of one of its own.
    of_items: fn(&Arc<Timeline>) -> Option<Arc<dyn World>>,
    /// Returns the columns of its rows, under what gives the rows.
    rows: fn() -> Vec<(&'static str, Vec<Head>)>,
    findings: Option<&'static FindingsKind>,
}

impl Registered {
    /// A world that does nothing yet.
    const NEW: Self = Self {
        kind: |_| None,
        check: |_| Vec::new(),
        check_memory: |_| Vec::new(),
        make: |_, _| None,
        of_file: |_, _| None,
        beside: |_| Vec::new(),
        numbers: Vec::new,
        read: |_, _| None,
        of_items: |_| None,
        rows: Vec::new,
        findings: None,
    };
}

/// Returns the kind of a load, if a world knows it.
fn known(load: &LoadSpec) -> Option<&'static LoadKind> {
    ALL.iter().find_map(|it| (it.kind)(load))
}

/// Returns what a load reads of a policy.
pub fn kind(load: &LoadSpec) -> &'static LoadKind {
    known(load).unwrap_or(&items::KIND)
}

/// Finds what is wrong with a load beyond its own form: in a lean build, that its world is left out.
pub fn check(load: &LoadSpec) -> Vec<Diagnostic> {
    let message = "this build of ctxsim has no conversations, planted facts, chats or ageing";
    let unknown = Diagnostic::at(Code("world-missing"), "load", message).help("enable its feature `worlds`");
    let lacking = known(load).is_none().then_some(unknown);
    ALL.iter().flat_map(|it| (it.check)(load)).chain(lacking).collect()
}

/// Finds what is wrong with a memory beyond its own form.
pub fn check_memory(memory: &MemorySpec) -> Vec<Diagnostic> {
    ALL.iter().flat_map(|it| (it.check_memory)(memory)).collect()
}

/// Makes what a scenario plays, if that is a world of its own; the files are those that it names.
pub fn make(scenario: &Scenario, files: &mut [NamedFile]) -> Option<MadeWorlds> {
    ALL.iter().find_map(|it| (it.make)(scenario, files))
}

/// Returns the load that a file stands for that is named like a recording: by how it begins, and what it is called.
pub fn of_file(front: &str, name: &str) -> Option<LoadSpec> {
    ALL.iter().find_map(|it| (it.of_file)(front, name))
}

/// Returns the files that a load names, relative to the scenario's folder, with the fields that do.
pub fn beside(load: &LoadSpec) -> Vec<(String, String)> {
    ALL.iter().flat_map(|it| (it.beside)(load)).collect()
}

/// Returns the paths that override the declared numbers of a load, as in `--set`.
pub fn numbers(load: &LoadSpec) -> Vec<String> {
    ALL.iter().filter(|it| (it.kind)(load).is_some()).flat_map(|it| (it.numbers)()).collect()
}

/// Reads a recording that is of a world of its own.
pub fn read(text: &str, name: &str) -> Option<ReadWorld> {
    ALL.iter().find_map(|it| (it.read)(text, name))
}

/// Returns the world of a timeline.
pub fn of_items(timeline: impl Into<Arc<Timeline>>) -> Arc<dyn World> {
    let timeline = timeline.into();
    ALL.iter().find_map(|it| (it.of_items)(&timeline)).unwrap_or_else(|| Arc::new(Items(timeline)))
}

/// Returns the columns of the rows that only some worlds have, under what gives the rows.
pub fn rows() -> Vec<(&'static str, Vec<Head>)> {
    ALL.iter().flat_map(|it| (it.rows)()).collect()
}

/// Returns what worlds find beside bills.
pub fn findings() -> impl Iterator<Item = &'static FindingsKind> + Clone {
    ALL.iter().filter_map(|it| it.findings)
}

#[cfg(all(test, not(feature = "worlds")))]
mod tests {
    use crate::*;
    use ctxsim_input::text::source::{Format, decode};

    /// Returns what is said of a load beyond its form: the code, and what to do.
    fn told(load: &str) -> Vec<(Code, Option<String>)> {
        let load: LoadSpec = decode(load, Format::Ron).unwrap();
        check(&load).into_iter().map(|it| (it.code, it.help)).collect()
    }

    #[test]
    fn a_lean_build_plays_items_and_refuses_other_loads_by_the_name_of_the_feature() {
        assert_eq!(told("random(turns: 3)"), []);
        assert_eq!(told("turns([(user_tokens: 5, answer_tokens: 5)])"), []);

        let refused = [(Code("world-missing"), Some("enable its feature `worlds`".to_owned()))];
        assert_eq!(told("turns([(user_tokens: 5, answer_tokens: 5, plants: [\"city\"])])"), refused);
        assert_eq!(told("chats(from: generated(sessions: 4, messages: 2), trials: 1)"), refused);
    }
}
