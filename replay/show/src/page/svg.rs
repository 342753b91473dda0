//! Pictures of the first screen: SVG whose colours are attributes, so that they show without styles; styles change them by
//! theme.

use super::colours;
use super::html::Html;
use crate::output::numbers;
use crate::overview::ClassTime;

/// Width of pictures.
const WIDTH: f64 = 960.0;

/// The least width of a piece with a label in it.
const LABELLED: f64 = 90.0;

/// One bar of all classes of time.
pub(super) fn bar(classes: &[ClassTime], html: &mut Html) {
    let words: Vec<String> =
        classes.iter().map(|class| format!("{} {}", class.title, numbers::share(class.share))).collect();
    open(&words.join(", "), 44.0, html);
    let mut at = 0.0;
    for class in classes.iter().filter(|class| class.share > 0.0) {
        let width = class.share.min(1.0) * WIDTH;
        rectangle([at, 1.0, width, 28.0], colours::of(class), html);
        if width >= LABELLED {
            // Below the bar: on it, no colour of letters would be readable in all fills.
            text(at + 2.0, 42.0, "start", &class.title, html);
        }
        at += width;
    }
    html.close("svg");
}

/// The share of waiting over time, from 0 to `end` seconds; what is not known is left out.
pub(super) fn over_time(shares: &[Option<f64>], end: f64, html: &mut Html) {
    let most = shares.iter().flatten().copied().fold(0.0, f64::max);
    let off = if shares.contains(&None) { "; empty where recording was off" } else { "" };
    let words = format!("{} at most, from 0 s to {}{off}", numbers::share(most), numbers::seconds(end));
    open(&words, 84.0, html);
    #[expect(clippy::cast_precision_loss, reason = "some hundred cells")]
    let (left, count) = (44.0, shares.len().max(1) as f64);
    let width = (WIDTH - left) / count;
    for (share, y) in [("100\u{a0}%", 12.0), ("0\u{a0}%", 66.0)] {
        text(40.0, y, "end", share, html);
    }
    let mut path = format!("M{left:.2} 64");
    let mut x = left;
    for share in shares {
        let y = 64.0 - 60.0 * share.unwrap_or(0.0);
        path += &format!("V{y:.2}H{:.2}", x + width);
        x += width;
    }
    path += "V64Z";
    html.open("path", &[("d", path.as_str()), ("fill", colours::plain("messages")), ("class", "c-messages")]);
    html.close("path");
    html.open(
        "line",
        &[
            ("x1", "44"),
            ("y1", "64.5"),
            ("x2", "960"),
            ("y2", "64.5"),
            ("stroke", "#767676"),
            ("class", "axis"),
        ],
    );
    html.close("line");
    text(left, 80.0, "start", "0\u{a0}s", html);
    text(WIDTH, 80.0, "end", &numbers::seconds(end), html);
    html.close("svg");
}

/// The share of waiting over time without an axis, as wide as its place; of this, the run takes a part.
pub(super) fn strip(shares: &[Option<f64>], part: f64, words: &str, html: &mut Html) {
    let attributes = [
        ("viewBox", "0 0 1 1"),
        ("preserveAspectRatio", "none"),
        ("width", "100%"),
        ("height", "60"),
        ("role", "img"),
        ("class", "strip-of-side"),
        ("aria-label", words),
    ];
    html.open("svg", &attributes);
    #[expect(clippy::cast_precision_loss, reason = "some hundred cells")]
    let width = part.min(1.0) / shares.len().max(1) as f64;
    let (mut path, mut x) = (String::from("M0 1"), 0.0);
    for share in shares {
        path += &format!("V{:.3}H{:.5}", 1.0 - share.unwrap_or(0.0), x + width);
        x += width;
    }
    path += "V1Z";
    html.open("path", &[("d", path.as_str()), ("fill", colours::plain("messages")), ("class", "c-messages")]);
    html.close("path").close("svg");
}

/// A small square of a colour.
pub(super) fn swatch(colour: &str, html: &mut Html) {
    let size = [("width", "14"), ("height", "14"), ("viewBox", "0 0 14 14"), ("aria-hidden", "true")];
    html.open("svg", &size);
    rectangle([1.0, 1.0, 12.0, 12.0], colour, html);
    html.close("svg");
}

/// Opens a picture of the full width, with its words.
fn open(words: &str, height: f64, html: &mut Html) {
    let size = format!("0 0 {WIDTH} {height}");
    html.open(
        "svg",
        &[
            ("viewBox", size.as_str()),
            ("width", "100%"),
            ("role", "img"),
            ("class", "picture"),
            ("aria-label", words),
        ],
    );
    html.element("title", &[], words);
}

fn rectangle([x, y, width, height]: [f64; 4], colour: &str, html: &mut Html) {
    let [x, y, width, height] = [x, y, width, height].map(|number| format!("{number:.2}"));
    html.open(
        "rect",
        &[
            ("x", x.as_str()),
            ("y", &y),
            ("width", &width),
            ("height", &height),
            ("fill", colours::plain(colour)),
            ("stroke", "#767676"),
            ("class", &format!("c-{colour}")),
        ],
    );
    html.close("rect");
}

fn text(x: f64, y: f64, anchor: &str, words: &str, html: &mut Html) {
    let [x, y] = [x, y].map(|number| format!("{number:.2}"));
    html.element(
        "text",
        &[("x", x.as_str()), ("y", &y), ("text-anchor", anchor), ("font-size", "12"), ("class", "label")],
        words,
    );
}
