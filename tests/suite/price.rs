//! Prices to the digit: what others found wrong in bills, and what a price list must not guess.

use ctxsim::input::profile::calendar;
use ctxsim::input::profile::written::AssumptionsSpec;
use ctxsim::ledger::{Outcome, Sink};
use ctxsim::price::{Bill, Costs, PriceIndex, PriceRows, request, storage};
use ctxsim::quantity::Cost;
use ctxsim::report::RunTotals;
use proptest::prelude::*;

use crate::support::*;

/// Makes a profile of prices in TOML, with more for `[assumptions]`.
fn profile_with(prices: &str, assumptions: &str) -> Result<Profile, Vec<ctxsim::diag::Diagnostic>> {
    let text = format!(
        "name = \"p\"\nabout = \"a\"\nas_of = \"2026-10-07\"\nsources = [\"s\"]\ncache = \"none\"\n{prices}\n[assumptions]\n{assumptions}\n"
    );
    let spec: ProfileFile = decode(&text, Format::Toml)?;
    Profile::new(&spec)
}

fn profile(prices: &str) -> Profile {
    profile_with(prices, "").unwrap()
}

/// Returns the codes of what is wrong with prices.
fn codes(prices: &str) -> Vec<&'static str> {
    profile_with(prices, "").unwrap_err().iter().map(|it| it.code.name()).collect()
}

/// A request: read, written for minutes, written for an hour, plain input, output.
fn row([read, short, long, uncached, output]: [u64; 5]) -> RequestRow {
    let usage = CacheUse { read, write: [short, long], uncached, broke_at: None };
    RequestRow { prompt: read + short + long + uncached, usage, output, ..RequestRow::default() }
}

/// Returns what a request costs in US dollars, as an exact decimal.
fn usd(profile: &Profile, tokens: [u64; 5]) -> String {
    exact(request(&row(tokens), &profile.prices).unwrap())
}

fn exact(cost: Cost) -> String {
    Decimal::parse(&cost.0.to_string()).unwrap().shrunk(12).to_string()
}

const OPUS_5: &str = r#"
[[prices]]
input = 5.0
output = 25.0
cache_read = 0.5
cache_write = { "5m" = 6.25, "1h" = 10.0 }
"#;

/// anomalyco/opencode#32515: a prune that zeroes the cache makes the next request seven times as dear.
#[test]
fn opencode_32515_prices_the_requests_before_and_after_a_prune() {
    let profile = profile("[[prices]]\ninput = 10.0\noutput = 60.0\ncache_read = 1.0\n");

    assert_eq!(usd(&profile, [219_136, 0, 0, 631, 297]), "0.243266");
    assert_eq!(usd(&profile, [219_136, 0, 0, 955, 298]), "0.246566");
    assert_eq!(usd(&profile, [0, 0, 0, 182_408, 112]), "1.8308");
}

/// NousResearch/hermes-agent#109976: the tier above 272K is for every token of the request.
#[test]
fn hermes_agent_109976_pays_the_long_rate_for_the_whole_request() {
    let profile = profile(
        r#"
[[prices]]
input = 5.0
output = 30.0
cache_read = 0.5
cache_write = { "30m" = 6.25 }
[[prices.tiers]]
above_prompt_tokens = 272_000
input = 10.0
output = 45.0
cache_read = 1.0
cache_write = { "30m" = 12.5 }
"#,
    );

    assert_eq!(usd(&profile, [216_952, 108_476, 0, 103_469, 907]), "2.648407");
    assert_eq!(usd(&profile, [288_465, 1_187, 0, 12_911, 3_162]), "0.5747025");
}

/// langwatch/langwatch#6433: writes for an hour are not writes for five minutes.
#[test]
fn langwatch_6433_prices_a_write_for_an_hour() {
    assert_eq!(usd(&profile(OPUS_5), [18_443, 0, 17_854, 2, 210]), "0.1930215");
}

/// oh-my-pi#6876: the same write, for five minutes and for an hour.
#[test]
fn oh_my_pi_6876_prices_one_write_in_both_classes() {
    assert_eq!(usd(&profile(OPUS_5), [0, 344_139, 0, 0, 0]), "2.15086875");
    assert_eq!(usd(&profile(OPUS_5), [0, 0, 344_139, 0, 0]), "3.44139");
}

