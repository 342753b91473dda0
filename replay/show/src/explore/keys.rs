//! Keys: what each does to the state.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::state::{Below, METRICS, Relative, State};
use crate::commands::tree::Sort;

/// All keys, as the help shows them.
pub(super) const HELP: [(&str, &str); 19] = [
    ("↑ ↓ k j", "one row up, down"),
    ("PgUp PgDn Home End g G", "a page, first row, last row"),
    ("→ l", "open, then go in"),
    ("← h", "close, then go out"),
    ("Enter", "open or close"),
    ("Space", "select besides others; Esc: this one only"),
    ("Tab Shift-Tab", "next pane, pane before"),
    ("1 2 3", "metrics, call tree, locations"),
    ("/ n N", "search a name, next, the one before"),
    ("e", "call paths alone, or with those below"),
    ("%", "seconds, share of the root metric, share of the selected one"),
    ("s", "order of this pane: as in the report, by value, by name"),
    ("t", "time strip of the selected locations"),
    ("w", "severest waits of the selection"),
    ("[ ]", "scroll the text below"),
    ("?", "this help"),
    ("q Ctrl-C", "quit"),
    ("", ""),
    ("", "What is selected in a pane decides the values in the panes right of it."),
];

/// Rows that a key moves at most: more than there are.
const ALL: isize = isize::MAX / 4;

/// Does what a key says.
pub(super) fn press(state: &mut State<'_>, key: KeyEvent) {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        // In raw mode the terminal makes no signal of it.
        state.is_over |= matches!(key.code, KeyCode::Char('c' | 'd'));
        return;
    }
    if state.search.is_typed {
        return search(state, key.code);
    }
    state.message.clear();
    if std::mem::take(&mut state.is_help) {
        state.is_over |= key.code == KeyCode::Char('q');
        return;
    }
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => move_by(state, -1),
        KeyCode::Down | KeyCode::Char('j') => move_by(state, 1),
        KeyCode::PageUp => move_by(state, -page(state)),
        KeyCode::PageDown => move_by(state, page(state)),
        KeyCode::Home | KeyCode::Char('g') => move_by(state, -ALL),
        KeyCode::End | KeyCode::Char('G') => move_by(state, ALL),
        KeyCode::Right | KeyCode::Char('l') => {
            let order = state.order(state.focus);
            state.panes[state.focus].go_in(&order);
        }
        KeyCode::Left | KeyCode::Char('h') => state.panes[state.focus].go_out(),
        KeyCode::Enter => state.panes[state.focus].toggle(),
        KeyCode::Char(' ') => state.mark(),
        KeyCode::Esc => state.panes[state.focus].unmark(),
        KeyCode::Tab => state.focus = (state.focus + 1) % state.panes.len(),
        KeyCode::BackTab => state.focus = (state.focus + state.panes.len() - 1) % state.panes.len(),
        KeyCode::Char('1') => state.focus = 0,
        KeyCode::Char('2') => state.focus = 1,
        KeyCode::Char('3') => state.focus = 2,
        KeyCode::Char('/') => {
            state.search.text.clear();
            state.search.is_typed = true;
            return;
        }
        KeyCode::Char('n') => find(state, true, false),
        KeyCode::Char('N') => find(state, false, false),
        KeyCode::Char('e') => state.is_exclusive = !state.is_exclusive,
        KeyCode::Char('%') => {
            state.relative = match state.relative {
                Relative::Absolute => Relative::OfRoot,
                Relative::OfRoot => Relative::OfSelected,
                Relative::OfSelected => Relative::Absolute,
            };
        }
        KeyCode::Char('s') => sort(state),
        KeyCode::Char('t') => show_below(state, Below::Strip),
        KeyCode::Char('w') => show_below(state, Below::Waits),
        KeyCode::Char('[') => {
            state.skipped = state.skipped.saturating_sub(1);
            return;
        }
        KeyCode::Char(']') => {
            state.skipped += 1;
            return;
        }
        KeyCode::Char('?') => state.is_help = true,
        KeyCode::Char('q') => state.is_over = true,
        _ => state.message = "? shows all keys".into(),
    }
    state.skipped = 0;
}

fn page(state: &State<'_>) -> isize {
    isize::try_from(state.panes[state.focus].height).unwrap_or(1).max(1)
}

fn move_by(state: &mut State<'_>, by: isize) {
    let order = state.order(state.focus);
    state.panes[state.focus].move_by(&order, by);
}

/// Shows something below the panes, or the explanation if it is shown already.
fn show_below(state: &mut State<'_>, below: Below) {
    state.below = if state.below == below { Below::Explanation } else { below };
}

fn sort(state: &mut State<'_>) {
    if state.focus == METRICS {
        state.message = "metrics stay in the order of the report".into();
        return;
    }
    let pane = &mut state.panes[state.focus];
    let (sort, name) = match pane.sort {
        Sort::Order => (Sort::Value, "by value"),
        Sort::Value => (Sort::Name, "by name"),
        Sort::Name => (Sort::Order, "as in the report"),
    };
    pane.sort = sort;
    state.message = format!("order: {name}");
}

/// A key while a text is typed that is searched for.
fn search(state: &mut State<'_>, key: KeyCode) {
    match key {
        KeyCode::Enter | KeyCode::Esc => {
            state.search.is_typed = false;
            if key == KeyCode::Esc {
                state.search.text.clear();
                state.message.clear();
            }
            return;
        }
        KeyCode::Backspace => {
            if state.search.text.pop().is_none() {
                state.search.is_typed = false;
            }
        }
        KeyCode::Char(letter) => state.search.text.push(letter),
        _ => return,
    }
    state.message.clear();
    find(state, true, true);
}

fn find(state: &mut State<'_>, is_forward: bool, also_here: bool) {
    if state.search.text.is_empty() {
        return;
    }
    let order = state.order(state.focus);
    let text = state.search.text.clone();
    if !state.panes[state.focus].find(&order, &text, is_forward, also_here) {
        state.message = format!("no name has {text:?}");
    }
}
