//! What the models of a runner cost: their requests laid out for the engine, the document in front and calls to the service beside.

use xxhash_rust::xxh3::xxh3_64;

use super::ChatNumbers;
use super::log::{ChatLog, Occurrence};
use super::summary;
use crate::chats::ServiceSpec;
use ctxsim_base::quantity::{Cost, saturated};
use ctxsim_engine::ledger::MemoryKind;
use ctxsim_engine::memory::requests::{ITEM_MAX, Replayed, RequestWriter};
use ctxsim_engine::memory::{MemoryServiceCall, Recalled};
use ctxsim_input::Policy;

/// Lays out the requests of a log; each is a session of its own after the same system prompt.
pub fn requests(log: &ChatLog, policy: &Policy, numbers: &ChatNumbers) -> Replayed {
    let service = policy.service_memory().map(|it| it.service.clone()).unwrap_or_default();
    let mut writer = RequestWriter::new(&policy.name, numbers.sizes.system_tokens, false);
    for event in &log.events {
        match event.what {
            Occurrence::Call(call, tokens) => {
                let kind = MemoryKind::Service(call);
                writer.call(MemoryServiceCall { kind, service: service.clone(), calls: 1, tokens });
            }
            Occurrence::Model { said, document_words, version, output, .. } => {
                let tokens = short(numbers.tokens(document_words));
                let id = (u64::from(event.user) << 32) | u64::from(version);
                let digest = xxh3_64(&id.to_le_bytes());
                let memory = (tokens > 0).then_some(Recalled { tokens, digest });
                writer.request(short(said), short(output), memory);
            }
            Occurrence::Initialised | Occurrence::Message(_) | Occurrence::ProtectedOverCap { .. } => {}
        }
    }
    writer.finish()
}

/// Returns what the calls of a log cost under a policy's service.
pub fn of_service(log: &ChatLog, policy: &Policy) -> Cost {
    let service = policy.service_memory().and_then(|it| ServiceSpec::named(&it.service));
    service.map(|it| summary::cost(log, it)).unwrap_or_default()
}

fn short(tokens: u64) -> u32 {
    saturated::<u32>(tokens).min(ITEM_MAX)
}
