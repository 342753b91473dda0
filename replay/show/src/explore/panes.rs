//! The screen: three panes beside each other, what is selected below them, and a line for messages.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style as Look};

use super::below;
use super::keys::HELP;
use super::pane::Row;
use super::state::{Below, CALLS, LOCATIONS, METRICS, State};
use crate::output::names::{cut, cut_location, width};
use crate::output::numbers::JOINT;
use crate::output::table::{content, decimals};
use crate::output::text::lines;
use crate::output::{Cell, Document, Line, Style, numbers};
use crate::values::Unit;

/// The least columns that three panes need; with fewer only the one with the focus is shown.
const THREE: u16 = 60;

/// Rows from which on something is shown below the panes, and the most of it.
const HIGH: u16 = 10;
const MOST_BELOW: u16 = 14;

/// Columns in front of a value: the cursor and the mark.
const MARGIN: usize = 2;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State<'_>) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    state.screen.width = usize::from(area.width);
    state.strip_columns = below::strip_columns(state.screen.width);
    if state.is_help {
        return draw_help(frame.buffer_mut(), area, state);
    }
    let of_below = if area.height >= HIGH { (area.height * 2 / 5).min(MOST_BELOW) } else { 0 };
    let of_panes = area.height.saturating_sub(of_below + 1).max(1);
    let top = Rect { height: of_panes, ..area };
    let buffer = frame.buffer_mut();
    draw_panes(buffer, top, state);
    if of_below > 0 {
        draw_below(buffer, Rect { y: area.y + of_panes, height: of_below, ..area }, state);
    }
    if area.height > of_panes + of_below {
        draw_status(buffer, Rect { y: area.bottom() - 1, height: 1, ..area }, state);
    }
}

fn draw_panes(buffer: &mut Buffer, area: Rect, state: &mut State<'_>) {
    if area.width < THREE {
        return draw_pane(buffer, area, state, state.focus);
    }
    // Names of call paths are the longest, those of locations the shortest.
    let of_metrics = area.width * 32 / 100;
    let of_locations = area.width * 28 / 100;
    let widths = [of_metrics, area.width - of_metrics - of_locations - 2, of_locations];
    let mut x = area.x;
    for (pane, columns) in widths.into_iter().enumerate() {
        draw_pane(buffer, Rect { x, width: columns, ..area }, state, pane);
        x += columns;
        if pane < LOCATIONS {
            let sign = if state.screen.is_unicode { "│" } else { "|" };
            (area.top()..area.bottom()).for_each(|y| put(buffer, (x, y), 1, sign, look(Style::Dim, state)));
            x += 1;
        }
    }
}

/// The title of a pane: what it shows, and for which selection.
fn title(state: &State<'_>, pane: usize) -> String {
    let name = ["Metrics", "Calls", "Locations"][pane];
    let condition = match pane {
        METRICS => return name.to_owned(),
        CALLS => METRICS,
        _ => CALLS,
    };
    let selected = match condition {
        METRICS => state.selected_metrics(),
        _ => state.panes[condition].selection(),
    };
    let names: Vec<&str> = selected.iter().map(|&node| state.panes[condition].name(node)).collect();
    format!("{name}: {}", names.join(" + "))
}

fn draw_pane(buffer: &mut Buffer, area: Rect, state: &mut State<'_>, number: usize) {
    let is_focus = state.focus == number;
    let sign = match (is_focus, state.screen.is_unicode) {
        (true, true) => "▶ ",
        (true, false) => "> ",
        _ => "  ",
    };
    let columns = usize::from(area.width);
    let text =
        cut(&state.screen.shown(&title(state, number)), columns.saturating_sub(2), state.screen.dots());
    let head = Look::new().add_modifier(if is_focus {
        Modifier::BOLD | Modifier::UNDERLINED
    } else {
        Modifier::UNDERLINED
    });
    put(buffer, (area.x, area.y), columns, &format!("{sign}{text:columns$}"), head);
    let order = state.order(number);
    let rows = state.panes[number].rows(&order);
    let shown = state.panes[number].window(&rows, usize::from(area.height.saturating_sub(1)));
    let rows = &rows[shown];
    let cells = cells(state, number, rows);
    let decimals = decimals_of(&cells);
    let values: Vec<Line> = cells.iter().map(|cell| content(cell, decimals, &state.screen)).collect();
    let of_values = values.iter().map(columns_of).max().unwrap_or(0);
    for (y, (row, value)) in (area.y + 1..).zip(rows.iter().zip(&values)) {
        let place = Rect { y, height: 1, ..area };
        draw_row(buffer, place, state, number, *row, (value, of_values));
    }
}

