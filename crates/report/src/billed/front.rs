//! What sessions begin with, by person: system prompt, tools and memory files are paid with every request, and some people's are larger.

use super::*;

pub(super) struct FixedPrefixLever;

/// Fewer sessions do not show what a person's begin with.
const SESSIONS_MIN: usize = 5;
/// Fronts that differ by less are the same.
const LARGER: f64 = 1.1;

impl BilledLever for FixedPrefixLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let size = session.fixed_prefix_tokens();
        if session.timeline.is_of_agent() || size == 0 {
            return Vec::new();
        }
        let paid = |request: &RequestBill<'_>| {
            let bill = Bill::of_part(request.list, &request.tokens, [0, size]).1;
            (bill.read + bill.write + bill.uncached).usd()
        };
        let saved = session.requests.iter().map(paid).sum();
        let model = session.requests.first().map_or("", |request| request.profile.name.as_str());
        vec![BilledSaving { saved, times: 1, size, which: model.to_owned(), ..BilledSaving::default() }]
    }

    /// Compares people who use the same model; where the sessions are one person's, his projects.
    fn rows_to_judge(&self, sessions: &[AttributedBill<'_>], savings: &[&[BilledSaving]]) -> Vec<LeverRow> {
        let people = rows_of_larger_prefixes(&sessions.iter().map(|it| it.person).listed(), savings);
        let projects = || rows_of_larger_prefixes(&sessions.iter().map(|it| it.project).listed(), savings);
        if people.is_empty() { projects() } else { people }
    }
}

/// What the sessions of a person or a project with one model begin with.
struct GroupPrefix<'a> {
    group: &'a str,
    model: &'a str,
    median: Tokens,
    sessions: usize,
}

/// Returns the fronts of those who have sessions enough.
fn prefix_sizes_by_group<'a>(groups: &[&'a str], savings: &[&'a [BilledSaving]]) -> Vec<GroupPrefix<'a>> {
    let all = groups.iter().zip(savings);
    let sizes = all.flat_map(|(group, all)| all.iter().map(|own| ((*group, own.which.as_str()), own.size)));
    let mut sizes = grouped(sizes);
    sizes.retain(|(group, _), sizes| !group.is_empty() && sizes.len() >= SESSIONS_MIN);
    let front = |((group, model), mut sizes): ((&'a str, &'a str), Vec<Tokens>)| {
        sizes.sort_unstable();
        GroupPrefix { group, model, median: sizes[sizes.len() / 2], sessions: sizes.len() }
    };
    sizes.into_iter().map(front).listed()
}

/// Returns what the larger fronts cost beyond the smallest of the same model; sessions stand in groups.
fn rows_of_larger_prefixes(groups: &[&str], savings: &[&[BilledSaving]]) -> Vec<LeverRow> {
    let fronts = prefix_sizes_by_group(groups, savings);
    let row = |front: &GroupPrefix<'_>| {
        let alike = fronts.iter().filter(|other| other.model == front.model);
        let least = alike.map(|other| other.median).min()?;
        if front.median as f64 <= LARGER * least as f64 {
            return None;
        }
        let excess = |(group, all): (&&str, &&[BilledSaving])| {
            let own = all.iter().filter(|savings| *group == front.group && savings.which == front.model);
            let larger = |it: &BilledSaving| it.size.saturating_sub(least) as f64 / it.size.max(1) as f64;
            own.map(|savings| savings.saved * larger(savings)).sum()
        };
        let name = last_folder_name(front.group);
        let [least, median] = [least, front.median].map(thousands);
        let sessions = counted(front.sessions, "session");
        let lever = Lever {
            of: format!("{name} {}", front.model),
            title: format!("A smaller start for {name}: {least} tokens, not {median}"),
            about: format!(
                "{sessions} of {name} with {} begin with {median} tokens at the median, before anything is asked: system prompt, tools and memory files",
                front.model
            ),
            whom: Some(name),
            unjudged: Some("what these tools and files bring is yours to judge".to_owned()),
            ..Lever::default()
        };
        let saved = groups.iter().zip(savings).map(excess).listed();
        Some(LeverRow { lever, only: Some(front.group.to_owned()), saved, ..LeverRow::default() })
    };
    fronts.iter().filter_map(row).listed()
}
