//! Recorded compactions that a report's policies would have avoided.

use indexmap::{IndexMap, IndexSet};

use super::numbers::{self, thousands};
use super::{Report, Run};
use crate::measure::Resets;

/// The most policies listed per profile, and the most profiles.
const SHOWN: usize = 6;

/// What the runs under a profile have, added up.
#[derive(Default)]
struct Group<'r> {
    sessions: IndexSet<&'r str>,
    /// By policy.
    resets: IndexMap<&'r str, Resets>,
}

impl Report {
    /// Describes by profile which policies would have avoided recorded compactions, and both costs; empty if
    /// nothing was compacted.
    #[must_use]
    pub fn notes_on_resets(&self) -> Vec<String> {
        let is_own = self.is_one_question();
        let profile = |run: &Run| if is_own { String::new() } else { format!(" under {}", run.profile) };
        let mut groups: IndexMap<String, Group<'_>> = IndexMap::new();
        for run in &self.runs {
            let Some(resets) = &run.tally.resets else { continue };
            let group = groups.entry(profile(run)).or_default();
            group.resets.entry(&run.policy).or_default().add(resets);
            group.sessions.insert(&run.scenario);
        }
        let n_more = groups.len().saturating_sub(SHOWN);
        let mut notes: Vec<String> = groups.iter().take(SHOWN).map(|(under, it)| it.note(under)).collect();
        if n_more > 0 {
            notes.push(format!("{n_more} more profiles have recorded compactions: see `--format json`."));
        }
        notes
    }
}

impl Group<'_> {
    /// Says what the policies would have avoided.
    fn note(&self, under: &str) -> String {
        let n = self.resets.first().map_or(0, |it| it.1.recorded);
        let head = match (n, self.sessions.len()) {
            (1, _) => "1 recorded compaction".to_owned(),
            (n, 1) => format!("{n} recorded compactions"),
            (n, sessions) => format!("{n} recorded compactions in {sessions} sessions"),
        };
        let avoiding: Vec<String> = self
            .resets
            .iter()
            .filter(|it| it.1.avoided > 0)
            .map(|(policy, it)| avoided(policy, it))
            .collect();
        if avoiding.is_empty() {
            return format!("{head}{under}; no policy here would have avoided any.");
        }
        let more = match avoiding.len().saturating_sub(SHOWN) {
            0 => String::new(),
            n => format!(" {n} more policies would have avoided some."),
        };
        format!("{head}{under}: {}{more}", avoiding.into_iter().take(SHOWN).collect::<Vec<_>>().join(" "))
    }
}

/// Says what one policy would have avoided.
fn avoided(policy: &str, resets: &Resets) -> String {
    let (which, them) = match (resets.recorded, resets.avoided) {
        (1, _) => ("it".to_owned(), "it"),
        (n, avoided) if n == avoided => ("all of them".to_owned(), "them"),
        (_, avoided) => (format!("{avoided} of them"), "them"),
    };
    let requests = match resets.requests {
        1 => "1 request follows".to_owned(),
        n => format!("{} requests follow", thousands(n)),
    };
    let mut text = format!("{policy} would have avoided {which}; {requests}.");
    if let Some([kept, undone]) = resets.bills {
        let decimals = numbers::decimals(kept.max(undone)).min(2);
        let [kept, undone] = [kept, undone].map(|it| numbers::fixed(it, decimals));
        let place = if resets.avoided < resets.recorded {
            "For sessions in which it avoids all compactions, the"
        } else {
            "The"
        };
        text += &format!(" {place} bill is {kept} USD with {them} and {undone} without.");
    }
    if resets.n_open > 0 {
        text += &format!(
            " Without {them}, a limit stops it or a price is unknown in {}; these are not included.",
            sessions(resets.n_open)
        );
    }
    if resets.n_reached > 0 {
        text += &format!(
            " With the history kept, the prompt still grows to the compaction size later in {}.",
            sessions(resets.n_reached)
        );
    }
    text
}

fn sessions(n: u32) -> String {
    if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") }
}
