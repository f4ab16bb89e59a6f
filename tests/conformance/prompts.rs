//! Listed prompts and traces in the library's own terms.

use ctxsim::model::TtlClass;
use ctxsim::projection::chain::Link;
use ctxsim::timeline::{Harness, Kind, NewItem, Timeline, TimelineBuilder};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::file::{self, Item, Request, Segment, Session};

/// Returns what a segment is to the library.
fn kind(kind: file::Kind) -> Kind {
    match kind {
        file::Kind::Tool => Kind::ToolSchema,
        file::Kind::System => Kind::System,
        file::Kind::User => Kind::User,
        file::Kind::Text => Kind::Assistant,
        file::Kind::Thinking => Kind::Reasoning,
        file::Kind::ToolUse => Kind::ToolCall,
        file::Kind::ToolResult => Kind::ToolResult,
        file::Kind::Summary => Kind::Summary,
    }
}

/// Returns the prefixes of a listed prompt: equal ids and sizes so far, equal digests.
pub(super) fn links(request: &Request) -> Vec<Link> {
    let (mut digest, mut tokens) = (0_u128, 0);
    let segments = request.segments.iter().zip(0..);
    let links = segments.map(|(Segment(id, of, size, _), slot)| {
        let mut bytes = digest.to_le_bytes().to_vec();
        bytes.extend(size.to_le_bytes());
        bytes.extend(id.as_bytes());
        digest = xxh3_128(&bytes);
        tokens += u64::from(*size);
        Link { slot, tokens, digest, kind: kind(*of) }
    });
    links.collect()
}

/// Returns the same with kinds that stand at the positions that the file lists, where it does.
///
/// A cache counts a run of calls, and a run of results, as one position: neighbours at one position get one of these
/// kinds, neighbours at two get different ones.
pub(super) fn links_at_positions(request: &Request) -> Result<Vec<Link>, String> {
    let mut links = links(request);
    let positions: Option<Vec<u32>> = request.segments.iter().map(|it| it.3).collect();
    let Some(positions) = positions else { return Ok(links) };
    for pair in positions.windows(2) {
        if !(pair[0]..=pair[0] + 1).contains(&pair[1]) {
            return Err(format!("a segment at position {} is followed by one at {}", pair[0], pair[1]));
        }
    }
    for (link, position) in links.iter_mut().zip(positions) {
        link.kind = if position.is_multiple_of(2) { Kind::ToolCall } else { Kind::ToolResult };
    }
    Ok(links)
}

/// Makes the trace of a session.
pub(super) fn trace(name: &str, session: &Session, ttl: TtlClass) -> Timeline {
    let mut builder = TimelineBuilder::new(name, &[]);
    builder.harness(Harness { ttl: Some(ttl), ..Harness::default() });
    for (index, step) in session.trace.iter().enumerate() {
        let (front, user): (Vec<_>, Vec<_>) =
            items(&step.enters).partition(|it| index == 0 && is_front(it.kind));
        for it in front {
            builder.stable(it.kind, it.sizes.raw);
        }
        if step.boundary || index == 0 {
            builder.begin_turn(&user);
        }
        let next = session.trace.get(index + 1).filter(|it| !it.boundary);
        let results: Vec<NewItem<'_>> = items(next.map_or(&[], |it| &it.enters)).collect();
        let reply: Vec<NewItem<'_>> = items(&step.emits).collect();
        let output = step.emits.iter().map(|it| u64::from(it.2)).sum();
        builder.step(step.t_ms, output, &reply, &results);
        builder.response(step.response_start_ms, step.response_start_ms);
    }
    builder.finish()
}

fn is_front(kind: Kind) -> bool {
    matches!(kind, Kind::ToolSchema | Kind::System)
}

/// Makes items; the n-th result answers the n-th call.
fn items(records: &[Item]) -> impl Iterator<Item = NewItem<'_>> {
    let mut n_results = 0;
    records.iter().map(move |Item(id, of, tokens)| {
        let mut item = NewItem::plain(kind(*of), *tokens);
        item.digest = Some(xxh3_64(id.as_bytes()));
        if item.kind == Kind::ToolResult {
            item.answers = n_results;
            n_results += 1;
        }
        item
    })
}
