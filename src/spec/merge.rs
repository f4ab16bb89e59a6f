//! A variant laid over its base.

use super::policy::PolicySpec;

impl PolicySpec {
    /// Lays this policy over its base: `params`, `tables` and `ladders` by key, `stages` by name, any other field it gives.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        let mut merged = base;
        merged.name = self.name;
        merged.about = self.about;
        merged.base = None;
        if !self.sources.is_empty() {
            merged.sources = self.sources;
        }
        merged.as_of = self.as_of.or(merged.as_of);
        merged.layout = self.layout.or(merged.layout);
        merged.recovery = self.recovery.or(merged.recovery);
        merged.params.extend(self.params);
        merged.tables.extend(self.tables);
        merged.ladders.extend(self.ladders);
        for stage in self.stages {
            match merged.stages.iter_mut().find(|it| it.name == stage.name) {
                Some(inherited) => *inherited = stage,
                None => merged.stages.push(stage),
            }
        }
        merged
    }
}
