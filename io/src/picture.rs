//! A picture of bytes over time, by rank and by place in a file (io.md 6).

use std::fmt::Write;

use crate::heat::{Grid, Heat};
use crate::json::Model;
use crate::tsv::seconds;

/// Size of a map in units of the picture, and what is around it.
const WIDE: u64 = 1000;
const HIGH: u64 = 400;
const MARGIN: u64 = 60;

/// Shades of a colour.
const SHADES: u64 = 10;

/// Most numbers of phases above a map.
const LABELS: usize = 40;

/// The picture as SVG; `None` if the model has no heat. Reading is blue, writing is red, darker where more bytes move.
pub fn picture(model: &Model) -> Option<String> {
    let heat = model.heat.as_ref()?;
    let (wide, high) = (WIDE + 2 * MARGIN, 2 * HIGH + 4 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"white\"/>\n"
    );
    let name = heat.file.and_then(|file| model.files.get(&file)).map_or("", |file| &file.name);
    map(&mut svg, heat, &heat.ranks, MARGIN, "ranks");
    let top = HIGH + 3 * MARGIN;
    map(&mut svg, heat, &heat.places, top, &format!("bytes of {name}"));
    labels(&mut svg, model, heat, top);
    let length = seconds(heat.end.saturating_sub(heat.begin), model.resolution).unwrap_or_default();
    text(&mut svg, MARGIN, high - 10, &format!("0 to {length} s; read blue, written red"));
    svg += "</svg>\n";
    Some(svg)
}

/// One map with its title and the ends of its rows.
fn map(svg: &mut String, heat: &Heat, grid: &Grid, top: u64, title: &str) {
    text(svg, MARGIN, top - 28, title);
    text(svg, 4, top + 12, &grid.low.to_string());
    text(svg, 4, top + HIGH, &grid.high.to_string());
    _ = writeln!(
        svg,
        "<rect x=\"{MARGIN}\" y=\"{top}\" width=\"{WIDE}\" height=\"{HIGH}\" fill=\"none\" stroke=\"#999\"/>"
    );
    let most = grid.read.iter().chain(&grid.written).copied().max().unwrap_or(0);
    for (cells, colour) in [(&grid.written, "#c00"), (&grid.read, "#00c")] {
        for (row, cells) in (0..).zip(cells.chunks(usize::try_from(heat.columns).unwrap_or(1).max(1))) {
            let mut column = 0;
            for same in cells.chunk_by(|one, other| shade(*one, most) == shade(*other, most)) {
                let (begin, end) = (column, column + crate::numbers::count(same.len()));
                column = end;
                let shade = shade(same[0], most);
                if shade > 0 {
                    let [left, right] = [begin, end].map(|at| MARGIN + at * WIDE / heat.columns);
                    let [above, below] = [row, row + 1].map(|at| top + at * HIGH / grid.rows);
                    _ = writeln!(
                        svg,
                        "<rect x=\"{left}\" y=\"{above}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" fill-opacity=\"{}\"/>",
                        right - left,
                        below - above,
                        // Never opaque, so that both colours are seen.
                        format_args!("0.{:02}", 10 + shade * 7),
                    );
                }
            }
        }
    }
}

/// How dark a cell is: 0 for nothing.
fn shade(bytes: u64, most: u64) -> u64 {
    crate::numbers::to_u64((u128::from(bytes) * u128::from(SHADES)).div_ceil(u128::from(most.max(1))))
}

/// Numbers of the first phases of the families that take most time, where they begin.
fn labels(svg: &mut String, model: &Model, heat: &Heat, top: u64) {
    let mut families: Vec<_> = model.families.iter().collect();
    families.sort_by_key(|family| (std::cmp::Reverse(family.time), family.first));
    let length = u128::from(heat.end.saturating_sub(heat.begin)).max(1);
    for family in families.into_iter().take(LABELS) {
        let Some(phase) = family.example(&model.phases) else { continue };
        let at = u128::from(phase.begin.saturating_sub(heat.begin)) * u128::from(WIDE) / length;
        text(svg, MARGIN + crate::numbers::to_u64(at).min(WIDE), top - 6, &family.numbers.to_string());
    }
}

fn text(svg: &mut String, x: u64, y: u64, text: &str) {
    let mut safe = String::new();
    for it in text.chars() {
        match it {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            it if it.is_control() => safe.push('?'),
            it => safe.push(it),
        }
    }
    _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{safe}</text>");
}
