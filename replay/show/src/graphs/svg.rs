//! Graphs as a picture that browsers show, with a layout of our own.

use super::dot::label;
use super::layers::{Layout, Point, layout};
use super::shown::Shown;
use crate::output::names::{cut, width};
use crate::page::html::Html;
use crate::tables::structure::{Group, Structure};

/// Boxes, and arrows, of a picture: nobody finds his way in more.
pub const BOXES: usize = 200;
const ARROWS: usize = 1000;

/// Letters of a line, at most.
const LETTERS: usize = 60;

/// Width of a letter, height of a line, room around texts, all in units of the picture.
const LETTER: f64 = 7.0;
const LINE: f64 = 16.0;
const ROOM: f64 = 8.0;

/// Around all of a graph.
const MARGIN: f64 = 24.0;

/// Width of the name of a loop, about.
const NAMED: f64 = 100.0;

/// Loops inside each other that have frames.
const DEPTH: usize = 16;

/// A graph that is to be drawn, with its title.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture<'p> {
    /// The group.
    pub group: &'p Group,
    /// What it is called.
    pub title: String,
    /// Its boxes and arrows.
    pub shown: Shown,
}

impl<'p> Picture<'p> {
    /// Prepares the graph of a group.
    pub fn new(structure: &Structure, group: &'p Group, title: String) -> Picture<'p> {
        Picture { group, title, shown: Shown::new(structure, group) }
    }

    /// Boxes, without begin and end.
    pub fn boxes(&self) -> usize {
        self.shown.size()[0]
    }

    /// Whether it is too large to be drawn.
    pub fn is_too_large(&self) -> bool {
        self.boxes() > BOXES || self.shown.arrows.len() > ARROWS
    }
}

/// Draws graphs below each other.
pub fn draw(pictures: &[Picture<'_>]) -> String {
    let laid: Vec<Layout> = pictures.iter().map(lay_out).collect();
    let widest = laid.iter().map(|it| it.size[0]).fold(0.0, f64::max);
    let titles = pictures.iter().map(|it| pixels(&it.title)).fold(0.0, f64::max);
    let all = widest.max(titles) + 2.0 * MARGIN;
    let of_one = |it: &Layout| it.size[1] + 2.0 * MARGIN + LINE;
    let height: f64 = laid.iter().map(of_one).sum();
    let mut html = Html::default();
    let size = format!("0 0 {all:.0} {height:.0}");
    let (all, height) = (format!("{all:.0}"), format!("{height:.0}"));
    html.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("viewBox", &size),
            ("width", &all),
            ("height", &height),
            ("font-family", "sans-serif"),
            ("font-size", "12"),
        ],
    );
    html.open("rect", &[("width", "100%"), ("height", "100%"), ("fill", "#ffffff")]).close("rect");
    let mut top = 0.0;
    for (picture, laid) in pictures.iter().zip(&laid) {
        text([MARGIN, top + LINE], ("start", "bold"), &picture.title, &mut html);
        graph(picture, laid, [MARGIN, top + LINE + MARGIN], &mut html);
        top += of_one(laid);
    }
    html.close("svg");
    html.into_text()
}

#[expect(clippy::cast_precision_loss, reason = "letters of a line")]
fn pixels(text: &str) -> f64 {
    width(text) as f64 * LETTER
}

fn shortened(line: &str) -> String {
    cut(line, LETTERS, "…")
}

/// Width and height of each box.
fn sizes(shown: &Shown) -> Vec<Point> {
    let size = |lines: &Vec<String>| {
        let widest = lines.iter().map(|line| pixels(&shortened(line))).fold(0.0, f64::max);
        #[expect(clippy::cast_precision_loss, reason = "lines of a box")]
        let height = lines.len() as f64 * LINE;
        [widest + 2.0 * ROOM, height + ROOM]
    };
    shown.boxes.iter().map(|it| size(&it.lines)).collect()
}

fn lay_out(picture: &Picture<'_>) -> Layout {
    let arrows: Vec<(usize, usize)> = picture.shown.arrows.iter().map(|it| (it.from, it.to)).collect();
    let mut layout = layout(&sizes(&picture.shown), &arrows);
    // Texts of arrows are beside them.
    let texts = picture
        .shown
        .arrows
        .iter()
        .zip(&layout.routes)
        .map(|(arrow, route)| middle(route)[0] + pixels(&arrow.text));
    layout.size[0] = texts.fold(layout.size[0], f64::max);
    layout
}

/// Draws a graph with its upper left corner at a point.
fn graph(picture: &Picture<'_>, layout: &Layout, [left, top]: Point, html: &mut Html) {
    let shown = &picture.shown;
    let transform = format!("translate({left:.1} {top:.1})");
    html.open("g", &[("transform", &transform)]);
    let sizes = sizes(shown);
    frames(picture, layout, &sizes, html);
    for (arrow, route) in shown.arrows.iter().zip(&layout.routes) {
        let points: Vec<String> = route.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
        let line_width = format!("{:.1}", arrow.width());
        html.open(
            "path",
            &[
                ("d", format!("M{}", points.join("L")).as_str()),
                ("fill", "none"),
                ("stroke", "#5a5a5a"),
                ("stroke-width", &line_width),
                ("stroke-opacity", "0.6"),
            ],
        );
        html.close("path");
        head(route, html);
        let [x, y] = middle(route);
        text([x + 4.0, y + 4.0], ("start", "normal"), &arrow.text, html);
    }
    for ((it, [x, y]), [wide, high]) in shown.boxes.iter().zip(&layout.centres).zip(&sizes) {
        let fill = if it.nodes.is_empty() { "#e6e6e6" } else { "#dce9f7" };
        let corner = [x - wide / 2.0, y - high / 2.0];
        rectangle([corner[0], corner[1], *wide, *high], fill, "#40566b", html);
        for (number, line) in (1..).zip(&it.lines) {
            let below = corner[1] + LINE * f64::from(number);
            text([*x, below], ("middle", "normal"), &shortened(line), html);
        }
    }
    html.close("g");
}

