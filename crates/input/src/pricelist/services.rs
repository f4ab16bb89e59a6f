//! Services as lists price them: as a single factor where possible, completed where the provider states the factor.

use crate::prelude::*;

use super::rules;
use crate::profile::written::{PriceSpec, ServicePrices, TierSpec};
use crate::text::{Node, Said, TreeEntry, Value};

/// Returns prices with their services as factors where they are, and the pages that say so of what a list leaves out.
pub(super) fn served(usual: &PriceSpec, provider: &str) -> (PriceSpec, Vec<&'static str>) {
    let mut price = usual.clone();
    let mut sources = Vec::new();
    for (name, service) in &mut price.services {
        if service.factor.is_some() {
            continue;
        }
        if factor(usual, service).is_none()
            && let Some(known) = rules::service(provider, name)
            && let Some(complete) = completed(usual, service, known.factor)
        {
            *service = complete;
            sources.push(known.source.as_str());
        }
        if let Some(factor) = factor(usual, service) {
            *service = ServicePrices { factor: Some(factor), ..ServicePrices::default() };
        }
    }
    (price, sources)
}

/// Returns what has a usual price and none for a service.
pub(super) fn unpriced(price: &PriceSpec) -> Vec<String> {
    let mut found = Vec::new();
    for (name, service) in price.services.iter().filter(|(_, it)| it.factor.is_none()) {
        if price.cache_read.is_some() && service.cache_read.is_none() {
            found.push(format!("cache reads by `{name}` (billed as input)"));
        }
        for ttl in price.cache_write.keys().filter(|it| !service.cache_write.contains_key(*it)) {
            found.push(format!("cache writes for {ttl} by `{name}` (unknown)"));
        }
    }
    found
}

/// Returns a service with what it lacks at a factor of the usual price.
fn completed(usual: &PriceSpec, service: &ServicePrices, factor: Decimal) -> Option<ServicePrices> {
    let rate = |own: Option<Decimal>, usual: Option<Decimal>| match (own, usual) {
        (None, Some(usual)) => usual.times(factor).map(Some),
        (own, _) => Some(own),
    };
    let writes = |own: &IndexMap<String, Decimal>, usual: &IndexMap<String, Decimal>| {
        let all: Option<IndexMap<String, Decimal>> = usual
            .iter()
            .map(|(ttl, price)| Some((ttl.clone(), rate(own.get(ttl).copied(), Some(*price))??)))
            .collect();
        let mut all = all?;
        all.extend(own.iter().map(|(ttl, price)| (ttl.clone(), *price)));
        Some(all)
    };
    let threshold = |it: &TierSpec| (it.above_prompt_tokens, it.from_prompt_tokens);
    let tiers = usual.tiers.iter().map(|tier| {
        let own =
            service.tiers.iter().find(|it| threshold(it) == threshold(tier)).cloned().unwrap_or_default();
        Some(TierSpec {
            input: rate(own.input, tier.input)?,
            output: rate(own.output, tier.output)?,
            cache_read: rate(own.cache_read, tier.cache_read)?,
            cache_write: writes(&own.cache_write, &tier.cache_write)?,
            ..tier.clone()
        })
    });
    let mut tiers = tiers.collect::<Option<Vec<TierSpec>>>()?;
    let is_new = |it: &&TierSpec| usual.tiers.iter().all(|tier| threshold(tier) != threshold(it));
    tiers.extend(service.tiers.iter().filter(is_new).cloned());
    Some(ServicePrices {
        factor: None,
        input: rate(service.input, Some(usual.input))?,
        output: rate(service.output, usual.output)?,
        cache_read: rate(service.cache_read, usual.cache_read)?,
        cache_write: writes(&service.cache_write, &usual.cache_write)?,
        tiers,
    })
}

/// Returns the one factor by which a service differs from the usual prices, if it is one.
fn factor(usual: &PriceSpec, service: &ServicePrices) -> Option<Decimal> {
    const PLACES: u32 = 4;
    let usual = ServicePrices {
        factor: None,
        input: Some(usual.input),
        output: usual.output,
        cache_read: usual.cache_read,
        cache_write: usual.cache_write.clone(),
        tiers: usual.tiers.clone(),
    };
    let (own, base) = (service.input?.scaled(6 + PLACES)?, usual.input?.scaled(6).filter(|it| *it > 0)?);
    let parts = own.is_multiple_of(base).then(|| u32::try_from(own / base).ok())??;
    let factor = Decimal::from_f64(f64::from(parts))?.shrunk(PLACES);
    let (own, usual) = (Node::from(Said::by(service).ok()?), Node::from(Said::by(&usual).ok()?));
    is_times(&own, &usual, factor).then_some(factor)
}

/// Returns whether a tree of prices is another one times a factor.
fn is_times(own: &Node, base: &Node, factor: Decimal) -> bool {
    match (&own.value, &base.value) {
        (Value::Real(own), Value::Real(base)) => {
            let base = Decimal::from_f64(*base).and_then(|it| it.times(factor));
            base.is_some() && Decimal::from_f64(*own) == base
        }
        (Value::List(own), Value::List(base)) => {
            own.len() == base.len()
                && own.iter().zip(base).all(|(own, base)| is_times(&own.value, &base.value, factor))
        }
        (Value::Map(fields), Value::Map(others)) => {
            let is_times_base = |it: &TreeEntry| {
                let base = it.name().and_then(|name| base.get(name));
                base.is_some_and(|base| is_times(&it.value, base, factor))
            };
            fields.len() == others.len() && fields.iter().all(is_times_base)
        }
        _ => own == base,
    }
}
