//! One wait as a picture: a line for who waited, and one for each that was waited for.

use super::Names;
use crate::output::{Document, Line, Screen, Style, names as text, numbers};
use crate::tables::waits::{Hop, Instance};

/// Columns of remarks that stand behind the picture.
const REMARK: usize = 32;

/// A line of the picture: who, what it did, and what is to be said.
struct Lane {
    location: Option<usize>,
    /// The call in which it waited, from when to when, in ticks; `None` if it did not.
    wait: Option<(String, i64, i64)>,
    /// What it did then, until when, and by what call the next one above could go on.
    work: Option<(String, i64, String)>,
    remark: String,
}

/// Draws a wait and what caused it.
pub(super) fn draw(
    number: usize,
    wait: &Instance,
    hops: &[&Hop],
    names: &Names<'_>,
    screen: &Screen,
    document: &mut Document,
) {
    let time = numbers::seconds(names.seconds(wait.ticks));
    let title = Line::styled(format!("{number} {} {time}", names.title(wait.metric)), Style::Strong);
    let begin = numbers::seconds(names.seconds(wait.begin));
    let place = format!("  {} in {} at {begin}", names.location(wait.location), names.path(wait.cnode));
    document.text(title.and(place, Style::Plain));
    let lanes = lanes(wait, hops, names);
    let ends = lanes.iter().flat_map(|lane| {
        let wait = lane.wait.iter().flat_map(|wait| [wait.1, wait.2]);
        wait.chain(lane.work.iter().map(|work| work.1))
    });
    let (from, to) = ends.fold((wait.begin, wait.begin.saturating_add(wait.ticks)), |(from, to), time| {
        (from.min(time), to.max(time))
    });
    let label = lanes.iter().map(|lane| text::width(&screen.shown(&names.location(lane.location)))).max();
    let label = label.unwrap_or(0).min(screen.width / 4);
    // Remarks stand behind the picture if there is room, else below.
    let room = screen.width.saturating_sub(label + 4);
    let is_beside = room >= 70 && lanes.iter().all(|lane| text::width(&screen.shown(&lane.remark)) <= REMARK);
    let columns = if is_beside { room - REMARK - 2 } else { room };
    for lane in &lanes {
        let name = text::cut(&screen.shown(&names.location(lane.location)), label, screen.dots());
        let filler = " ".repeat(label - text::width(&name));
        let mut line = Line::from(format!(" {name}{filler}  "));
        line.spans.extend(drawn(lane, from, to, columns, screen).spans);
        if is_beside {
            document.picture(line.and(format!("  {}", lane.remark), Style::Dim));
        } else {
            document.picture(line);
            if !lane.remark.is_empty() {
                document.text(Line::styled(lane.remark.clone(), Style::Dim).indented(label + 3));
            }
        }
    }
    if let Some(bytes) = u32::try_from(wait.bytes).ok().filter(|_| wait.tag >= 0) {
        let bytes = numbers::bytes(bytes.into());
        document
            .text(Line::styled(format!("message of {bytes}, tag\u{a0}{}", wait.tag), Style::Dim).indented(1));
    }
}

fn lanes(wait: &Instance, hops: &[&Hop], names: &Names<'_>) -> Vec<Lane> {
    let call = |cnode| names.function(cnode).to_owned();
    let end = wait.begin.saturating_add(wait.ticks);
    let mut lanes = vec![Lane {
        location: wait.location,
        wait: Some((call(wait.cnode), wait.begin, end)),
        work: None,
        remark: String::new(),
    }];
    let mut cause = (wait.cause_location, wait.cause_cnode, end);
    for hop in hops.iter().filter(|hop| hop.hop > 0) {
        let end = hop.begin.saturating_add(hop.ticks);
        lanes.push(Lane {
            location: cause.0,
            wait: Some((call(hop.cnode), hop.begin, end)),
            work: Some((String::new(), cause.2, call(cause.1))),
            remark: format!("waited itself for {}", names.location(hop.cause_location)),
        });
        cause = (hop.cause_location, hop.cause_cnode, hop.cause_time.max(end));
    }
    let origin = wait.origin_cnode.map(|at| names.function(Some(at)).to_owned());
    lanes.push(Lane {
        location: cause.0,
        wait: None,
        work: Some((origin.clone().unwrap_or_default(), cause.2, call(cause.1))),
        remark: origin.map_or(String::new(), |name| format!("origin: {name}, most in excess")),
    });
    lanes
}

/// A lane on so many columns.
fn drawn(lane: &Lane, from: i64, to: i64, columns: usize, screen: &Screen) -> Line {
    let length = to.saturating_sub(from).max(1);
    let column = |time: i64| {
        let part = i128::from(time.saturating_sub(from).clamp(0, length));
        usize::try_from(part * columns.saturating_sub(1) as i128 / i128::from(length)).unwrap_or(0)
    };
    let mut line = Line::default();
    let mut at = 0;
    if let Some((name, begin, end)) = &lane.wait {
        let (begin, end) = (column(*begin), column(*end));
        line =
            line.and(" ".repeat(begin), Style::Plain).and(block(name, '~', end - begin, screen), Style::Wait);
        at = end.max(begin);
    }
    if let Some((name, end, call)) = &lane.work {
        let end = column(*end).max(at);
        line = line.and(block(name, ' ', end - at, screen), Style::Work);
        let arrow = if screen.is_unicode { "↗" } else { "^" };
        let call = text::cut(&screen.shown(call), columns.saturating_sub(end + 3).max(4), screen.dots());
        // The call by which the next one above can go on stands behind the arrow if there is room.
        line = match end + text::width(&call) + 3 <= columns {
            true => line.and(format!("{arrow} {call}"), Style::Call),
            false => line.and(arrow, Style::Call),
        };
    }
    line
}

/// A call or a piece of work of so many columns: `[ name ~~~~ ]`.
fn block(name: &str, filler: char, columns: usize, screen: &Screen) -> String {
    if columns < 2 {
        return "|".repeat(columns);
    }
    let room = columns - 2;
    let name = text::cut(&screen.shown(name), room, screen.dots());
    let rest = room - text::width(&name);
    let gap = usize::from(rest > 1 && filler != ' ' && !name.is_empty());
    format!("[{name}{}{}]", " ".repeat(gap), filler.to_string().repeat(rest - gap))
}
