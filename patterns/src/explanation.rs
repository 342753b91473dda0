//! Explanations of patterns: what happens, as a picture and in words, when it is much, and what to do about it.
//!
//! Words are those of `docs/metrics.md`, of which a test takes care: backticks enclose names, asterisks titles.

/// The explanation of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// What happens.
    pub picture: Option<Picture>,
    /// What it is, and to whom it is charged.
    pub meaning: &'static str,
    /// When it is large.
    pub large_when: Option<&'static str>,
    /// What to do.
    pub what_to_do: &'static str,
}

impl Explanation {
    /// The first sentence of what to do.
    pub fn advice(&self) -> &'static str {
        let text = self.what_to_do;
        text.find(". ").map_or(text, |end| &text[..=end])
    }
}

/// A picture of what happens: a line for each rank or thread, in which time goes to the right. `=` is work, calls stand in
/// brackets, and `~` in them is waiting; a last line without a name may mark the stretch that is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picture(pub &'static str);

/// A rank or thread of a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Its name.
    pub name: &'static str,
    /// What it does, in the order of time.
    pub segments: Vec<Segment>,
}

/// A piece of a lane. Columns count from the begin of the time that the picture shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// What happens.
    pub kind: Kind,
    /// The first column.
    pub from: usize,
    /// The column behind the last one.
    pub to: usize,
    /// Words in it; may be empty.
    pub label: String,
}

/// What happens in a piece of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Work.
    Work,
    /// A call.
    Call,
    /// Waiting in a call.
    Wait,
    /// Time in a call that belongs to it once all are there.
    Completion,
}

impl Kind {
    fn of(letter: char) -> Option<Kind> {
        match letter {
            '=' => Some(Kind::Work),
            '~' => Some(Kind::Wait),
            '.' => Some(Kind::Completion),
            '[' | ']' => Some(Kind::Call),
            _ => None,
        }
    }
}

impl Picture {
    /// Columns of names.
    fn names(&self) -> usize {
        let of_line = |line: &str| {
            let name = line.find("  ").filter(|&at| at > 0)?;
            Some(name + line[name..].find(|letter| letter != ' ')?)
        };
        self.0.lines().filter_map(of_line).min().unwrap_or(0)
    }

    /// Ranks or threads from the top.
    pub fn lanes(&self) -> Vec<Lane> {
        let names = self.names();
        let lines = self.0.lines().filter(|line| !line.starts_with(' '));
        lines
            .map(|line| {
                let (name, time) = line.split_at(names.min(line.len()));
                Lane { name: name.trim_end(), segments: segments(time) }
            })
            .collect()
    }

    /// The stretch that is measured: its columns, and what it is called. `None` if none is marked.
    pub fn measured(&self) -> Option<(usize, usize, &'static str)> {
        let names = self.names();
        let line = self.0.lines().find(|line| line.starts_with(' ') && line.contains("|<"))?;
        let (from, to) = (line.find("|<")?, line.rfind(">|")? + 1);
        let label = line.get(from + 1..to)?.trim_matches(|letter| matches!(letter, '<' | '>' | '-' | ' '));
        Some((from.checked_sub(names)?, to.checked_sub(names)?, label))
    }
}

