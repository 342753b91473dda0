//! Draw of a random test: its seed determines program, delayed rank, place and length of the delay, and kind
//! of recording.

use std::fmt;

use crate::chance::Random;
use crate::support::project;

/// Names of the programs in `tests/programs/culprits`.
const SHAPES: [&str; 16] = [
    "halo",
    "ring",
    "pipeline",
    "wavefront",
    "farm",
    "gradients",
    "steering",
    "rooted",
    "spectral",
    "persistent",
    "overlap",
    "reductions",
    "neighbors",
    "fences",
    "epochs",
    "checkpoint",
];

/// Information of a recording about the program's functions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Mode {
    /// Enter and leave events of functions.
    Instrumented,
    /// The active functions at calls of MPI, with lines.
    Lines,
    /// The active functions at calls of MPI, without lines.
    Symbols,
    /// Functions with lines, at calls of MPI and at samples in between.
    Samples,
    /// One of these modes, without a delay.
    Balanced,
}

/// All modes.
pub(crate) const MODES: [Mode; 5] =
    [Mode::Instrumented, Mode::Lines, Mode::Symbols, Mode::Samples, Mode::Balanced];

impl Mode {
    /// Name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Instrumented => "instrumented",
            Mode::Lines => "-g",
            Mode::Symbols => "no -g",
            Mode::Samples => "samples",
            Mode::Balanced => "balanced",
        }
    }

    /// Compiler options. Functions of the headers do not belong to the program.
    pub(crate) fn flags(self) -> &'static str {
        match self {
            Mode::Instrumented => {
                "-g -O2 -finstrument-functions -finstrument-functions-exclude-file-list=check.h,shape.h"
            }
            Mode::Symbols => "-O2",
            Mode::Lines | Mode::Samples | Mode::Balanced => "-g -O2",
        }
    }

    /// Options of `replay-record`.
    pub(crate) fn option(self) -> Option<&'static str> {
        (self == Mode::Samples).then_some("--sample=200")
    }
}

/// A program with points at which a rank can be delayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// Its source text.
    pub(crate) source: String,
    ranks: u32,
    places: Vec<DelayPoint>,
}

/// A delay point: its number, and the only rank that reaches it, or the only one that does not.
#[derive(Clone, PartialEq, Eq, Debug)]
struct DelayPoint {
    number: u32,
    only: Option<u32>,
    except: Option<u32>,
}

impl Shape {
    fn read(name: &'static str) -> Shape {
        let path = project("tests/programs/culprits").join(name).with_extension("c");
        let source =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let number = |line: &str, mark: &str| {
            let rest = line.split_once(mark)?.1;
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse().ok()
        };
        let place = |line| {
            let (only, except) = (number(line, "ONLY: "), number(line, "NOT: "));
            Some(DelayPoint { number: number(line, "PLACE(")?, only, except })
        };
        let places: Vec<DelayPoint> = source.lines().filter_map(place).collect();
        let ranks = source.lines().find_map(|line| number(line, "RANKS: "));
        let ranks = ranks.unwrap_or_else(|| panic!("{name} does not say for how many ranks it is"));
        assert!((4..=8).contains(&places.len()), "{name} has {} places", places.len());
        Shape { name, source, ranks, places }
    }
}

/// Parameters of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Draw {
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    /// Column of the tables.
    pub(crate) mode: Mode,
    /// Mode of compilation and recording: the same mode, unless that is [`Mode::Balanced`].
    pub(crate) recording: Mode,
    pub(crate) ranks: u32,
    /// Number of the delay point, 0 for none.
    pub(crate) place: u32,
    /// The delayed rank.
    pub(crate) rank: u32,
    milliseconds: u32,
    is_busy: bool,
}

impl Draw {
    /// The draw of a seed, with a limit on the ranks of each mode. Consecutive seeds go through all modes and
    /// shapes.
    pub(crate) fn new(seed: u64, most: impl Fn(Mode) -> u32) -> Draw {
        let mut random = Random::new(seed);
        let mode = MODES[(seed % MODES.len() as u64) as usize];
        let shape = Shape::read(SHAPES[(seed % SHAPES.len() as u64) as usize]);
        let ranks = shape.ranks.min(most(mode));
        if mode == Mode::Balanced {
            let recording = random.pick(&MODES[..4]);
            return Draw {
                seed,
                mode,
                recording,
                ranks,
                place: 0,
                rank: 0,
                milliseconds: 100,
                is_busy: false,
                shape,
            };
        }
        let place = &shape.places[random.below(shape.places.len())];
        let reaches = |rank: &u32| place.only.is_none_or(|only| only == *rank) && place.except != Some(*rank);
        let reaching: Vec<u32> = (0..ranks).filter(reaches).collect();
        let rank = random.pick(&reaching);
        // A rank is sampled only while it computes, and at most at the rate of the system's clock.
        let is_busy = mode == Mode::Samples || random.chance(20);
        let milliseconds = (if is_busy { 45 } else { 15 }) + random.below(11) as u32;
        Draw { seed, mode, recording: mode, ranks, place: place.number, rank, milliseconds, is_busy, shape }
    }

    /// Arguments of the program.
    pub(crate) fn arguments(&self) -> [String; 4] {
        let kind = if self.is_busy { "busy" } else { "sleep" };
        [self.place.to_string(), self.rank.to_string(), self.milliseconds.to_string(), kind.to_owned()]
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "seed {}: {} {}, {}",
            self.seed,
            self.shape.name,
            self.arguments().join(" "),
            self.mode.name()
        )
    }
}

#[test]
fn consecutive_seeds_go_through_all_modes_and_shapes() {
    let draws: Vec<Draw> = (1000..1080).map(|seed| Draw::new(seed, |_| 8)).collect();
    for mode in MODES {
        let shapes: std::collections::BTreeSet<&str> =
            draws.iter().filter(|draw| draw.mode == mode).map(|draw| draw.shape.name).collect();
        assert_eq!(shapes.len(), SHAPES.len());
    }
}
