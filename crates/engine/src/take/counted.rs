//! A recorded load in the tokens of the models that it is priced for, where these count differently.

use std::sync::Arc;

use super::Load;
use ctxsim_input::profile::{Counting, Factor, Family};
use ctxsim_timeline::Timeline;

/// A load as another family of models counts its tokens.
#[derive(Clone, Debug)]
pub struct CountedLoad {
    /// The family whose tokens they are.
    pub to: &'static Family,
    /// How many of these stand for one of those.
    pub factor: Factor,
    /// The load in them.
    pub timeline: Arc<Timeline>,
}

impl Load {
    /// Has each profile's models count its tokens, if somebody's models counted those that were recorded.
    #[must_use]
    pub fn counted(mut self) -> Self {
        let timeline = self.timeline().filter(|_| !self.is_under_own_model);
        let Some((timeline, from)) = timeline.and_then(|it| Some((it, it.counted_by()?))) else {
            return self;
        };
        let mut all: Vec<Option<Arc<CountedLoad>>> = Vec::with_capacity(self.profiles.len());
        for to in self.profiles.iter().map(|it| it.family) {
            let Some(to) = to.filter(|it| it.name != from.name) else {
                all.push(None);
                continue;
            };
            let known = all.iter().flatten().find(|it| it.to.name == to.name).cloned();
            let counted = known.unwrap_or_else(|| {
                let factor = from.factor_to(to);
                Arc::new(CountedLoad { to, factor, timeline: Arc::new(timeline.recounted(factor)) })
            });
            all.push(Some(counted));
        }
        self.counts = all;
        self
    }

    /// Returns how the models of a profile count it, if not as it was recorded.
    pub fn counted_under(&self, profile: usize) -> Option<&CountedLoad> {
        self.counts.get(profile)?.as_deref()
    }

    /// Returns how the models of a profile count a load that was recorded as billed.
    pub fn counting(&self, profile: usize) -> Option<Counting> {
        if let Some(counted) = self.counted_under(profile) {
            return Some(Counting::Anew(counted.factor));
        }
        let (timeline, profile) = (self.timeline()?, self.profiles.get(profile)?);
        let model = timeline.main_model().filter(|_| timeline.recorded.is_some());
        let is_own = self.is_under_own_model || model.is_some_and(|it| profile.fits(&it.name).is_some());
        match (is_own, timeline.counted_by(), profile.family) {
            (true, ..) => Some(Counting::AsRecorded),
            // Sizes that nobody counted follow characters, and are estimates under any profile.
            (false, None, _) => model.map(|_| Counting::Unknown),
            (false, Some(_), None) => Some(Counting::Unknown),
            (false, Some(_), Some(_)) => Some(Counting::AsRecorded),
        }
    }

    /// Returns the timeline that the engine plays under a profile, if it plays one.
    pub fn timeline_under(&self, profile: usize) -> Option<&Arc<Timeline>> {
        self.counted_under(profile).map(|it| &it.timeline).or_else(|| self.timeline())
    }
}
