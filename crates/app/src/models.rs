//! The profile of a model named in a recording.

use crate::prelude::*;
use std::sync::OnceLock;

use ctxsim_input::profile::models::{named_part, without_mark};
use ctxsim_report::BillAsLogged;
use ctxsim_report::billed::SavingsByLever;
use ctxsim_report::billed::session::{BilledSession, CheaperChoice, ModelPrices, model_line_name};
use ctxsim_report::screen::SessionFacts;

/// What separates a profile's name from a service at whose prices it is meant, as in `openai/gpt-5.6-sol@us`.
pub(crate) const SERVICE_MARK: char = '@';

/// The profiles by model.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelProfiles {
    all: Vec<CoveringProfile>,
    /// By model, the place of the profile that covers it: sessions ask for the same few models again and again.
    found: Arc<Mutex<IndexMap<String, Option<usize>>>>,
}

/// A profile that covers models, at its usual prices and at those of regions.
#[derive(Clone, Debug)]
struct CoveringProfile {
    spec: Arc<ProfileFile>,
    usual: Arc<Profile>,
    /// Whether its cache rules are the user's own, which hold whatever logs show.
    has_own_cache: bool,
    /// By service, made when a model is bought in a region.
    served: OnceLock<Vec<(String, Profile)>>,
}

impl CoveringProfile {
    /// Returns the profile at the prices of a region; nothing where its prices there are not known.
    fn profile_in_region(&self, region: Option<SellerRegion<'_>>) -> Option<&Profile> {
        let services = region.map_or(&[][..], |it| it.services);
        if services.is_empty() {
            return Some(&self.usual);
        }
        services.iter().find_map(|it| self.profile_at_service(it))
    }

    fn profile_at_service(&self, service: &str) -> Option<&Profile> {
        let all = self.served.get_or_init(|| {
            let names = self.spec.prices.first().into_iter().flat_map(|it| it.services.keys());
            names.filter_map(|it| Some((it.clone(), self.with_service_prices(it)?))).listed()
        });
        all.iter().find(|it| it.0 == service).map(|it| &it.1)
    }

    fn with_service_prices(&self, service: &str) -> Option<Profile> {
        let spec = (*self.spec).clone().under(service);
        let Profile { name, prices, .. } = Profile::new(&spec).ok()?;
        Some(Profile { name, prices, ..(*self.usual).clone() })
    }
}

/// The list prices of the models that logs name, for bills as logged.
#[derive(Debug)]
pub struct ListPrices(ModelProfiles);

impl ListPrices {
    /// Reads those of a catalog.
    pub fn read(catalog: &Catalog) -> Self {
        Self(ModelProfiles::new(ModelProfiles::read_all(catalog)))
    }

    /// Returns the profile of a model, at the prices of the region in which its id says that it was bought.
    pub fn profile_of(&self, model: &str) -> Option<&Profile> {
        self.0.profile_for_model(model).ok()
    }

    /// Returns the profile of a model as written, if its id means the usual price.
    pub fn profile_file_of(&self, model: &str) -> Option<&ProfileFile> {
        let usual = self.profile_of(model)?;
        self.0.all.iter().map(|it| &*it.spec).find(|it| it.name == usual.name)
    }

