//! Prompts and traces of cache vectors, in the engine's own terms.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::file::{KindRecord, RequestRecord, SegmentRecord, SessionRecord, StepRecord};
use crate::input::TtlClass;
use crate::projection::chain::Link;
use crate::trace::{Harness, Kind, NewItem, Trace, TraceBuilder};
use crate::units::Tokens;

/// Returns what a segment is to the engine.
fn kind(record: KindRecord) -> Kind {
    match record {
        KindRecord::Tool => Kind::ToolSchema,
        KindRecord::System => Kind::System,
        KindRecord::User => Kind::User,
        KindRecord::Text => Kind::Assistant,
        KindRecord::Thinking => Kind::Reasoning,
        KindRecord::ToolUse => Kind::ToolCall,
        KindRecord::ToolResult => Kind::ToolResult,
        KindRecord::Summary => Kind::Summary,
    }
}

/// Returns the prefixes of a listed prompt: equal names and sizes so far, equal digests.
pub(super) fn links(request: &RequestRecord) -> Vec<Link> {
    let (mut digest, mut tokens) = (0_u128, 0);
    let segments = request.segments.iter().enumerate();
    let links = segments.map(|(index, SegmentRecord(id, record, size, _))| {
        let mut bytes = digest.to_le_bytes().to_vec();
        bytes.extend(size.to_le_bytes());
        bytes.extend(id.as_bytes());
        digest = xxh3_128(&bytes);
        tokens += Tokens::from(*size);
        Link { slot: u32::try_from(index).unwrap_or(u32::MAX), tokens, digest, kind: kind(*record) }
    });
    links.collect()
}

/// Returns the prefixes of a listed prompt with kinds that stand at the positions that the file lists.
///
/// A cache counts a run of calls, and a run of results, as one position: neighbours at one position get one of these
/// kinds, neighbours at two get different ones.
///
/// # Errors
/// Positions that go back or leave one out.
pub(super) fn links_at_positions(request: &RequestRecord) -> Result<Vec<Link>, String> {
    let mut links = links(request);
    let positions: Option<Vec<u32>> = request.segments.iter().map(|it| it.3).collect();
    let Some(positions) = positions else { return Ok(links) };
    for pair in positions.windows(2) {
        if !(pair[0]..=pair[0].saturating_add(1)).contains(&pair[1]) {
            return Err(format!("a segment at position {} is followed by one at {}", pair[0], pair[1]));
        }
    }
    for (link, position) in links.iter_mut().zip(positions) {
        link.kind = if position.is_multiple_of(2) { Kind::ToolCall } else { Kind::ToolResult };
    }
    Ok(links)
}

/// Makes the trace of a session.
pub(super) fn trace(name: &str, session: &SessionRecord, ttl: TtlClass) -> Trace {
    let mut builder = TraceBuilder::new(name, &[]);
    builder.harness(Harness { ttl: Some(ttl), ..Harness::default() });
    for (index, step) in session.trace.iter().enumerate() {
        let is_first = index == 0;
        if is_first {
            for (_, record, tokens) in step.enters.iter().filter(|it| is_stable(it.1)) {
                builder.stable(kind(*record), *tokens);
            }
        }
        if step.boundary || is_first {
            let user: Vec<NewItem<'_>> =
                items(&step.enters).filter(|it| !(is_first && is_front(it.kind))).collect();
            builder.begin_loop(&user);
        }
        let reply: Vec<NewItem<'_>> = items(&step.emits).collect();
        let next = session.trace.get(index + 1).filter(|it| !it.boundary);
        let results: Vec<NewItem<'_>> = items(next.map_or(&[], |it: &StepRecord| &it.enters)).collect();
        let output = step.emits.iter().map(|it| Tokens::from(it.2)).sum();
        builder.step(step.t_ms, output, &reply, &results);
        builder.response(step.response_start_ms, step.response_start_ms);
    }
    builder.finish()
}

fn is_stable(record: KindRecord) -> bool {
    is_front(kind(record))
}

fn is_front(kind: Kind) -> bool {
    matches!(kind, Kind::ToolSchema | Kind::System)
}

/// Makes items; the n-th result answers the n-th call.
fn items(records: &[(String, KindRecord, u32)]) -> impl Iterator<Item = NewItem<'_>> {
    let mut n_results = 0;
    records.iter().map(move |(id, record, tokens)| {
        let mut item = NewItem::plain(kind(*record), *tokens);
        item.digest = Some(xxh3_64(id.as_bytes()));
        if item.kind == Kind::ToolResult {
            item.answers = n_results;
            n_results += 1;
        }
        item
    })
}
