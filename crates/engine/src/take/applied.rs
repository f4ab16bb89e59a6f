//! The settings that make real agents behave like a policy, with the numbers of the run.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Cell, Load};
use crate::projection::num::{Known, Num};
use ctxsim_input::policy::{Apply, Size};

impl Load {
    /// Returns the setting of a run's policy, if it has one and all its numbers are known.
    pub(super) fn applied(&self, cell: Cell) -> Option<Arc<Apply>> {
        let policy = &self.policies[cell.policy];
        let apply = policy.apply.as_ref()?;
        let known = Known::of(self.timeline_under(cell.profile)?, self.profiles[cell.profile].limits);
        let limits = [("limit", Size::Limit), ("window", Size::Window), ("output_limit", Size::OutputLimit)];
        let limits = limits.map(|(name, size)| (name.to_owned(), size));
        let params = policy.params.iter().map(|(name, size)| (name.clone(), size.clone()));
        let numbers: Map<String, Value> = limits
            .into_iter()
            .chain(params)
            .filter_map(|(name, it)| Some((name, number(&it, &known)?)))
            .collect();
        apply.filled(numbers).map(Arc::new)
    }
}

/// Returns what a setting says for a size, in the unit in which it is given.
fn number(size: &Size, known: &Known) -> Option<Value> {
    match size {
        Size::Ratio(share) => share.to_string().parse::<f64>().ok().map(Value::from),
        Size::Chars(count) => Some(Value::from(*count)),
        other => Num::known(other, known).map(Value::from),
    }
}