    /// Returns the profiles that cover models, by their names.
    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        self.0.all.iter().map(|it| &*it.usual)
    }

    /// Returns the models that recordings name and no profile covers, each with how many sessions it answered.
    ///
    /// # Errors
    /// Every problem of the recordings.
    pub fn models_without_profile(
        &self,
        catalog: &Catalog,
        scenarios: Vec<String>,
    ) -> Result<BTreeMap<String, usize>> {
        let plan = Plan::new(catalog, &Comparison { scenarios, own_models: true, ..Comparison::default() })?;
        let glances = plan.scenarios.iter().filter_map(|entry| entry.glance_at_sessions()).flatten();
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        for model in glances.flat_map(|glance| glance.models).filter(|it| self.profile_of(&it.name).is_none())
        {
            *unknown.entry(model.name).or_default() += 1;
        }
        Ok(unknown)
    }

    /// Returns what a session was billed by its log, at the prices of its own models; `None` if the log has no bill.
    pub fn bill_as_logged(&self, timeline: &Timeline) -> Option<BillAsLogged> {
        BillAsLogged::from_timeline(timeline, &|it| self.0.profile_for_model(it).ok())
    }

    /// Returns what the bills of a session tell of levers; `None` if its log has no bill. The profile tells what the cache had held.
    pub(super) fn billed_facts(
        &self,
        timeline: &Timeline,
        profile: Option<&Profile>,
        has_lifetime_setting: bool,
    ) -> Option<SavingsByLever> {
        let prices = ModelPrices {
            profile_of: &|it| self.0.profile_for_model(it).ok(),
            cheaper: &|it, which| self.0.cheaper_profile(it, which),
        };
        BilledSession::new(timeline, profile, prices, has_lifetime_setting).map(|it| SavingsByLever::new(&it))
    }

    /// Returns what a first screen needs of a session, as far as its log tells it; the profile tells what the cache had held.
    pub(super) fn session_facts(&self, timeline: &Timeline, profile: Option<&Profile>) -> SessionFacts {
        SessionFacts::from_timeline(timeline, profile, &|it| self.0.profile_for_model(it).ok())
    }
}

/// A profile that covers models: as written, and checked; a broken one covers no model, and `validate` reports why.
#[derive(Clone, Debug)]
pub(super) struct ProfileOfModels {
    /// As written.
    pub(super) spec: Arc<ProfileFile>,
    checked: Option<Arc<Profile>>,
    /// Whether its cache rules are the user's own: of a file that does not ship, or overridden.
    has_own_cache: bool,
}

impl ProfileOfModels {
    fn new(spec: ProfileFile) -> Self {
        let checked = Profile::new(&spec).ok().map(Arc::new);
        Self { spec: Arc::new(spec), checked, has_own_cache: false }
    }

    /// Returns it as overrides make it.
    pub(super) fn overridden_as(&self, spec: &ProfileFile) -> Self {
        let has_own_cache = self.has_own_cache || spec.cache != self.spec.cache;
        Self { has_own_cache, ..Self::new(spec.clone()) }
    }

    fn read(catalog: &Catalog, name: &str) -> Option<Self> {
        let spec = catalog.profile(name).ok()?.spec;
        (!spec.models.is_empty()).then(|| Self::new(spec))
    }
}

impl ModelProfiles {
    /// Reads those of a catalog.
    pub(super) fn read_all(catalog: &Catalog) -> Vec<ProfileOfModels> {
        let read = |(name, origin): (&str, &Origin)| match origin {
            Origin::Bundled(file) => {
                file.read_once(|| Ok(ProfileOfModels::read(catalog, name))).ok().flatten()
            }
            _ => ProfileOfModels::read(catalog, name).map(|it| ProfileOfModels { has_own_cache: true, ..it }),
        };
        catalog.names_and_origins(InputKind::Profile).filter_map(read).listed()
    }

    /// Takes those that are checked.
    pub(super) fn new(all: impl IntoIterator<Item = ProfileOfModels>) -> Self {
        let covering = |ProfileOfModels { spec, checked, has_own_cache }| {
            Some(CoveringProfile { spec, usual: checked?, has_own_cache, served: OnceLock::new() })
        };
        Self { all: all.into_iter().filter_map(covering).listed(), ..Self::default() }
    }

    /// Returns whether the cache rules of a profile among them are the user's own.
    pub(super) fn has_user_cache_rules(&self, profile: &Profile) -> bool {
        let plain = profile.name.split(SERVICE_MARK).next();
        self.all.iter().any(|it| it.has_own_cache && Some(it.usual.name.as_str()) == plain)
    }

    /// Removes the limits of all of them.
    pub(super) fn remove_limits(&mut self) {
        for covering in &mut self.all {
            Arc::make_mut(&mut covering.usual).limits = Limits::NONE;
            covering.served = OnceLock::new();
        }
    }

