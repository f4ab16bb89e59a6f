//! The verbs in Rust and on the command line: the same JSON, and values that stand in it.

use ctxsim::report::realised::ForecastOutcome;
use ctxsim::results::{Answer, SnapshotState, Word};
use ctxsim::{Catalog, Comparison, Plan};
use serde::Serialize;

use crate::advise::logs::{Session, write};
use crate::advise::{Recipe, SAVES};
use crate::support::*;

const SESSION: &str = "recorded/claude-code";
const PROFILE: &str = "anthropic/claude-sonnet-4.5";

/// Returns the paths of values that the JSON does not have, or has otherwise, and of keys of the JSON that the values do not have; `null`, `""`,
/// `0` and `[]` may stand for what it leaves out.
fn strange(typed: &Value, json: &Value, path: &str, found: &mut BTreeSet<String>) {
    let is_blank = |it: &Value| [Value::Null, "".into(), 0.into(), Value::Array(Vec::new())].contains(it);
    match (typed, json) {
        (Value::Object(typed), Value::Object(json)) => {
            let lost = json.keys().filter(|it| !typed.contains_key(*it));
            found.extend(lost.map(|it| format!("{path}.{it} has no field")));
            for (key, value) in typed {
                let path = format!("{path}.{key}");
                match json.get(key) {
                    Some(of) => strange(value, of, &path, found),
                    None if is_blank(value) => {}
                    None => drop(found.insert(path)),
                }
            }
        }
        (Value::Array(typed), Value::Array(json)) if typed.len() == json.len() => {
            typed
                .iter()
                .zip(json)
                .for_each(|(typed, json)| strange(typed, json, &format!("{path}[]"), found));
        }
        (typed, json) if typed == json || typed.as_f64().is_some_and(|it| json.as_f64() == Some(it)) => {}
        _ => drop(found.insert(format!("{path}: {typed} against {json}"))),
    }
}

/// Holds an answer against what the command line writes: byte for byte, and each of its values.
fn same<T: Serialize>(answer: &Answer<T>, said: &str) -> Value {
    assert_eq!(answer.json().trim_end(), said.trim_end());
    let json: Value = serde_json::from_str(said).unwrap();
    assert_eq!(serde_json::to_value(answer).unwrap(), json);
    let mut found = BTreeSet::new();
    strange(&serde_json::to_value(&**answer).unwrap(), &json, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    assert!(!answer.to_string().is_empty());
    json
}

/// Runs the command line in a folder.
fn said(folder: &Path, args: &[&str]) -> String {
    out(&ctxsim(folder, args))
}

fn plan(policies: &[&str]) -> Plan {
    let comparison = Comparison::new().scenario(SESSION).profile(PROFILE);
    policies.iter().fold(comparison, |it, policy| it.policy(*policy)).plan().unwrap()
}

#[test]
fn sensitivity_and_explain_have_the_numbers_of_the_command_line() {
    let here = root();
    let policies = ["identity", "clear_tool_results"];
    let args = ["sensitivity", "--scenario", SESSION, "--profiles", PROFILE, "openai/*"];
    let args = [&args[..], &["--format", "json", "--policy"], &policies].concat();
    let comparison = Comparison::new().suite("sensitivity").scenario(SESSION);
    let comparison = policies.iter().fold(comparison, |it, policy| it.policy(*policy));
    let found = comparison.profile(PROFILE).profile("openai/*").plan().unwrap().sensitivity().unwrap();
    let json = same(&found, &said(here, &args));
    assert!(!found.loads[0].cells.is_empty() && found.profiles[0].break_even.prune_requests.is_some());
    assert_eq!(Some(found.loads[0].cells[0].rates["input"].elasticity), {
        Some(json["loads"][0]["cells"][0]["rates"]["input"]["elasticity"].as_f64())
    });

    let plan = plan(&["clear_tool_results"]);
    let run = &plan.runs().unwrap()[0];
    let explained = plan.explain(run, 60).unwrap();
    let args = ["explain", "--policy", "clear_tool_results", "--scenario", SESSION, "--profile", PROFILE];
    let json = same(&explained, &said(here, &[&args[..], &["--request", "60", "--format", "json"]].concat()));
    assert_eq!(json["cache"]["says"], explained.cache.says);
    assert!(explained.prompt.contains("tool_result") || !explained.prompt.is_empty());
    assert_eq!(explained.cost_picodollars["total"], {
        json["cost_picodollars"]["total"].as_u64().map(u128::from)
    });
}

#[test]
fn sweep_and_tune_have_the_numbers_of_the_command_line() {
    let here = root();
    let of = |policy: &str| Comparison::new().policy(policy).scenario(SESSION).profile(PROFILE);
    let vary = ("params.trigger.tokens", "40000,60000,85000");
    let args = ["--policy", "clear_tool_results", "--vary", "params.trigger.tokens=40000,60000,85000"];
    let args = [&args[..], &["--scenario", SESSION, "--profile", PROFILE]].concat();

    let swept = of("clear_tool_results").vary(vary.0, vary.1).sweep().unwrap();
    same(&swept, &said(here, &[&["sweep"], &args[..], &["--format", "json"]].concat()));
    assert_eq!(swept.points.len(), 3);

    let tuned = of("clear_tool_results").vary(vary.0, vary.1).tune().unwrap();
    same(&tuned, &said(here, &[&["tune"], &args[..], &["--json"]].concat()));
    assert_eq!((tuned.variants, tuned.is_recommended, tuned.word), (3, false, Some(Word::CannotTell)));
    assert_eq!(tuned.file, None);

    let three = of("identity").policy("truncate_oldest").policy("sliding_window").sweep().unwrap_err();
    assert!(three.to_string().contains("a search varies one policy, not 3"), "{three}");
    let unknown = of("truncate_oldest").objective("cots").sweep().unwrap_err();
    assert!(unknown.to_string().contains("did you mean `cost`?"), "{unknown}");
}

#[test]
fn check_has_the_numbers_of_the_command_line_and_writes_nothing() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    said(folder.path(), &["init"]);
    let catalog = || Catalog::bundled().folder(at("ctx")).unwrap();
    let check = || Comparison::new().catalog(catalog()).suite("mine").check(at("snapshots")).unwrap();
    let found = check();
    let cli = said(folder.path(), &["check", "--suite", "mine", "--format", "json"]);
    let (typed, json): (Value, Value) =
        (serde_json::to_value(&*found).unwrap(), serde_json::from_str(&cli).unwrap());
    let [typed, json] = [typed, json].map(|it| it["suites"][0].clone());
    assert_eq!(typed["guards"].as_array().unwrap().len(), json["guards"].as_array().unwrap().len());
    for (typed, json) in typed["guards"].as_array().unwrap().iter().zip(json["guards"].as_array().unwrap()) {
        assert_eq!((&typed["metric"], &typed["value"]), (&json["metric"], &json["value"]));
    }
    assert!(found.suites[0].holds && !found.suites[0].guards.is_empty());
    same(&found, found.json());

    // A number of a snapshot is changed: both say so, and only the command line writes what is to be reviewed.
    let kept = files_below(&at("snapshots"), &["snap"]);
    let text = fs::read_to_string(&kept[0]).unwrap();
    let (front, last) = text.trim_end().rsplit_once('\n').unwrap();
    let other = last.replacen(" 110 ", " 111 ", 1);
    assert_ne!(other, last, "the requests of the last policy");
    fs::write(&kept[0], format!("{front}\n{other}\n")).unwrap();
    let found = check();
    assert!(!found.suites[0].holds && !kept[0].with_extension("snap.new").exists());
    let moved = found.suites[0].snapshots.iter().find(|it| it.state == SnapshotState::Moved).unwrap();
    assert!(!moved.moved.is_empty(), "{found}");
}

