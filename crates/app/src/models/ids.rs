//! What an id of a model says, whoever wrote it: the model's own name, and the region in which it was bought.

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::Deserialize;

use ctxsim_input::policy::wildcard;
use ctxsim_input::text::decode::{Format, decode_table};

/// What providers and routers write around a model's name, with sources.
const ROUTES: &str = ctxsim_assumptions::ROUTES;

/// What stands around a model's own name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Routes {
    hosts: Vec<String>,
    begins: Vec<String>,
    ends: Vec<String>,
    suffixes: Vec<String>,
    /// The services by which a region may be billed, the first that a profile prices.
    regions: IndexMap<String, Vec<String>>,
    /// By the end of a name, the service by which a variant of the model is billed.
    variants: IndexMap<String, String>,
}

impl Routes {
    /// Returns those that are known, read once.
    fn known() -> &'static Self {
        static KNOWN: OnceLock<Routes> = OnceLock::new();
        KNOWN.get_or_init(|| decode_table(ROUTES, Format::Toml).unwrap_or_default())
    }

    /// Returns the services of a region, if the text is one.
    fn services(&self, text: &str) -> Option<&[String]> {
        self.regions.iter().find(|it| wildcard(it.0, text)).map(|it| it.1.as_slice())
    }
}

/// An id of a model, read.
pub(super) struct ModelId {
    /// In lower case: providers and routers do not agree on the case of a name.
    whole: String,
}

/// Where a model was bought, if its id says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct SellerRegion<'a> {
    /// As the id says it.
    pub(super) text: &'a str,
    /// The services of a profile that price it, the first that a profile has; none where it costs the usual price.
    pub(super) services: &'static [String],
}

impl SellerRegion<'_> {
    /// Returns whether it costs the usual price.
    fn is_usual(&self) -> bool {
        self.services.is_empty()
    }
}

impl ModelId {
    /// Reads an id as a log or a price list writes it.
    pub(super) fn read(id: &str) -> Self {
        Self { whole: id.to_lowercase() }
    }

    /// Returns what the model may be called, the likeliest first: as written, then, but for models at a host with prices of its own, without
    /// what stands around the model's own name.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let routes = Routes::known();
        let id = self.last();
        let id = self.leading_region().map_or(id, |it| &id[it.text.len() + 1..]);
        let begin = routes.begins.iter().filter_map(|it| Some(id.rfind(it)? + it.len())).max().unwrap_or(0);
        let id = &id[begin..];
        let end = routes.ends.iter().filter_map(|it| id.find(it)).min().unwrap_or(id.len());
        let stripped = std::iter::successors(Some(&id[..end]), |id| {
            routes.suffixes.iter().find_map(|it| id.strip_suffix(it.as_str()))
        });
        let host = self.whole.split_once('/').map(|it| it.0);
        let is_at_host = routes.hosts.iter().any(|it| host == Some(it));
        let own = [self.last()].into_iter().chain(stripped).filter(move |_| !is_at_host);
        std::iter::once(self.whole.as_str()).chain(own)
    }

    /// Returns the id without the end that makes it a variant of a model, and the service that prices the variant; a variant in a region
    /// with prices of its own is not known.
    pub(super) fn variant(&self) -> Option<(Self, &'static str)> {
        let mut variants = Routes::known().variants.iter();
        let (plain, service) =
            variants.find_map(|(end, it)| Some((self.whole.strip_suffix(end.as_str())?, it)))?;
        let is_usual = self.region().is_none_or(|it| it.is_usual());
        is_usual.then(|| (Self { whole: plain.to_owned() }, service.as_str()))
    }

    /// Returns the region that it names: before the name, or as a part of the path.
    pub(super) fn region(&self) -> Option<SellerRegion<'_>> {
        let of_path = || {
            let path = self.whole.rsplit_once('/')?.0;
            let mut parts = std::iter::once(path).chain(path.rsplit('/'));
            parts.find_map(|text| Some(SellerRegion { text, services: Routes::known().services(text)? }))
        };
        self.leading_region().or_else(of_path)
    }

    fn leading_region(&self) -> Option<SellerRegion<'_>> {
        let text = self.last().split_once('.')?.0;
        Some(SellerRegion { text, services: Routes::known().services(text)? })
    }

    fn last(&self) -> &str {
        self.whole.rsplit('/').next().unwrap_or(&self.whole)
    }
}
