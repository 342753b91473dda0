//! Tables as text: numbers at their full width, names in what room is left.

use super::document::{Cell, Shown, Table};
use super::line::{Line, Span, Style};
use super::names::{cut, cut_location, least_of_location, width};
use super::numbers;
use super::screen::Screen;
use super::text::{line_width, right, shown};
use crate::values::Unit;

/// Spaces between columns.
const GAP: usize = 2;

/// The least room for names beside numbers. With less, each number stands in a line of its own.
const LEAST_NAME: usize = 9;

/// The same beside titles, which are not cut.
const LEAST_BESIDE_TITLE: usize = 7;

/// Columns of a line with a number, where each stands in a line of its own: farther away, titles are hard to find.
const WIDEST_LINE: usize = 60;

/// The most room for the number of a location before its name is cut like others.
const MOST_LOCATION: usize = 24;

/// Columns of the longest bar, and of a bar that says something.
const LONGEST_BAR: usize = 30;
const SHORTEST_BAR: usize = 5;

/// A table as lines; none without rows.
pub(super) fn render(table: &Table, screen: &Screen) -> Vec<Line> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let mut columns: Vec<TextColumn<'_>> = (0..table.columns.len())
        .filter(|&at| table.columns[at].shown != Shown::DataOnly)
        .map(|at| TextColumn::new(table, at, screen))
        .collect();
    fit_bars(&mut columns, screen);
    let fixed: usize = columns.iter().filter(|column| !column.is_name).map(|column| column.width).sum();
    let names: Vec<&TextColumn<'_>> = columns.iter().filter(|column| column.is_name).collect();
    let gaps = GAP * columns.len().saturating_sub(1);
    let least: usize = names.iter().map(|column| column.least).sum();
    if fixed + gaps + least > screen.width {
        return stacked(table, &columns, screen);
    }
    let rooms = shared(&names, screen.width - fixed - gaps);
    let mut lines = Vec::new();
    if columns.iter().any(|column| !column.title.is_empty()) {
        lines.push(row_line(&columns, &rooms, screen, None));
    }
    lines.extend((0..table.rows.len()).map(|row| row_line(&columns, &rooms, screen, Some(row))));
    lines
}

/// A column of a table as text, without any limit of its width.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Written {
    /// Its title; may be empty.
    pub(crate) title: String,
    /// Whether it has names, or words of ours, and no numbers.
    pub(crate) is_text: bool,
    /// Its cells.
    pub(crate) cells: Vec<Line>,
}

/// The columns of a table that people see, as text without limits: for pages, which break lines themselves. Bars are left out.
pub(crate) fn written(table: &Table) -> Vec<Written> {
    let screen = Screen { width: usize::MAX, is_coloured: false, is_unicode: true };
    let shown = (0..table.columns.len()).filter(|&at| table.columns[at].shown != Shown::DataOnly);
    let columns = shown.map(|at| TextColumn::new(table, at, &screen));
    let is_bar = |column: &TextColumn<'_>| column.cells.iter().any(|cell| matches!(cell, Cell::Bar(_)));
    columns
        .filter(|column| !is_bar(column))
        .map(|column| Written {
            is_text: column.is_name || column.cells.iter().all(|cell| matches!(cell, Cell::Words(_))),
            cells: column.cells.iter().map(|cell| column.content(cell, &screen)).collect(),
            title: column.title,
        })
        .collect()
}

/// Makes bars as long as there is room beside everything else, or leaves them out.
fn fit_bars(columns: &mut Vec<TextColumn<'_>>, screen: &Screen) {
    let is_bar = |column: &TextColumn<'_>| column.cells.iter().any(|cell| matches!(cell, Cell::Bar(_)));
    let others: usize =
        columns.iter().filter(|column| !is_bar(column)).map(|column| column.width + GAP).sum();
    let room = screen.width.saturating_sub(others).min(LONGEST_BAR);
    columns.retain(|column| !is_bar(column) || room >= SHORTEST_BAR);
    for column in columns.iter_mut().filter(|column| is_bar(column)) {
        column.width = room;
    }
}

/// A bar of at most so many columns.
fn bar(share: f64, columns: usize, screen: &Screen) -> Line {
    let sign = if screen.is_unicode { "▇" } else { "#" };
    #[expect(clippy::cast_precision_loss, reason = "columns of a screen")]
    let length = (share.clamp(0.0, 1.0) * columns as f64).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the columns")]
    Line::from(sign.repeat(length as usize))
}

/// Decimals of the seconds in a column, the same for all of its rows.
pub(crate) fn decimals<'c>(cells: impl Iterator<Item = &'c Cell>) -> usize {
    let seconds = cells.filter_map(|cell| match cell {
        Cell::Number(value, Unit::Seconds)
        | Cell::Sparse(value, Unit::Seconds)
        | Cell::Signed(value, Unit::Seconds, _) => Some(value.abs()),
        _ => None,
    });
    numbers::decimals(seconds.fold(0.0, f64::max))
}

