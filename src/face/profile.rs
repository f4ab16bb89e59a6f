//! Profiles built in code: one model at one provider, with exact prices and the rules of its cache.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::face::{Catalog, Error};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::quantity::{Decimal, saturated};
use ctxsim_engine::cache::own::{Make, OwnRule};
use ctxsim_input::policy::OwnCode;
use ctxsim_input::profile::cache::{BreakpointsFields, Cache, PrefixIntervalFields, Ttls};
use ctxsim_input::profile::written::{AssumptionsSpec, LimitsSpec, PriceSpec};
use ctxsim_input::text::duration::Duration as Written;
use ctxsim_input::{Profile as Checked, ProfileFile};

/// A model at a provider: its limits, its prices and the rules of its cache.
#[derive(Clone, Debug)]
pub struct Profile {
    file: ProfileFile,
    own_cache: Option<OwnCode>,
}

/// Builds a profile; see [`Profile::builder`]. Prices are US dollars per million tokens.
#[derive(Clone, Debug)]
pub struct ProfileBuilder {
    profile: Profile,
    problems: Vec<Diagnostic>,
}

impl Profile {
    /// Starts a profile without limits, cache or prices.
    #[must_use]
    pub fn builder(name: impl Into<String>) -> ProfileBuilder {
        let file = ProfileFile {
            tokenizer: None,
            best_effort: false,
            name: name.into(),
            about: "A profile built in code.".to_owned(),
            as_of: "2026-01-01".to_owned(),
            sources: vec!["built in code".to_owned()],
            models: Vec::new(),
            limits: LimitsSpec::default(),
            cache: Cache::default(),
            prices: vec![PriceSpec::default()],
            assumptions: AssumptionsSpec::default(),
        };
        ProfileBuilder { profile: Self { file, own_cache: None }, problems: Vec::new() }
    }

    /// Reads a profile from a catalog, by name or path.
    ///
    /// # Errors
    /// The name is unknown; otherwise, every problem in the file.
    pub fn load(catalog: &Catalog, name: &str) -> Result<Self, Error> {
        let loaded = catalog.0.profile(name)?;
        Checked::new(&loaded.spec).map_err(|it| loaded.locate_problems(it))?;
        Ok(Self { file: loaded.spec, own_cache: None })
    }

    /// Starts a builder with the values of this profile.
    #[must_use]
    pub fn to_builder(&self) -> ProfileBuilder {
        ProfileBuilder { profile: self.clone(), problems: Vec::new() }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Returns the date of its prices, `YYYY-MM-DD`.
    #[must_use]
    pub fn as_of(&self) -> &str {
        &self.file.as_of
    }

    /// Returns what its file would say, and the code of its cache.
    pub(super) fn into_parts(self) -> (ProfileFile, Option<OwnCode>) {
        (self.file, self.own_cache)
    }
}

impl ProfileBuilder {
    /// Sets the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.profile.file.name = name.into();
        self
    }

    /// Sets the date of its prices, `YYYY-MM-DD`.
    #[must_use]
    pub fn as_of(mut self, day: impl Into<String>) -> Self {
        self.profile.file.as_of = day.into();
        self
    }

    /// Sets the context window, in tokens; none by default.
    #[must_use]
    pub fn context(mut self, tokens: u64) -> Self {
        self.profile.file.limits.context_tokens = Some(tokens);
        self
    }

    /// Sets the prices of plain input and of output, per million tokens.
    #[must_use]
    pub fn price(mut self, input_per_million: impl Into<Usd>, output_per_million: impl Into<Usd>) -> Self {
        let (input, output) = (input_per_million.into(), output_per_million.into());
        let input = self.decimal_or_note(&input, "prices.0.input");
        let output = self.decimal_or_note(&output, "prices.0.output");
        let price = self.first_prices_mut();
        price.input = input.unwrap_or_default();
        price.output = output;
        self
    }

    /// Sets the price of input that is read from the cache, per million tokens; the price of plain input by default.
    #[must_use]
    pub fn cache_read(mut self, per_million: impl Into<Usd>) -> Self {
        let read = self.decimal_or_note(&per_million.into(), "prices.0.cache_read");
        self.first_prices_mut().cache_read = read;
        self
    }

    /// Sets the price of input that is written to the cache with a given lifetime, per million tokens; the price of plain input by default.
    #[must_use]
    pub fn cache_write(mut self, ttl: Duration, per_million: impl Into<Usd>) -> Self {
        let ttl = Written(saturated(ttl.as_millis())).to_string();
        if let Some(usd) = self.decimal_or_note(&per_million.into(), &format!("prices.0.cache_write.{ttl}")) {
            self.first_prices_mut().cache_write.insert(ttl, usd);
        }
        self
    }

    /// Sets the rules of the cache; none by default.
    #[must_use]
    pub fn cache(mut self, rules: CacheRules) -> Self {
        self.profile.file.cache = rules.rules;
        self.profile.own_cache = rules.own;
        self
    }

