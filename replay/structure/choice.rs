//! The loop that the user asks for in place of the one with most time (structure 2.8).

use std::fmt;

use structure::{Forest, LoopId};

use super::groups::Groups;
use super::local::Local;
use crate::call_tree::CallPath;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::int::to_u32;
use crate::trace::Trace;
use crate::walk::{Steps, Walked};
use crate::wire::{self, Wire};

/// What has the iterations, as the user names it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LoopChoice {
    /// The loop of this name, such as `2.1`.
    Named(String),
    /// The innermost loop around all calls of MPI below regions of this name.
    Around(String),
    /// Visits of regions of this name.
    Phase(String),
}

/// The forms, for messages.
const FORMS: &str = "the name of a loop such as 2.1, the name of a function, or phase=NAME";

/// Loops of a location that a message names.
const SHOWN: usize = 12;

impl LoopChoice {
    /// Reads the name of a loop, of a region, or `phase=NAME`. What looks like the name of a loop is one.
    ///
    /// # Errors
    /// If there is no name; says what is expected.
    pub fn parse(text: &str) -> Result<LoopChoice, String> {
        let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        match text.strip_prefix("phase=") {
            None if text.split('.').all(is_number) => Ok(LoopChoice::Named(text.to_owned())),
            None if !text.is_empty() => Ok(LoopChoice::Around(text.to_owned())),
            Some(name) if !name.is_empty() => Ok(LoopChoice::Phase(name.to_owned())),
            _ => Err(format!("expected {FORMS}")),
        }
    }

    /// A part of the name of a file.
    pub fn file_name(&self) -> String {
        crate::focus::file_name(&format!("loop={self}"))
    }

    /// The name of the regions whose visits are asked for.
    pub fn phase(&self) -> Option<&str> {
        match self {
            LoopChoice::Phase(name) => Some(name),
            LoopChoice::Named(_) | LoopChoice::Around(_) => None,
        }
    }
}

impl fmt::Display for LoopChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopChoice::Named(name) | LoopChoice::Around(name) => f.write_str(name),
            LoopChoice::Phase(name) => write!(f, "phase={name}"),
        }
    }
}

/// What a location has of the loop that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Found {
    /// No call that it is about.
    NoCall,
    /// Calls that no loop has all of.
    NoLoop,
    Loop(LoopId),
}

impl Groups {
    /// Takes the loop that is asked for in place of the one with most time; locations that lack it have none. Of a phase loops stay
    /// as they are.
    ///
    /// # Errors
    /// If no location has the loop, or a worker failed.
    pub(super) fn choose(
        &mut self,
        trace: &Trace,
        processes: &[Walked],
        choice: &LoopChoice,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        let found: Vec<Found> = match choice {
            LoopChoice::Phase(_) => return Ok(()),
            LoopChoice::Named(name) => {
                let named = |local: &Local| local.forest.named(name).map_or(Found::NoLoop, Found::Loop);
                self.locals.iter().map(named).collect()
            }
            LoopChoice::Around(name) => {
                let mut locals = self.locals.iter();
                let of_process = |walked: &Walked| -> Vec<Found> {
                    let is_below = below(trace, &walked.process.paths, name);
                    let located = walked.steps.iter().zip(&mut locals);
                    located.map(|(steps, local)| around(local, steps, &is_below)).collect()
                };
                processes.iter().flat_map(of_process).collect()
            }
        };
        let best = found.iter().max().map_or(0, |found| match found {
            Found::NoCall => 0,
            Found::NoLoop => 1,
            Found::Loop(_) => 2,
        });
        let best = share(exchange, vec![best])?.iter().map(|batch| batch[0]).max().unwrap_or(0);
        if best < 2 {
            let reason = match choice {
                LoopChoice::Around(name) if best == 0 => {
                    format!("no call of MPI is made below a region named {name}{}", trace.some_regions())
                }
                LoopChoice::Around(name) => {
                    let loops = self.known_loops(trace, processes, exchange)?;
                    format!("no loop has all calls of MPI below {name}; {loops}")
                }
                _ => {
                    format!(
                        "there is no loop of this name; {}",
                        self.known_loops(trace, processes, exchange)?
                    )
                }
            };
            return Err(Error::new(format!("--loop {choice}: {reason}")));
        }
        let id = |found: Found| if let Found::Loop(id) = found { Some(id) } else { None };
        self.main = found.into_iter().map(id).collect();
        Ok(())
    }

