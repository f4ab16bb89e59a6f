//! A prompt as the model reads it, item by item, as far as a load has text.

use std::fmt::Write as _;

use super::words;
use crate::explain::{Explanation, Standing};
use crate::projection::State;
use crate::projection::prompt::Shown;
use crate::trace::Texts;

/// Returns the prompt of an explained request: what stands in it, each under a line that names it.
#[must_use]
pub fn rendered(it: &Explanation, texts: &Texts) -> String {
    let mut text = String::new();
    for item in it.items.iter().filter(|it| it.now.tokens > 0) {
        let _ = writeln!(
            text,
            "──── {} · {} · {} · {}\n{}\n",
            item.item,
            words::named(item),
            words::how(item),
            words::tokens(item.now.tokens.into()),
            of_item(item, texts).trim_end_matches('\n')
        );
    }
    if it.beside > 0 {
        let _ =
            writeln!(text, "──── {} beside the items, of which no text is known", words::tokens(it.beside));
    }
    text
}

/// Returns what stands for an item: its text where it is shown as it came, else what is known of what stands there.
pub(super) fn of_item(item: &Standing, texts: &Texts) -> String {
    if item.now.state == State::Shown && item.now.shown == Shown::Raw {
        return texts.of(item.item).unwrap_or("[no text]").to_owned();
    }
    format!("[{}: {}]", words::tokens(item.now.tokens.into()), words::stood(&item.now))
}
