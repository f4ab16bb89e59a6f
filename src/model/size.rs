//! Sizes, conditions and extents whose parameters are known.

use indexmap::IndexMap;

use crate::diag::{Problems, nearest};
use crate::quantity::{Decimal, Tokens};
use crate::spec::size::{BoundSpec, CondSpec, CountSpec, ExtentSpec, SizeSpec, UnitSpec, WindowSpec};

/// The unit that a condition counts.
pub type Unit = UnitSpec;

/// A number of tokens, as an expression over limits and the state of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// So many tokens.
    Tokens(Tokens),
    /// So many characters.
    Chars(u64),
    /// The prompt limit.
    Limit,
    /// The context window.
    Window,
    /// The longest output.
    OutputLimit,
    /// The prompt when the stage fired.
    Start,
    /// What a summary replaces, copies excluded.
    Input,
    /// The sum.
    Sum(Vec<Size>),
    /// The first less the others, at least 0.
    Minus(Vec<Size>),
    /// The least.
    Min(Vec<Size>),
    /// The greatest.
    Max(Vec<Size>),
    /// A factor times a size, rounded down.
    Times(Decimal, Box<Size>),
    /// One size where `of` is below so many tokens, another from there on.
    ByWindow {
        /// The prompt limit or the window.
        of: Box<Size>,
        /// The border.
        below: Tokens,
        /// The size below it.
        then: Box<Size>,
        /// The size from there on.
        otherwise: Box<Size>,
    },
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// More.
    Above,
    /// As much or more.
    AtLeast,
    /// Less.
    Below,
    /// As much or less.
    AtMost,
}

impl Relation {
    /// Returns how files write it.
    fn field(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::AtLeast => "at_least",
            Self::Below => "below",
            Self::AtMost => "at_most",
        }
    }

    /// Returns whether the relation holds between a value and its bound.
    #[inline]
    #[must_use]
    pub fn holds(self, value: u64, bound: u64) -> bool {
        match self {
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

/// A comparison with a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Which.
    pub relation: Relation,
    /// With what.
    pub size: Size,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    /// Holds.
    Always,
    /// Tokens of the prompt.
    Prompt(Bound),
    /// Tokens of the prompt without the stable prefix.
    Body(Bound),
    /// Tokens shown in the scope.
    Scope(Bound),
    /// Tokens that the stage would free.
    Reclaimable(Bound),
    /// Tokens freed by this activation.
    Freed(Bound),
    /// Units taken by this activation.
    Taken(Extent),
    /// The running count has passed a multiple of so many units.
    Every(Unit, u64),
    /// How many units stand in the scope.
    Count(Unit, Relation, u64),
    /// The pause is longer than so many milliseconds.
    Idle(u64),
    /// The pause is longer than the cache's lifetime.
    CacheCold,
    /// Every part holds.
    All(Vec<Cond>),
    /// Some part holds.
    Any(Vec<Cond>),
    /// The part does not hold.
    Not(Box<Cond>),
}

/// How far something reaches.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// So many items, tool results, messages, steps or turns.
    Units(Unit, u64),
    /// Whole units that fit into so many tokens.
    Size(Size),
    /// A share of the items, rounded down.
    Fraction(Decimal),
    /// Everything.
    All,
}

/// Turns what a policy says about numbers into what is meant, with its parameters at hand.
#[derive(Debug)]
pub struct Resolver<'a> {
    params: &'a IndexMap<String, SizeSpec>,
}

/// How deep parameters and expressions may nest.
const DEPTH_MAX: usize = 32;

impl<'a> Resolver<'a> {
    /// Resolves against these parameters.
    #[must_use]
    pub fn new(params: &'a IndexMap<String, SizeSpec>) -> Self {
        Self { params }
    }

    /// Resolves a size.
    pub fn size(&self, spec: &SizeSpec, problems: &mut Problems) -> Size {
        self.size_at(spec, 0, problems)
    }

