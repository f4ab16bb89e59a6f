//! A policy in code that shows the results of completed turns as their recovery handles.

use ctxsim::input::Layout;
use ctxsim::input::policy::Moment;
use ctxsim::price::PriceRows;
use ctxsim::projection::prompt::Shown;
use ctxsim::projection::rendition::Rendered;
use ctxsim::recovery::CompiledRecovery;
use ctxsim::timeline::Kind;
use ctxsim::{Ambient, Catalog, Comparison, Editor, Plan, Projector, Sums, Tally, play};

/// Shows results of completed turns as handles.
struct Handles;

impl Projector for Handles {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let active = edit.prompt().active_from();
        let mut index = edit.visible_from(0);
        while index < active {
            if edit.prompt().kind(index) == Kind::ToolResult {
                let tokens = edit.prompt().item(index).handle;
                edit.show(index, Rendered::sized(Shown::Handle, tokens, false));
            }
            index = edit.visible_from(index + 1);
        }
    }
}

pub(crate) fn main() -> Result<(), ctxsim::Error> {
    let comparison = Comparison {
        policies: vec!["identity".into()],
        scenarios: vec!["duckagent/incremental_workspace_audit".into()],
        profiles: vec!["duckagent/openai-gpt-5.4".into()],
        ..Comparison::default()
    };
    let plan = Plan::new(&Catalog::bundled(), &comparison)?;
    let profile = &plan.profiles[0];
    let loads = plan.open(&plan.scenarios[0])?;
    let Some(timeline) = loads[0].workload.items() else { return Ok(()) };

    // Prices may depend on the length of each request, so this keeps the rows as well as their sums.
    let mut ledger = (Sums::default(), PriceRows::default());
    let outcome = play(
        timeline,
        &mut Handles,
        &Layout::default(),
        CompiledRecovery::one_shot(None),
        &profile.limits,
        &profile.cache,
        &mut ledger,
    )?;
    let (sums, rows) = ledger;
    let tally = Tally::new(&sums, Some(&rows.into()), &outcome, true, profile);

    let identity = plan.report(Some(1), &|_, _| {})?;
    assert!(tally.sums.main.prompt_max < identity.runs[0].tally.sums.main.prompt_max);
    assert!(tally.costs.total().is_some(), "every token has a price");
    assert!(tally.evidence_kept() < identity.runs[0].tally.evidence_kept());
    Ok(())
}
