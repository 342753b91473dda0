//! The table of families of phases (io.md 6).
//!
//! Times are in seconds, rates in bytes a second. Fields of patterns have a value for each operation, joined by `+`. What is unknown is
//! `unknown`, what is no linear function `irregular`.

use crate::access::{Access, Kind};
use crate::family::Family;
use crate::json::{Lines, Model};
use crate::numbers::to_u64;
use crate::origin::Origin;
use crate::phase::{Phase, Position, about};

/// Names of the columns.
const NAMES: &str = "phase\tfirst\tlast\tcount\tfile\tfiles\tlayer\top\tcollective\tblocking\tpointer\tmode\tmembers\tnp\trep\trs\t\
    rs_min\trs_max\tdisp\tdist\tweight\tbytes\tt_md\tt_window\tbw_md\trelevance\tview_a\tview_b\tview_c\tfile_a\tfile_b\tfile_c\t\
    remarks\tior";

/// A line of names, and one for each family of phases.
pub fn tsv(model: &Model) -> String {
    let mut text = format!("{NAMES}\n");
    for family in &model.families {
        if let Some(phase) = family.example(&model.phases) {
            text += &(line(model, family, phase).join("\t") + "\n");
        }
    }
    text
}

fn line(model: &Model, family: &Family, phase: &Phase) -> Vec<String> {
    let joined =
        |value: fn(&Access) -> String| phase.key.pattern.iter().map(value).collect::<Vec<_>>().join("+");
    let number = |value: fn(&Position) -> u64| {
        phase.positions.iter().map(|it| value(it).to_string()).collect::<Vec<_>>().join("+")
    };
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
    let none = Lines::default();
    let ior = model.ior.get(&family.first).unwrap_or(&none);
    let rs = number(|it| it.rs) + about(phase.same_sizes);
    let mut fields = vec![
        family.numbers.to_string(),
        family.first.to_string(),
        family.last.to_string(),
        family.count.to_string(),
        plain(&phase.key.family),
        phase.files.len().to_string(),
        joined(|it| it.layer.name().to_owned()),
        joined(|it| if it.kind == Kind::Read { "read" } else { "write" }.to_owned()),
        joined(|it| u8::from(it.collective).to_string()),
        joined(|it| u8::from(!it.non_blocking).to_string()),
        joined(|it| it.pointer.name().to_owned()),
        phase.mode.name().to_owned(),
        phase.members.to_string(),
        phase.np.to_string(),
        phase.rep.to_string() + about(phase.same_rep),
        rs,
        number(|it| it.least),
        number(|it| it.most),
        or_unknown(phase.disp.map(|disp| disp.to_string())),
        origin(family.file)[1].clone(),
        phase.weight.to_string(),
        family.weight.to_string(),
        or_unknown(seconds(family.time, model.resolution)),
        or_unknown(seconds(family.window, model.resolution)),
        or_unknown(rate(family.weight, family.time, model.resolution)),
        or_unknown(share(family.time, model.run)),
    ];
    fields.extend(origin(family.view));
    fields.extend(origin(family.file));
    fields.push(plain(&ior.remarks.join("; ")));
    fields.push(plain(&ior.lines.join("; ")));
    fields
}

fn origin(origin: Origin) -> [String; 3] {
    match origin {
        Origin::Linear { start, rank, occurrence } => {
            [start.to_string(), rank.to_string(), occurrence.to_string()]
        }
        Origin::Irregular => ["irregular"; 3].map(str::to_owned),
        Origin::Unknown => ["unknown"; 3].map(str::to_owned),
    }
}

/// Text in a field.
fn plain(text: &str) -> String {
    text.chars()
        .flat_map(|it| if it.is_control() { it.escape_default().collect() } else { vec![it] })
        .collect()
}

/// Ticks as seconds, with nine digits.
pub(crate) fn seconds(ticks: u64, resolution: u64) -> Option<String> {
    let nanos = (u128::from(ticks) * 1_000_000_000).checked_div(resolution.into())?;
    Some(format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000))
}

/// Bytes a second.
fn rate(bytes: u64, ticks: u64, resolution: u64) -> Option<String> {
    let rate = (u128::from(bytes) * u128::from(resolution)).checked_div(ticks.into())?;
    Some(to_u64(rate).to_string())
}

/// A share, with six digits.
fn share(part: u64, all: u64) -> Option<String> {
    let millionth = (u128::from(part) * 1_000_000).checked_div(all.into())?;
    Some(format!("{}.{:06}", millionth / 1_000_000, millionth % 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shares_have_fixed_digits() {
        assert_eq!(seconds(129_770_786, 2_600_027_335).unwrap(), "0.049911316");
        assert_eq!((seconds(1, 0), rate(1, 0, 1), share(1, 0)), (None, None, None));
        assert_eq!(
            (rate(100, 50, 10).unwrap(), share(1, 3).unwrap()),
            ("20".to_owned(), "0.333333".to_owned())
        );
    }

    #[test]
    fn texts_stay_in_their_field() {
        assert_eq!(plain("a\tb\nc ü"), "a\\tb\\nc ü");
        assert_eq!(NAMES.split('\t').count(), 34);
    }
}
