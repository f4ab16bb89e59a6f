//! Notes on summaries written by a model other than the session's.

use super::{Report, distinct};
use crate::prelude::*;

impl Report {
    /// Returns a sentence for each policy that sends the summarising model more than it takes.
    pub fn notes_on_summarisers(&self) -> Vec<String> {
        let mut worst: IndexMap<String, (Tokens, Tokens)> = IndexMap::new();
        // Under one profile, the same model writes all summaries of a policy.
        for profile in distinct(self.briefs().map(|it| it.profile)) {
            let lines = self.lines(Some(profile));
            for (policy, sum) in lines.iter() {
                let Some(limit) = sum.run.tally.summariser_limit else { continue };
                let longest = sum.run.tally.sums.summariser.prompt_max;
                if longest > limit {
                    let told = worst.entry(policy.to_owned()).or_insert((longest, limit));
                    told.0 = told.0.max(longest);
                }
            }
        }
        let note = |(policy, (longest, limit)): (String, (Tokens, Tokens))| {
            format!(
                "{policy}: its summary requests send up to {} tokens, but the model that writes them takes only {}, so they \
                 would fail. Set `reads` in `summarise` to send less.",
                thousands(longest),
                thousands(limit)
            )
        };
        worst.into_iter().map(note).listed()
    }
}
