//! Metrics against numbers that AgingBench's own code gave on random curves and logs; `tests/data/aging/make_fixture.py` made them.

use ctxsim::worlds::aging::metric::{self, Binding, Chained, ScoreCurve, StatedTotal, rate, resistance};
use ctxsim::worlds::aging::{Attribution, Ladder};
use ctxsim::worlds::graph::FactRelation;

use crate::support::*;

fn fixture(part: &str) -> Vec<Value> {
    let path = data("aging/agingbench.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let part = all[part].as_array().unwrap().clone();
    assert!(part.len() >= 50);
    part
}

/// Asserts that a number is the one that was given, to as many decimals as that was rounded to.
fn assert_near(ours: Option<f64>, given: &Value, within: f64, what: &str) {
    match (ours, given.as_f64()) {
        (None, None) => {}
        (Some(ours), Some(given)) => assert!((ours - given).abs() <= within, "{what}: {ours} is not {given}"),
        other => panic!("{what}: {other:?}"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
}

fn flags(value: &Value) -> Vec<bool> {
    value.as_array().unwrap().iter().map(|it| it.as_bool().unwrap()).collect()
}

#[test]
fn curves_have_the_half_lives_slopes_and_hazards_that_agingbench_gives() {
    for it in fixture("curves") {
        let scores = numbers(&it["scores"]);
        let curve = ScoreCurve::new(&scores.iter().map(|it| Some(*it)).collect::<Vec<_>>());
        // The benchmark's code begins at the second point; the paper's definition (B.1) at the first, which is at half of nought itself.
        let half_life = if scores[0] == 0.0 { &Value::from(0.0) } else { &it["half_life"] };
        assert_near(Some(curve.half_life()).filter(|it| it.is_finite()), half_life, 1e-9, "half-life");
        assert_near(Some(curve.slope()), &it["slope"], 1e-9, "slope");
        assert_near(Some(curve.hazard()), &it["hazard"], 1e-12, "hazard");
        let recovery = metric::recovery(&scores, scores[0]).map(|it| it as f64);
        assert_near(recovery, &it["recovery"], 0.0, "recovery");
    }
}

#[test]
fn totals_have_the_errors_that_agingbench_gives() {
    for it in fixture("totals") {
        let rows = it["rows"].as_array().unwrap().iter();
        let all: Vec<StatedTotal> = rows
            .map(|row| StatedTotal {
                session: row["session"].as_f64().unwrap(),
                gold: row["gold"].as_f64().unwrap(),
                stated: row["stated"].as_f64(),
            })
            .collect();
        assert_near(metric::total_error(&all), &it["mean_error"], 0.005 + 1e-9, "error");
        assert_near(metric::relative_total_error(&all), &it["relative"], 5e-5 + 1e-9, "relative error");
        assert_eq!(metric::compounds(&all).unwrap_or(false), it["compounding"].as_bool().unwrap());
        assert_near(Some(metric::error_growth(&all)), &it["slope"], 5e-5 + 1e-9, "growth");
    }
}

#[test]
fn chains_have_the_recalls_that_agingbench_gives() {
    /// Returns means by a key, as `span.3` of a summary is one.
    fn means(all: impl Iterator<Item = (u32, f64)>) -> BTreeMap<u32, f64> {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        all.for_each(|(key, it)| {
            let (sum, n) = sums.entry(key).or_default();
            (*sum, *n) = (*sum + it, *n + 1.0);
        });
        sums.into_iter().map(|(key, (sum, n))| (key, sum / n)).collect()
    }
    fn near(ours: BTreeMap<u32, f64>, given: &Value, what: &str) {
        assert_eq!(ours.len(), given.as_object().unwrap().len(), "{what}");
        ours.iter().for_each(|(key, it)| assert_near(Some(*it), &given[key.to_string()], 5e-5 + 1e-9, what));
    }
    for it in fixture("chains") {
        let rows = it["rows"].as_array().unwrap();
        let stated: Vec<Vec<bool>> = rows.iter().map(|row| flags(&row["hops"])).collect();
        let all: Vec<Chained<'_>> = rows
            .iter()
            .zip(&stated)
            .map(|(row, hops)| {
                let relation = match row["relation"].as_str().unwrap() {
                    "compare" => FactRelation::Compare,
                    "trend" => FactRelation::Trend,
                    _ => FactRelation::Synthesize,
                };
                Chained {
                    relation,
                    depth: u16::try_from(row["depth"].as_u64().unwrap()).unwrap(),
                    span: u32::try_from(row["span"].as_u64().unwrap()).unwrap(),
                    hops,
                    needs_version: relation == FactRelation::Trend,
                    is_stale: row["stale"].as_bool().unwrap(),
                }
            })
            .collect();
        near(means(all.iter().map(|it| (it.depth.into(), it.share()))), &it["by_depth"], "depth");
        near(means(all.iter().map(|it| (it.span, it.share()))), &it["by_span"], "span");
        let hops = all.iter().filter(|it| it.hops.len() >= 2).flat_map(|it| (0..).zip(it.hops));
        near(means(hops.map(|(hop, it)| (hop, f64::from(u8::from(*it))))), &it["by_hop"], "hop");
        assert_near(metric::version_accuracy(&all), &it["version_accuracy"], 5e-5 + 1e-9, "version accuracy");
    }
}

#[test]
fn bindings_have_the_rates_that_agingbench_gives() {
    for it in fixture("bindings") {
        let kind = |it: &Value| match it.as_str().unwrap() {
            "correct" => Binding::Correct,
            "confused" => Binding::Confused,
            "both" => Binding::Both,
            _ => Binding::Miss,
        };
        let all: Vec<Binding> = it["kinds"].as_array().unwrap().iter().map(kind).collect();
        for (name, kind) in [
            ("binding", Binding::Correct),
            ("confused", Binding::Confused),
            ("both", Binding::Both),
            ("miss", Binding::Miss),
        ] {
            assert_near(rate(&all, kind), &it[name], 5e-5 + 1e-9, name);
        }
        assert_near(resistance(&numbers(&it["scores"])), &it["resistance"], 5e-5 + 1e-9, "resistance");
    }
}

#[test]
fn errors_are_divided_as_agingbench_divides_them() {
    for it in fixture("ladders") {
        let sessions = it["sessions"].as_array().unwrap().iter();
        let all: Vec<Ladder> = sessions
            .map(|row| Ladder {
                session: u32::try_from(row["session"].as_u64().unwrap()).unwrap(),
                accuracy: numbers(&row["accuracy"]).try_into().unwrap(),
                n: u32::try_from(row["n"].as_u64().unwrap()).unwrap(),
            })
            .collect();
        let ours = Attribution::new(&all, true).unwrap();
        let given = &it["aggregate"];
        assert_near(Some(ours.use_error), &given["utilization_error"], 5e-5 + 1e-9, "use");
        assert_near(ours.write_error, &given["write_error"], 5e-5 + 1e-9, "write");
        assert_near(ours.read_error, &given["read_error"], 5e-5 + 1e-9, "read");
        assert_near(Some(ours.total_error), &given["total_error"], 5e-5 + 1e-9, "total");
        let jumps = it["discontinuities"].as_array().unwrap();
        assert_eq!(ours.discontinuities.len(), jumps.len());
        for (ours, given) in ours.discontinuities.iter().zip(jumps) {
            assert_eq!(u64::from(ours.0), given[0].as_u64().unwrap());
            assert_near(Some(ours.1), &given[1], 5e-5 + 1e-9, "jump");
        }
    }
}
