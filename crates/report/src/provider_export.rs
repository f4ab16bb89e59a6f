//! A provider's own export of usage or costs beside the bill as logged, of the same days.

use crate::as_logged::BillAsLogged;
use crate::bill_by::SessionBill;
use crate::prelude::*;
use ctxsim_input::profile::calendar::{self, DAY_MS};
use ctxsim_timeline::import::ProviderExport;

/// Says what a provider's export and the logs say of the days of the export, in a line.
pub fn reconciled<'b>(export: &ProviderExport, sessions: impl Iterator<Item = &'b SessionBill>) -> String {
    let days: BTreeSet<i64> = export.days.keys().copied().collect();
    let mut logged = BillAsLogged::default();
    sessions.for_each(|it| it.add_days(&days, &mut logged));
    let date =
        |day: Option<&i64>| day.map_or_else(String::new, |it| calendar::date_text(it.saturating_mul(DAY_MS)));
    let (first, last) = (date(days.first()), date(days.last()));
    let of_days = if first == last { first } else { format!("{first} to {last}") };
    let charged: Option<u128> =
        export.days.values().map(|it| it.charged.map(|it| it.0)).fold(None, |sum, it| match it {
            Some(more) => Some(sum.unwrap_or(0).saturating_add(more)),
            None => sum,
        });
    let unpriced = match logged.requests_without_price() {
        0 => String::new(),
        n => format!("; {} of their requests have no price", thousands(n)),
    };
    let left_out = match export.n_left_out {
        0 => String::new(),
        n => format!(" Rows of the export without a day or an amount: {}.", thousands(n as u64)),
    };
    if let Some(charged) = charged {
        let (theirs, ours) = (Cost(charged).usd(), logged.total().usd());
        let change = if theirs > 0.0 {
            format!(" ({}%)", signed((ours / theirs - 1.0) * 100.0))
        } else {
            String::new()
        };
        return format!(
            "The provider's export says ${} for these days ({of_days}), the logs ${} at list prices{change}{unpriced}.{left_out}\n",
            fixed(theirs, 2),
            fixed(ours, 2),
        );
    }
    let mut theirs = [0_u64; 4];
    for tokens in export.days.values().filter_map(|it| it.tokens) {
        theirs = std::array::from_fn(|it| theirs[it].saturating_add(tokens[it]));
    }
    let use_of_all = std::iter::once(logged.tokens).chain(logged.unpriced.values().map(|it| it.tokens));
    let ours = use_of_all.fold([0_u64; 4], |sum, it| {
        let more = [it.uncached, it.read, it.write[0].saturating_add(it.write[1]), it.output];
        std::array::from_fn(|at| sum[at].saturating_add(more[at]))
    });
    format!(
        "The provider's export says {} for these days ({of_days}), the logs {}.{left_out}\n",
        tokens(theirs),
        tokens(ours),
    )
}

/// Writes a change with its sign.
fn signed(percent: f64) -> String {
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{}", fixed(percent.abs(), 1))
}

fn tokens([uncached, read, written, output]: [u64; 4]) -> String {
    format!(
        "{} tokens (uncached {}, read {}, written {}, output {})",
        thousands(uncached.saturating_add(read).saturating_add(written).saturating_add(output)),
        thousands(uncached),
        thousands(read),
        thousands(written),
        thousands(output),
    )
}