/// langfuse plugin#34: 37,175 written tokens of a model at $10 for input.
#[test]
fn langfuse_plugin_34_prices_one_write_in_both_classes() {
    let profile = profile(
        "[[prices]]\ninput = 10.0\noutput = 50.0\ncache_read = 1.0\ncache_write = { \"5m\" = 12.5, \"1h\" = 20.0 }\n",
    );

    assert_eq!(usd(&profile, [0, 37_175, 0, 0, 0]), "0.4646875");
    assert_eq!(usd(&profile, [0, 0, 37_175, 0, 0]), "0.7435");
    // The session's window as the issue rounds it: $12.31 by the five-minute rate, $16.31 by the hour's.
    assert_eq!(usd(&profile, [4_800_000, 533_800, 0, 1_900, 16_300]), "12.3065");
    assert_eq!(usd(&profile, [4_800_000, 0, 533_800, 1_900, 16_300]), "16.31");
}

/// charmbracelet/crush#2752: a compaction request that reads the cached prefix costs 87 % less.
#[test]
fn crush_2752_prices_a_compaction_request_with_and_without_the_cache() {
    let profile = profile("[[prices]]\ninput = 3.0\noutput = 15.0\ncache_read = 0.3\n");

    assert_eq!(usd(&profile, [0, 0, 0, 100_000, 500]), "0.3075");
    assert_eq!(usd(&profile, [99_000, 0, 0, 1_000, 500]), "0.0402");
}

/// Fable 5.1, by Anthropic's price page of 2026-09.
const FABLE_5_1: &str = "[[prices]]\ninput = 10.0\noutput = 50.0\ncache_read = 0.25\ncache_write = { \"5m\" = 12.5, \"1h\" = 20.0 }\n";

/// Anthropic's compaction guide: a pass over 180K tokens that writes 3.5K.
#[test]
fn anthropic_compaction_pass_pays_for_all_that_it_reads() {
    assert_eq!(usd(&profile(FABLE_5_1), [0, 0, 0, 180_000, 3_500]), "1.975");
}

/// Anthropic's price page: a prefix of 100K that is written again costs 50 times its read with Fable 5.1, with Opus 5 12.5.
#[test]
fn anthropic_prices_make_a_rewritten_prefix_many_times_as_dear_as_a_read_one() {
    let both = |profile: &Profile| [[0, 100_000, 0, 0, 0], [100_000, 0, 0, 0, 0]].map(|it| usd(profile, it));

    assert_eq!(both(&profile(FABLE_5_1)), ["1.25", "0.025"]);
    assert_eq!(both(&profile(OPUS_5)), ["0.625", "0.05"]);
}

/// cuihuan/awesome-ai-gateway: fifty requests on a prefix of 20K with 3K of their own and 700 of output.
#[test]
fn awesome_ai_gateway_prices_fifty_requests_by_how_their_prefix_is_cached() {
    let profile = profile(OPUS_5);
    let total = |first: [u64; 5], next: [u64; 5]| {
        let mut cost = request(&row(first), &profile.prices).unwrap();
        (1..50).for_each(|_| cost += request(&row(next), &profile.prices).unwrap());
        exact(cost)
    };

    assert_eq!(total([0, 0, 0, 23_000, 700], [0, 0, 0, 23_000, 700]), "6.625");
    assert_eq!(total([0, 20_000, 0, 3_000, 700], [20_000, 0, 0, 3_000, 700]), "2.24");
    assert_eq!(total([0, 0, 20_000, 3_000, 700], [20_000, 0, 0, 3_000, 700]), "2.315");
    assert_eq!(total([0, 20_000, 0, 3_000, 700], [0, 20_000, 0, 3_000, 700]), "7.875");
    let change = |cost: f64| format!("{:.2}", (cost / 6.625 - 1.0) * 100.0);
    assert_eq!(
        [2.24, 2.315, 7.875].map(change),
        ["-66.19", "-65.06", "18.87"],
        "percent of the uncached cost"
    );
}

