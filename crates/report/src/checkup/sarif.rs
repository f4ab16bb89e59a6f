//! Results of suites as SARIF 2.1.0: one rule per guard, one result per broken guard,
//! at the line of the policy's file.

use super::SuiteCheck;
use crate::made::VERSION;
use crate::prelude::*;
use ctxsim_base::diag::Place;

/// The rule of snapshots.
const SNAPSHOT: &str = "snapshot";
/// The rule of prices.
const NEWER: &str = "newer-prices";
/// The rule of what else a reader must know.
const NOTE: &str = "note";

/// Returns the document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn check_ups_sarif(check_ups: &[SuiteCheck]) -> serde_json::Result<String> {
    let mut rules: IndexMap<String, &str> = IndexMap::new();
    let mut results = Vec::new();
    for it in check_ups {
        for error in &it.errors {
            let (rule, text) = (error.code.to_string(), super::message_with_help(error));
            rules.insert(rule.clone(), "Every suite can be checked.");
            results.push(sarif_result("error", rule, text, &error.place));
        }
        for verdict in &it.verdicts {
            let id = format!("{}/{}", it.suite, verdict.guard);
            rules.insert(id.clone(), &verdict.guard);
            let broken = || sarif_result("error", id, verdict.to_string(), verdict.place_to_annotate());
            let guard = group! { "relatedLocations": vec![sarif_location(&verdict.place)] };
            results.extend((!verdict.holds).then(|| broken().and(guard)));
        }
        let place = Place { file: it.file.clone(), ..Place::default() };
        for note in &it.notes {
            rules.insert(NOTE.to_owned(), "Nothing else needs to be known.");
            results.push(sarif_result("note", NOTE.to_owned(), note.clone(), &place));
        }
        if let Some(newer) = &it.newer {
            rules.insert(NEWER.to_owned(), "No newer prices wait to be accepted.");
            results.push(sarif_result("note", NEWER.to_owned(), newer.describe_with_guards(), &place));
            for failed in newer.failed_guards() {
                let text = format!("Under the newer prices: {failed}");
                results.push(sarif_result("warning", NEWER.to_owned(), text, failed.place_to_annotate()));
            }
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.is_passing()) {
            rules.insert(SNAPSHOT.to_owned(), "The numbers of a suite match its snapshots.");
            let lines = [vec![snapshot.describe()], snapshot.difference_lines()].concat();
            let place = Place { file: snapshot.file.clone(), ..Place::default() };
            results.push(sarif_result("error", SNAPSHOT.to_owned(), lines.join("\n"), &place));
        }
    }
    let rules = rules.into_iter().map(|(id, name)| {
        group! { "id": id, "shortDescription": group! { "text": name.to_owned() } }
    });
    let driver = group! { "name": "ctxsim", "semanticVersion": VERSION, "rules": rules.listed() };
    let made = |it: &SuiteCheck| (it.suite.clone().into(), it.made.to_value());
    let made = Value::Fields(check_ups.iter().map(made).listed());
    let run = group! { "tool": group! { "driver": driver }, "results": results, "properties": made };
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    json_text(&group! { "$schema": schema, "version": "2.1.0", "runs": vec![run] })
}

/// Returns what is said of a place, and how much it matters.
fn sarif_result(level: &'static str, rule: String, text: String, place: &Place) -> Value {
    let (message, locations) = (group! { "text": text }, vec![sarif_location(place)]);
    group! { "ruleId": rule, "level": level, "message": message, "locations": locations }
}

fn sarif_location(place: &Place) -> Value {
    // A URI has forward slashes, and blanks of it are written out.
    let uri = place.file.replace('\\', "/").replace(' ', "%20").trim_start_matches("./").to_owned();
    let file = group! { "artifactLocation": group! { "uri": uri } };
    let region = place.line_column.map(|(line, column)| group! { "startLine": line, "startColumn": column });
    group! { "physicalLocation": region.map(|it| group! { "region": it }).into_iter().fold(file, Value::and) }
}
