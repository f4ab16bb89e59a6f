//! The four kinds of input files: what is written, what is checked, and what comes out.
//!
//! All four kinds of input have the same shape. Each has one folder below `input/` with three parts:
//!
//! | part | what it holds |
//! |---|---|
//! | `KIND/written.rs` (and `written/`) | the serde types of the file, with `deny_unknown_fields`, externally tagged enums, no `flatten`, no `untagged` |
//! | `KIND/check.rs` (and `check/`) | the rules; each pushes a problem with its code and field path |
//! | `KIND.rs` | the checked type and `new`, the only function that makes one; `new` reports every problem at once |

mod prelude;
pub mod text;
pub mod policy;
pub mod profile;
pub mod scenario;
pub mod suite;
pub mod tokens;
pub mod pricelist;

pub use policy::{
    Action, Apply, Breakpoint, Budget, BudgetCounts, Builtin, Changes, Cond, Count, DynamicPlace, EditsLast,
    Extent, Fold, HarnessNumber, KeptItems, LayoutSpec, LevelEnd, MemoryPlace, Moment, Order, OwnCode, Pause,
    Policy, PolicyFamily, PolicyFile, PrefixRule, ProcessFile, PromptPart, PromptPlace, RecoverySpec,
    Relation, Rendition, Restore, Rung, ScheduleFor, Scope, SecondCall, SecondReads, ShownAs, Size, Stage,
    Summarise, SummaryPer, SummaryPrompt, SummaryWords, Supersedes, TableRow, Template, Unit, WindowKind,
};
pub use profile::cache::{PromptLevel, Setting};
pub use profile::price::{PriceList, Prices, Rates, TierReach, VariedRate};
pub use profile::written::RecoveryPrice;
pub use profile::{
    Assumptions, Breakpoints, CacheRules, Counting, Lifetimes, Limits, PriceSpec, Profile, ProfileFile,
    Settings, Steps, TtlClass, WaitModel,
};
pub use scenario::refetch::{AssumedNumber, End, Refetch};
pub use scenario::{Scenario, ScenarioFile, TokenizerName};
pub use suite::{Suite, SuiteFile};
pub use text::{Format, Source, source};

/// An input that has passed every rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<T>(T);

impl<T> std::ops::Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