/// Decimals of seconds for all rows: three digits count of the largest value, and of the others if most are less than a hundredth
/// of it, as the ranks of a large machine are.
fn decimals_of(cells: &[Cell]) -> usize {
    let mut seconds: Vec<f64> = cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Sparse(value, Unit::Seconds) if *value != 0.0 => Some(value.abs()),
            _ => None,
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let least = decimals(cells.iter());
    let of_middle = seconds.get(seconds.len() / 2).map_or(0, |&middle| numbers::decimals(middle));
    if of_middle > least + 1 { of_middle.min(least + 3) } else { least }
}

/// Values of some rows of a pane.
fn cells(state: &State<'_>, pane: usize, rows: &[Row]) -> Vec<Cell> {
    let wait = || Cell::Obstacle("…");
    if pane == METRICS {
        let cell = |row: &Row| match state.total(row.node) {
            Some(Ok(total)) => state.cell(total, &state.metrics[row.node]),
            Some(Err(why)) => Cell::Obstacle(why),
            None => wait(),
        };
        return rows.iter().map(cell).collect();
    }
    let values = if pane == CALLS { state.values_of_calls() } else { state.values_of_locations() };
    let Some(quantity) = state.quantity() else { return rows.iter().map(|_| Cell::Nothing).collect() };
    let cell = |row: &Row| match &values {
        Some(Ok(values)) => match values.get(row.node) {
            Some(Some(value)) => state.cell(*value, quantity),
            _ => Cell::Obstacle("unknown"),
        },
        Some(Err(why)) => Cell::Obstacle(why),
        None => wait(),
    };
    rows.iter().map(cell).collect()
}

/// A row: cursor, mark, value, lines of the tree, name. Numbers are whole as long as there is any room for them.
fn draw_row(
    buffer: &mut Buffer,
    area: Rect,
    state: &State<'_>,
    pane: usize,
    row: Row,
    (value, of_values): (&Line, usize),
) {
    let tree = &state.panes[pane];
    let is_cursor = tree.cursor() == row.node;
    let is_selected = tree.is_marked(row.node);
    let screen = &state.screen;
    let columns = usize::from(area.width);
    let mut name_look = Look::new();
    if is_cursor {
        let more = if state.focus == pane { Modifier::REVERSED } else { Modifier::BOLD };
        name_look = name_look.add_modifier(more);
    }
    let cursor = if is_cursor { ">" } else { " " };
    let mark = if is_selected { "*" } else { " " };
    put(buffer, (area.x, area.y), columns, &format!("{cursor}{mark}"), name_look);
    let at = MARGIN + of_values.saturating_sub(columns_of(value));
    let mut x = area.x.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
    for span in &value.spans {
        let text = span.text.replace(JOINT, " ");
        put(buffer, (x, area.y), usize::from(area.right().saturating_sub(x)), &text, look(span.style, state));
        x = x.saturating_add(u16::try_from(width(&text)).unwrap_or(u16::MAX));
    }
    let room = columns.saturating_sub(MARGIN + of_values + 1);
    let [open, closed] = if screen.is_unicode { ["▾", "▸"] } else { ["-", "+"] };
    let sign = match tree.is_open(row.node) {
        Some(true) => open,
        Some(false) => closed,
        None => " ",
    };
    // Deep rows keep half of the room for their name; the depth is said instead of drawn.
    let branch = match 2 * row.depth <= room / 2 {
        true => format!("{}{sign} ", "  ".repeat(row.depth)),
        false => format!("{}{} {sign} ", screen.dots(), row.depth),
    };
    let name = screen.shown(tree.name(row.node));
    let rest = room.saturating_sub(width(&branch));
    let name = match pane {
        LOCATIONS => cut_location(&name, rest, screen.dots()),
        _ => cut(&name, rest, screen.dots()),
    };
    let x = area.x.saturating_add(u16::try_from(columns - room).unwrap_or(u16::MAX));
    put(buffer, (x, area.y), room, &branch, Look::new());
    let x = x.saturating_add(u16::try_from(width(&branch)).unwrap_or(u16::MAX));
    put(buffer, (x, area.y), rest, &name, name_look);
}