    /// The loops of the first location with loops, in words.
    fn known_loops(
        &self,
        trace: &Trace,
        processes: &[Walked],
        exchange: &mut dyn Exchange,
    ) -> Result<String, Error> {
        let locations = processes.iter().flat_map(|walked| &walked.process.locations);
        let with_loops =
            self.locals.iter().zip(locations).find(|(local, _)| !local.forest.loops().is_empty());
        let mut told = Batch::new();
        let own = with_loops.map(|(local, location)| {
            let names = local.forest.ids().take(SHOWN).map(|id| local.forest.name(id));
            let more = local.forest.loops().len() > SHOWN;
            (to_u32(location.location), (names.collect::<Vec<String>>().join(", "), more))
        });
        own.into_iter().for_each(|own| own.put(&mut told));
        let all = share(exchange, told)?;
        let all = all.iter().filter(|batch| !batch.is_empty());
        let first = all.map(|batch| wire::one::<(u32, (String, bool))>(batch)).min();
        Ok(match first {
            None => "the program has no loop of MPI calls".into(),
            Some((location, (names, more))) => format!(
                "{} has {names}{} (replay-show structure shows all)",
                trace.location_name(location as usize),
                if more { " and others" } else { "" }
            ),
        })
    }
}

/// By call path of a process: whether it is one of a region of this name, or below one.
fn below(trace: &Trace, paths: &[CallPath], name: &str) -> Vec<bool> {
    let mut is_below: Vec<bool> = Vec::with_capacity(paths.len());
    for path in paths {
        let own = trace.definitions.regions.get(path.region as usize);
        let is_named = own.is_some_and(|region| crate::trace::is_named(region, name));
        is_below.push(is_named || is_below.get(path.parent.index()).copied().unwrap_or(false));
    }
    is_below
}

/// The innermost loop around all calls of a location at these paths.
fn around(local: &Local, steps: &Steps, is_below: &[bool]) -> Found {
    let mut all = Found::NoCall;
    for (key, &node) in steps.key_numbers().zip(&local.sequence) {
        let key = steps.keys[key as usize];
        if key.is_gap || !is_below[key.path.index()] {
            continue;
        }
        let Some(own) = local.forest.around(node) else { return Found::NoLoop };
        all = match all {
            Found::NoCall => Found::Loop(own),
            Found::Loop(known) => common(&local.forest, known, own).map_or(Found::NoLoop, Found::Loop),
            Found::NoLoop => return Found::NoLoop,
        };
    }
    all
}

/// The innermost loop around two.
fn common(forest: &Forest, one: LoopId, other: LoopId) -> Option<LoopId> {
    let mut outwards = std::iter::successors(Some(one), |&id| forest.get(id).parent);
    outwards.find(|&outer| forest.is_within(other, outer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_loops_are_numbers_and_others_are_regions_or_phases() {
        let parse = |text: &str| LoopChoice::parse(text);
        assert_eq!(parse("2"), Ok(LoopChoice::Named("2".into())));
        assert_eq!(parse("2.10.1"), Ok(LoopChoice::Named("2.10.1".into())));
        for name in ["solve", "2.", ".1", "2.x", "+1", "operator=", "phases"] {
            assert_eq!(parse(name), Ok(LoopChoice::Around(name.into())), "{name}");
        }
        assert_eq!(parse("phase=step#2"), Ok(LoopChoice::Phase("step#2".into())));
        assert_eq!(parse("phase=2"), Ok(LoopChoice::Phase("2".into())));
        for text in ["", "phase="] {
            assert!(parse(text).unwrap_err().contains("phase=NAME"), "{text}");
        }
        for text in ["2.1", "solve", "phase=step"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }
}
