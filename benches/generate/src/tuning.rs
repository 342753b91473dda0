//! What can be chosen about the loop of a pattern: noise, and what is unlike in which iterations.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Choices about a loop. Iterations have numbers from 1 on.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuning {
    /// Standard deviation of the work of a rank, in percent of it.
    pub noise: f64,
    /// How much longer all work from each iteration to the next one, in percent of the first one.
    pub trend: f64,
    /// The iterations of another kind.
    pub every: Option<Every>,
    /// A rank that takes longer once.
    pub slow: Option<Slow>,
    /// Repetitions of the inner loop, drawn for each iteration.
    pub inner: RangeInclusive<u32>,
    /// Number of call sites, if a pattern chooses among them.
    pub sites: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { noise: 3.0, trend: 0.0, every: None, slow: None, inner: 4..=4, sites: 1024 }
    }
}

impl Tuning {
    /// The options that are not as usual.
    pub(crate) fn chosen(&self) -> Vec<&'static str> {
        let usual = Tuning::default();
        let all = [
            ("noise", self.noise != usual.noise),
            ("trend", self.trend != usual.trend),
            ("every", self.every != usual.every),
            ("slow", self.slow != usual.slow),
            ("inner", self.inner != usual.inner),
            ("sites", self.sites != usual.sites),
        ];
        all.into_iter().filter(|option| option.1).map(|option| option.0).collect()
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tuning { noise, trend, every, slow, inner, sites } = self;
        write!(f, "noise {noise} %, inner loop {} to {}, {sites} sites", inner.start(), inner.end())?;
        if *trend != 0.0 {
            write!(f, ", {trend} % longer from each iteration to the next")?;
        }
        if let Some(Every { number, factor, has_call }) = every {
            let call = if *has_call { " with an additional call" } else { "" };
            write!(f, ", times {factor} every {number} iterations{call}")?;
        }
        if let Some(Slow { rank, iteration, factor, work }) = slow {
            write!(f, ", {work:?} of rank {rank} times {factor} in iteration {iteration}")?;
        }
        Ok(())
    }
}

/// Every so many iterations one is of another kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Every {
    /// The number of the first one of that kind, and the distance to the next.
    pub number: u64,
    /// How many times the work of the others it has.
    pub factor: f64,
    /// Whether there is an additional call of MPI in it.
    pub has_call: bool,
}

/// A rank takes longer in a function, in one iteration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slow {
    /// Which rank.
    pub rank: u32,
    /// In which iteration.
    pub iteration: u64,
    /// How many times as long.
    pub factor: f64,
    /// In which function.
    pub work: Work,
}

/// The functions in which ranks work in an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Once, before the exchange with neighbours.
    Relax,
    /// In each repetition of the inner loop.
    Smooth,
}

impl FromStr for Every {
    type Err = String;

    /// Reads `NUMBER:FACTOR`, with `:call` if there is an additional call.
    fn from_str(text: &str) -> Result<Every, String> {
        let fields: Vec<&str> = text.split(':').collect();
        let (&[number, factor], has_call) = (match &fields[..] {
            [both @ .., "call"] => (both, true),
            both => (both, false),
        }) else {
            return Err("expected NUMBER:FACTOR or NUMBER:FACTOR:call".into());
        };
        let number = self::number(number)?;
        if number == 0 {
            return Err("iterations are counted from 1 on".into());
        }
        Ok(Every { number, factor: factor_from(factor, 0.1)?, has_call })
    }
}

impl FromStr for Slow {
    type Err = String;

    /// Reads `RANK:ITERATION:FACTOR`, with `:smooth` or `:relax` behind.
    fn from_str(text: &str) -> Result<Slow, String> {
        let fields: Vec<&str> = text.split(':').collect();
        let (fields, work) = match &fields[..] {
            [fields @ .., "relax"] => (fields, Work::Relax),
            [fields @ .., "smooth"] => (fields, Work::Smooth),
            fields => (fields, Work::Relax),
        };
        let &[rank, iteration, factor] = fields else {
            return Err("expected RANK:ITERATION:FACTOR, and maybe :relax or :smooth".into());
        };
        Ok(Slow {
            rank: number(rank)?,
            iteration: number(iteration)?,
            factor: factor_from(factor, 1.0)?,
            work,
        })
    }
}

/// Reads `K`, or `K-L`, for a number of repetitions.
pub fn repetitions(text: &str) -> Result<RangeInclusive<u32>, String> {
    const MOST: u32 = 10_000;
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most) = (number(least)?, number(most)?);
    if least == 0 || least > most || most > MOST {
        return Err(format!("expected numbers from 1 to {MOST}, the smaller one first"));
    }
    Ok(least..=most)
}

/// Reads a share in percent, from 0 to 25.
pub fn noise(text: &str) -> Result<f64, String> {
    within(text, 0.0, 25.0)
}

/// Reads a change in percent, from -1 to 100.
pub fn trend(text: &str) -> Result<f64, String> {
    within(text, -1.0, 100.0)
}

fn factor_from(text: &str, least: f64) -> Result<f64, String> {
    within(text, least, 1000.0)
}

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let read = number(text)?;
    // Not if it is no number.
    if (least..=most).contains(&read) { Ok(read) } else { Err(format!("expected {least} to {most}")) }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is not such a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let every = |text: &str| text.parse::<Every>();
        assert_eq!(every("7:2"), Ok(Every { number: 7, factor: 2.0, has_call: false }));
        assert_eq!(every("10:0.5:call"), Ok(Every { number: 10, factor: 0.5, has_call: true }));
        let slow = |text: &str| text.parse::<Slow>();
        let expected = Slow { rank: 5, iteration: 33, factor: 3.0, work: Work::Relax };
        assert_eq!(slow("5:33:3"), Ok(expected));
        assert_eq!(slow("5:33:3:smooth"), Ok(Slow { work: Work::Smooth, ..expected }));
        assert_eq!((repetitions("4"), repetitions("3-9")), (Ok(4..=4), Ok(3..=9)));
        assert_eq!((noise("0"), trend("-0.1")), (Ok(0.0), Ok(-0.1)));
    }

    #[test]
    fn bad_choices_are_refused() {
        for text in ["", "7", "0:2", "7:0", "7:NaN", "7:2:calls", "7:2:call:call", "-7:2"] {
            assert!(text.parse::<Every>().is_err(), "{text}");
        }
        for text in ["", "5:33", "5:33:0.5", "5:33:3:main", "x:33:3"] {
            assert!(text.parse::<Slow>().is_err(), "{text}");
        }
        for text in ["", "0", "9-3", "1-1000000", "1-"] {
            assert!(repetitions(text).is_err(), "{text}");
        }
        assert!(noise("-1").is_err() && noise("inf").is_err() && trend("-2").is_err());
    }
}