fn draw_below(buffer: &mut Buffer, area: Rect, state: &mut State<'_>) {
    let (title, document) = below::contents(state);
    let text = lines(&document, &state.screen);
    let height = usize::from(area.height.saturating_sub(1));
    state.skipped = state.skipped.min(text.len().saturating_sub(height));
    let is_more = text.len() > state.skipped + height;
    let sign = if state.screen.is_unicode { "─" } else { "-" };
    let more = if is_more { " (more: ])" } else { "" };
    let columns = usize::from(area.width);
    let title =
        cut(&state.screen.shown(&format!("{sign}{sign} {title}{more} ")), columns, state.screen.dots());
    let filler = sign.repeat(columns.saturating_sub(width(&title)));
    put(buffer, (area.x, area.y), columns, &(title + &filler), look(Style::Dim, state));
    for (y, line) in (area.y + 1..area.bottom()).zip(text.iter().skip(state.skipped)) {
        put_line(buffer, (area.x, y), columns, line, state);
    }
}

fn draw_status(buffer: &mut Buffer, area: Rect, state: &State<'_>) {
    let columns = usize::from(area.width);
    let text = if state.search.is_typed {
        let not = if state.message.is_empty() { String::new() } else { format!("  ({})", state.message) };
        format!("/{}_{not}", state.search.text)
    } else if state.message.is_empty() {
        let which = if state.is_exclusive { "call paths alone" } else { "with those below" };
        let below = match state.below {
            Below::Explanation => "",
            Below::Strip => " · time strip",
            Below::Waits => " · waits",
        };
        format!("? help · q quit · {} · {which}{below}", state.unit_name())
    } else {
        state.message.clone()
    };
    let text = cut(&state.screen.shown(&text), columns, state.screen.dots());
    put(buffer, (area.x, area.y), columns, &text, look(Style::Dim, state));
}

fn draw_help(buffer: &mut Buffer, area: Rect, state: &State<'_>) {
    let mut document = Document::new("explore");
    document.text(Line::styled("Keys", Style::Strong));
    let of_keys = HELP.iter().map(|(keys, _)| width(keys)).max().unwrap_or(0);
    for (keys, what) in HELP {
        let filler = " ".repeat(of_keys + 2 - width(keys));
        let line = match keys {
            "" => Line::from(what),
            _ => Line::styled(keys, Style::Strong).and(filler, Style::Plain).and(what, Style::Plain),
        };
        document.text(line);
    }
    document.text(Line::styled("Any key goes back.", Style::Dim));
    let text = lines(&document, &state.screen);
    for (y, line) in (area.y..area.bottom()).zip(&text) {
        put_line(buffer, (area.x, y), usize::from(area.width), line, state);
    }
}

/// Puts a line with its styles.
fn put_line(buffer: &mut Buffer, (x, y): (u16, u16), columns: usize, line: &Line, state: &State<'_>) {
    let mut at = line.indent;
    for span in &line.spans {
        if at >= columns {
            return;
        }
        let text = span.text.replace(JOINT, " ");
        let x = x.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
        put(buffer, (x, y), columns - at, &text, look(span.style, state));
        at += width(&text);
    }
}

/// Puts a text, as far as there are so many columns.
fn put(buffer: &mut Buffer, (x, y): (u16, u16), columns: usize, text: &str, look: Look) {
    let area = buffer.area;
    if columns > 0 && (area.left()..area.right()).contains(&x) && (area.top()..area.bottom()).contains(&y) {
        buffer.set_stringn(x, y, text, columns.min(usize::from(area.right() - x)), look);
    }
}

fn columns_of(line: &Line) -> usize {
    line.spans.iter().map(|span| width(&span.text)).sum()
}

/// How a style looks: colours only where there are any.
fn look(style: Style, state: &State<'_>) -> Look {
    let plain = Look::new();
    if !state.screen.is_coloured {
        return if style == Style::Strong { plain.add_modifier(Modifier::BOLD) } else { plain };
    }
    match style {
        Style::Plain => plain,
        Style::Strong => plain.add_modifier(Modifier::BOLD),
        Style::Dim => plain.add_modifier(Modifier::DIM),
        Style::Bad | Style::Wait => plain.fg(Color::Red),
        Style::Good | Style::Work => plain.fg(Color::Green),
        Style::Warning => plain.fg(Color::Yellow),
        Style::Call => plain.fg(Color::Cyan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_beside_a_large_one_have_digits_that_count() {
        let of = |values: &[f64]| {
            let cells = values.iter().map(|&value| Cell::Sparse(value, Unit::Seconds));
            decimals_of(&cells.collect::<Vec<_>>())
        };
        assert_eq!((of(&[0.24, 0.03, 0.07, 0.07]), of(&[])), (3, 3));
        assert_eq!(of(&[0.611, 0.0012, 0.0011, 0.0012, 0.0]), 5);
        assert_eq!(of(&[70.0, 1e-9, 1e-9]), 6, "not for all digits");
    }
}