    fn size_at(&self, spec: &SizeSpec, depth: usize, problems: &mut Problems) -> Size {
        if depth > DEPTH_MAX {
            problems.push(
                "size-too-deep",
                "this size nests too deeply, or its parameters form a circle",
                "break the circle",
            );
            return Size::Tokens(0);
        }
        let mut inner = |field: &str, spec: &SizeSpec| {
            Box::new(problems.within(field, |problems| self.size_at(spec, depth + 1, problems)))
        };
        match spec {
            SizeSpec::Tokens(count) | SizeSpec::Count(count) => Size::Tokens(*count),
            SizeSpec::Chars(count) => Size::Chars(*count),
            SizeSpec::Ratio(ratio) => {
                if *ratio > Decimal::ONE {
                    problems.within("ratio", |problems| ratio_above_one(*ratio, problems));
                }
                Size::Times(*ratio, Box::new(Size::Limit))
            }
            SizeSpec::Limit => Size::Limit,
            SizeSpec::Window => Size::Window,
            SizeSpec::OutputLimit => Size::OutputLimit,
            SizeSpec::Start => Size::Start,
            SizeSpec::Input => Size::Input,
            SizeSpec::Times(factor, size) => Size::Times(*factor, inner("times.1", size)),
            SizeSpec::ByWindow { below, of, then, otherwise } => {
                let of = if *of == WindowSpec::Limit { Size::Limit } else { Size::Window };
                Size::ByWindow {
                    of: Box::new(of),
                    below: *below,
                    then: inner("by_window.then", then),
                    otherwise: inner("by_window.otherwise", otherwise),
                }
            }
            SizeSpec::Sum(parts) => Size::Sum(self.parts("sum", parts, depth, problems)),
            SizeSpec::Minus(parts) => Size::Minus(self.parts("minus", parts, depth, problems)),
            SizeSpec::Min(parts) => Size::Min(self.parts("min", parts, depth, problems)),
            SizeSpec::Max(parts) => Size::Max(self.parts("max", parts, depth, problems)),
            SizeSpec::Param(name) => match self.params.get(name) {
                Some(spec) => problems.elsewhere(format_args!("params.{name}"), |problems| {
                    self.size_at(spec, depth + 1, problems)
                }),
                None => {
                    self.unknown_param(name, problems);
                    Size::Tokens(0)
                }
            },
        }
    }

    fn parts(&self, name: &str, parts: &[SizeSpec], depth: usize, problems: &mut Problems) -> Vec<Size> {
        problems.within(name, |problems| {
            if parts.is_empty() {
                problems.push("size-empty", "a list of sizes is empty", "give at least one size");
            }
            let part =
                |(index, spec)| problems.within(index, |problems| self.size_at(spec, depth + 1, problems));
            parts.iter().enumerate().map(part).collect()
        })
    }

    fn counted(&self, unit: &str, spec: &CountSpec, problems: &mut Problems) -> u64 {
        problems.within(unit, |problems| self.count(spec, problems))
    }

    /// Resolves a count.
    pub fn count(&self, spec: &CountSpec, problems: &mut Problems) -> u64 {
        match spec {
            CountSpec::Fixed(count) => *count,
            CountSpec::Param(name) => match self.params.get(name) {
                Some(SizeSpec::Count(count) | SizeSpec::Tokens(count)) => *count,
                Some(_) => {
                    let message = format!("parameter `{name}` is not a plain number");
                    problems.push(
                        "param-not-a-count",
                        message,
                        format!("declare it as `\"{name}\": count(2)`"),
                    );
                    0
                }
                None => {
                    self.unknown_param(name, problems);
                    0
                }
            },
        }
    }

