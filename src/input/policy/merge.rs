//! A variant laid over its base.

use super::PolicyFile;

impl PolicyFile {
    /// Lays this policy over its base: `params`, `tables`, `ladders` and `templates` by key, `stages` by name, any other field it gives.
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
        merged.memory = self.memory.or(merged.memory);
        merged.code = self.code.or(merged.code);
        merged.params.extend(self.params);
        merged.tables.extend(self.tables);
        merged.ladders.extend(self.ladders);
        merged.templates.extend(self.templates);
        // A stage replaces an inherited one once; what a file says twice stays twice, for the check to refuse.
        let mut inherited: Vec<bool> = vec![true; merged.stages.len()];
        for stage in self.stages {
            let replaced =
                (0..inherited.len()).find(|it| inherited[*it] && merged.stages[*it].name == stage.name);
            match replaced {
                Some(index) => {
                    merged.stages[index] = stage;
                    inherited[index] = false;
                }
                None => merged.stages.push(stage),
            }
        }
        merged
    }
}