#[test]
fn a_threshold_belongs_below_unless_the_source_counts_it_in() {
    let tier = |field: &str| {
        profile(&format!(
            "[[prices]]\ninput = 1.0\noutput = 1.0\n[[prices.tiers]]\n{field} = 1_000\ninput = 2.0\noutput = 3.0\n"
        ))
    };
    let (above, from) = (tier("above_prompt_tokens"), tier("from_prompt_tokens"));

    let at = |profile: &Profile, prompt| usd(profile, [0, 0, 0, prompt, 1]);
    assert_eq!((at(&above, 1_000), at(&above, 1_001)), ("0.001001".into(), "0.002005".into()));
    assert_eq!((at(&from, 999), at(&from, 1_000)), ("0.001".into(), "0.002003".into()));
}

#[test]
fn a_bracket_is_for_the_tokens_that_stand_behind_its_threshold() {
    let profile = profile(
        "[[prices]]\ninput = 1.0\noutput = 10.0\ncache_read = 0.1\ncache_write = { \"5m\" = 2.0, \"1h\" = 4.0 }\n\
         [[prices.tiers]]\nabove_prompt_tokens = 1_000\nreach = \"bracket\"\ninput = 3.0\noutput = 20.0\n\
         [[prices.tiers]]\nabove_prompt_tokens = 1_500\nreach = \"bracket\"\ncache_read = 5.0\ninput = 7.0\n",
    );
    let micro = |tokens| request(&row(tokens), &profile.prices).unwrap().0 / 100_000;

    assert_eq!(micro([800, 0, 0, 200, 5]), 10 * (80 + 200 + 50), "nothing stands behind 1,000");
    assert_eq!(micro([800, 100, 50, 100, 5]), 10 * (80 + 50 * 4 + 100 * 2 + 50 + 50 * 3 + 100));
    assert_eq!(micro([1_600, 0, 0, 10, 0]), 10 * (100 + 50 + 500 + 70));
}

#[test]
fn dated_prices_hold_from_their_day_on_even_within_a_trace() {
    let prices = "[[prices]]\ninput = 2.0\noutput = 10.0\n[[prices]]\nfrom = \"2026-10-08\"\ninput = 1.0\noutput = 5.0\n\
                  [[prices]]\nfrom = \"2020-01-01\"\ninput = 4.0\noutput = 20.0\n";
    let profile = profile(prices);
    let at = |hours: i64| {
        request(&RequestRow { at_ms: hours * 3_600_000, ..row([0, 0, 0, 1, 0]) }, &profile.prices)
    };

    assert_eq!(at(23), Some(Cost(4_000_000)), "the last day on which the second list holds");
    assert_eq!(at(24), Some(Cost(1_000_000)));
    let later = profile_with(prices, "starts_at = \"2027-01-01T12:00Z\"").unwrap();
    assert_eq!(later.prices.flat().map(|it| it.input.0), Some(1_000_000), "no other list can hold any more");
    // A session has the prices of its own time; what changes after it is no part of it.
    let day = |text: &str| calendar::parse_day(text).unwrap();
    let own = |from: &str, to: &str| profile.prices.of_session([day(from), day(to)]);
    assert_eq!(own("2026-09-01", "2026-09-02").flat().map(|it| it.input.0), Some(4_000_000));
    let over_midnight = own("2026-10-07", "2026-10-08");
    let inputs = [0, 86_400_000].map(|ms| over_midnight.at(ms).base.input.0);
    assert_eq!((over_midnight.flat(), inputs), (None, [4_000_000, 1_000_000]));
    let [told] = profile.prices.changes()[1..] else { panic!("a change for each period after the first") };
    assert_eq!(told.to_string(), "from 2026-10-08: input $4 → $1, output $20 → $5");
    assert!(told.is_soon_after(day("2026-08-10")) && !told.is_soon_after(day("2026-08-08")));
    assert_eq!(codes("[[prices]]\nfrom = \"2027-01-01\"\ninput = 1.0\noutput = 1.0\n"), ["price-not-yet"]);
}

