//! A prompt as the model reads it, item by item, as far as the load has text.

use std::fmt::Write as _;

use super::words;
use ctxsim_engine::explain::{Explanation, StandingItem};
use ctxsim_engine::projection::State;
use ctxsim_engine::projection::prompt::ShownAs;

/// Returns the prompt of an explained request, each item under a line that names it.
pub fn rendered(it: &Explanation) -> String {
    let mut text = String::new();
    for item in it.items.iter().filter(|it| it.now.tokens > 0) {
        let _ = writeln!(
            text,
            "──── {} · {} · {} · {}\n{}\n",
            item.item,
            words::named(item),
            words::how(item),
            words::tokens(item.now.tokens.into()),
            of_item(item).trim_end_matches('\n')
        );
    }
    if it.beside > 0 {
        let _ = writeln!(text, "──── {} beside the items, without known text", words::tokens(it.beside));
    }
    text
}

/// Returns an item's text in the prompt, or what is known of it.
pub(super) fn of_item(item: &StandingItem) -> String {
    let is_raw = item.now.state == State::Shown && item.now.shown == ShownAs::Raw;
    match &item.text {
        Some(text) => text.clone(),
        None if is_raw => "[no text]".to_owned(),
        None => format!("[{}: {}]", words::tokens(item.now.tokens.into()), words::stood(&item.now)),
    }
}