    /// Returns the profile of a model: the one whose pattern matches most of its id; of equal ones, the first
    /// by name. What a router writes around the name is left out where nothing covers the whole, and a region has its own prices.
    ///
    /// # Errors
    /// There is none, and the help names the nearest; or none that has a price for the region.
    pub(super) fn profile_for_model(&self, model: &str) -> Result<&Profile, Box<Diagnostic>> {
        let id = ModelId::read(model);
        let Some(found) = self.find_covering(model, &id) else {
            let (plain, service) = id.plain_and_service().ok_or_else(|| self.unknown_model_problem(model))?;
            let at = plain.likely_names().find_map(|it| self.best_covering_index(it));
            let found = at.and_then(|it| self.all[it].profile_at_service(service));
            return found.ok_or_else(|| self.unknown_model_problem(model));
        };
        let region = id.seller_region();
        found.profile_in_region(region).ok_or_else(|| {
            let (text, name) = (region.map_or("", |it| it.text), &found.usual.name);
            let message =
                format!("no price is known for `{model}`: `{name}` has none for the region `{text}`");
            let help = format!(
                "use its usual prices, `--profile {name}`, or add a service to a profile of your own"
            );
            Box::new(Diagnostic::at(Code("model-unknown"), "", message).help(help))
        })
    }

    fn unknown_model_problem(&self, model: &str) -> Box<Diagnostic> {
        let message = format!("no profile covers the model `{model}`");
        let near = self.nearest_profiles(model).iter().map(|it| format!("`--profile {}`", it.name)).listed();
        let help = if near.is_empty() {
            "name one with `--profile`; `ctxsim list profiles` shows all".to_owned()
        } else {
            let near = near.join(", ");
            format!(
                "price it meanwhile as the nearest ({near}), or write a profile with `models = [\"{model}\"]`"
            )
        };
        Box::new(Diagnostic::at(Code("model-unknown"), "", message).help(help))
    }

    /// Returns the name by which everybody knows a model: that of the pattern that covers it, with a date or a version where it has one, and
    /// without what a router or a user wrote around it.
    pub(super) fn public_model_name(&self, model: &str) -> Option<String> {
        let profile = self.profile_for_model(model).ok()?;
        if profile.name == model {
            return Some(model.to_owned());
        }
        let id = ModelId::read(model);
        let Some(covering) = self.find_covering(model, &id) else {
            // A variant has the end of its name, which says its price.
            let (plain, _) = id.plain_and_service()?;
            let end = model.len() - plain.likely_names().next()?.len();
            let public = self.public_model_name(&model[..model.len() - end])?
                + &model[model.len() - end..].to_lowercase();
            return self.profile_for_model(&public).is_ok_and(|it| it.name == profile.name).then_some(public);
        };
        let patterns = || covering.usual.models.iter();
        let public =
            id.likely_names().find_map(|name| patterns().find_map(|it| public_name_by_pattern(it, name)))?;
        let public = match id.seller_region() {
            Some(region) => format!("{}/{public}", region.text),
            None => public,
        };
        self.profile_for_model(&public).is_ok_and(|it| it.name == profile.name).then_some(public)
    }