/// DeepSeek's peak hours: 01:00 to 04:00 and 06:00 to 10:00 UTC, Monday to Friday.
#[test]
fn hours_and_weekdays_have_prices_of_their_own() {
    let peak = "[[prices]]\ninput = 0.15\noutput = 0.6\ncache_read = 0.003\n[[prices.windows]]\n\
                weekdays = [\"mon\", \"tue\", \"wed\", \"thu\", \"fri\"]\nhours = [\"01:00-04:00\", \"06:00-10:00\"]\nfactor = 2.0\n";
    let input = |starts_at: &str| {
        let profile = profile_with(peak, &format!("starts_at = \"{starts_at}\"")).unwrap();
        profile.prices.at(0).base.input.0
    };

    assert_eq!(input("2026-10-07T03:59Z"), 300_000, "a Wednesday");
    assert_eq!(input("2026-10-07T04:00Z"), 150_000);
    assert_eq!(input("2026-10-10T03:59Z"), 150_000, "a Saturday");
    let night =
        peak.replace("\"01:00-04:00\", \"06:00-10:00\"", "\"22:00-02:00\"").replace("\"mon\", ", "\"sun\", ");
    let at = |starts_at: &str| {
        profile_with(&night, &format!("starts_at = \"{starts_at}\"")).unwrap().prices.at(0).base.input.0
    };
    assert_eq!(
        (at("2026-10-12T01:00Z"), at("2026-10-12T23:00Z")),
        (300_000, 150_000),
        "a Sunday's night ends on Monday"
    );
}

#[test]
fn services_multiply_or_replace_and_stack() {
    let prices = format!(
        "{OPUS_5}[[prices.tiers]]\nabove_prompt_tokens = 10\ninput = 10.0\n\
         [prices.services.batch]\nfactor = 0.5\n[prices.services.us]\nfactor = 1.1\n\
         [prices.services.fast]\ninput = 30.0\noutput = 150.0\n"
    );
    let rates =
        |services: &str| *profile_with(&prices, &format!("services = {services}")).unwrap().prices.usual();

    let stacked = rates("[\"batch\", \"us\"]");
    assert_eq!((stacked.input.0, stacked.write(1).unwrap().0), (2_750_000, 5_500_000));
    let fast = profile_with(&prices, "services = [\"fast\"]").unwrap();
    assert_eq!(
        usd(&fast, [2, 0, 0, 20, 0]),
        "0.00066",
        "its own list has no tier, and no price of a read but that of its input"
    );
    assert_eq!(request(&row([0, 0, 1, 0, 0]), &fast.prices), None, "a write of an unknown price");
    let unknown = profile_with(&prices, "services = [\"bach\"]").unwrap_err();
    assert_eq!(
        (unknown[0].code.name(), unknown[0].help.as_deref()),
        ("service-unknown", Some("did you mean `batch`?"))
    );
}

#[test]
fn a_price_that_is_absent_is_not_a_price_of_zero() {
    let only_minutes = profile("[[prices]]\ninput = 5.0\ncache_write = { \"5m\" = 6.25 }\n");

    assert_eq!(request(&row([0, 0, 1, 0, 0]), &only_minutes.prices), None, "no price for an hour");
    assert_eq!(request(&row([0, 0, 0, 1, 1]), &only_minutes.prices), None, "no price for output");
    assert_eq!(
        usd(&only_minutes, [10, 0, 0, 10, 0]),
        "0.0001",
        "cached input is as dear as input where nothing is said"
    );
    assert_eq!(storage(only_minutes.prices.usual(), 1, 1), None);
    let mut sums = Sums::default();
    sums.request(&row([0, 0, 1, 0, 0]));
    let tally = Tally::new(&sums, None, &Outcome::default(), false, &only_minutes);
    let json = serde_json::to_value(RunTotals::new(&tally)).unwrap();
    assert!(json["cost_usd"]["total"].is_null() && json["cost_usd"]["cache_write"].is_null(), "{json}");
}

/// Google's price page of 2026-09: 2.5 Pro stores a million tokens for an hour at 4.50 USD.
#[test]
fn storage_is_paid_by_token_and_hour() {
    let gemini = profile("[[prices]]\ninput = 1.25\noutput = 10.0\nstorage = 4.5\n");

    assert_eq!(storage(gemini.prices.usual(), 1_000_000, 3_600_000).map(exact).unwrap(), "4.5");
    assert_eq!(storage(gemini.prices.usual(), 200_000, 900_000).map(exact).unwrap(), "0.225");
    assert_eq!(storage(gemini.prices.usual(), u64::MAX, u64::MAX), None, "more than fits is unknown");
}