    fn unknown_param(&self, name: &str, problems: &mut Problems) {
        let help = match nearest(name, self.params.keys().map(String::as_str)) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("declare it: `params: {{ \"{name}\": tokens(…) }}`"),
        };
        problems.push("param-unknown", format!("parameter `{name}` is not declared"), help);
    }

    /// Resolves a condition.
    pub fn cond(&self, spec: &CondSpec, problems: &mut Problems) -> Cond {
        match spec {
            CondSpec::Always => Cond::Always,
            CondSpec::Prompt(bound) => Cond::Prompt(self.bound("prompt", bound, problems)),
            CondSpec::Body(bound) => Cond::Body(self.bound("body", bound, problems)),
            CondSpec::Scope(bound) => Cond::Scope(self.bound("scope", bound, problems)),
            CondSpec::Reclaimable(bound) => Cond::Reclaimable(self.bound("reclaimable", bound, problems)),
            CondSpec::Freed(bound) => Cond::Freed(self.bound("freed", bound, problems)),
            CondSpec::Taken(extent) => {
                Cond::Taken(problems.within("taken", |problems| self.extent(extent, problems)))
            }
            CondSpec::Every(extent) => {
                problems.within("every", |problems| match self.extent(extent, problems) {
                    Extent::Units(unit, count) if count > 0 => Cond::Every(unit, count),
                    _ => {
                        problems.push(
                            "every-not-counted",
                            "`every` takes a number of units from 1 up",
                            "write `every(turns(3))`",
                        );
                        Cond::Always
                    }
                })
            }
            CondSpec::Count { of, above, at_least, below, at_most } => {
                let given = [
                    (Relation::Above, above),
                    (Relation::AtLeast, at_least),
                    (Relation::Below, below),
                    (Relation::AtMost, at_most),
                ];
                let mut given =
                    given.into_iter().filter_map(|(it, count)| count.as_ref().map(|count| (it, count)));
                match (given.next(), given.next()) {
                    (Some((relation, count)), None) => {
                        Cond::Count(*of, relation, self.counted("count", count, problems))
                    }
                    _ => {
                        one_relation("count", problems);
                        Cond::Always
                    }
                }
            }
            CondSpec::Idle { longer_than } => Cond::Idle(longer_than.0),
            CondSpec::CacheCold => Cond::CacheCold,
            CondSpec::All(parts) => Cond::All(self.conds("all", parts, problems)),
            CondSpec::Any(parts) => Cond::Any(self.conds("any", parts, problems)),
            CondSpec::Not(part) => {
                Cond::Not(Box::new(problems.within("not", |problems| self.cond(part, problems))))
            }
        }
    }

    fn conds(&self, name: &str, parts: &[CondSpec], problems: &mut Problems) -> Vec<Cond> {
        let part = |(index, spec)| {
            problems.within(format_args!("{name}.{index}"), |problems| self.cond(spec, problems))
        };
        parts.iter().enumerate().map(part).collect()
    }

    fn bound(&self, name: &str, spec: &BoundSpec, problems: &mut Problems) -> Bound {
        let given = [
            (Relation::Above, &spec.above),
            (Relation::AtLeast, &spec.at_least),
            (Relation::Below, &spec.below),
            (Relation::AtMost, &spec.at_most),
        ];
        let mut given = given.into_iter().filter_map(|(it, size)| size.as_ref().map(|size| (it, size)));
        match (given.next(), given.next()) {
            (Some((relation, size)), None) => {
                let field = format!("{name}.{}", relation.field());
                Bound { relation, size: problems.within(field, |problems| self.size(size, problems)) }
            }
            _ => {
                one_relation(name, problems);
                Bound { relation: Relation::Above, size: Size::Tokens(0) }
            }
        }
    }

    /// Resolves an extent.
    pub fn extent(&self, spec: &ExtentSpec, problems: &mut Problems) -> Extent {
        match spec {
            ExtentSpec::Items(count) => Extent::Units(Unit::Items, self.counted("items", count, problems)),
            ExtentSpec::ToolUses(count) => {
                Extent::Units(Unit::ToolUses, self.counted("tool_uses", count, problems))
            }
            ExtentSpec::Messages(count) => {
                Extent::Units(Unit::Messages, self.counted("messages", count, problems))
            }
            ExtentSpec::Steps(count) => Extent::Units(Unit::Steps, self.counted("steps", count, problems)),
            ExtentSpec::Turns(count) => Extent::Units(Unit::Turns, self.counted("turns", count, problems)),
            ExtentSpec::Tokens(count) => Extent::Size(Size::Tokens(self.counted("tokens", count, problems))),
            ExtentSpec::Size(size) => {
                Extent::Size(problems.within("size", |problems| self.size(size, problems)))
            }
            ExtentSpec::Fraction(share) if *share <= Decimal::ONE => Extent::Fraction(*share),
            ExtentSpec::Fraction(share) => {
                problems.within("fraction", |problems| {
                    problems.push(
                        "fraction-above-one",
                        format!("{share} of the items is more than all"),
                        format!("write a number from 0 to 1, as in `fraction({})`", percent(*share)),
                    );
                });
                Extent::All
            }
            ExtentSpec::All => Extent::All,
        }
    }
}

/// Reports a share of the limit that is more than the limit.
fn ratio_above_one(ratio: Decimal, problems: &mut Problems) {
    problems.push(
        "ratio-above-one",
        format!("{ratio} of the limit is more than the limit"),
        format!(
            "write `ratio({})`, or `times({ratio}, limit)` if more than the limit is meant",
            percent(ratio)
        ),
    );
}

/// Returns the share that a number above 1 was probably meant for: a hundredth of a per cent figure, else all.
fn percent(share: Decimal) -> String {
    let text = share.to_string();
    match text.parse::<u32>() {
        Ok(whole) if (2..=100).contains(&whole) => format!("{}.{:02}", whole / 100, whole % 100),
        _ => "1.0".to_owned(),
    }
}

/// Reports a comparison with no bound, or with several.
fn one_relation(name: &str, problems: &mut Problems) {
    problems.push(
        "comparison-not-one",
        format!("`{name}` takes exactly one of `above`, `at_least`, `below`, `at_most`"),
        format!("write `{name}(above: …)`"),
    );
}
