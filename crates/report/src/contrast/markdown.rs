//! What changes between policies as Markdown: for a review, and as the summary of a workflow run.

use super::{Beside, Contrast};
use ctxsim_base::grid::markdown::Markdown;

/// Returns what changes, with every cause in the open.
pub fn review(contrasts: &[Contrast], beside: &Beside) -> Markdown {
    all(contrasts, beside, false)
}

/// Returns the same as the summary of a workflow run: numbers first, causes after a fold.
pub fn summary(contrasts: &[Contrast], beside: &Beside) -> Markdown {
    all(contrasts, beside, true)
}

fn all(contrasts: &[Contrast], beside: &Beside, is_folded: bool) -> Markdown {
    let mut text = Markdown::default();
    beside.loads.iter().for_each(|it| text.paragraph(it));
    for (nth, it) in contrasts.iter().enumerate() {
        if nth > 0 {
            text.end();
        }
        section(it, is_folded, &mut text);
    }
    if contrasts.is_empty() {
        text.paragraph(&beside.nothing_compared());
    }
    text.list(&beside.heading(), beside.lines());
    text.small(&format!("With {}.", beside.made.words()));
    text
}

fn section(it: &Contrast, is_folded: bool, text: &mut Markdown) {
    text.heading(3, &it.subject());
    text.strong(&it.verdict());
    text.table(&it.grid());
    let causes = |text: &mut Markdown| it.causes().into_iter().for_each(|it| text.list(it.heading, it.lines));
    if is_folded {
        text.folded("Why", causes);
        text.end();
    } else {
        causes(text);
    }
    it.notes.iter().for_each(|it| text.item(it));
}
