//! A setting of a real agent, with its numbers filled in.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::value::Value;
use minijinja::{Environment, Error, UndefinedBehavior};

use super::{Apply, PolicyFile};
use crate::diag::{Problems, nearest};

/// What every setting can read, besides the parameters of its policy.
pub const LIMITS: [&str; 3] = ["limit", "window", "output_limit"];

/// An unknown name is an error, because a setting with a gap is useless.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
});

impl Apply {
    /// Returns the setting with all names replaced by numbers, or `None` if a name is unknown.
    #[must_use]
    pub fn filled(&self, numbers: BTreeMap<String, Value>) -> Option<Self> {
        let write = self.rendered(numbers).ok()?;
        Some(Self { at: self.at.clone(), write })
    }

    fn rendered(&self, numbers: BTreeMap<String, Value>) -> Result<String, Error> {
        ENVIRONMENT.render_str(&self.write, numbers)
    }
}

/// Checks that a policy's setting reads only its parameters and limits.
pub(super) fn check(policy: &PolicyFile, problems: &mut Problems) {
    let Some(apply) = &policy.apply else { return };
    let known: Vec<&str> = policy.params.keys().map(String::as_str).chain(LIMITS).collect();
    let numbers = known.iter().map(|it| ((*it).to_owned(), Value::from(1))).collect();
    let Err(error) = apply.rendered(numbers) else { return };
    let template = ENVIRONMENT.template_from_str(&apply.write);
    let asked = template.map(|it| it.undeclared_variables(false)).unwrap_or_default();
    let mut unknown: Vec<&String> = asked.iter().filter(|it| !known.contains(&it.as_str())).collect();
    unknown.sort();
    let (message, help) = match unknown.first() {
        Some(name) => (
            format!("unknown parameter `{name}` in this setting"),
            nearest(name, known).map(|it| format!("did you mean `{it}`?")),
        ),
        None => (
            format!(
                "this setting cannot be written: {}",
                error.detail().unwrap_or(
                    "this is not a valid \
                template"
                )
            ),
            None,
        ),
    };
    let usual = "`{{ trigger }}` inserts the parameter `trigger`; `limit`, `window` and `output_limit` are \
            available too";
    let help = help.unwrap_or_else(|| usual.to_owned());
    problems.within("write", |to| to.push("apply-broken", message, help));
}
