//! The break-even formulas of others, to the digit.

use ctxsim::measure::BreakEven;
use ctxsim::measure::break_even::CachePrice;

use crate::support::*;

/// The multipliers of caches: 1.25 to write, 2 for an hour, 0.1 or less to read.
const FIVE_MINUTES: CachePrice = CachePrice { input: 1.0, read: 0.1, write: 1.25 };

/// Rounds to so many decimals.
fn rounded(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// Latitude#4317: (in − w) / (r − w).
#[test]
fn latitude_4317_breaks_even_at_a_fifth_of_reads() {
    assert_eq!(rounded(FIVE_MINUTES.hit_share() * 100.0, 1), "21.7");
}

/// cuihuan/awesome-ai-gateway, for five minutes and for an hour.
#[test]
fn awesome_ai_gateway_breaks_even_at_a_fifth_and_for_an_hour_at_half_of_reads() {
    let an_hour = CachePrice { write: 2.0, ..FIVE_MINUTES };

    assert_eq!([FIVE_MINUTES, an_hour].map(|it| rounded(it.hit_share() * 100.0, 2)), ["21.74", "52.63"]);
}

/// arXiv 2607.15516 (CAPC): compression by R, against a cache.
#[test]
fn arxiv_2607_15516_crosses_over_where_compression_costs_what_reads_do() {
    assert_eq!(
        [2.0, 3.0, 6.0].map(|it| rounded(FIVE_MINUTES.hit_share_against(it), 3)),
        ["0.652", "0.797", "0.942"]
    );
}

/// arXiv 2607.19214: a read every four minutes.
#[test]
fn arxiv_2607_19214_keeps_alive_for_three_quarters_of_an_hour() {
    let minutes = [0.1, 0.05, 0.025].map(|read| {
        let price = CachePrice { read, ..FIVE_MINUTES };
        rounded(price.keep_alive_ms(240_000.0).unwrap() / 60_000.0, 6)
    });

    assert_eq!(minutes, ["46.000000", "96.000000", "196.000000"]);
}

/// fak rounds up to whole turns.
#[test]
fn fak_pays_for_a_prune_with_the_turns_after_it() {
    let requests = |rewritten, removed| FIVE_MINUTES.prune_requests(rewritten, removed).unwrap();

    assert_eq!((requests(40_000, 20_000).ceil(), requests(5_000, 20_000).ceil()), (23.0, 3.0));
}

/// Token Bill does not round.
#[test]
fn token_bill_pays_for_a_prune_with_the_requests_after_it() {
    let requests = |rewritten, removed| FIVE_MINUTES.prune_requests(rewritten, removed).unwrap();

    assert_eq!(
        [(60_000, 40_000), (20_000, 40_000), (150_000, 30_000)].map(|(s, x)| rounded(requests(s, x), 6)),
        ["17.250000", "5.750000", "57.500000"]
    );
    assert_eq!(FIVE_MINUTES.prune_requests(1, 0), None);
}

/// NousResearch/hermes-agent#62389: the cheapest growth between compactions to 40K, by the share of misses.
#[test]
fn hermes_agent_62389_compacts_earlier_the_more_requests_miss() {
    let tokens = [0.0, 0.1, 0.2]
        .map(|misses| rounded(FIVE_MINUTES.compaction_tokens(40_000, 6_400, misses).unwrap(), 0));

    assert_eq!(tokens, ["76733", "49646", "37781"]);
}

/// OpenAI's multipliers from GPT-5.6 on, minimum 1,024: 102.4 + 1,177.6 / N tokens.
#[test]
fn openai_prefixes_are_worth_filling_up_from_some_length_on() {
    let from = |requests| FIVE_MINUTES.fill_up_tokens(1_024, requests);

    assert_eq!(rounded(from(10), 2), "220.16", "so from 221 tokens on");
    assert!(from(1_963) <= 103.0 && from(1_962) > 103.0);
    assert!(from(u32::MAX) > 102.0, "102 tokens never are");
}

/// cuihuan/awesome-ai-gateway: one pause of more than five minutes is enough for an entry that lives an hour.
#[test]
fn awesome_ai_gateway_an_hour_pays_from_the_first_pause_on() {
    let spec = bundled_catalog().profile("anthropic/claude-opus-4.5").unwrap().spec;
    let opus = BreakEven::new(&Profile::new(&spec).unwrap(), None);

    assert_eq!(rounded(opus.long_from_pauses.unwrap(), 3), "0.652", "(10 − 6.25) / (6.25 − 0.5)");
    assert_eq!(opus.keep_alive_minutes, None, "nobody says when a request would be sent");
}
