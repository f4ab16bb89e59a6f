//! A setting of a real agent, with its numbers filled in.

use serde_json::{Map, Value};

use super::render::{HAS_ENGINE, RenderFault, fill, undeclared};
use super::{Apply, PolicyFile};
use crate::prelude::*;

/// What every setting can read, besides the parameters of its policy.
pub const LIMITS: [&str; 3] = ["limit", "window", "output_limit"];

impl Apply {
    /// Returns the setting with all names replaced by numbers, or `None` if a name is unknown or this build has no engine.
    pub fn filled(&self, numbers: Map<String, Value>) -> Option<Self> {
        let write = self.rendered(numbers).ok()?;
        Some(Self { at: self.at.clone(), write })
    }

    fn rendered(&self, numbers: Map<String, Value>) -> Result<String, RenderFault> {
        fill(&self.write, &Value::Object(numbers))
    }
}

/// Checks that a policy's setting reads only its parameters and limits.
pub(super) fn check(policy: &PolicyFile, problems: &mut Problems) {
    // Advice is not needed to play: a build without the engine gives none.
    let Some(apply) = policy.apply.as_ref().filter(|_| HAS_ENGINE) else { return };
    let known: Vec<&str> = policy.params.keys().map(String::as_str).chain(LIMITS).collect();
    let numbers = known.iter().map(|it| ((*it).to_owned(), Value::from(1))).collect();
    let Err(fault) = apply.rendered(numbers) else { return };
    let asked = undeclared(&apply.write);
    let mut unknown: Vec<&String> = asked.iter().filter(|it| !known.contains(&it.as_str())).collect();
    unknown.sort();
    let (message, help) = match unknown.first() {
        Some(name) => (
            format!("unknown parameter `{name}` in this setting"),
            nearest(name, known).map(|it| format!("did you mean `{it}`?")),
        ),
        None => (format!("this setting cannot be written: {}", fault.why), None),
    };
    let usual = "`{{ trigger }}` inserts the parameter `trigger`; `limit`, `window` and `output_limit` are \
            available too";
    let help = help.unwrap_or_else(|| usual.to_owned());
    problems.within("write", |to| to.push(Code("apply-broken"), message, help));
}