    /// Returns a cheaper model of the same provider, whose input costs less: of the same line, or of the next one down, which has the dearest of
    /// them; the last by name, which is the newest.
    fn cheaper_profile<'s>(&'s self, dear: &Profile, which: CheaperChoice) -> Option<&'s Profile> {
        let parts = |profile: &Profile| {
            let (provider, name) = profile.name.split_once('/').unwrap_or(("", &profile.name));
            (provider.to_owned(), model_line_name(name))
        };
        let (provider, line) = parts(dear);
        let input = |it: &Profile| it.prices.usual().input;
        // A region's prices are compared with those of the same region.
        let service = dear.name.split_once(SERVICE_MARK).map(|it| it.1);
        let there = |it: &'s CoveringProfile| {
            service.map_or(Some(&*it.usual), |service| it.profile_at_service(service))
        };
        let is_cheaper = |profile: &&Profile| {
            let own = parts(profile);
            let is_asked = own.0 == provider && (own.1 == line) == (which == CheaperChoice::SameLine);
            is_asked && input(profile) < input(dear) && profile.prices.usual().output.is_some()
        };
        let all = self.all.iter().filter_map(there).filter(is_cheaper).listed();
        let dearest =
            all.iter().max_by(|one, other| (input(one), &one.name).cmp(&(input(other), &other.name)))?;
        let line = parts(dearest).1;
        all.into_iter().filter(|it| parts(it).1 == line).max_by(|one, other| one.name.cmp(&other.name))
    }

    /// Returns what covers a model, whose id has been read.
    fn find_covering(&self, model: &str, id: &ModelId) -> Option<&CoveringProfile> {
        let known = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = known().get(model).copied();
        let at = earlier.unwrap_or_else(|| {
            let at = id.likely_names().find_map(|it| self.best_covering_index(it));
            known().insert(model.to_owned(), at);
            at
        })?;
        self.all.get(at)
    }

    fn best_covering_index(&self, model: &str) -> Option<usize> {
        let all = self.all.iter().enumerate().rev();
        all.filter_map(|(at, it)| Some((it.usual.covers(model)?, at))).max_by_key(|it| it.0).map(|it| it.1)
    }

    /// Returns up to three whose ids are most like what a model's begins with, or a later part of it, the likest first: the name of a deployment
    /// often holds that of its model.
    fn nearest_profiles(&self, model: &str) -> Vec<&Profile> {
        /// Fewer common letters are not a match.
        const LEAST: usize = 3;
        let model = model.to_lowercase();
        let id = model.rsplit('/').next().unwrap_or(&model);
        let parts = || std::iter::once(id).chain(id.match_indices(['-', '_', '.']).map(|it| &id[it.0 + 1..]));
        let distance = |pattern: &String| {
            let pattern = without_mark(pattern);
            let common = parts().map(|part| common_letters(part, pattern)).max()?;
            (common >= LEAST).then_some((std::cmp::Reverse(common), pattern.len()))
        };
        let usual = self.all.iter().map(|it| &*it.usual);
        let mut ranked =
            usual.filter_map(|it| Some((it.models.iter().filter_map(distance).min()?, it))).listed();
        ranked.sort_by_key(|it| it.0);
        ranked.into_iter().take(3).map(|it| it.1).collect()
    }
}

/// Returns the length of what two names have in common at their begin, without a mark that separates what differs.
fn common_letters(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    one.get(..same).map_or(0, |begin| begin.trim_end_matches(['-', '.', '_']).len())
}

