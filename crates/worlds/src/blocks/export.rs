//! A session under a policy as ids of fixed blocks, so that a simulator of servers can play what the policy sends.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexSet;

use super::trace::{BlockRequest, BlockTrace};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::quantity::{Tokens, ix};
use ctxsim_engine::engine::Simulation;
use ctxsim_engine::hindsight;
use ctxsim_engine::ledger::{NeedRow, RequestRow, Sink};
use ctxsim_input::profile::cache::{SETTINGS, Setting};
use ctxsim_input::{Policy, Profile};
use ctxsim_timeline::Timeline;

/// Plays a session under a policy and returns the requests of the run, summarisers' included, as blocks of so many tokens. Equal blocks
/// have equal contents and equal blocks before them; the last one of a prompt may be partial. Side requests of a harness, which no
/// record shows and whose output is unknown, are left out.
///
/// # Errors
/// The policy made an edit that cannot be made.
pub fn export(
    timeline: &Timeline,
    policy: &Policy,
    profile: &Profile,
    block_tokens: Tokens,
) -> Result<BlockTrace, Box<Diagnostic>> {
    let policy = &*hindsight::under(policy, timeline, profile, &profile.limits);
    let sent = Rc::new(RefCell::new(None));
    let mut blocks = RequestCollector {
        sent: sent.clone(),
        known: IndexSet::new(),
        trace: BlockTrace { name: timeline.name.clone(), block_tokens, ..BlockTrace::default() },
    };
    let play = Simulation::new(timeline, policy, &profile.limits, &profile.cache);
    let play = play.overseen(true, move |_, request| {
        let prefixes = request.chain.links().iter().map(|it| (it.tokens, it.digest)).collect();
        let settings = SETTINGS.map(|it: Setting| request.settings.get(it));
        sent.replace(Some(LookedUpPrompt { prefixes, settings }));
    });
    let outcome = play.run(&mut blocks);
    match outcome.fault {
        Some(fault) => Err(Box::new(Diagnostic::at(Code::RunFailed, "", fault.to_string()))),
        None => {
            blocks.trace.n_distinct = ix(blocks.known.len());
            Ok(blocks.trace)
        }
    }
}

/// A prompt as the cache is asked about it: by prefix, its length and its digest, and the settings that caches tell apart.
#[derive(Debug)]
struct LookedUpPrompt {
    prefixes: Vec<(Tokens, u128)>,
    settings: [u32; SETTINGS.len()],
}

/// What makes a block: the prefix that covers it, its place, and where it ends; or a request whose content no one else has.
type BlockKey = (u128, [u32; SETTINGS.len()], Tokens, Tokens);

/// Collects requests.
struct RequestCollector {
    sent: Rc<RefCell<Option<LookedUpPrompt>>>,
    known: IndexSet<BlockKey>,
    trace: BlockTrace,
}

impl Sink for RequestCollector {
    fn request(&mut self, row: &RequestRow) {
        let sent = self.sent.borrow_mut().take();
        let (prefixes, settings) =
            sent.map_or((Vec::new(), [0; SETTINGS.len()]), |it| (it.prefixes, it.settings));
        let (block_tokens, start) = (self.trace.block_tokens, self.trace.blocks.len());
        let nth = self.trace.requests.len() as u128;
        let mut at = 0;
        for n in 0..row.prompt.div_ceil(block_tokens) {
            let end = ((n + 1) * block_tokens).min(row.prompt);
            while prefixes.get(at).is_some_and(|it| it.0 < end) {
                at += 1;
            }
            // What lies beyond the known prefixes is this request's own.
            let digest = prefixes.get(at).map_or(u128::MAX - nth, |it| it.1);
            let (number, _) = self.known.insert_full((digest, settings, n, end));
            self.trace.blocks.push(ix(number));
        }
        self.trace.requests.push(BlockRequest {
            at_ms: row.at_ms,
            prompt: row.prompt,
            output: row.output,
            blocks: start..self.trace.blocks.len(),
        });
    }

    fn need(&mut self, _: &NeedRow) {}
}
