//! Where price lists disagree, and on which day.

use ctxsim::input::PriceSpec;
use ctxsim::pricelist::compare::compare;
use ctxsim::quantity::Decimal;

use super::{LITELLM, list};

#[test]
fn lists_disagree_only_on_what_they_say_differently() {
    let mut lists = vec![list("a.json", LITELLM), list("b.json", LITELLM)];
    lists[1].list = "other";

    assert_eq!(compare(&lists, None).1, []);
    lists[1].entries.iter_mut().find(|it| it.model == "gpt-5.4").unwrap().prices[0].cache_read = None;
    let (n_models, rows) = compare(&lists, None);
    assert_eq!((n_models > 5, rows.len(), rows[0].field.as_str()), (true, 1, "cache_read"));
    assert_eq!(rows[0].said[1], ("other", None));
}

#[test]
fn a_price_that_a_list_lacks_is_told_apart_from_one_that_differs() {
    let mut lists = vec![list("a.json", LITELLM), list("a.json", LITELLM)];
    lists[1].list = "other";
    let prices = &mut lists[1].entries.iter_mut().find(|it| it.model == "gpt-5.4").unwrap().prices[0];
    prices.cache_read = None;
    prices.output = Some(Decimal::parse("99").unwrap());

    let rows = compare(&lists, None).1;
    let told: Vec<_> = rows.iter().map(|it| (it.field.as_str(), it.differs())).collect();
    assert_eq!(told, [("output", true), ("cache_read", false)]);
}

#[test]
fn a_price_that_holds_from_a_day_on_counts_from_that_day_on() {
    let dated = |from: &str| {
        let mut lists = vec![list("a.json", LITELLM), list("a.json", LITELLM)];
        lists[1].list = "other";
        let prices = &mut lists[1].entries.iter_mut().find(|it| it.model == "gpt-5.4").unwrap().prices;
        let later = PriceSpec { from: Some(from.to_owned()), output: None, ..prices[0].clone() };
        prices.push(later);
        lists
    };
    let n_rows = |as_of| compare(&dated("2027-01-01"), as_of).1.len();
    assert_eq!([None, Some("2026-12-31"), Some("2027-01-01")].map(n_rows), [1, 0, 1]);
}

#[test]
fn days_count_and_not_the_order_of_the_file() {
    let with = |days: &[&str]| {
        let mut lists = vec![list("a.json", LITELLM), list("a.json", LITELLM)];
        lists[1].list = "other";
        let prices = &mut lists[1].entries.iter_mut().find(|it| it.model == "gpt-5.4").unwrap().prices;
        let first = prices[0].clone();
        let dated = days.iter().zip(1_u32..).map(|(day, nth)| PriceSpec {
            from: Some((*day).to_owned()),
            input: Decimal::parse(&nth.to_string()).unwrap(),
            ..first.clone()
        });
        *prices = dated.collect();
        lists
    };
    let said = |days: &[&str], as_of| {
        let rows = compare(&with(days), as_of).1;
        rows.iter().find(|it| it.field == "input").map(|it| it.said[1].1.unwrap().to_string())
    };
    assert_eq!(said(&["2027-01-01", "2026-06-01"], None).as_deref(), Some("1"));
    assert_eq!(said(&["2027-01-01", "2026-06-01"], Some("2026-07-01")).as_deref(), Some("2"));
    assert_eq!(compare(&with(&["2027-01-01"]), Some("2026-07-01")).1, []);
    assert_eq!(compare(&with(&["2026-6-1"]), None).1, []);
}