#[test]
fn advice_bill_and_what_was_realised_have_the_numbers_of_the_command_line() {
    let folder = tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    write(&logs, &SAVES.sessions(), "s");
    let sessions = || Comparison::new().scenario(logs.as_path()).skip_unusable();
    let place = logs.to_str().unwrap();

    let advice = sessions().advise(None, None).unwrap();
    let args = ["advise", place, "--save", "advice.json", "--format", "json"];
    same(&advice, &said(folder.path(), &args));
    let agent = &advice.agents[0];
    let lever = &agent.levers[agent.pasted.unwrap()];
    assert_eq!((lever.word, lever.set.join(" ").as_str()), (Some(Word::Do), "promptCacheTtl=1h"));
    assert!(lever.saved_month > Some(0.0) && !agent.paste.is_empty());
    let forecast = advice.forecast.clone().unwrap();
    assert_eq!(
        forecast.trim_end(),
        fs::read_to_string(folder.path().join("advice.json")).unwrap().trim_end()
    );

    let bill = sessions().bill().unwrap();
    let mut json: Value =
        serde_json::from_str(&said(folder.path(), &["screen", place, "--format", "json"])).unwrap();
    json["next"] = Value::Array(Vec::new());
    assert_eq!(serde_json::to_value(&bill).unwrap(), json);
    let mut found = BTreeSet::new();
    strange(&serde_json::to_value(&*bill).unwrap(), &json, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    assert!(bill.bill.total.all.usd() > 0.0 && !bill.month.parts.is_empty() && !bill.by_day.is_empty());

    let recipe = Recipe { seed: 9, first_day: 60, ..SAVES };
    let later: Vec<Session> =
        recipe.sessions().into_iter().map(|it| Session { is_long: true, ..it }).collect();
    write(&logs, &later, "t");
    let realised = sessions().realised(&forecast, None).unwrap();
    same(&realised, &said(folder.path(), &["realised", "advice.json", place, "--format", "json"]));
    assert_eq!((realised.answer, realised.sessions), (ForecastOutcome::AsForecast, 36));
    assert!(sessions().realised("{}", None).unwrap_err().to_string().contains("missing field"));
}
