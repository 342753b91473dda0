//! A topology as a picture: a digit for each place, in tenths of the largest value.

use super::ColumnOf;
use super::groups::Group;
use crate::output::{Document, Line, Screen, Style, numbers};

/// Rows of a slice, and slices, that are drawn; the table has all.
const ROWS: usize = 64;
const SLICES: usize = 16;

/// Row, column and value of a place.
type Place = (usize, usize, f64);

/// Draws the values of a metric over the two last dimensions, slice by slice.
pub(super) fn draw(groups: &[Group], column: Option<&ColumnOf>, screen: &Screen, document: &mut Document) {
    let Some(ColumnOf { quantity, sums: Ok(sums) }) = column else { return };
    let known = |value: &Option<f64>| value.and_then(|value| quantity.known(value));
    let most = sums.iter().filter_map(known).fold(0.0, f64::max);
    if !(most > 0.0 && most.is_finite()) {
        return;
    }
    let decimals = numbers::decimals(most);
    let most_text = numbers::of_unit(most, &quantity.unit, decimals);
    let legend =
        format!("{}: 9 is {most_text}, 0 less than a tenth of it, blank: nobody, or unknown", quantity.title);
    document.text(Line::styled(legend, Style::Dim));
    let mut slices: Vec<(&[u64], Vec<Place>)> = Vec::new();
    // One dimension, or a last one with a single place, is drawn as a line.
    let last = |group: &Group| {
        group.position.as_ref().and_then(|it| it.get(1.max(it.len().saturating_sub(1))).copied())
    };
    let is_column = groups.iter().all(|group| last(group).unwrap_or(0) == 0);
    for (group, value) in groups.iter().zip(sums) {
        let (Some(position), Some(value)) = (&group.position, known(value)) else { continue };
        let (slice, place) = position.split_at(position.len().saturating_sub(2));
        let number = |at: usize| place.get(at).and_then(|&number| usize::try_from(number).ok()).unwrap_or(0);
        let (row, column) = if is_column { (0, number(0)) } else { (number(0), number(1)) };
        match slices.last_mut().filter(|(last, _)| *last == slice) {
            Some((_, cells)) => cells.push((row, column, value)),
            None => slices.push((slice, vec![(row, column, value)])),
        }
    }
    for (slice, cells) in slices.iter().take(SLICES) {
        if !slice.is_empty() {
            document.text(Line::styled(format!("slice {slice:?}"), Style::Dim));
        }
        let rows = cells.iter().map(|cell| cell.0.saturating_add(1)).max().unwrap_or(0).min(ROWS);
        let columns = cells.iter().map(|cell| cell.1.saturating_add(1)).max().unwrap_or(0).min(screen.width);
        let mut picture = vec![vec![' '; columns]; rows];
        for &(row, column, value) in cells {
            if let Some(place) = picture.get_mut(row).and_then(|row| row.get_mut(column)) {
                *place = digit(value / most);
            }
        }
        for row in picture {
            document.picture(Line::from(row.into_iter().collect::<String>()));
        }
    }
    document.gap();
}

/// Tenths.
fn digit(share: f64) -> char {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 9")]
    let tenths = (share * 10.0).clamp(0.0, 9.0) as u32;
    char::from_digit(tenths, 10).unwrap_or('0')
}
