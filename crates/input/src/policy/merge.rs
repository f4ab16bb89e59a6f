//! Merges a variant with its base.

use super::{Moment, PolicyFile, StageField, StageFile};

impl PolicyFile {
    /// Merges this policy with its base: `allows`, `params`, `settable`, `tables`, `ladders` and `templates` by key, `stages` by
    /// name and then field by field, and every other field as a whole.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        let mut merged = base;
        merged.name = self.name;
        // A variant does something else than its base.
        merged.title = self.title;
        merged.about = self.about;
        merged.base = None;
        if !self.sources.is_empty() {
            merged.sources = self.sources;
        }
        merged.as_of = self.as_of.or(merged.as_of);
        merged.applies_to = self.applies_to.or(merged.applies_to);
        merged.counter = self.counter.or(merged.counter);
        merged.summariser = self.summariser.or(merged.summariser);
        merged.apply = self.apply.or(merged.apply);
        merged.layout = self.layout.or(merged.layout);
        merged.recovery = self.recovery.or(merged.recovery);
        merged.memory = self.memory.or(merged.memory);
        merged.code = self.code.or(merged.code);
        merged.process = self.process.or(merged.process);
        merged.allows.extend(self.allows);
        merged.params.extend(self.params);
        if let Some(settable) = self.settable {
            merged.settable.get_or_insert_default().extend(settable);
        }
        merged.tables.extend(self.tables);
        merged.ladders.extend(self.ladders);
        merged.templates.extend(self.templates);
        // A stage is laid over an inherited one once; what a file says twice stays twice, for the check to refuse.
        let mut inherited: Vec<bool> = vec![true; merged.stages.len()];
        for stage in self.stages {
            let of_base =
                (0..inherited.len()).find(|it| inherited[*it] && merged.stages[*it].name == stage.name);
            match of_base {
                Some(index) => {
                    let base = std::mem::take(&mut merged.stages[index]);
                    merged.stages[index] = stage.over(base);
                    inherited[index] = false;
                }
                None => merged.stages.push(stage),
            }
        }
        merged
    }

    /// Writes out the defaults of stages, so that an override finds the same fields in every policy.
    #[must_use]
    pub fn filled(mut self) -> Self {
        for stage in &mut self.stages {
            stage.at.get_or_insert_with(|| vec![Moment::Request]);
            stage.scope.get_or_insert_default();
            stage.lasts.get_or_insert_default();
            stage.prefix.get_or_insert_default();
        }
        self
    }
}

impl StageFile {
    /// Merges this stage with the base's stage of the same name. A field that is removed although neither has
    /// it, or although this stage sets it, stays in `remove`, where the check reports it.
    fn over(self, mut base: Self) -> Self {
        let mut remove = base.remove.clone();
        for field in self.remove.iter().copied() {
            if self.gives(field) || !base.gives(field) {
                remove.push(field);
            } else {
                base.clear(field);
            }
        }
        Self {
            name: self.name,
            at: self.at.or(base.at),
            pause: self.pause.or(base.pause),
            when: self.when.or(base.when),
            scope: self.scope.or(base.scope),
            apply: self.apply.or(base.apply),
            until: self.until.or(base.until),
            then: if self.then.is_empty() { base.then } else { self.then },
            ladder: self.ladder.or(base.ladder),
            lasts: self.lasts.or(base.lasts),
            prefix: self.prefix.or(base.prefix),
            remove,
        }
    }

    /// Returns whether a field is set.
    pub fn gives(&self, field: StageField) -> bool {
        match field {
            StageField::At => self.at.is_some(),
            StageField::Pause => self.pause.is_some(),
            StageField::When => self.when.is_some(),
            StageField::Scope => self.scope.is_some(),
            StageField::Until => self.until.is_some(),
            StageField::Then => !self.then.is_empty(),
            StageField::Ladder => self.ladder.is_some(),
            StageField::Lasts => self.lasts.is_some(),
            StageField::Prefix => self.prefix.is_some(),
        }
    }

    fn clear(&mut self, field: StageField) {
        match field {
            StageField::At => self.at = None,
            StageField::Pause => self.pause = None,
            StageField::When => self.when = None,
            StageField::Scope => self.scope = None,
            StageField::Until => self.until = None,
            StageField::Then => self.then.clear(),
            StageField::Ladder => self.ladder = None,
            StageField::Lasts => self.lasts = None,
            StageField::Prefix => self.prefix = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::Policy;
    use crate::text::decode::decode;

    fn policy(name: &str, stage: &str) -> PolicyFile {
        let text = format!("(name: \"{name}\", about: \"A stage.\", stages: [({stage})])");
        decode(&text, Format::Ron).unwrap()
    }

    fn base() -> PolicyFile {
        policy(
            "base",
            "name: \"cut\", at: [turn_end], when: prompt(above: limit), apply: drop, until: prompt(at_most: ratio(0.5))",
        )
    }

    #[test]
    fn a_stage_keeps_what_its_variant_does_not_say() {
        let merged =
            policy("v", "name: \"cut\", scope: (keep_recent: turns(2)), apply: show(handle)").over(base());

        let expected = policy(
            "v",
            "name: \"cut\", at: [turn_end], when: prompt(above: limit), scope: (keep_recent: turns(2)), apply: show(handle),
             until: prompt(at_most: ratio(0.5))",
        );
        assert_eq!(merged, expected);
    }

    #[test]
    fn a_variant_says_what_it_removes_and_needs_not_repeat_what_the_stage_does() {
        let merged = policy("v", "name: \"cut\", remove: [when, until]").over(base());

        assert_eq!(merged, policy("v", "name: \"cut\", at: [turn_end], apply: drop"));
    }

    #[test]
    fn what_the_nearer_base_removes_the_farther_does_not_bring_back() {
        let middle = policy("m", "name: \"cut\", when: prompt(above: tokens(9))");
        let merged = policy("v", "name: \"cut\", remove: [when]").over(middle.over(base()));

        assert_eq!(merged.stages[0].when, None);
    }

    #[test]
    fn a_removal_that_removes_nothing_is_refused() {
        let told = |stage: &str| {
            let problems = Policy::new(&policy("v", stage).over(base())).unwrap_err();
            problems.into_iter().map(|it| (it.code.name(), it.place.field)).collect::<Vec<_>>()
        };

        let expected = [("stage-remove", "stages.cut.remove.0".to_owned())];
        assert_eq!(told("name: \"cut\", remove: [ladder]"), expected);
        assert_eq!(told("name: \"cut\", when: prompt(above: tokens(9)), remove: [when]"), expected);
    }
}
