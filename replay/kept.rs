//! Texts of a trace that live as long as the program: names of metrics, of which there are few.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Returns a text that is kept. Each is kept once, however many analyses ask for it.
pub(crate) fn kept(text: &str) -> &'static str {
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match all.get(text) {
        Some(known) => known,
        None => {
            let text: &'static str = Box::leak(text.into());
            all.insert(text);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let text = String::from("a counter");
        assert!(std::ptr::eq(kept(&text), kept(&text.clone())));
    }
}
