//! Units are taken from the newest or from the largest on: each is looked at again,
//! because taking one can take part of another.

use std::collections::BTreeSet;

use super::Act;
use crate::projection::edit::Editor;
use crate::projection::prompt::SlotIx;
use crate::projection::region::Region;
use crate::projection::rung::CompiledRung;
use crate::projection::test::Activation;
use ctxsim_base::quantity::Tokens;
use ctxsim_input::policy::Order;

/// Takes units from the newest or the largest on.
pub(super) fn ranked<A: Act + ?Sized>(
    act: &A,
    rung: &mut CompiledRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let size = rung.scope.unit_size(edit, region);
    let mut progress = rung.progress(region, edit);
    let mut units: Vec<Vec<SlotIx>> = Vec::new();
    let mut at = region.from;
    loop {
        let mut unit = Vec::new();
        rung.scope.next_unit(edit, &mut at, region.to, &size, &mut unit);
        if unit.is_empty() {
            break;
        }
        units.push(unit);
    }
    let tokens = |unit: &Vec<SlotIx>| {
        unit.iter().map(|it| Tokens::from(edit.prompt().slot(*it).tokens)).sum::<Tokens>()
    };
    match rung.scope.order {
        Order::Largest => units.sort_by_key(|unit| std::cmp::Reverse(tokens(unit))),
        Order::Newest | Order::Oldest => units.reverse(),
    }
    let (mut n_visited, mut n_changed) = (0, 0);
    let mut seen: [BTreeSet<usize>; 4] = Default::default();
    for mut unit in units {
        // What went with its call, or with its result, is no longer there to be taken.
        unit.retain(|slot| rung.scope.has(edit.prompt(), *slot));
        if unit.is_empty() {
            continue;
        }
        if rung.is_done(activation, progress, edit) {
            break;
        }
        for slot in unit {
            n_visited += 1;
            progress.take(edit.prompt(), slot);
            progress.recount(edit.prompt(), slot, &mut seen);
            n_changed += act.touch(slot, None, edit);
        }
    }
    (n_visited, n_changed)
}
