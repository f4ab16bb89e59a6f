//! A recorded load in the tokens of the models that it is priced for, where these count differently.

use crate::prelude::*;

use super::Load;
use ctxsim_input::Counting;
use ctxsim_input::profile::{Factor, Family, ImageRule};

/// A load as other models count its tokens.
#[derive(Clone, Debug)]
pub struct CountedLoad {
    /// The family whose tokens those of its texts are, where it is another than that of the recording.
    pub to: Option<&'static Family>,
    /// How many of these stand for one of those.
    pub factor: Factor,
    /// The rule by which its images are counted.
    images: &'static ImageRule,
    /// The load in them.
    pub timeline: Arc<Timeline>,
}

impl CountedLoad {
    /// Counts a layout of the load as this one.
    pub(super) fn count(&self, layout: &Timeline) -> Timeline {
        layout.recounted(self.factor, self.images)
    }

    /// Returns the ends of a cost's interval as shares of the cost, where texts are counted anew.
    pub fn shares(&self) -> Option<[f64; 2]> {
        self.to.map(|_| self.factor.shares())
    }

    /// Returns what tells it from the load as others count it.
    pub(super) fn key(&self) -> [&'static str; 2] {
        [self.to.map_or("", |it| &it.name), &self.images.name]
    }
}

impl Load {
    /// Has each profile's models count its tokens: those of texts, if somebody's models counted those that were recorded, and those of images.
    #[must_use]
    pub fn counted(mut self) -> Self {
        let Some(timeline) = self.timeline().filter(|_| !self.is_under_own_model) else { return self };
        let (from, images) = (timeline.counted_by(), &timeline.images);
        let mut all: Vec<Option<Arc<CountedLoad>>> = Vec::with_capacity(self.profiles.len());
        for profile in &self.profiles {
            let to = from.zip(profile.family).filter(|(from, to)| from.name != to.name);
            let counts_images =
                !images.items.is_empty() && images.rule.is_some_and(|it| it.name != profile.images.name);
            if to.is_none() && !counts_images {
                all.push(None);
                continue;
            }
            let mut counted = CountedLoad {
                to: to.map(|it| it.1),
                factor: to.map_or(Factor::ONE, |(from, to)| from.factor_to(to)),
                images: if images.items.is_empty() {
                    images.rule.unwrap_or(profile.images)
                } else {
                    profile.images
                },
                timeline: Arc::clone(timeline),
            };
            let known = all.iter().flatten().find(|it| it.key() == counted.key()).cloned();
            all.push(Some(known.unwrap_or_else(|| {
                counted.timeline = Arc::new(counted.count(timeline));
                Arc::new(counted)
            })));
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
        if let Some(counted) = self.counted_under(profile).filter(|it| it.to.is_some()) {
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