/// The middle of the middle piece of an arrow.
fn middle(route: &[Point]) -> Point {
    let at = route.len().saturating_sub(1) / 2;
    match (route.get(at), route.get(at + 1)) {
        (Some(a), Some(b)) => [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0],
        _ => [0.0, 0.0],
    }
}

/// The head of an arrow.
fn head(route: &[Point], html: &mut Html) {
    let [.., before, end] = route else { return };
    let (x, y) = (end[0] - before[0], end[1] - before[1]);
    let length = x.hypot(y).max(1e-3);
    let (x, y) = (x / length * 8.0, y / length * 8.0);
    let corners =
        [*end, [end[0] - x - y / 2.0, end[1] - y + x / 2.0], [end[0] - x + y / 2.0, end[1] - y - x / 2.0]];
    let points = corners.map(|[x, y]| format!("{x:.1},{y:.1}")).join(" ");
    html.open("polygon", &[("points", points.as_str()), ("fill", "#5a5a5a")]).close("polygon");
}

/// Draws a frame around the boxes of each loop, the outer ones first.
fn frames(picture: &Picture<'_>, layout: &Layout, sizes: &[Point], html: &mut Html) {
    let Picture { group, shown, .. } = picture;
    let mut labels: Vec<Point> = Vec::new();
    for it in &group.loops {
        let above = |number: &u32| group.loop_of(*number)?.parent;
        let depth = std::iter::successors(Some(it.number), above).take(DEPTH + 1).count();
        if depth > DEPTH {
            continue;
        }
        let is_inside = |around: Option<u32>| {
            std::iter::successors(around, above).take(group.loops.len()).any(|number| number == it.number)
        };
        let boxes =
            shown.boxes.iter().zip(&layout.centres).zip(sizes).filter(|((one, _), _)| is_inside(one.around));
        let edges = boxes.map(|((_, [x, y]), [w, h])| [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]);
        let both =
            |a: [f64; 4], b: [f64; 4]| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
        let Some([left, top, right, bottom]) = edges.reduce(both) else { continue };
        // Outer frames have more room around them, and their text above that of inner ones.
        let room = 12.0 - f64::from(u8::try_from(depth).unwrap_or(u8::MAX)).min(10.0);
        let corner = [left - room, top - room];
        rectangle(
            [corner[0], corner[1], right - left + 2.0 * room, bottom - top + 2.0 * room],
            "none",
            "#b05a00",
            html,
        );
        // Loops that begin with the same call have their names below each other.
        let mut place = [right + room + 2.0, top + LINE * 0.5];
        let is_taken = |place: &Point, labels: &[Point]| {
            labels.iter().any(|it| (it[0] - place[0]).abs() < NAMED && (it[1] - place[1]).abs() < LINE)
        };
        while is_taken(&place, &labels) {
            place[1] += LINE;
        }
        labels.push(place);
        text(place, ("start", "bold"), &label(group, it.number), html);
    }
}

fn rectangle([x, y, width, height]: [f64; 4], fill: &str, stroke: &str, html: &mut Html) {
    let [x, y, width, height] = [x, y, width, height].map(|number| format!("{number:.1}"));
    html.open(
        "rect",
        &[
            ("x", x.as_str()),
            ("y", &y),
            ("width", &width),
            ("height", &height),
            ("rx", "4"),
            ("fill", fill),
            ("stroke", stroke),
        ],
    );
    html.close("rect");
}

fn text([x, y]: Point, (anchor, weight): (&str, &str), words: &str, html: &mut Html) {
    let [x, y] = [x, y].map(|number| format!("{number:.1}"));
    let attributes = [("x", x.as_str()), ("y", &y), ("text-anchor", anchor), ("font-weight", weight)];
    html.element("text", &attributes, words);
}

#[cfg(test)]
mod tests {
    use super::super::examples::{published, structure_of};
    use super::*;

    fn drawn(structure: &Structure) -> String {
        draw(&[Picture::new(structure, &structure.groups[0], "rank 0".into())])
    }

    #[test]
    fn the_published_program_has_its_boxes_arrows_and_frames() {
        let text = drawn(&published());
        let count = |what: &str| text.matches(what).count();
        assert_eq!((count("fill=\"#dce9f7\""), count("<path "), count("stroke=\"#b05a00\"")), (13, 18, 2));
        assert!(text.contains("LOOP 1.1: 6\u{a0}x") && text.contains("39 calls"));
    }

    #[test]
    fn hostile_names_stay_text() {
        let text = drawn(&structure_of(&["</text><script>\"'&\u{202e}", "b"]));
        assert!(
            text.contains("&lt;/text&gt;&lt;script&gt;&quot;&#39;&amp;\u{fffd}") && !text.contains("<script")
        );
    }

    #[test]
    fn graphs_of_more_boxes_are_too_large() {
        let names: Vec<String> =
            (0..401).map(|at| format!("f{}", if at % 2 == 0 { 0 } else { at })).collect();
        let calls: Vec<&str> = names.iter().map(String::as_str).collect();
        let large = structure_of(&calls);
        let picture = |structure: &Structure| {
            Picture::new(structure, &structure.groups[0], String::new()).is_too_large()
        };
        assert!(picture(&large));
        assert!(!picture(&structure_of(&calls[..399])));
    }
}