/// The pieces of a lane of ASCII. Words belong to the piece before them; within a call all that is no waiting is the call.
fn segments(time: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut depth = 0_usize;
    for (at, letter) in time.char_indices() {
        let sign = Kind::of(letter);
        if letter == '[' {
            depth += 1;
        }
        let kind = match (sign, depth) {
            (Some(Kind::Wait), _) => Some(Kind::Wait),
            (Some(Kind::Completion), 1..) if time[at..].starts_with("..") || time[..at].ends_with('.') => {
                Some(Kind::Completion)
            }
            (Some(Kind::Work), 1..) => Some(Kind::Work),
            (_, 1..) => Some(Kind::Call),
            (Some(Kind::Work), _) => Some(Kind::Work),
            // Words of work, such as "== computes ==".
            (_, 0) if letter != ' ' => Some(Kind::Work),
            _ => segments
                .last()
                .map(|last| last.kind)
                .filter(|&kind| kind == Kind::Work && !time[at..].trim_start().is_empty()),
        };
        let starts_call = letter == '[';
        if let Some(kind) = kind {
            let label = if sign.is_none() { letter.to_string() } else { String::new() };
            match segments.last_mut().filter(|last| last.kind == kind && last.to == at && !starts_call) {
                Some(last) => {
                    last.to = at + 1;
                    last.label.push_str(&label);
                }
                None => segments.push(Segment { kind, from: at, to: at + 1, label }),
            }
        }
        if letter == ']' {
            depth = depth.saturating_sub(1);
        }
    }
    for segment in &mut segments {
        segment.label = segment.label.trim_matches(|letter: char| matches!(letter, ' ' | '|')).to_owned();
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: Picture = Picture(
        "sender     ===== computes ======[ send ]====\nreceiver   ==[ receive ~~~~~~~~~        ]====\n             |<-- Late Sender ->|\n",
    );

    #[test]
    fn pictures_are_lanes_of_segments() {
        let lanes = PICTURE.lanes();
        let kinds = |at: usize| lanes[at].segments.iter().map(|it| (it.kind, &*it.label)).collect::<Vec<_>>();
        assert_eq!((lanes[0].name, lanes[1].name), ("sender", "receiver"));
        assert_eq!(kinds(0), [(Kind::Work, "computes"), (Kind::Call, "send"), (Kind::Work, "")]);
        assert_eq!(
            kinds(1),
            [(Kind::Work, ""), (Kind::Call, "receive"), (Kind::Wait, ""), (Kind::Call, ""), (Kind::Work, "")]
        );
        assert_eq!(PICTURE.measured(), Some((2, 21, "Late Sender")));
    }

    #[test]
    fn every_picture_has_lanes_without_holes_in_which_somebody_waits() {
        for pattern in crate::PATTERNS {
            let Some(picture) = pattern.explanation.picture else { continue };
            let lanes = picture.lanes();
            assert!(lanes.len() > 1 && picture.0.is_ascii(), "{}", pattern.title);
            for lane in &lanes {
                assert!(
                    lane.segments.windows(2).all(|it| it[0].to <= it[1].from),
                    "{}: {lane:?}",
                    pattern.title
                );
            }
            let kinds: Vec<Kind> = lanes.iter().flat_map(|lane| &lane.segments).map(|it| it.kind).collect();
            let shows = if pattern.is_waiting { Kind::Wait } else { Kind::Completion };
            assert!(kinds.contains(&shows), "{}", pattern.title);
        }
    }

    /// Text in one line.
    fn in_one_line(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn explanations_are_those_of_the_documentation() {
        const METRICS: &str = include_str!("../../docs/metrics.md");
        let (_, wait_states) = METRICS.split_once("\n## Wait states\n").unwrap();
        let (wait_states, _) = wait_states.split_once("\n## ").unwrap();
        for pattern in crate::PATTERNS {
            let Explanation { picture, meaning, large_when, what_to_do } = pattern.explanation;
            let name = format!("\n`{}`", pattern.metric.id);
            let text = wait_states.split("\n### ").find(|text| text.contains(&name));
            let text =
                text.unwrap_or_else(|| panic!("docs/metrics.md: no section about {}", pattern.metric.id));
            let (_, body) = text.split_once(&name).unwrap();
            let (_, body) = body.split_once('\n').unwrap();
            let (before, rest) = body.split_once("```text\n").unwrap_or((body, ""));
            let (drawn, behind) = rest.split_once("```").unwrap_or(("", ""));
            assert_eq!(picture.map_or("", |picture| picture.0), drawn, "{}: picture", pattern.title);
            let large_when = large_when.map_or(String::new(), |text| format!(" *Large when* {text}"));
            let words = format!("{meaning}{large_when} *What to do.* {what_to_do}");
            let written = in_one_line(&format!("{before} {behind}"));
            assert_eq!(words, written, "docs/metrics.md and patterns differ about {}", pattern.title);
        }
    }
}