/// What a cell other than a node has to show, seconds with so many decimals.
pub(crate) fn content(cell: &Cell, decimals: usize, screen: &Screen) -> Line {
    match cell {
        Cell::Nothing | Cell::Sparse(0.0, _) => Line::styled(screen.shown("·"), Style::Dim),
        Cell::Obstacle(why) => Line::styled(screen.shown(why), Style::Dim),
        Cell::Name(name) | Cell::Title(name) | Cell::Location(name) | Cell::Node { name, .. } => {
            Line::from(screen.shown(name))
        }
        Cell::Words(line) => shown(line, screen),
        Cell::Number(value, unit) | Cell::Sparse(value, unit) => {
            Line::from(screen.shown(&numbers::of_unit(*value, unit, decimals)))
        }
        Cell::Signed(value, unit, style) => {
            Line::styled(screen.shown(&numbers::signed(*value, unit, decimals)), *style)
        }
        Cell::Change(change, style) => Line::styled(screen.shown(&numbers::change(*change)), *style),
        Cell::Share(share) => Line::from(screen.shown(&numbers::share(*share))),
        Cell::Ratio(ratio) => Line::from(format!("{ratio:.2}")),
        Cell::Integer(number) => Line::from(number.to_string()),
        Cell::Bar(share) => bar(*share, LONGEST_BAR, screen),
        Cell::Data(_) => Line::default(),
    }
}

/// A column that text shows.
struct TextColumn<'t> {
    title: String,
    cells: Vec<&'t Cell>,
    is_name: bool,
    /// Decimals of seconds, the same for all rows.
    decimals: usize,
    /// Columns that the widest cell takes.
    width: usize,
    /// Columns that it takes with its names cut.
    least: usize,
}

