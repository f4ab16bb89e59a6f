//! Results of suites as SARIF 2.1.0: one rule per guard, one result per broken guard,
//! at the line of the policy's file.

use indexmap::IndexMap;
use serde::Serialize;

use super::CheckUp;
use crate::diag::Place;
use crate::report::guards::GuardVerdict;

/// The rule of snapshots.
const SNAPSHOT: &str = "snapshot";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
struct Run<'a> {
    tool: Tool<'a>,
    results: Vec<ResultJson>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule<'a> {
    id: String,
    short_description: Message<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson {
    rule_id: String,
    level: &'static str,
    message: Message<'static>,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
}

/// Returns the document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(all: &[CheckUp]) -> Result<String, serde_json::Error> {
    let mut rules: IndexMap<String, &str> = IndexMap::new();
    let mut results = Vec::new();
    for it in all {
        for error in &it.errors {
            rules.insert(error.code.to_string(), "Every suite can be checked.");
            results.push(ResultJson {
                rule_id: error.code.to_string(),
                level: "error",
                message: Message { text: super::with_help(error).into() },
                locations: vec![location(&error.place)],
                related_locations: Vec::new(),
            });
        }
        for verdict in &it.verdicts {
            let id = format!("{}/{}", it.suite, verdict.guard);
            rules.insert(id.clone(), &verdict.guard);
            results.extend((!verdict.holds).then(|| broken(id, verdict)));
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.holds()) {
            rules.insert(SNAPSHOT.to_owned(), "The numbers of a suite match its snapshots.");
            let lines = [vec![snapshot.words()], snapshot.lines()].concat();
            let place = Place { file: snapshot.file.clone(), ..Place::default() };
            results.push(ResultJson {
                rule_id: SNAPSHOT.to_owned(),
                level: "error",
                message: Message { text: lines.join("\n").into() },
                locations: vec![location(&place)],
                related_locations: Vec::new(),
            });
        }
    }
    let rules =
        rules.into_iter().map(|(id, name)| Rule { id, short_description: Message { text: name.into() } });
    let driver =
        Driver { name: "ctxsim", semantic_version: env!("CARGO_PKG_VERSION"), rules: rules.collect() };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run { tool: Tool { driver }, results }],
    };
    serde_json::to_string_pretty(&log).map(|it| it + "\n")
}

fn broken(rule_id: String, it: &GuardVerdict) -> ResultJson {
    ResultJson {
        rule_id,
        level: "error",
        message: Message { text: format!("{}: {} ({})", it.guard, it.finding(), it.on()).into() },
        locations: vec![location(it.marked())],
        related_locations: vec![location(&it.place)],
    }
}

fn location(place: &Place) -> Location {
    // A URI has forward slashes, and blanks of it are written out.
    let uri = place.file.replace('\\', "/").replace(' ', "%20").trim_start_matches("./").to_owned();
    let region = place.line_column.map(|(start_line, start_column)| Region { start_line, start_column });
    Location { physical_location: Physical { artifact_location: Artifact { uri }, region } }
}
