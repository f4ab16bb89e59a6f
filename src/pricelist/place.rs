//! Entries of price lists as profiles: joined with the provider's cache rules, written as people write them, checked.

use std::fmt::Write as _;

use indexmap::{IndexMap, IndexSet};

use super::rules::{self, canonical};
use super::{Entry, Found, Reason, Unplaced};
use crate::model::Profile;
use crate::quantity::Decimal;
use crate::spec::decode::{self, Tree};
use crate::spec::price::{PriceSpec, ServiceSpec, TierSpec, WindowSpec};
use crate::spec::{Format, ProfileSpec};

/// A profile that a list gives.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Provider and model: its path below the folder that it is made for.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The profile itself.
    pub profile: Profile,
    /// What of the entry is not in it.
    pub left_out: Vec<String>,
}

/// What became of a list.
#[derive(Clone, Debug, Default)]
pub struct Placing {
    /// The profiles, in the order of the list.
    pub placed: Vec<Placed>,
    /// What is in no profile, with reasons.
    pub unplaced: Vec<Unplaced>,
}

/// Makes profiles of a list that was read on some day, to stand in a folder below `profiles/`, or in that one itself.
#[must_use]
pub fn place(found: &Found, as_of: &str, folder: &str) -> Placing {
    let mut placing = Placing { unplaced: found.unplaced.clone(), ..Placing::default() };
    let mut names: IndexSet<String> = IndexSet::new();
    for entry in &found.entries {
        let result = match name(entry) {
            Ok(name) if names.contains(&name.to_lowercase()) => {
                Err(("name-duplicate", format!("another entry is already called `{name}`")))
            }
            Ok(name) => profile(entry, &name, found, as_of, folder),
            Err(reason) => Err(reason),
        };
        match result {
            Ok(placed) => {
                names.insert(placed.name.to_lowercase());
                placing.placed.push(placed);
            }
            Err((code, reason)) => {
                let name = format!("{}/{}", entry.provider, entry.model);
                placing.unplaced.push(Unplaced { list: found.list, name, code, reason });
            }
        }
    }
    placing
}

/// Returns an entry's name, which is a path: plain characters, no steps up.
fn name(entry: &Entry) -> Result<String, Reason> {
    let plain = |text: &str| {
        let kept =
            text.chars().map(|it| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '-' });
        kept.collect::<String>()
    };
    let parts: Vec<String> = entry.model.split('/').map(plain).collect();
    let is_path =
        |it: &String| !it.is_empty() && it.chars().any(|it| it.is_ascii_alphanumeric()) && it.len() < 200;
    let provider = plain(canonical(&entry.provider));
    if !is_path(&provider) || !parts.iter().all(is_path) || parts.len() > 8 {
        return Err(("name-unusable", "its name cannot be a path".to_owned()));
    }
    Ok(format!("{provider}/{}", parts.join("/")))
}

/// Writes an entry as a profile and checks it.
fn profile(entry: &Entry, name: &str, found: &Found, as_of: &str, folder: &str) -> Result<Placed, Reason> {
    if entry.prices.iter().any(|it| it.output.is_none()) {
        return Err(("not-a-text-model", "no price for a token of output".to_owned()));
    }
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let text = text(entry, &path, found, as_of);
    let problems = |it: &[crate::diag::Diagnostic]| {
        let all: Vec<String> = it.iter().map(|it| format!("`{}`: {}", it.place.field, it.message)).collect();
        ("profile-invalid", all.join("; "))
    };
    let spec: ProfileSpec = decode::decode(&text, Format::Toml).map_err(|it| problems(&it))?;
    let profile = Profile::new(&spec).map_err(|it| problems(&it))?;
    Ok(Placed { name: name.to_owned(), text, profile, left_out: entry.left_out.clone() })
}

