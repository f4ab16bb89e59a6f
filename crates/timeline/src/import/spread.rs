//! Totals of a session spread over its requests: by the sizes of their prompts as the texts give them, so that the totals hold.

use super::sizes::apportion;
use crate::import::prelude::*;

/// Characters to the token, for weights alone.
const CHARS_PER_TOKEN: u64 = 4;

/// A request: the session, and its place in it.
pub(super) type RequestPlace = (usize, usize);

/// Bills the requests at some places; of the totals, prompt, output, what was read and what was written count. `front` is what stands before the prompts of the first session and is in no text;
/// outputs that are known stay.
pub(super) fn spread(totals: Usage, lanes: &mut [Transcript], places: &[RequestPlace], front: Tokens) {
    let estimates: Vec<Vec<Tokens>> =
        lanes.iter().enumerate().map(|(index, it)| prompts(it, if index == 0 { front } else { 0 })).collect();
    let estimate = |place: &RequestPlace| estimates[place.0][place.1];
    let before = |(session, at): &RequestPlace| at.checked_sub(1).map_or(0, |it| estimates[*session][it]);
    let weights: Vec<Tokens> = places.iter().map(estimate).collect();
    let prompts = apportion(totals.prompt, &weights);
    let known: Vec<Tokens> =
        places.iter().zip(&weights).map(|(place, estimate)| before(place).min(*estimate)).collect();
    let read = fill(totals.cache_read, &known, &prompts);
    let left: Vec<Tokens> = prompts.iter().zip(&read).map(|(prompt, read)| prompt - read).collect();
    let written = fill(totals.cache_write, &left, &left);
    let outputs = outputs(totals.output, lanes, places);
    for (at, (session, exchange)) in places.iter().enumerate() {
        let (prompt, cache_read, cache_write) = (prompts[at], read[at], written[at]);
        let uncached = prompt - cache_read - cache_write;
        let usage =
            Usage { prompt, cache_read, cache_write, cache_write_long: None, uncached, output: outputs[at] };
        lanes[*session].exchanges[*exchange].usage = Some(usage).filter(|it| it.prompt > 0);
    }
}

/// Returns what the prompts of requests of the first session hold together, as the texts give it.
pub(super) fn text_tokens(transcript: &Transcript, places: &[RequestPlace]) -> Tokens {
    let prompts = prompts(transcript, 0);
    places.iter().filter_map(|it| prompts.get(it.1)).fold(0, |sum: Tokens, it| sum.saturating_add(*it))
}

/// Returns, by request, what its prompt holds as the texts give it.
fn prompts(transcript: &Transcript, front: Tokens) -> Vec<Tokens> {
    let mut sizes: Vec<Tokens> = transcript.stable.iter().map(size).collect();
    let n_stable = sizes.len();
    let of_stable = sizes.iter().fold(front, |sum: Tokens, it| sum.saturating_add(*it));
    let (mut standing, mut prompts) = (of_stable, Vec::with_capacity(transcript.exchanges.len()));
    for exchange in &transcript.exchanges {
        if let Some(compaction) = exchange.compacts {
            let stays = sizes.get(compaction.stays_from.max(n_stable)..).unwrap_or_default();
            standing = stays.iter().fold(of_stable, |sum, it| sum.saturating_add(*it));
        }
        let mut add = |parts: &[Part], sizes: &mut Vec<Tokens>| {
            for size in parts.iter().map(size) {
                standing = standing.saturating_add(size);
                sizes.push(size);
            }
            standing
        };
        prompts.push(add(exchange.user(), &mut sizes));
        add(&exchange.reply, &mut sizes);
        add(&exchange.results, &mut sizes);
    }
    prompts
}

/// Returns what a part weighs.
fn size(part: &Part) -> Tokens {
    part.tokens.unwrap_or_else(|| part.characters.div_ceil(CHARS_PER_TOKEN))
}

/// Returns the outputs: those that are known, and of the others each a share of what is left.
fn outputs(total: Tokens, transcripts: &[Transcript], places: &[RequestPlace]) -> Vec<Tokens> {
    let exchange = |place: &RequestPlace| &transcripts[place.0].exchanges[place.1];
    let of_reply = |it: &Exchange| it.reply.iter().map(|it| it.tokens).sum::<Option<Tokens>>();
    let known: Vec<Option<Tokens>> = places.iter().map(|it| of_reply(exchange(it))).collect();
    let told = known.iter().flatten().fold(0, |sum: Tokens, it| sum.saturating_add(*it));
    let unknown = places.iter().zip(&known).filter(|it| it.1.is_none());
    let weights: Vec<u64> =
        unknown.map(|(place, _)| exchange(place).reply.iter().map(|it| it.characters).sum()).collect();
    let mut shares = apportion(total.saturating_sub(told), &weights).into_iter();
    known.into_iter().map(|it| it.or_else(|| shares.next()).unwrap_or(0)).collect()
}

/// Splits a total by weights, none beyond its cap; what does not fit goes where there is room.
fn fill(total: Tokens, weights: &[Tokens], caps: &[Tokens]) -> Vec<Tokens> {
    let total = total.min(caps.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it)));
    let first = apportion(total, weights);
    let mut filled: Vec<Tokens> = first.iter().zip(caps).map(|(share, cap)| *share.min(cap)).collect();
    let left = total - filled.iter().sum::<Tokens>();
    let rooms: Vec<Tokens> = caps.iter().zip(&filled).map(|(cap, it)| cap - it).collect();
    if left > 0 {
        filled.iter_mut().zip(apportion(left, &rooms)).for_each(|(it, more)| *it += more);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_filled_up_to_the_caps_and_holds() {
        assert_eq!(fill(10, &[1, 1], &[2, 100]), [2, 8]);
        assert_eq!(fill(10, &[0, 0], &[4, 9]), [4, 6]);
        assert_eq!(fill(50, &[1, 1], &[4, 9]), [4, 9], "no more than there is room");
    }
}
