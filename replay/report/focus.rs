//! What the report says of the part of the run that it counts (structure 3.4).

use std::fmt;

use cubex::Attribute;

use super::summary::printable;
use crate::causes::{Focused, FocusedCosts};
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::focus::Focus;
use crate::int::to_u64;
use crate::structure::LoopChoice;

/// The part of the run that a report counts.
#[derive(Clone, PartialEq, Debug)]
pub struct FocusSummary {
    /// The focuses; what lies in all of them counts.
    pub names: String,
    /// Which numbers the iterations that count have in the program; `None` if these are the same, or not known.
    pub in_program: Option<String>,
    /// How many processes have a part that counts, and how many there are.
    pub processes: [u64; 2],
    /// Whether a process has several windows.
    pub has_several: bool,
    /// When the causes of the waiting that counts were, if they were looked for.
    pub costs: Option<FocusedCosts>,
}

impl FocusSummary {
    /// Describes the windows of all workers, and what the iterations are of and are called in the program; costs are not known yet.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn new(
        (focus, choice): (&[Focus], Option<&LoopChoice>),
        in_program: Option<String>,
        focused: &Focused,
        exchange: &mut dyn Exchange,
    ) -> Result<FocusSummary, Error> {
        let with = focused.windows.iter().filter(|windows| !windows.list().is_empty()).count();
        let several = focused.windows.iter().filter(|windows| windows.list().len() > 1).count();
        let mut sums = [0; 3];
        for batch in share(exchange, [with, focused.windows.len(), several].map(to_u64).to_vec())? {
            sums.iter_mut().zip(batch).for_each(|(sum, count)| *sum += count);
        }
        let [with, all, several] = sums;
        let names: Vec<String> = focus.iter().map(ToString::to_string).collect();
        Ok(FocusSummary {
            names: names.join(" and ")
                + &choice.map_or(String::new(), |choice| format!(" of --loop {choice}")),
            in_program,
            processes: [with, all],
            has_several: several > 0,
            costs: None,
        })
    }

    /// The share of the costs that is outside of the windows but not behind them, and that behind them, from 0 to 1; `None` without
    /// any costs.
    fn outside(&self) -> Option<[f64; 2]> {
        let FocusedCosts { before, inside, behind } = self.costs?;
        let all = before + inside + behind;
        (all > 0).then(|| [before, behind].map(|costs| costs as f64 / all as f64))
    }

    /// The attributes of the report.
    pub(super) fn attributes(&self) -> Vec<Attribute> {
        let mut attributes = vec![Attribute::new("Replay::Focus", self.names.clone())];
        if let Some([before, behind]) = self.outside() {
            attributes.push(Attribute::new("Replay::Focus::before", format!("{before:.6}")));
            attributes.push(Attribute::new("Replay::Focus::behind", format!("{behind:.6}")));
        }
        attributes
    }
}

impl fmt::Display for FocusSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Only a part of the run counts here: {}", printable(&self.names))?;
        if let Some(numbers) = &self.in_program {
            writeln!(f, "  {numbers}")?;
        }
        let [with, all] = self.processes;
        if with < all {
            writeln!(f, "  {} of {all} processes have no such part", all - with)?;
        }
        let [before, behind] = self.outside().unwrap_or_default().map(|share| 100.0 * share);
        if before >= 0.05 {
            let between = if self.has_several { ", or between its windows" } else { "" };
            writeln!(f, "  {before:.1} % of the costs of its waiting were caused before it{between}")?;
        }
        if behind >= 0.05 {
            writeln!(
                f,
                "  {behind:.1} % of the costs of its waiting were caused behind it, as a wait goes on there"
            )?;
        }
        writeln!(f)
    }
}
