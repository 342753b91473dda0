//! Changes of a rule's condition that an example should notice: numbers half and twice as large, comparisons turned round.

use std::ops::Range;

use super::raw::RawRule;
use crate::lex::{TokenKind, token};
use crate::source::{Place, Text};

/// Comparisons with their opposites.
const OPPOSITES: [(&str, &str); 6] =
    [("<", ">="), ("<=", ">"), ("==", "!="), ("!=", "=="), (">=", "<"), (">", "<=")];

/// A change: where, in words, and the rule with it.
pub(super) struct Change {
    pub(super) place: Place,
    pub(super) what: String,
    pub(super) raw: RawRule,
}

/// All changes of `where`, of `when`, and of what `when` uses of `let`.
pub(super) fn of_rule(raw: &RawRule) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |text: &Text, put: &dyn Fn(&mut RawRule, Text)| {
        for (at, what, new) in of_text(&text.text) {
            let mut changed = raw.clone();
            put(&mut changed, text.changed(new));
            changes.push(Change { place: text.place(at), what, raw: changed });
        }
    };
    if let Some(filter) = &raw.filter {
        add(filter, &|raw, text| raw.filter = Some(text));
    }
    let Some(when) = raw.finds.get("when") else { return changes };
    for at in used(raw, when) {
        add(&raw.lets[at].1, &|raw, text| raw.lets[at].1 = text);
    }
    add(when, &|raw, text| {
        raw.finds.insert("when", text);
    });
    changes
}

/// Values of `let` that a text uses, be it by others: one uses those before it only.
fn used(raw: &RawRule, text: &Text) -> Vec<usize> {
    let mut names = self::names(&text.text);
    let mut used = Vec::new();
    for (at, (name, text)) in raw.lets.iter().enumerate().rev() {
        if names.contains(&name.text) {
            used.push(at);
            names.extend(self::names(&text.text));
        }
    }
    used
}

/// Words of a text with their places; up to the first that is none.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, TokenKind)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let word = token(text, at).ok().filter(|word| word.kind != TokenKind::End)?;
        at = word.at.end;
        Some((word.at, word.kind))
    })
}

fn names(text: &str) -> Vec<String> {
    let name = |(_, kind)| if let TokenKind::Name(name) = kind { Some(name) } else { None };
    words(text).filter_map(name).collect()
}

/// All changes of an expression: where, in words, and the changed one.
fn of_text(text: &str) -> Vec<(usize, String, String)> {
    let mut changes = Vec::new();
    for (at, kind) in words(text) {
        let word = &text[at.clone()];
        let mut add = |new: &str, what: String| {
            changes.push((at.start, what, format!("{}{new}{}", &text[..at.start], &text[at.end..])));
        };
        match kind {
            TokenKind::Number(value, _) if value != 0.0 => {
                let digits = word.find(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'));
                let (number, unit) = word.split_at(digits.unwrap_or(word.len()));
                let Ok(number) = number.parse::<f64>() else { continue };
                add(&format!("{}{unit}", number / 2.0), format!("{word:?} were half as much"));
                add(&format!("{}{unit}", number * 2.0), format!("{word:?} were twice as much"));
            }
            TokenKind::Word("not") => add("", "\"not\" were not there".to_owned()),
            TokenKind::Word(sign) => {
                if let Some((_, opposite)) = OPPOSITES.iter().find(|known| known.0 == sign) {
                    add(opposite, format!("{sign:?} were {opposite:?}"));
                }
            }
            _ => {}
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_halved_and_doubled_comparisons_turned_and_texts_left_alone() {
        let changed: Vec<String> =
            of_text("not a and b >= 5 ms and c == \"> 1\" and d > 0").into_iter().map(|it| it.2).collect();
        let expected = [
            " a and b >= 5 ms and c == \"> 1\" and d > 0",
            "not a and b < 5 ms and c == \"> 1\" and d > 0",
            "not a and b >= 2.5 ms and c == \"> 1\" and d > 0",
            "not a and b >= 10 ms and c == \"> 1\" and d > 0",
            "not a and b >= 5 ms and c != \"> 1\" and d > 0",
            "not a and b >= 5 ms and c == \"> 1\" and d <= 0",
        ];
        assert_eq!(changed, expected);
    }
}