/// Writes an entry as a profile.
fn text(entry: &Entry, name: &str, found: &Found, as_of: &str) -> String {
    let mut text = String::new();
    let quoted = |it: &str| Tree::String(it.to_owned()).to_string();
    let title = entry.title.as_deref().unwrap_or(&entry.model);
    let provider = canonical(&entry.provider);
    let _ = writeln!(text, "name = {}", quoted(name));
    let _ = writeln!(
        text,
        "about = {}",
        quoted(&format!("{title} at {provider}, at the prices that {} lists.", found.list))
    );
    let _ = writeln!(text, "as_of = {}", quoted(as_of));
    let (cache, cache_source) = cache(entry);
    let mut sources: IndexSet<&str> = [found.source].into();
    sources.extend(entry.sources.iter().map(String::as_str).chain(cache_source));
    text.push_str("sources = [\n");
    for source in sources {
        let _ = writeln!(text, "    {},", quoted(source));
    }
    text.push_str("]\n");
    let limits = [
        ("context_tokens", entry.limits.context_tokens),
        ("input_tokens", entry.limits.input_tokens),
        ("output_tokens", entry.limits.output_tokens),
    ];
    if limits.iter().any(|(_, it)| it.is_some()) {
        text.push_str("\n[limits]\n");
        for (field, tokens) in limits {
            if let Some(tokens) = tokens {
                let _ = writeln!(text, "{field} = {}", underscored(tokens));
            }
        }
    }
    text.push_str(&cache);
    entry.prices.iter().for_each(|it| price(it, &mut text));
    text.push_str(ASSUMPTIONS);
    text
}

/// What the bundled profiles assume about an agent.
const ASSUMPTIONS: &str = "
[assumptions]
recovery_overhead_tokens = 1_400
recovery_output_tokens = 64
failure_penalty_usd = 0.02
";

/// Writes the cache rules, and says where they are told.
fn cache(entry: &Entry) -> (String, Option<&'static str>) {
    let Some(rules) = rules::rules(entry) else {
        let has_discount = entry.prices.iter().any(|it| it.cache_read.is_some());
        let doubt =
            if has_discount { "  # cached input is cheaper, but by which rules is not known" } else { "" };
        return (format!("\n[cache]\nrules = \"none\"{doubt}\n"), None);
    };
    let mut text =
        format!("\n[cache]                         # {}\nrules = \"{}\"\n", rules.doubt, rules.rules);
    for (field, tokens) in [("min_tokens", rules.min_tokens), ("step_tokens", rules.step_tokens)] {
        if let Some(tokens) = tokens {
            let _ = writeln!(text, "{field} = {}", underscored(tokens));
        }
    }
    text.push_str(rules.places);
    if let Some(ttl) = rules.ttl {
        let _ = writeln!(text, "ttl = {ttl}");
    }
    (text, Some(rules.source))
}

/// Rates as any part of a price list gives them.
struct Given<'a> {
    input: Option<Decimal>,
    output: Option<Decimal>,
    cache_read: Option<Decimal>,
    cache_write: &'a IndexMap<String, Decimal>,
}

/// Takes the rates of a spec that may leave out any of them.
macro_rules! given {
    ($spec:expr) => {
        Given {
            input: $spec.input,
            output: $spec.output,
            cache_read: $spec.cache_read,
            cache_write: &$spec.cache_write,
        }
    };
}

/// Writes prices.
fn price(spec: &PriceSpec, text: &mut String) {
    text.push_str("\n[[prices]]                      # US dollars per million tokens\n");
    if let Some(from) = &spec.from {
        let _ = writeln!(text, "from = \"{from}\"");
    }
    let own = Given {
        input: Some(spec.input),
        output: spec.output,
        cache_read: spec.cache_read,
        cache_write: &spec.cache_write,
    };
    rates(&own, text);
    tiers("prices", &spec.tiers, text);
    for window in &spec.windows {
        write_window(window, text);
    }
    for (name, service) in &spec.services {
        let _ = writeln!(text, "\n[prices.services.{name}]");
        match service.factor.or_else(|| factor(spec, service)) {
            Some(factor) => {
                let _ = writeln!(text, "factor = {}", float(factor));
            }
            None => {
                rates(&given!(service), text);
                tiers(&format!("prices.services.{name}"), &service.tiers, text);
            }
        }
    }
}