/// Returns what everybody knows of a name that a pattern covers: what it has of the pattern, numbers, and its revision.
fn public_name_by_pattern(pattern: &str, name: &str) -> Option<String> {
    let (named, pattern) = (named_part(pattern, name)?, without_mark(pattern));
    let is_number = |text: &str| text.chars().all(|it| it.is_ascii_digit() || matches!(it, '-' | '.'));
    let star = pattern.split_once('*').and_then(|(begin, end)| named.strip_prefix(begin)?.strip_suffix(end));
    if star.is_some_and(is_number) {
        return Some(name.to_owned());
    }
    Some(pattern.replace('*', "") + &name[named.len()..])
}

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
    fn read_known() -> &'static Self {
        static KNOWN: OnceLock<Routes> = OnceLock::new();
        KNOWN.get_or_init(|| decode_table(ROUTES, Format::Toml).unwrap_or_default())
    }

    /// Returns the services of a region, if the text is one.
    fn services_of_region(&self, text: &str) -> Option<&[String]> {
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

impl ModelId {
    /// Reads an id as a log or a price list writes it.
    pub(super) fn read(id: &str) -> Self {
        Self { whole: id.to_lowercase() }
    }

    /// Returns what the model may be called, the likeliest first: as written, then, but for models at a host with prices of its own, without
    /// what stands around the model's own name.
    pub(super) fn likely_names(&self) -> impl Iterator<Item = &str> {
        let routes = Routes::read_known();
        let id = self.last_path_part();
        let id = self.leading_region().map_or(id, |it| &id[it.text.len() + 1..]);
        let begin = routes.begins.iter().filter_map(|it| Some(id.rfind(it)? + it.len())).max().unwrap_or(0);
        let id = &id[begin..];
        let end = routes.ends.iter().filter_map(|it| id.find(it)).min().unwrap_or(id.len());
        let stripped = std::iter::successors(Some(&id[..end]), |id| {
            routes.suffixes.iter().find_map(|suffix| {
                let (begin, end) = suffix.split_once('*').unwrap_or(("", suffix));
                id.starts_with(begin).then(|| id.strip_suffix(end)).flatten()
            })
        });
        let host = self.whole.split_once('/').map(|it| it.0);
        let is_at_host = routes.hosts.iter().any(|it| host == Some(it));
        let own = [self.last_path_part()].into_iter().chain(stripped).filter(move |_| !is_at_host);
        std::iter::once(self.whole.as_str()).chain(own)
    }

    /// Returns the id without the end that makes it a variant of a model, and the service that prices the variant; a variant in a region
    /// with prices of its own is not known.
    pub(super) fn plain_and_service(&self) -> Option<(Self, &'static str)> {
        let mut variants = Routes::read_known().variants.iter();
        let (plain, service) =
            variants.find_map(|(end, it)| Some((self.whole.strip_suffix(end.as_str())?, it)))?;
        let is_usual = self.seller_region().is_none_or(|it| it.services.is_empty());
        is_usual.then(|| (Self { whole: plain.to_owned() }, service.as_str()))
    }

    /// Returns the region that it names: before the name, or as a part of the path.
    pub(super) fn seller_region(&self) -> Option<SellerRegion<'_>> {
        let of_path = || {
            let path = self.whole.rsplit_once('/')?.0;
            let mut parts = std::iter::once(path).chain(path.rsplit('/'));
            parts.find_map(|text| {
                Some(SellerRegion { text, services: Routes::read_known().services_of_region(text)? })
            })
        };
        self.leading_region().or_else(of_path)
    }

    fn leading_region(&self) -> Option<SellerRegion<'_>> {
        let text = self.last_path_part().split_once('.')?.0;
        Some(SellerRegion { text, services: Routes::read_known().services_of_region(text)? })
    }

    fn last_path_part(&self) -> &str {
        self.whole.rsplit('/').next().unwrap_or(&self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::shipped_catalog;

    #[test]
    fn a_model_has_one_profile_whatever_it_is_bought_through() {
        let profiles = ModelProfiles::new(ModelProfiles::read_all(&shipped_catalog()));
        // Ids as price lists and sessions write them.
        let rows = [
            ("claude-opus-4-5-20251101", "anthropic/claude-opus-4.5"),
            ("openrouter/anthropic/claude-sonnet-4.5:beta", "anthropic/claude-sonnet-4.5"),
            ("anthropic/claude-opus-4.6:thinking", "anthropic/claude-opus-4.6"),
            ("deepseek/deepseek-v4-flash:free", "deepseek/deepseek-v4-flash"),
            ("deepseek-v4-flash-free", "deepseek/deepseek-v4-flash"),
            ("anthropic.claude-opus-4-5-20251101-v1:0", "bedrock/claude-opus-4.5"),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", "bedrock/claude-opus-4.5@regional"),
            ("apac.anthropic.claude-sonnet-4-6", "bedrock/claude-sonnet-4.6@regional"),
            ("bedrock/us-gov-west-1/anthropic.claude-opus-5", "bedrock/claude-opus-5@us-gov"),
            (
                "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-5",
                "bedrock/claude-opus-5",
            ),
            ("us.openai.gpt-5.4", "openai/gpt-5.4@us"),
            ("bedrock_mantle/openai.gpt-5.4", "openai/gpt-5.4@us"),
            ("global.openai.gpt-5.4", "openai/gpt-5.4"),
            ("minimax/MiniMax-M3", "minimax/minimax-m3"),
            ("deepseek-v4-flash-0731", "deepseek/deepseek-v4-flash"),
            ("global.anthropic.claude-sonnet-4-6", "bedrock/claude-sonnet-4.6"),
            ("us.amazon.nova-pro-v1:0", "bedrock/nova-pro@us"),
            ("vertex_ai/claude-opus-4-5@20251101", "anthropic/claude-opus-4.5"),
            ("publishers/anthropic/models/claude-sonnet-4-6@default", "anthropic/claude-sonnet-4.6"),
            ("vertex_ai/gemini-3.5-flash", "google/gemini-3.5-flash"),
            ("azure/eu/gpt-5.4-mini", "openai/gpt-5.4-mini@eu"),
            ("azure/gpt-5.4-2026-03-05", "openai/gpt-5.4"),
            ("azure_ai/claude-opus-5", "anthropic/claude-opus-5"),
            ("aihubmix/gpt-5.4-high", "openai/gpt-5.4"),
            ("claude-opus-4-6[1m]", "anthropic/claude-opus-4.6"),
            ("databricks/databricks-claude-sonnet-4-6", "anthropic/claude-sonnet-4.6"),
            ("groq/openai/gpt-oss-120b", "groq/gpt-oss-120b"),
            ("fireworks_ai/accounts/fireworks/models/kimi-k3", "fireworks/kimi-k3"),
            ("together_ai/zai-org/GLM-5.3", "together/glm-5.3"),
            ("moonshotai/kimi-k3", "moonshotai/kimi-k3"),
            ("gpt-5.3-codex", "openai/gpt-5.3-codex"),
            ("gpt-5.3-codex-spark", "openai/gpt-5.3-codex-spark"),
            ("gemini-3-flash-preview", "google/gemini-3-flash-preview"),
        ];
        for (model, name) in rows {
            assert_eq!(profiles.profile_for_model(model).map(|it| it.name.as_str()), Ok(name), "{model}");
        }
    }

    #[test]
    fn no_pattern_that_ships_covers_a_name_that_its_vendor_may_ship_next() {
        let profiles = ModelProfiles::new(ModelProfiles::read_all(&shipped_catalog()));
        let ends = ["-1", "-2", ".2", "-mini", "-pro", "-lite", "-max", "-v3", "-32k", "-turbo", "2"];
        let ends = ends.map(|end| [end.to_owned(), format!("{end}-20270115")]).concat();
        let base =
            |pattern: &str| without_mark(pattern).replace('*', "").trim_end_matches("-latest").to_owned();
        let patterns =
            profiles.all.iter().flat_map(|it| &it.usual.models).filter(|it| !it.starts_with("ft:"));
        for (pattern, end) in patterns.flat_map(|pattern| ends.iter().map(move |end| (pattern, end))) {
            let name = base(pattern) + end;
            let found = profiles.find_covering(&name, &ModelId::read(&name));
            let Some(found) = found.map(|it| &it.usual) else { continue };
            // What is sold already has a pattern that says so.
            let version = name.trim_end_matches("-20270115");
            let is_named = found.models.iter().any(|it| version.ends_with(&base(it)));
            assert!(is_named, "`{name}` is priced as {}, by `{pattern}`", found.name);
        }
    }

    #[test]
    fn another_model_of_the_same_family_or_at_another_price_has_none_and_the_nearest_is_named() {
        let profiles = ModelProfiles::new(ModelProfiles::read_all(&shipped_catalog()));
        let models = [
            "gpt-5.4-pro",
            "deepseek-v4-flash-audio-exp",
            "prod-gpt-5.4-eu",
            "ollama/llama3.1:8b",
            "a:b",
            ":",
            "",
        ];
        let known: Vec<&str> =
            models.into_iter().filter(|it| profiles.profile_for_model(it).is_ok()).collect();
        assert!(known.is_empty(), "{known:?}");
        let help = profiles.profile_for_model("prod-gpt-5.4-eu").unwrap_err().help.unwrap();
        assert!(help.contains("`--profile openai/gpt-5.4`"), "{help}");
    }
}
