//! Which names match a model: rules on the text of a name, as in genai-prices.

use super::json::Json;

/// A rule on a name, ignoring case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// The whole name.
    Equals(String),
    /// Its beginning.
    StartsWith(String),
    EndsWith(String),
    /// Any part.
    Contains(String),
    /// A pattern of literal characters and digits.
    Pattern(Pattern),
    /// Any of several rules.
    Any(Vec<Match>),
    /// All of several rules.
    All(Vec<Match>),
}

/// A pattern: literal characters and single digits, tied to the ends of a name or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    steps: Vec<MatchStep>,
    is_at_start: bool,
    is_at_end: bool,
}

/// What one character must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchStep {
    Literal(char),
    Digit,
}

impl Match {
    /// Reads a rule.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn read(rule: &Json) -> Result<Self, String> {
        let fields = rule.object().filter(|it| it.len() == 1).and_then(|it| it.first());
        let Some((kind, value)) = fields else {
            return Err("a match must be an object with one key".to_owned());
        };
        let text = || value.text().map(str::to_lowercase).ok_or_else(|| format!("`{kind}` needs text"));
        let rules = || -> Result<Vec<Self>, String> {
            let rules = value.list().ok_or_else(|| format!("`{kind}` needs a list"))?;
            rules.iter().map(Self::read).collect()
        };
        Ok(match kind.as_str() {
            "equals" => Self::Equals(text()?),
            "starts_with" => Self::StartsWith(text()?),
            "ends_with" => Self::EndsWith(text()?),
            "contains" => Self::Contains(text()?),
            "regex" => Self::Pattern(Pattern::read(value.text().unwrap_or_default())?),
            "or" => Self::Any(rules()?),
            "and" => Self::All(rules()?),
            other => return Err(format!("unknown kind of match `{other}`")),
        })
    }

    /// Returns whether a name follows the rule.
    pub fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.matches_lower(&name)
    }

    fn matches_lower(&self, name: &str) -> bool {
        match self {
            Self::Equals(text) => name == text,
            Self::StartsWith(text) => name.starts_with(text),
            Self::EndsWith(text) => name.ends_with(text),
            Self::Contains(text) => name.contains(text),
            Self::Pattern(pattern) => pattern.matches(name),
            Self::Any(rules) => rules.iter().any(|it| it.matches_lower(name)),
            Self::All(rules) => rules.iter().all(|it| it.matches_lower(name)),
        }
    }
}

impl Pattern {
    /// Reads the part of regular expressions that the list uses: literals, `\.`, `\d`, `{n}`, `^` and `$`.
    fn read(text: &str) -> Result<Self, String> {
        let unsupported = || format!("`{text}` is an unsupported pattern");
        let (rest, is_at_start) = text.strip_prefix('^').map_or((text, false), |it| (it, true));
        let (rest, is_at_end) = rest.strip_suffix('$').map_or((rest, false), |it| (it, true));
        let mut steps = Vec::new();
        let mut chars = rest.chars();
        while let Some(next) = chars.next() {
            match next {
                '\\' => match chars.next() {
                    Some('d') => steps.push(MatchStep::Digit),
                    Some(literal) if !literal.is_alphanumeric() => steps.push(MatchStep::Literal(literal)),
                    _ => return Err(unsupported()),
                },
                '{' => {
                    let count: String = chars.by_ref().take_while(|it| *it != '}').collect();
                    let n: usize =
                        count.parse().ok().filter(|it| (1..100).contains(it)).ok_or_else(unsupported)?;
                    let last = *steps.last().ok_or_else(unsupported)?;
                    steps.extend(std::iter::repeat_n(last, n - 1));
                }
                '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '|' | '^' | '$' => return Err(unsupported()),
                literal => steps.extend(literal.to_lowercase().map(MatchStep::Literal)),
            }
        }
        Ok(Self { steps, is_at_start, is_at_end })
    }

    fn matches(&self, name: &str) -> bool {
        let chars: Vec<char> = name.chars().collect();
        let Some(last_start) = chars.len().checked_sub(self.steps.len()) else { return false };
        let fits = |start: usize| {
            chars[start..].iter().zip(&self.steps).all(|(it, step)| match step {
                MatchStep::Literal(literal) => it == literal,
                MatchStep::Digit => it.is_ascii_digit(),
            })
        };
        let starts = if self.is_at_start { 0..=0 } else { 0..=last_start };
        starts.filter(|it| !self.is_at_end || *it == last_start).any(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_regular_expressions_do() {
        let dated = Match::Pattern(Pattern::read(r"^x-ai/grok-4\.5-\d{8}$").unwrap());

        assert!(dated.matches("x-ai/grok-4.5-20261007") && dated.matches("X-AI/Grok-4.5-20261007"));
        for other in ["x-ai/grok-4.5-2026100", "x-ai/grok-4.5-202610071", "x-ai/grok-405-20261007", ""] {
            assert!(!dated.matches(other), "{other}");
        }
        assert!(Match::Pattern(Pattern::read(r"flash-\d").unwrap()).matches("gemini-flash-9b"));
        for unread in ["a|b", "(a)", "a+", r"\w", "{3}", "a{0}", "a{x}", "[a]"] {
            assert!(Pattern::read(unread).is_err(), "{unread}");
        }
    }
}
