//! Sizes, worked out from scratch each time.

use ctxsim::input::policy::{HarnessNumber, WindowKind};
use ctxsim::timeline::HarnessLimits;

use crate::support::*;

/// What sizes may ask that never changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct World {
    pub(super) limits: Limits,
    pub(super) chars_per_token: Decimal,
    pub(super) harness: HarnessLimits,
}

/// What sizes may ask of a stage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Env {
    pub(super) start: u64,
    pub(super) input: u64,
    pub(super) behind: u64,
    pub(super) rank: u32,
}

impl World {
    pub(super) fn size(&self, size: &Size, env: Env) -> u64 {
        let of = |part: &Size| self.size(part, env);
        match size {
            Size::Tokens(count) | Size::Count(count) => *count,
            Size::Ratio(ratio) => ratio.share_of(self.limits.prompt),
            Size::Param(name) => panic!("the parameter {name} is left in a checked policy"),
            Size::Chars(count) => {
                let milli = self.chars_per_token.scaled(3).unwrap();
                (count * 1_000).div_ceil(milli)
            }
            Size::Limit => self.limits.prompt,
            Size::Window => self.limits.window,
            Size::OutputLimit => self.limits.output,
            Size::Harness { number, or } => {
                let known = match number {
                    HarnessNumber::Window => self.harness.window,
                    HarnessNumber::OutputReserve => self.harness.output_reserve,
                    HarnessNumber::Trigger => self.harness.trigger,
                };
                known.unwrap_or_else(|| of(or))
            }
            Size::Start => env.start,
            Size::Input => env.input,
            Size::Behind => env.behind,
            Size::PerRank(part) => of(part) / u64::from(env.rank.max(1)),
            Size::Sum(parts) => parts.iter().map(of).fold(0, u64::saturating_add),
            Size::Minus(parts) => match of(&parts[0]) {
                UNLIMITED => UNLIMITED,
                first => first.saturating_sub(parts[1..].iter().map(of).fold(0, u64::saturating_add)),
            },
            Size::Min(parts) => parts.iter().map(of).min().unwrap(),
            Size::Max(parts) => parts.iter().map(of).max().unwrap(),
            Size::Times(factor, part) => factor.share_of(of(part)),
            Size::ByWindow { of: window, below, then, otherwise } => {
                let window = if *window == WindowKind::Limit { &Size::Limit } else { &Size::Window };
                if of(window) < *below { of(then) } else { of(otherwise) }
            }
        }
    }
}