    /// Checks the profile.
    ///
    /// # Errors
    /// Every problem in the profile.
    pub fn build(self) -> Result<Profile, Error> {
        let mut problems = self.problems;
        problems.extend(Checked::new(&self.profile.file).err().unwrap_or_default());
        if problems.is_empty() {
            return Ok(self.profile);
        }
        let file = format!("profile {}", self.profile.name());
        Err(problems.into_iter().map(|it| it.in_file(&file)).collect::<Vec<_>>().into())
    }

    /// Returns the prices that are set: those of the first period.
    fn first_prices_mut(&mut self) -> &mut PriceSpec {
        let prices = &mut self.profile.file.prices;
        if prices.is_empty() {
            prices.push(PriceSpec::default());
        }
        &mut prices[0]
    }

    /// Returns an amount, or notes what is wrong with it.
    fn decimal_or_note(&mut self, usd: &Usd, field: &str) -> Option<Decimal> {
        usd.to_decimal(field).map_err(|it| self.problems.push(*it)).ok()
    }
}

/// The rules of a provider's prompt cache.
///
/// Other kinds of rules (blocks, units, stored content) are declared in profile files; [`Profile::to_builder`](crate::Profile::to_builder)
/// starts from such a profile.
#[derive(Clone, Debug)]
pub struct CacheRules {
    pub(super) rules: Cache,
    pub(super) own: Option<OwnCode>,
}

impl CacheRules {
    fn from_rules(rules: Cache) -> Self {
        Self { rules, own: None }
    }

    /// Returns no cache: every token is plain input.
    #[must_use]
    pub fn none() -> Self {
        Self::from_rules(Cache::None)
    }

    /// Returns a cache of the longest common prefix with an earlier prompt: at least `min` tokens, in steps of `step` tokens.
    #[must_use]
    pub fn prefixes(min_tokens: u64, step_tokens: u64) -> Self {
        let (min_tokens, step_tokens) = (Some(min_tokens), Some(step_tokens));
        let fields = PrefixIntervalFields { min_tokens, step_tokens, ..Default::default() };
        Self::from_rules(Cache::PrefixInterval(fields))
    }

    /// Returns a cache with entries at breakpoints, at most `max` per request, each of at least `min` tokens; each lookup goes
    /// up to `lookback` positions back.
    #[must_use]
    pub fn breakpoints(min_tokens: u64, max_breakpoints: u8, lookback_positions: u16) -> Self {
        let (min_tokens, breakpoints_max) = (Some(min_tokens), Some(max_breakpoints));
        let lookback_positions = Some(lookback_positions);
        let fields =
            BreakpointsFields { min_tokens, breakpoints_max, lookback_positions, ..Default::default() };
        Self::from_rules(Cache::Breakpoints(fields))
    }

    /// Returns a cache whose rules are code.
    #[must_use]
    pub fn custom<R: OwnRule + 'static>(make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        let own = Some(OwnCode::new(Make::new(make)));
        // What a policy is told of lifetimes is that of these rules.
        Self { own, ..Self::prefixes(0, 1) }
    }

    /// Sets how long an entry lives after its last use, where there are entries. For a cache in code, this is only what policies see as its
    /// lifetime.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        if let Some(ttls) = self.rules.ttls_mut() {
            *ttls = Ttls(vec![Written(saturated(ttl.as_millis()))]);
        }
        self
    }
}

/// An amount of US dollars, stored as a decimal: `0.1` is exactly one tenth, not the nearest float. Never negative; at most 18 digits.
///
/// Numbers and text convert to it; a value that is not a valid amount is reported when the profile is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Usd(Result<Decimal, String>);

impl Usd {
    /// Returns the decimal, or the invalid input.
    pub(super) fn to_decimal(&self, field: &str) -> Result<Decimal, Box<Diagnostic>> {
        let wrong = |given: &String| {
            let message = format!("`{given}` is not an amount of US dollars");
            let problem = Diagnostic::at(Code("price-invalid"), field, message);
            Box::new(problem.help("use a non-negative number with at most 18 digits"))
        };
        self.0.as_ref().copied().map_err(wrong)
    }
}

impl From<f64> for Usd {
    fn from(value: f64) -> Self {
        Self(Decimal::from_f64(value).ok_or_else(|| value.to_string()))
    }
}

impl From<u32> for Usd {
    fn from(value: u32) -> Self {
        value.to_string().as_str().into()
    }
}

impl From<&str> for Usd {
    fn from(text: &str) -> Self {
        Self(Decimal::parse(text).ok_or_else(|| text.to_owned()))
    }
}

impl FromStr for Usd {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let usd = Self::from(text);
        usd.to_decimal("").map_err(Error::from)?;
        Ok(usd)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(amount) => amount.fmt(to),
            Err(given) => to.write_str(given),
        }
    }
}
