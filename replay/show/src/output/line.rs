//! Lines of text: spans with a style. Meaning never rests on the style alone.

/// How a span looks where there is colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// As everything else.
    #[default]
    Plain,
    /// Bold: what matters most.
    Strong,
    /// Dim: of less importance.
    Dim,
    /// Bad news.
    Bad,
    /// Good news.
    Good,
    /// In between.
    Warning,
    /// Work, in pictures.
    Work,
    /// Waiting, in pictures.
    Wait,
    /// Calls of MPI and the like, in pictures.
    Call,
}

impl Style {
    /// The sequence that begins the style on a terminal with 16 colours; `None` if there is nothing to begin.
    pub(super) fn sequence(self) -> Option<&'static str> {
        match self {
            Style::Plain => None,
            Style::Strong => Some("\x1b[1m"),
            Style::Dim => Some("\x1b[2m"),
            Style::Bad | Style::Wait => Some("\x1b[31m"),
            Style::Good | Style::Work => Some("\x1b[32m"),
            Style::Warning => Some("\x1b[33m"),
            Style::Call => Some("\x1b[36m"),
        }
    }
}

/// A piece of a line in one style.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// The text. Hostile characters are replaced when it is rendered.
    pub text: String,
    /// Its style.
    pub style: Style,
}

/// A line of text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// Its spans.
    pub spans: Vec<Span>,
    /// Columns in front of it, and of those that follow where it is broken.
    pub indent: usize,
    /// Further columns in front of those that follow.
    pub hanging: usize,
}

impl Line {
    /// A line with a text in a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Line {
        Line::default().and(text, style)
    }

    /// This line with more text.
    #[must_use]
    pub fn and(mut self, text: impl Into<String>, style: Style) -> Line {
        self.spans.push(Span { text: text.into(), style });
        self
    }

    /// This line behind an indentation, as are those that follow where it is broken.
    #[must_use]
    pub fn indented(self, indent: usize) -> Line {
        Line { indent, ..self }
    }

    /// This line with those that follow, where it is broken, behind a further indentation.
    #[must_use]
    pub fn hanging(self, hanging: usize) -> Line {
        Line { hanging, ..self }
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Line {
        Line::styled(text, Style::Plain)
    }
}
