//! The agent's own compaction code, simulated on a recorded session and on a generated one.

use ctxsim::{BoxError, CodePolicy, Comparison, Cx, Entry, ItemId, Kind, ModelCall, Part, Scenario, View};

/// A message of this agent; a summary replaces many entries.
#[derive(Default)]
struct Messages(Vec<(Vec<ItemId>, Kind, u64)>);

impl Messages {
    /// The shipped code: a long history becomes a summary of 800 tokens, up to a reply among the last twenty messages.
    fn compact(&mut self, limit: u64) {
        let replies = |at: &usize| self.0[*at].1 != Kind::ToolResult && self.0[at - 1].1 == Kind::ToolResult;
        let cut = (self.0.len().saturating_sub(20).max(1)..self.0.len()).find(replies);
        if let Some(cut) = cut.filter(|_| self.0.iter().map(|it| it.2).sum::<u64>() > limit) {
            let old = self.0.drain(..cut).flat_map(|it| it.0).collect();
            self.0.insert(0, (old, Kind::Summary, 800));
        }
    }
}

/// The glue: entries become messages, and messages become parts of the request.
impl View for Messages {
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        let new = history[cx.new_from..].iter().filter(|it| !it.is_stable);
        self.0.extend(new.map(|it| (vec![it.id], it.kind, it.tokens)));
        self.compact(40_000);
        let part = |(ids, kind, tokens): &(Vec<ItemId>, Kind, u64)| match kind {
            Kind::Summary => Part::insert(*kind, ctxsim::Text::sized(*tokens, ids.len() as u64))
                .replacing(ids.iter().copied())
                .written_by(ModelCall::new(cx.prompt_tokens, *tokens)),
            _ => Part::keep(ids[0]),
        };
        Ok(self.0.iter().map(part).collect())
    }
}

fn main() -> Result<(), ctxsim::Error> {
    let report = Comparison::new()
        .policy("identity")
        .policy(CodePolicy::view("compaction", |_| Messages::default()))
        .scenario("recorded/claude-code")
        .scenario(Scenario::generate("random", 20, 7)?)
        .profile("anthropic/claude-sonnet-4.5")
        .run()?;
    assert_eq!(report.failures(), []);
    let longest =
        |policy| report.sums().flatten().find(|it| it.policy() == policy).map(ctxsim::Run::prompt_max);
    assert!(longest("compaction") < longest("identity"), "{report}");
    Ok(())
}