impl<'t> TextColumn<'t> {
    fn new(table: &'t Table, at: usize, screen: &Screen) -> TextColumn<'t> {
        let cells: Vec<&Cell> = table.rows.iter().filter_map(|row| row.get(at)).collect();
        let is_name =
            cells.iter().any(|cell| matches!(cell, Cell::Name(_) | Cell::Location(_) | Cell::Node { .. }));
        let is_title = cells.iter().any(|cell| matches!(cell, Cell::Title(_)));
        let decimals = decimals(cells_of_group(table, at));
        let title = screen.shown(&table.columns[at].title);
        let is_name = is_name || is_title;
        let mut column = TextColumn { title, cells, is_name, decimals, width: 0, least: 0 };
        let widths = (0..column.cells.len()).map(|row| column.content_width(row, screen));
        column.width = widths.max().unwrap_or(0).max(width(&column.title));
        let locations = column.cells.iter().map(|cell| match cell {
            Cell::Location(name) => least_of_location(&screen.shown(name), screen.dots()),
            _ => 0,
        });
        let has_title = table.rows.iter().flatten().any(|cell| matches!(cell, Cell::Title(_)));
        let least_name = if has_title { LEAST_BESIDE_TITLE } else { LEAST_NAME };
        let least = locations.max().unwrap_or(0).clamp(least_name, MOST_LOCATION);
        column.least = if is_title { column.width } else { column.width.min(least) };
        column
    }

    fn content_width(&self, row: usize, screen: &Screen) -> usize {
        match self.cells[row] {
            Cell::Node { above, is_followed, name } => {
                let depth = is_followed.map_or(0, |_| 3 * (above.len() + 1));
                depth + width(&screen.shown(name))
            }
            cell => line_width(&self.content(cell, screen)),
        }
    }

    fn content(&self, cell: &Cell, screen: &Screen) -> Line {
        content(cell, self.decimals, screen)
    }

    /// Whether contents end where the column does.
    fn is_right(&self) -> bool {
        !self.is_name && !self.cells.iter().any(|cell| matches!(cell, Cell::Words(_) | Cell::Bar(_)))
    }
}

/// The cells of a column and of those of its group.
fn cells_of_group(table: &Table, at: usize) -> impl Iterator<Item = &Cell> {
    let group = table.columns[at].group;
    let is_own = move |other: &usize| *other == at || group.is_some() && table.columns[*other].group == group;
    let columns = (0..table.columns.len()).filter(is_own);
    columns.flat_map(|other| table.rows.iter().filter_map(move |row| row.get(other)))
}

/// The room of each column of names: what they need, or equal parts for the widest ones, but never less than their least.
fn shared(names: &[&TextColumn<'_>], room: usize) -> Vec<usize> {
    let widths = |most: usize| names.iter().map(move |column| column.width.min(most.max(column.least)));
    let most = (0..=room).rev().find(|&most| widths(most).sum::<usize>() <= room).unwrap_or(0);
    let mut shared: Vec<usize> = widths(most).collect();
    let mut left = room.saturating_sub(shared.iter().sum());
    for (width, column) in shared.iter_mut().zip(names) {
        if *width < column.width && left > 0 {
            *width += 1;
            left -= 1;
        }
    }
    shared
}

/// A row, or the titles.
fn row_line(columns: &[TextColumn<'_>], rooms: &[usize], screen: &Screen, row: Option<usize>) -> Line {
    let mut rooms = rooms.iter();
    let mut line = Line::default();
    for (at, column) in columns.iter().enumerate() {
        let room = match column.is_name {
            true => rooms.next().copied().unwrap_or(column.width),
            false => column.width,
        };
        if at > 0 {
            line = line.and(" ".repeat(GAP), Style::Plain);
        }
        let content = match row {
            None => Line::styled(cut(&column.title, room, screen.dots()), Style::Dim),
            Some(row) => fitted(column, row, room, screen),
        };
        let filler =
            Span { text: " ".repeat(room.saturating_sub(line_width(&content))), style: Style::Plain };
        if column.is_right() {
            line.spans.push(filler);
            line.spans.extend(content.spans);
        } else {
            line.spans.extend(content.spans);
            line.spans.push(filler);
        }
    }
    line
}

/// The content of a cell; a name is cut to the room.
fn fitted(column: &TextColumn<'_>, row: usize, room: usize, screen: &Screen) -> Line {
    let cell = column.cells[row];
    match cell {
        Cell::Node { above, is_followed, name } => {
            let shown = screen.shown(name);
            let branch = branch(above, *is_followed, room, width(&shown), screen);
            let name = cut(&shown, room.saturating_sub(width(&branch)), screen.dots());
            Line::styled(branch, Style::Dim).and(name, Style::Plain)
        }
        Cell::Name(name) | Cell::Title(name) => Line::from(cut(&screen.shown(name), room, screen.dots())),
        Cell::Location(name) => Line::from(cut_location(&screen.shown(name), room, screen.dots())),
        Cell::Bar(share) => bar(*share, room, screen),
        cell => column.content(cell, screen),
    }
}

/// The lines from a node to those around it. If they leave no room for a name of so many columns, they take half of the room at
/// most: the levels that are left out are counted.
fn branch(above: &[bool], is_followed: Option<bool>, room: usize, name: usize, screen: &Screen) -> String {
    let Some(is_followed) = is_followed else { return String::new() };
    let [through, space, fork, end] = match screen.is_unicode {
        true => ["│  ", "   ", "├─ ", "└─ "],
        false => ["|  ", "   ", "|- ", "`- "],
    };
    let levels = (room / 6).saturating_sub(1);
    let own = if is_followed { fork } else { end };
    if above.len() <= levels || 3 * (above.len() + 1) + name <= room {
        let lines = above.iter().map(|&is_followed| if is_followed { through } else { space });
        return lines.chain([own]).collect();
    }
    let kept = levels.saturating_sub(2);
    let lines =
        above[above.len() - kept..].iter().map(|&is_followed| if is_followed { through } else { space });
    let left_out = format!("{}{} ", screen.dots(), above.len() - kept);
    [left_out.as_str()].into_iter().chain(lines).chain([own]).collect()
}

/// A table for a narrow screen: a line for the first name of a row, behind its number, and one for each other name and
/// number, behind its title.
fn stacked(table: &Table, columns: &[TextColumn<'_>], screen: &Screen) -> Vec<Line> {
    let mut lines = Vec::new();
    let first = columns.iter().position(|column| column.is_name);
    // What has no title is told by its place.
    let is_before = |at: usize| first.is_some_and(|first| at < first) && columns[at].title.is_empty();
    for row in 0..table.rows.len() {
        if let Some(first) = first {
            let mut head = Line::default();
            for at in (0..first).filter(|&at| is_before(at)) {
                head.spans.extend(columns[at].content(columns[at].cells[row], screen).spans);
                head = head.and(" ", Style::Plain);
            }
            let room = screen.width.saturating_sub(line_width(&head));
            head.spans.extend(fitted(&columns[first], row, room, screen).spans);
            lines.push(head);
        }
        for (at, column) in columns.iter().enumerate() {
            if Some(at) == first || is_before(at) || matches!(column.cells[row], Cell::Bar(_)) {
                continue;
            }
            if column.is_name {
                let title = cut(&column.title, screen.width / 3, screen.dots());
                let gap = if title.is_empty() { 0 } else { 1 };
                let room = screen.width.saturating_sub(GAP + width(&title) + gap);
                let mut line =
                    Line::styled(title, Style::Dim).and(" ".repeat(gap), Style::Plain).indented(GAP);
                line.spans.extend(fitted(column, row, room, screen).spans);
                lines.push(line);
                continue;
            }
            let content = column.content(column.cells[row], screen);
            if line_width(&content) == 0 {
                continue;
            }
            let columns = line_width(&content);
            let all = screen.width.min(WIDEST_LINE);
            let room = all.saturating_sub(columns + GAP + 1);
            let title = cut(&column.title, room, screen.dots());
            let mut line = Line::styled(title.clone(), Style::Dim).indented(GAP);
            let filler = right("", all.saturating_sub(GAP + width(&title) + columns), Style::Plain);
            line.spans.extend(filler);
            line.spans.extend(content.spans);
            lines.push(line);
        }
    }
    lines
}
