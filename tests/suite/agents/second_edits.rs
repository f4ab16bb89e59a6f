//! How long edits last: each preset is played until it edits twice, and what it did the first time stands, or not, as its framework's source says.

use ctxsim::input::policy::EditsLast;
use ctxsim::projection::{Editor, Projector, SlotIx, State, Watch};

use super::*;

/// What frameworks do, as their sources say.
#[derive(Debug, serde::Deserialize)]
struct Sources {
    /// By how long what they edit lasts.
    lasts: IndexMap<String, Vec<String>>,
    /// Frameworks that edit anew at each request what presets keep: it comes to the same.
    anew: Vec<String>,
    /// Presets that only send requests, or edit once on every load here.
    once: Vec<String>,
}

fn sources() -> Sources {
    decode(&fs::read_to_string(data("agents/edits.toml")).unwrap(), Format::Toml).unwrap()
}

/// An edit: in front of which request, and the slots that it changed.
#[derive(Clone, Debug)]
struct Firing {
    request: usize,
    slots: BTreeSet<SlotIx>,
    /// Whether all of it stood in front of the next request of the turn, and at the turn's end.
    stood: [Option<bool>; 2],
    /// Whether the firing after it left all of it edited.
    again: Option<bool>,
}

/// Notes edits, and how long they stand.
#[derive(Debug, Default)]
struct Edits {
    n_sent: usize,
    before: BTreeSet<SlotIx>,
    firings: Vec<Firing>,
}

/// The slots that are not shown as they came.
fn edited(edit: &Editor<'_, '_>) -> BTreeSet<SlotIx> {
    let prompt = edit.prompt();
    let is_edited = |it: &SlotIx| {
        let (slot, raw) = (prompt.slot(*it), prompt.item(*it).raw);
        slot.state != State::Shown || slot.tokens < raw
    };
    (0..prompt.len()).filter(is_edited).collect()
}

impl Watch for Edits {
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>) {
        self.before = edited(edit);
        let at = match moment {
            Moment::Request => 0,
            Moment::TurnEnd => 1,
            _ => return,
        };
        for firing in self.firings.iter_mut().filter(|it| it.request < self.n_sent) {
            firing.stood[at].get_or_insert(firing.slots.is_subset(&self.before));
        }
    }

    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        let after = edited(edit);
        let slots: BTreeSet<SlotIx> = after.difference(&self.before).copied().collect();
        if !slots.is_empty() && self.firings.last().is_none_or(|it| it.request < self.n_sent) {
            if let Some(last) = self.firings.last_mut() {
                last.again = Some(last.slots.is_subset(&after));
            }
            self.firings.push(Firing { request: self.n_sent, slots, stood: [None; 2], again: None });
        }
        self.n_sent += usize::from(moment == Moment::Request);
    }
}

/// The requests of a play under a cache that has every prefix, and what was edited; a policy changed so is played in the place of its file.
fn played(load: &Load, policy: &Policy) -> (Rows, Vec<Firing>) {
    let (mut rows, mut edits) = (Rows::default(), Edits::default());
    let cache = CacheRules::prefix_interval(Default::default(), None);
    let play = Simulation::new(timeline(load), policy, &load.profiles[0].limits, &cache);
    play.run_watched(&mut edits, &mut [&mut rows]);
    rows.requests.retain(|it| it.role == Role::Main);
    (rows, edits.firings)
}

/// The loads, under a window that all of them fill more than once.
fn crossing() -> Vec<Load> {
    let mut loads =
        opened(all_names(), [&data("agents/twice.toml").display().to_string(), LOADS[1]], PROFILE);
    loads.extend(opened(all_names(), LARGE_LOADS, LARGE_PROFILE));
    loads
}

#[test]
fn what_was_edited_stands_as_long_at_the_second_firing_as_the_framework_keeps_it() {
    let (sources, loads) = (sources(), crossing());
    let mut told = String::new();
    for (nth, policy) in loads[0].policies.iter().enumerate() {
        let declared = sources.lasts.iter().find(|it| it.1.contains(&policy.name)).map(|it| it.0.as_str());
        let declared = declared.unwrap_or_else(|| panic!("{} is not declared", policy.name));
        let mut found = None;
        for load in &loads {
            let (rows, firings) = played(load, &load.policies[nth]);
            let first = firings.iter().find(|it| it.again.is_some() && it.stood[0].is_some());
            if let Some(first) = first {
                found = Some((load, rows, first.clone(), firings.len()));
                break;
            }
        }
        let Some((load, rows, first, n_firings)) = found else {
            assert!(sources.once.contains(&policy.name), "{} does not fire twice", policy.name);
            continue;
        };
        let lasts = match first.stood {
            [Some(false), _] => "request",
            [_, Some(false)] => "turn_end",
            _ => "history",
        };
        assert_eq!(lasts, declared, "{}: {first:?}", policy.name);
        let next = &rows.requests[first.request + 1];
        writeln!(
            told,
            "{}\n  on {}: request {} edits {} items; {n_firings} firings; {lasts}; {} at the next; request {} begins with {} of {} tokens",
            policy.name,
            load.name.rsplit('/').next().unwrap(),
            first.request + 1,
            first.slots.len(),
            if first.again == Some(true) { "all of them edited" } else { "not all of them edited" },
            first.request + 2,
            next.usage.read,
            rows.requests[first.request].prompt
        )
        .unwrap();
    }
    insta::assert_snapshot!("second_edits", told);
}

#[test]
fn what_a_framework_edits_anew_at_each_request_and_a_preset_keeps_comes_to_the_same() {
    let (sources, loads) = (sources(), crossing());
    for name in &sources.anew {
        let mut spec = bundled_catalog().policy(name).unwrap().spec;
        spec.stages.iter_mut().for_each(|it| it.lasts = Some(EditsLast::Request));
        let anew = Policy::new(&spec).unwrap();
        for load in &loads {
            let kept = load.policies.iter().find(|it| it.name == *name).unwrap();
            assert_eq!(
                played(load, kept).0.requests,
                played(load, &anew).0.requests,
                "{name} on {}",
                load.name
            );
        }
    }
}
