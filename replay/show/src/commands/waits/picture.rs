//! One wait as a picture: a line for who waited, and one for each that was waited for.

use super::{COMPLETION, Names};
use crate::output::{Document, Line, Screen, Style, names as text, numbers};
use crate::tables::waits::{Hop, Instance};
use crate::tables::windows::Window;

/// Columns of remarks that stand behind the picture.
const REMARK: usize = 32;

/// A line of the picture: who, what it did, and what is to be said.
struct Lane {
    location: Option<usize>,
    /// The call in which it waited, from when to when, in ticks; `None` if it did not.
    wait: Option<(String, i64, i64)>,
    /// What it did then; nothing if that is not known.
    activity: String,
    /// Until when, and by what call the next one above could go on.
    work: Option<(i64, String)>,
    remark: String,
}

/// Draws a wait and what caused it.
pub(super) fn draw(
    number: usize,
    wait: &Instance,
    hops: &[&Hop],
    window: &Window,
    names: &Names<'_>,
    screen: &Screen,
    document: &mut Document,
) {
    let time = numbers::seconds(names.seconds(wait.ticks));
    let title = Line::styled(format!("{number} {} {time}", names.title(wait.metric)), Style::Strong);
    let begin = numbers::seconds(names.seconds(wait.begin));
    let place = format!("  {} in {} at {begin}", names.location(wait.location), names.path(wait.cnode));
    document.text(title.and(place, Style::Plain));
    let (lanes, from, to) = lanes_with_activities(wait, hops, window, names);
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
    if names.is_completion(wait) {
        document.text(Line::styled(COMPLETION, Style::Dim).indented(1));
    }
    if let (Some(_), Some(_), Some(origin)) = (wait.location, wait.cause_location, wait.origin_cnode) {
        let [waits, cause] = [wait.location, wait.cause_location].map(|location| names.location(location));
        let text = match names.is_off(Some(origin)) {
            true => {
                format!(
                    "since both last synchronised, {cause} was not recorded for a while: what it did is unknown"
                )
            }
            false => {
                let origin = names.function(Some(origin));
                format!(
                    "since both last synchronised, {cause} spent most time in excess of {waits} in {origin}"
                )
            }
        };
        document.text(Line::styled(text, Style::Dim).indented(1));
    }
    if let Some(bytes) = u32::try_from(wait.bytes).ok().filter(|_| wait.tag >= 0) {
        let bytes = numbers::bytes(bytes.into());
        document
            .text(Line::styled(format!("message of {bytes}, tag\u{a0}{}", wait.tag), Style::Dim).indented(1));
    }
}

/// What each of those did after its own wait, that waited or were waited for: the one that waited first. Empty if it is not known.
pub(super) fn activities(wait: &Instance, hops: &[&Hop], window: &Window, names: &Names<'_>) -> Vec<String> {
    lanes_with_activities(wait, hops, window, names).0.into_iter().map(|lane| lane.activity).collect()
}

/// Who waited for whom, with what they did, and from when to when.
fn lanes_with_activities(
    wait: &Instance,
    hops: &[&Hop],
    window: &Window,
    names: &Names<'_>,
) -> (Vec<Lane>, i64, i64) {
    let mut lanes = lanes(wait, hops, names);
    let ends = lanes.iter().flat_map(|lane| {
        let wait = lane.wait.iter().flat_map(|wait| [wait.1, wait.2]);
        wait.chain(lane.work.iter().map(|work| work.0))
    });
    let (from, to) = ends.fold((wait.begin, wait.begin.saturating_add(wait.ticks)), |(from, to), time| {
        (from.min(time), to.max(time))
    });
    for (at, lane) in lanes.iter_mut().enumerate() {
        lane.activity = activity(lane, from, window, names);
        if at == 1
            && lane.activity.is_empty()
            && let Some(origin) = origin(wait, lane, names)
        {
            lane.activity = origin;
        }
    }
    (lanes, from, to)
}

/// Who waited for whom, the first one first. Activities are still missing.
fn lanes(wait: &Instance, hops: &[&Hop], names: &Names<'_>) -> Vec<Lane> {
    let call = |cnode| names.function(cnode).to_owned();
    let lane = |location, wait, work, remark| Lane { location, wait, activity: String::new(), work, remark };
    let end = wait.begin.saturating_add(wait.ticks);
    let first = Some((call(wait.cnode), wait.begin, end));
    let mut lanes = vec![lane(wait.location, first, None, String::new())];
    if names.is_completion(wait) {
        return lanes;
    }
    let mut cause = (wait.cause_location, wait.cause_cnode, end);
    for hop in hops.iter().filter(|hop| hop.hop > 0) {
        let end = hop.begin.saturating_add(hop.ticks);
        let waited = Some((call(hop.cnode), hop.begin, end));
        let remark = format!("waited itself for {}", names.location(hop.cause_location));
        lanes.push(lane(cause.0, waited, Some((cause.2, call(cause.1))), remark));
        cause = (hop.cause_location, hop.cause_cnode, hop.cause_time.max(end));
    }
    lanes.push(lane(cause.0, None, Some((cause.2, call(cause.1))), String::new()));
    lanes
}

/// What was done longest between the end of the wait of a lane, or the begin of the picture, and the call by which the next
/// one above could go on; nothing if the window does not tell.
fn activity(lane: &Lane, from: i64, window: &Window, names: &Names<'_>) -> String {
    let (Some(location), Some((end, _))) = (lane.location, &lane.work) else { return String::new() };
    let begin = lane.wait.as_ref().map_or(from, |wait| wait.2);
    window.longest(location, begin, *end).map_or(String::new(), |at| names.function(Some(at)).to_owned())
}

/// What the direct cause did most in excess, unless that was to wait: then it says nothing about the time after it.
fn origin(wait: &Instance, lane: &Lane, names: &Names<'_>) -> Option<String> {
    let origin = names.function(Some(wait.origin_cnode?));
    lane.wait.as_ref().is_none_or(|wait| wait.0 != origin).then(|| origin.to_owned())
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
    if let Some((end, call)) = &lane.work {
        let end = column(*end).max(at);
        line = line.and(block(&lane.activity, ' ', end - at, screen), Style::Work);
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