#[test]
fn wrong_prices_are_told_where_they_stand() {
    let base = "[[prices]]\ninput = 1.0\noutput = 1.0\n";
    let with = |more: &str| codes(&format!("{base}{more}"));

    assert_eq!(codes("[[prices]]\ninput = -1.0\noutput = 1.0\n"), ["value-invalid"]);
    assert_eq!(codes("[[prices]]\ninput = nan\noutput = 1.0\n"), ["value-invalid"]);
    assert_eq!(codes("[[prices]]\ninput = 0.0000001\n"), ["price-too-fine"]);
    assert_eq!(with("cache_write = { \"soon\" = 1.0 }\n"), ["ttl-class"]);
    assert_eq!(with("cache_write = { \"5m\" = 1.0, \"30m\" = 1.0 }\n"), ["ttl-class"]);
    assert_eq!(with("[[prices.tiers]]\ninput = 1.0\n"), ["tier-threshold"]);
    assert_eq!(
        with("[[prices.tiers]]\nabove_prompt_tokens = 9\n[[prices.tiers]]\nfrom_prompt_tokens = 10\n"),
        ["tier-duplicate"]
    );
    assert_eq!(with("[[prices.windows]]\nhours = [\"25:00-26:00\"]\nfactor = 2.0\n"), ["window-hours"]);
    assert_eq!(with("[[prices.windows]]\nfactor = 2.0\ninput = 1.0\n"), ["window-form"]);
    assert_eq!(with("[prices.services.batch]\n"), ["service-form"]);
    assert_eq!(with("[[prices]]\ninput = 2.0\n"), ["price-date-duplicate"]);
    assert_eq!(with("[[prices]]\nfrom = \"soon\"\ninput = 2.0\n")[0], "date-format");
    assert_eq!(AssumptionsSpec::default().services.len(), 0);
}

/// Prices some requests one by one.
fn one_by_one(profile: &Profile, rows: &[RequestRow]) -> Bill {
    let mut bill = Bill::default();
    for row in rows {
        bill += Bill::of_request(profile.prices.at(row.at_ms), &row.tokens());
    }
    bill
}

proptest! {
    #[test]
    fn an_index_prices_as_requests_one_by_one(
        tokens in prop::collection::vec((prop::array::uniform5(0_u64..2_000), 0_i64..400_000_000, prop::bool::ANY), 0..60),
        kind in 0_usize..4,
    ) {
        let tiers = "[[prices.tiers]]\nabove_prompt_tokens = 2_000\ninput = 8.0\n[[prices.tiers]]\nfrom_prompt_tokens = 4_500\noutput = 70.0\ncache_read = 2.0\n";
        let more = [
            String::new(),
            tiers.to_owned(),
            tiers.replace("tokens = 2_000", "tokens = 2_000\nreach = \"bracket\"").replace("tokens = 4_500", "tokens = 4_500\nreach = \"bracket\""),
            format!("{tiers}[[prices.windows]]\nhours = [\"03:00-09:00\"]\nfactor = 0.5\n"),
        ];
        let profile = profile(&format!("{OPUS_5}{}", more[kind]));
        let rows: Vec<RequestRow> = tokens.iter().map(|(tokens, at_ms, is_main)| {
            let role = if *is_main { Role::Main } else { Role::Summariser };
            RequestRow { at_ms: *at_ms, role, ..row(*tokens) }
        }).collect();
        let (mut sums, mut kept) = (Sums::default(), PriceRows::default());
        rows.iter().for_each(|it| { sums.request(it); kept.request(it); });
        let index = PriceIndex::from(kept);

        let of = |role| rows.iter().filter(|it| it.role == role).copied().collect::<Vec<_>>();
        let main = one_by_one(&profile, &of(Role::Main));
        let costs = Costs::new(&sums, Some(&index), 0, &profile);
        prop_assert_eq!(costs.main, main);
        prop_assert_eq!(Some(costs.compaction), one_by_one(&profile, &of(Role::Summariser)).total());
    }
}
