//! How long edits last: each preset is played until it edits twice, and what it did the first time stands, or not, as its framework's source says.

use ctxsim::input::policy::EditsLast;
use ctxsim::input::profile::Steps;
use ctxsim::projection::{Editor, Projector, SlotIx, State, Watch};

use super::*;

/// What frameworks do, as their sources say.
#[derive(Debug, serde::Deserialize)]
struct Sources {
    /// By how long what they edit lasts.
    lasts: IndexMap<String, Vec<String>>,
    /// Frameworks that edit anew at each request what presets keep: it comes to the same.
    anew: Vec<String>,
    /// Presets that edit nothing on these loads, or not twice.
    once: Vec<String>,
}

fn sources() -> Sources {
    toml::from_str(&fs::read_to_string(data("agents/edits.toml")).unwrap()).unwrap()
}

/// An edit: in front of which request, whether at a turn's end, and the slots that it changed.
#[derive(Clone, Debug)]
struct Firing {
    request: usize,
    at_end: bool,
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
        for firing in self.firings.iter_mut().filter(|it| it.request < self.n_sent && it.stood[1].is_none()) {
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
            let at_end = moment == Moment::TurnEnd;
            self.firings.push(Firing { request: self.n_sent, at_end, slots, stood: [None; 2], again: None });
        }
        self.n_sent += usize::from(moment == Moment::Request);
    }
}

/// The requests of a play under a cache that has every prefix, and what was edited.
fn played(load: &Load, policy: &Policy) -> (Rows, Vec<Firing>) {
    let (mut rows, mut edits) = (Rows::default(), Edits::default());
    let cache = CacheRules::prefix_interval(Steps { min: 0, step: 1 }, None);
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
    let (mut told, mut wrong) = (String::new(), Vec::new());
    for (nth, name) in loads[0].policies.iter().map(|it| &it.name).enumerate() {
        let declared = sources.lasts.iter().find(|it| it.1.contains(name)).map_or("nothing", |it| it.0);
        let found = loads.iter().find_map(|load| {
            let (rows, firings) = played(load, &load.policies[nth]);
            let twice = firings.iter().filter(|it| it.again.is_some() && it.stood[0].is_some());
            Some((load, rows, twice.min_by_key(|it| it.at_end)?.clone(), firings.len()))
        });
        if found.is_none() != sources.once.contains(name) {
            wrong.push(format!("{name}: edits twice: {}", found.is_some()));
        }
        let Some((load, rows, first, n_firings)) = found else { continue };
        let lasts = match first.stood {
            [Some(false), _] => "request",
            [_, Some(false)] => "turn_end",
            _ => "history",
        };
        if lasts != declared {
            wrong.push(format!("{name}: {lasts}, declared {declared}"));
        }
        let [at, next] = [first.request, first.request + 1].map(|it| rows.requests.get(it));
        writeln!(
            told,
            "{name}\n  on {}: edits {} items in front of request {}; the next begins with {} of {} tokens; {n_firings} firings, at the second {} of the first; {lasts}",
            load.name.rsplit('/').next().unwrap(),
            first.slots.len(),
            first.request + 1,
            next.map_or(0, |it| it.usage.read),
            at.map_or(0, |it| it.prompt),
            if first.again == Some(true) { "all" } else { "not all" },
        )
        .unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_snapshot("edits", "second", &told);
}

#[test]
fn what_a_framework_edits_anew_at_each_request_and_a_preset_keeps_comes_to_the_same() {
    let (sources, loads) = (sources(), crossing());
    let mut wrong = Vec::new();
    for name in &sources.anew {
        let mut spec = bundled_catalog().policy(name).unwrap().spec;
        spec.stages.iter_mut().for_each(|it| it.lasts = Some(EditsLast::Request));
        let anew = Policy::new(&spec).unwrap();
        // What is looked up anew in a recording follows what is edited, moment by moment.
        for load in loads.iter().filter(|it| !it.name.starts_with("recorded/")) {
            let kept = load.policies.iter().find(|it| it.name == *name).unwrap();
            let [kept, anew] = [kept, &anew].map(|it| played(load, it).0.requests);
            let is_same =
                |it: &(&RequestRow, &RequestRow)| (it.0.prompt, it.0.usage) == (it.1.prompt, it.1.usage);
            let n_same = kept.iter().zip(&anew).take_while(is_same).count();
            if n_same < kept.len().max(anew.len()) {
                wrong.push(format!("{name} on {}: from request {}", load.name, n_same + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
