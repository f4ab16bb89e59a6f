//! How the harnesses of recordings compact: policies of a catalog, by the formats of logs.

use indexmap::IndexMap;

use crate::catalog::Catalog;
use ctxsim_base::error::Error;
use ctxsim_engine::calibrate::compaction::compacting;
use ctxsim_engine::calibrate::forecast::Forecast;
use ctxsim_input::Policy;
use ctxsim_timeline::Timeline;

/// Policies that compact as harnesses do, by the formats of their logs.
#[derive(Debug)]
pub struct Compacting(IndexMap<String, Policy>);

impl Compacting {
    /// Reads them from a catalog.
    ///
    /// # Errors
    /// A policy of that name is broken.
    pub fn read(catalog: &Catalog) -> Result<Self, Error> {
        let mut all = IndexMap::new();
        for (format, name) in &Forecast::declared().compacts_as {
            all.extend(compacting(&catalog.policy(name)?.spec).map(|it| (format.clone(), it)));
        }
        Ok(Self(all))
    }

    /// Returns the one by which the harness of a session compacts, if it is known.
    pub fn of(&self, timeline: &Timeline) -> Option<&Policy> {
        self.0.get(timeline.recorded.as_ref()?.format)
    }
}
