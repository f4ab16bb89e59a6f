//! Whether parts are all those of one job, each once.

use super::{Common, PartOf, SumRoom, foreign};
use crate::prelude::*;
use ctxsim_base::diag::{Code, Diagnostic};

/// Parts that are gathered in any order, until there is one for each scenario of the job.
#[derive(Clone, Debug, Default)]
pub struct PartSet {
    job: Option<String>,
    /// What its parts have in common, as it is written.
    head: Option<String>,
    /// The number of scenarios of the job, as its parts say.
    of: usize,
    /// By place in the plan, where the part stands and the digest of its text.
    places: BTreeMap<usize, (usize, u128)>,
    /// What is left for the numbers of parts.
    room: SumRoom,
}

impl PartSet {
    /// Notes a part, with the number that it was given and the digest of its text; a part that is there already, word for word, is passed over.
    ///
    /// # Errors
    /// It belongs to another job, or differs from another part of the same scenario.
    pub fn note<H: Common>(
        &mut self,
        part: &PartOf<H>,
        number: usize,
        text: u128,
    ) -> Result<(), Box<Diagnostic>> {
        let problem = |code, message: String, help: &str| {
            Err(Box::new(Diagnostic::at(code, "job", message).help(help)))
        };
        let job = self.job.get_or_insert_with(|| part.job.clone());
        if *job != part.job {
            let message = format!("this part is of job {}, and the ones before are of {job}", part.job);
            let help = "fold parts of one command line and one set of sessions; keep each job in a folder of its own";
            return problem(Code::PartJob, message, help);
        }
        let head = serde_json::to_string(&part.head).map_err(|error| foreign(&error.to_string()))?;
        // A fold takes the first, and each part was read by its own.
        if *self.head.get_or_insert_with(|| head.clone()) != head {
            return Err(foreign("its `head` differs from that of other parts of its job"));
        }
        self.room.take(part).map_err(|error| foreign(&error.to_string()))?;
        self.of = part.of.max(self.of);
        if part.nth >= part.of {
            let message = format!("{} is number {} of {}", part.name, part.nth, part.of);
            return problem(Code::PartBroken, message, "run its shard again");
        }
        let (_, known) = *self.places.entry(part.nth).or_insert((number, text));
        if known != text {
            let message = format!("two parts of {} differ", part.name);
            return problem(Code::PartTwice, message, "remove both and run their shard again");
        }
        Ok(())
    }

    /// Returns the numbers of the parts in the order of the plan.
    ///
    /// # Errors
    /// Some are missing.
    pub fn order(&self) -> Result<Vec<usize>, Box<Diagnostic>> {
        let order: Vec<usize> = self.places.values().map(|it| it.0).listed();
        let missing = self.of - order.len();
        if missing == 0 && !order.is_empty() {
            return Ok(order);
        }
        let first = (0..self.of).find(|it| !self.places.contains_key(it)).unwrap_or_default();
        let message = match order.len() {
            0 => "there are no parts".to_owned(),
            _ => format!("{missing} of {} parts are missing; the first is number {first}", self.of),
        };
        let help = "run every shard to its end: each makes only the parts that are missing";
        Err(Box::new(Diagnostic::at(Code::PartMissing, "", message).help(help)))
    }
}