fn tiers(path: &str, tiers: &[TierSpec], text: &mut String) {
    for tier in tiers {
        let _ = writeln!(text, "\n[[{path}.tiers]]");
        if let Some(tokens) = tier.above_prompt_tokens {
            let _ = writeln!(text, "above_prompt_tokens = {}", underscored(tokens));
        }
        if let Some(tokens) = tier.from_prompt_tokens {
            let _ = writeln!(text, "from_prompt_tokens = {}", underscored(tokens));
        }
        rates(&given!(tier), text);
    }
}

fn write_window(window: &WindowSpec, text: &mut String) {
    text.push_str("\n[[prices.windows]]\n");
    if !window.weekdays.is_empty() {
        let days: Vec<String> =
            window.weekdays.iter().map(|it| format!("\"{it:?}\"").to_lowercase()).collect();
        let _ = writeln!(text, "weekdays = [{}]", days.join(", "));
    }
    if !window.hours.is_empty() {
        let hours: Vec<String> = window.hours.iter().map(|it| Tree::String(it.clone()).to_string()).collect();
        let _ = writeln!(text, "hours = [{}]", hours.join(", "));
    }
    rates(&given!(window), text);
}

fn rates(given: &Given<'_>, text: &mut String) {
    for (name, price) in [("input", given.input), ("output", given.output), ("cache_read", given.cache_read)]
    {
        if let Some(price) = price {
            let _ = writeln!(text, "{name} = {}", float(price));
        }
    }
    if !given.cache_write.is_empty() {
        let writes: Vec<String> =
            given.cache_write.iter().map(|(ttl, price)| format!("\"{ttl}\" = {}", float(*price))).collect();
        let _ = writeln!(text, "cache_write = {{ {} }}", writes.join(", "));
    }
}

/// Returns the one factor by which a service differs from the usual prices, if it is one.
fn factor(usual: &PriceSpec, service: &ServiceSpec) -> Option<Decimal> {
    const PLACES: u128 = 10_000;
    let micro = |it: Decimal| it.scaled(6).map(u128::from);
    let (own, base) = (micro(service.input?)?, micro(usual.input).filter(|it| *it > 0)?);
    let scaled = (own * PLACES).is_multiple_of(base).then(|| own * PLACES / base)?;
    let is_times = |own: Option<Decimal>, base: Option<Decimal>| match (own, base) {
        (None, None) => true,
        (Some(own), Some(base)) => {
            micro(own).zip(micro(base)).is_some_and(|(own, base)| own * PLACES == base * scaled)
        }
        _ => false,
    };
    let are_times = |own: &Given<'_>, base: &Given<'_>| {
        is_times(own.input, base.input)
            && is_times(own.output, base.output)
            && is_times(own.cache_read, base.cache_read)
            && own.cache_write.len() == base.cache_write.len()
            && own.cache_write.iter().all(|(ttl, it)| is_times(Some(*it), base.cache_write.get(ttl).copied()))
    };
    let base = Given {
        input: Some(usual.input),
        output: usual.output,
        cache_read: usual.cache_read,
        cache_write: &usual.cache_write,
    };
    let same_tiers = service.tiers.len() == usual.tiers.len()
        && service.tiers.iter().zip(&usual.tiers).all(|(own, base)| {
            own.above_prompt_tokens == base.above_prompt_tokens
                && own.from_prompt_tokens == base.from_prompt_tokens
                && are_times(&given!(own), &given!(base))
        });
    let is_factor = same_tiers && are_times(&given!(service), &base);
    let factor = Decimal::from_f64(u32::try_from(scaled).ok().map(f64::from)?)?.shrunk(4);
    is_factor.then_some(factor)
}

/// Writes a price so that TOML reads a float.
fn float(price: Decimal) -> String {
    let text = price.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

/// Writes a whole number with underscores between thousands.
fn underscored(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}
