//! The prompts of a run over its requests as two rows of blocks, for a terminal.

use super::chart::requests::RunRequests;
use crate::prelude::*;
use ctxsim_base::grid::numbers::short;

/// Blocks by their height in eighths of a line.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The eighths of two rows.
const HIGH: u64 = 16;
/// The most requests that a column each is drawn for, where a terminal has the room.
const COLUMNS: usize = 80;

/// Draws the prompts of the first policy and of one that is advised; nothing where the requests are not those of a single load.
pub(super) fn draw_prompt_sizes(runs: &[RunRequests], advised: Option<&str>, terminal: Terminal) -> String {
    let is_one_load = runs.iter().all(|it| it.scenario == runs[0].scenario && it.profile == runs[0].profile);
    let Some(first) = runs.first().filter(|_| is_one_load) else { return String::new() };
    let own = |it: &&RunRequests| Some(it.policy.as_str()) == advised && it.policy != first.policy;
    let shown = [Some(first), runs.iter().find(own)].into_iter().flatten().listed();
    let highest = shown.iter().flat_map(|it| prompt_sizes(it)).max().unwrap_or_default();
    if highest == 0 || first.sent.len() < 2 {
        return String::new();
    }
    let title = format!("Prompt by request, up to {} tokens", thousands(highest));
    let mut text = terminal.paint(Tint::Strong, &title) + "\n";
    for it in shown {
        let head = format!("{}, {}", it.policy, counted(it.sent.len(), "request"));
        text += &format!("{}\n", terminal.paint(Tint::Faint, &head));
        let room = terminal.width.unwrap_or(COLUMNS).saturating_sub(AXIS).clamp(1, COLUMNS);
        let sizes = largest_per_column(&prompt_sizes(it).listed(), room).into_iter();
        let heights = sizes.map(|it| it * HIGH / highest).listed();
        let row = |low: u64| {
            heights.iter().map(|it| BLOCKS[it.saturating_sub(low).min(8) as usize]).collect::<String>()
        };
        let last = short(prompt_sizes(it).max().unwrap_or_default());
        for (line, label) in [(row(8), last.as_str()), (row(0), "")] {
            text += format!("  {line} {label}").trim_end();
            text.push('\n');
        }
    }
    text
}

/// The room of what stands beside the blocks.
const AXIS: usize = 12;

/// Returns the prompt sizes of a run's requests.
fn prompt_sizes(run: &RunRequests) -> impl Iterator<Item = Tokens> + '_ {
    run.sent.iter().map(|it| it.tokens[..3].iter().sum())
}

/// Returns so many columns at most: of the requests that share one, the largest prompt.
fn largest_per_column(sizes: &[Tokens], max_columns: usize) -> Vec<Tokens> {
    let n = sizes.len().min(max_columns);
    let part = |nth: usize| &sizes[nth * sizes.len() / n..((nth + 1) * sizes.len() / n)];
    (0..n).map(|it| part(it).iter().copied().max().unwrap_or_default()).listed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_shows_the_largest_of_the_prompts_that_share_it() {
        assert_eq!(largest_per_column(&[1, 5, 2, 3], 2), [5, 3]);
        assert_eq!(largest_per_column(&[1, 5], 80), [1, 5]);
        assert_eq!(largest_per_column(&[], 80), Vec::<Tokens>::new());
    }
}
