//! Spans and log records as exporters write them: the protocol's JSON, an SDK's own objects, one a line or on several.

use super::attributes::Attributes;
use crate::import::prelude::*;

/// A span, or a log record.
#[derive(Clone, Debug, Default)]
pub(super) struct OtelRecord {
    /// Its line, from 1.
    pub(super) line: usize,
    /// The trace, the span, and the span within which it is; empty where there is none.
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: String,
    /// The span's name, or the event's.
    pub(super) name: String,
    /// Which library wrote it.
    pub(super) scope: String,
    /// Milliseconds at which it began and ended.
    pub(super) start_ms: Option<i64>,
    pub(super) end_ms: Option<i64>,
    pub(super) attributes: Attributes,
    /// The names of a span's events, with their attributes.
    pub(super) events: Vec<(String, Attributes)>,
    /// Whether it is a log record.
    pub(super) is_log: bool,
}

/// Attributes that may stand on the resource.
const OF_RESOURCE: [&str; 2] = ["session.id", "gen_ai.conversation.id"];

/// Returns the spans and log records of a value; none if it holds none.
pub(super) fn records(line: usize, value: &Value) -> Vec<OtelRecord> {
    let mut found = Vec::new();
    for (groups, scopes, items, is_log) in
        [("resourceSpans", "scopeSpans", "spans", false), ("resourceLogs", "scopeLogs", "logRecords", true)]
    {
        for group in list(&value[groups]) {
            let resource = Attributes::read(group.pointer("/resource/attributes"));
            for scope in list(&group[scopes]) {
                let name = scope.pointer("/scope/name").and_then(Value::as_str).unwrap_or_default();
                for item in list(&scope[items]) {
                    found.push(with_resource(record(line, item, name, is_log), &resource));
                }
            }
        }
    }
    if found.is_empty() && value.get("attributes").is_some() {
        let is_log = value.get("name").is_none() || value.get("hrTime").is_some();
        let scope = value.pointer("/instrumentationScope/name").or(value.pointer("/scope/name"));
        let record = record(line, value, scope.and_then(Value::as_str).unwrap_or_default(), is_log);
        let resource = value.pointer("/resource/_rawAttributes").or(value.pointer("/resource/attributes"));
        found.push(with_resource(record, &Attributes::read(resource)));
    }
    found
}

/// Returns whether a value has what those have that hold spans or log records.
pub(super) fn is_telemetry(value: &Members<'_>) -> bool {
    let has = |names: &[&str]| names.iter().any(|it| value.raw(it).is_some());
    has(&["resourceSpans", "resourceLogs", "resourceMetrics"])
        || has(&["traceId", "spanContext", "hrTime"]) && has(&["attributes"])
}

fn with_resource(mut record: OtelRecord, resource: &Attributes) -> OtelRecord {
    for key in OF_RESOURCE {
        record.attributes.default(key, resource.any(&[key]).cloned());
    }
    record
}

fn record(line: usize, item: &Value, scope: &str, is_log: bool) -> OtelRecord {
    let text =
        |keys: &[&str]| keys.iter().find_map(|it| item.pointer(it)?.as_str()).unwrap_or_default().to_owned();
    let time = |keys: &[&str]| keys.iter().find_map(|it| moment(item.pointer(it)?));
    let attributes = Attributes::read(item.get("attributes"));
    let own = attributes.text(&["event.name"]);
    let name = match is_log && !own.is_empty() {
        true => own.to_owned(),
        false => text(&["/name", "/eventName", "/body/stringValue", "/body", "/_body"]),
    };
    let events = list(&item["events"]).iter().map(|it| {
        let name = it.get("name").and_then(Value::as_str).unwrap_or_default();
        (name.to_owned(), Attributes::read(it.get("attributes")))
    });
    OtelRecord {
        line,
        trace: text(&["/traceId", "/spanContext/traceId", "/_spanContext/traceId"]),
        id: text(&["/spanId", "/spanContext/spanId", "/_spanContext/spanId"]),
        parent: text(&["/parentSpanId", "/parentSpanContext/spanId", "/parentId"]),
        name,
        scope: scope.to_owned(),
        start_ms: time(&["/startTimeUnixNano", "/startTime", "/hrTime", "/timeUnixNano", "/timestamp"])
            .or_else(|| time(&["/endTimeUnixNano", "/endTime", "/observedTimeUnixNano"])),
        end_ms: time(&["/endTimeUnixNano", "/endTime"]),
        events: events.collect(),
        attributes,
        is_log,
    }
}

/// Reads a time: nanoseconds as a number or as digits, seconds with nanoseconds, or ISO 8601.
fn moment(value: &Value) -> Option<i64> {
    const NANOSECONDS: i64 = 1_000_000;
    match value {
        Value::String(text) => match text.parse::<i64>() {
            Ok(nanoseconds) => Some(nanoseconds / NANOSECONDS),
            Err(_) => milliseconds(text),
        },
        Value::Number(number) => number.as_i64().map(|it| it / NANOSECONDS),
        Value::Array(pair) => {
            let (seconds, nanoseconds) = (pair.first()?.as_i64()?, pair.get(1)?.as_i64()?);
            seconds.checked_mul(1_000)?.checked_add(nanoseconds / NANOSECONDS)
        }
        _ => None,
    }
    .filter(|it| *it > 0)
}
