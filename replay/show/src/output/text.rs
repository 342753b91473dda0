//! Text: documents as lines of a screen.

use super::document::{Document, Part, Shown};
use super::line::{Line, Span, Style};
use super::names::width;
use super::numbers::JOINT;
use super::screen::Screen;
use super::{names, table};

/// A document as text for a screen.
pub fn render(document: &Document, screen: &Screen) -> String {
    let mut text = String::new();
    lines(document, screen).iter().for_each(|line| put(&mut text, line, screen));
    text
}

/// A document as lines for a screen: what each shows may be shown there.
pub(crate) fn lines(document: &Document, screen: &Screen) -> Vec<Line> {
    let mut lines = Vec::new();
    for part in &document.parts {
        match part {
            Part::Text(line) => lines.extend(wrap(line, screen)),
            Part::Picture(line) => lines.push(shown(line, screen)),
            Part::Table(table) if table.shown != Shown::DataOnly => {
                lines.extend(table::render(table, screen))
            }
            Part::Table(_) => {}
        }
    }
    lines
}

/// A line with what the screen can show.
pub(super) fn shown(line: &Line, screen: &Screen) -> Line {
    let span = |span: &Span| Span { text: screen.shown(&span.text), style: span.style };
    Line { spans: line.spans.iter().map(span).collect(), ..Line::default() }
        .indented(line.indent)
        .hanging(line.hanging)
}

/// Columns of a line whose text may be shown.
pub(super) fn line_width(line: &Line) -> usize {
    line.indent + line.spans.iter().map(|span| width(&span.text)).sum::<usize>()
}

/// Appends a line whose text may be shown.
fn put(text: &mut String, line: &Line, screen: &Screen) {
    let start = text.len();
    text.extend(std::iter::repeat_n(' ', line.indent));
    for Span { text: span, style } in &line.spans {
        let span = span.replace(JOINT, " ");
        match style.sequence().filter(|_| screen.is_coloured && !span.is_empty()) {
            Some(sequence) => text.extend([sequence, &span, "\x1b[0m"]),
            None => text.push_str(&span),
        }
    }
    while text.len() > start && text.ends_with(' ') {
        text.pop();
    }
    text.push('\n');
}

/// A paragraph as lines: broken at spaces; a word that is wider than the screen is cut in the middle.
pub(super) fn wrap(line: &Line, screen: &Screen) -> Vec<Line> {
    let line = shown(line, screen);
    if line_width(&line) <= screen.width {
        return vec![line];
    }
    let indent = line.indent.min(screen.width / 2);
    let hanging = line.hanging.min((screen.width - indent) / 2);
    let mut room = screen.width - indent;
    let mut lines = vec![Line::default().indented(indent)];
    let mut used = 0;
    for word in words(&line) {
        let columns: usize = word.iter().map(|span| width(&span.text)).sum();
        let is_blank = word.iter().all(|span| span.text.trim().is_empty());
        if used + columns > room && used > 0 {
            lines.push(Line::default().indented(indent + hanging));
            (used, room) = (0, screen.width - indent - hanging);
        }
        if is_blank && used == 0 && lines.len() > 1 {
            continue;
        }
        if let Some(last) = lines.last_mut() {
            let cut = |span: Span| Span { text: names::cut(&span.text, room, screen.dots()), ..span };
            last.spans.extend(word.into_iter().map(cut));
        }
        used += columns.min(room);
    }
    lines
}

/// Words of a line, each with its spans, and the spaces between them.
fn words(line: &Line) -> Vec<Vec<Span>> {
    let mut words: Vec<Vec<Span>> = Vec::new();
    let mut was_blank = None;
    for Span { text, style } in &line.spans {
        for letter in text.chars() {
            let is_blank = letter == ' ';
            if was_blank != Some(is_blank) {
                words.push(Vec::new());
                was_blank = Some(is_blank);
            }
            let Some(word) = words.last_mut() else { continue };
            match word.last_mut().filter(|span| span.style == *style) {
                Some(span) => span.text.push(letter),
                None => word.push(Span { text: letter.into(), style: *style }),
            }
        }
    }
    words
}

/// A text in a style, with spaces in front of it up to a width.
pub(super) fn right(text: &str, columns: usize, style: Style) -> [Span; 2] {
    let filler = " ".repeat(columns.saturating_sub(width(text)));
    [Span { text: filler, style: Style::Plain }, Span { text: text.to_owned(), style }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: usize) -> Screen {
        Screen { width, is_coloured: false, is_unicode: true }
    }

    fn text(line: Line, width: usize) -> String {
        let mut document = Document::new("test");
        document.text(line);
        render(&document, &screen(width))
    }

    #[test]
    fn numbers_keep_their_units_in_ascii() {
        let mut document = Document::new("test");
        document.text(format!("waits for 12.5{JOINT}s"));
        let plain = Screen { is_unicode: false, ..screen(15) };
        assert_eq!(render(&document, &plain), "waits for\n12.5 s\n");
    }

    #[test]
    fn paragraphs_break_at_spaces_but_not_in_front_of_units() {
        let line = Line::from(format!("waits for 12.5{JOINT}s in all")).indented(2);
        assert_eq!(text(line, 14), "  waits for\n  12.5 s in\n  all\n");
    }

    #[test]
    fn words_wider_than_the_screen_are_cut() {
        assert_eq!(text("in a/very/long/path/of/names".into(), 12), "in\na/very…names\n");
    }

    #[test]
    fn styles_show_only_in_colour() {
        let mut document = Document::new("test");
        document.text(Line::styled("bad", Style::Bad));
        let coloured = Screen { is_coloured: true, ..screen(20) };
        assert_eq!(render(&document, &coloured), "\x1b[31mbad\x1b[0m\n");
        assert_eq!(render(&document, &screen(20)), "bad\n");
    }
}
