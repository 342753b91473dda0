//! Runs programs over blocks of rows.
//!
//! A number that is not there is NaN: arithmetic passes it on, and a comparison with it is false, as advice 5.2 asks.

use rustc_hash::FxHashMap;

use crate::code::{Kind, Test};
use crate::parse::{Arithmetic, Compare};
use crate::program::{Constant, Place, Program, REGISTERS, Step};
use crate::rows::{ABSENT, BLOCK, Run, Values};
use crate::schema::Names;
use crate::template::whole;

/// Names up to this number are tested once each; a table for more would be too large.
const MOST_REMEMBERED: usize = 1 << 22;

/// Registers of a block, and what several programs need of it.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) numbers: Vec<Vec<f64>>,
    pub(crate) flags: Vec<Vec<u8>>,
    shared: Vec<Shared>,
}

/// A comparison of a column with a constant that several programs have: worked out once a block (advice 5.3).
#[derive(Debug)]
struct Shared {
    column: usize,
    limits: Limits,
    is_known: bool,
    flags: Vec<u8>,
}

/// A program with the constants of a run.
#[derive(Debug)]
pub(crate) struct Bound<'r> {
    pub(crate) program: &'r Program,
    pub(crate) constants: Vec<f64>,
    /// For each step the limits that a column is between, if it is about such.
    limits: Vec<Option<Limits>>,
    /// For each step where the machine has it for several programs.
    shared: Vec<Option<usize>>,
    /// For each test what is known of names.
    known: Vec<Vec<u8>>,
}

/// From where to where values fulfil a comparison, or do not; none is [`ABSENT`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Limits {
    least: i64,
    most: i64,
    is_wanted: bool,
}

/// A block of rows: where it begins in the columns, and how many rows it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'v> {
    pub(crate) columns: &'v [Values<'v>],
    pub(crate) from: usize,
    pub(crate) count: usize,
}

impl<'r> Bound<'r> {
    pub(crate) fn new(program: &'r Program, run: &Run) -> Bound<'r> {
        let constants: Vec<f64> = program.constants.iter().map(|constant| value(*constant, run)).collect();
        let limits = program.steps.iter().map(|step| match *step {
            Step::Limit { compare, constant, .. } => Some(limits(compare, constants[constant])),
            _ => None,
        });
        Bound {
            program,
            limits: limits.collect(),
            constants,
            shared: vec![None; program.steps.len()],
            known: vec![Vec::new(); program.tests.len()],
        }
    }

    /// Comparisons of columns with constants.
    fn comparisons(&self) -> impl Iterator<Item = (usize, usize, Limits)> {
        let steps = self.program.steps.iter().zip(&self.limits).enumerate();
        steps.filter_map(|(at, (step, limits))| match step {
            Step::Limit { column, .. } => Some((at, *column, (*limits)?)),
            _ => None,
        })
    }
}

/// The value of a constant in a run.
fn value(constant: Constant, run: &Run) -> f64 {
    match constant {
        Constant::Number(value) => value,
        Constant::Seconds(value) => value * run.ticks_per_second,
        Constant::Run(fact) => run.fact(fact),
    }
}

/// The whole numbers that fulfil a comparison with a constant.
// Numbers beyond those of 64 bits become the last ones, which is as good.
#[allow(clippy::cast_possible_truncation)]
fn limits(compare: Compare, constant: f64) -> Limits {
    const FIRST: i64 = ABSENT + 1;
    let none = Limits { least: 1, most: 0, is_wanted: true };
    if constant.is_nan() {
        return none;
    }
    let (floor, ceiling) = (constant.floor() as i64, constant.ceil() as i64);
    let is_whole = floor == ceiling;
    let (least, most, is_wanted) = match compare {
        Compare::Less => (FIRST, ceiling.saturating_sub(1), true),
        Compare::AtMost => (FIRST, floor, true),
        Compare::AtLeast => (ceiling.max(FIRST), i64::MAX, true),
        Compare::More => (floor.saturating_add(1).max(FIRST), i64::MAX, true),
        Compare::Equal if is_whole => (floor, floor, true),
        Compare::Different if is_whole => (floor, floor, false),
        Compare::Equal => return none,
        Compare::Different => (FIRST, i64::MAX, true),
    };
    Limits { least, most, is_wanted }
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let numbers = vec![vec![0.0; BLOCK]; REGISTERS];
        Machine { numbers, flags: vec![vec![0; BLOCK]; REGISTERS], shared: Vec::new() }
    }

    /// Finds comparisons that several of these programs have, or one has several times.
    pub(crate) fn share<'b, 'r: 'b>(&mut self, programs: impl Iterator<Item = &'b mut Bound<'r>>) {
        let mut programs: Vec<&mut Bound<'r>> = programs.collect();
        let mut uses: FxHashMap<(usize, Limits), usize> = FxHashMap::default();
        for (_, column, limits) in programs.iter().flat_map(|program| program.comparisons()) {
            *uses.entry((column, limits)).or_default() += 1;
        }
        let mut places: FxHashMap<(usize, Limits), usize> = FxHashMap::default();
        for program in &mut programs {
            let comparisons: Vec<_> = program.comparisons().collect();
            for (at, column, limits) in
                comparisons.into_iter().filter(|&(_, column, limits)| uses[&(column, limits)] > 1)
            {
                let place = *places.entry((column, limits)).or_insert_with(|| {
                    self.shared.push(Shared { column, limits, is_known: false, flags: vec![0; BLOCK] });
                    self.shared.len() - 1
                });
                program.shared[at] = Some(place);
            }
        }
    }

    /// Begins another block.
    pub(crate) fn forget(&mut self) {
        self.shared.iter_mut().for_each(|shared| shared.is_known = false);
    }

    /// What several programs need of a block.
    fn shared(&mut self, place: usize, block: Block<'_>) -> &[u8] {
        let shared = &mut self.shared[place];
        if !shared.is_known {
            check_limits(block, shared.column, shared.limits, &mut shared.flags);
            shared.is_known = true;
        }
        &shared.flags[..block.count]
    }

    /// Runs a program; its result is where the program says. Returns whether it came to its end: else it is a condition that
    /// no row fulfils.
    pub(crate) fn run(&mut self, bound: &mut Bound<'_>, block: Block<'_>, names: &dyn Names) -> bool {
        for (at, (step, limits)) in bound.program.steps.iter().zip(&bound.limits).enumerate() {
            match step {
                &Step::Stop { flags } => {
                    if !self.flags[flags][..block.count].contains(&1) {
                        return false;
                    }
                }
                &Step::Load { column, to } => load(block, column, &mut self.numbers[to]),
                &Step::LoadFlags { column, to } => load_flags(block, column, &mut self.flags[to]),
                &Step::Limit { column, to, .. } => {
                    let limits = limits.expect("made for such steps");
                    let mut out = std::mem::take(&mut self.flags[to]);
                    match bound.shared[at] {
                        Some(place) => out[..block.count].copy_from_slice(self.shared(place, block)),
                        None => check_limits(block, column, limits, &mut out),
                    }
                    self.flags[to] = out;
                }
                &Step::Arithmetic { sign, a, b, to } => {
                    let operands = (a, b, &*bound.constants, block.count);
                    match sign {
                        Arithmetic::Add => self.numbers_of(operands, to, |a, b| a + b),
                        Arithmetic::Subtract => self.numbers_of(operands, to, |a, b| a - b),
                        Arithmetic::Multiply => self.numbers_of(operands, to, |a, b| a * b),
                        Arithmetic::Divide => self.numbers_of(operands, to, divide),
                    }
                }
                &Step::Least { a, b, to } => {
                    self.numbers_of((a, b, &bound.constants, block.count), to, least);
                }
                &Step::Greatest { a, b, to } => {
                    self.numbers_of((a, b, &bound.constants, block.count), to, greatest);
                }
                &Step::Negative { a, to } => {
                    self.numbers_of((a, a, &bound.constants, block.count), to, |a, _| -a);
                }
                &Step::Absolute { a, to } => {
                    self.numbers_of((a, a, &bound.constants, block.count), to, |a, _| a.abs());
                }
                &Step::Compare { compare, a, b, to } => {
                    let operands = (a, b, &*bound.constants, block.count);
                    match compare {
                        Compare::Less => self.flags_of(operands, to, |a, b| a < b),
                        Compare::AtMost => self.flags_of(operands, to, |a, b| a <= b),
                        Compare::Equal => self.flags_of(operands, to, |a, b| a == b),
                        Compare::Different => self.flags_of(operands, to, are_different),
                        Compare::AtLeast => self.flags_of(operands, to, |a, b| a >= b),
                        Compare::More => self.flags_of(operands, to, |a, b| a > b),
                    }
                }
                Step::In { a, list, is_wanted, to } => {
                    let constants = &bound.constants;
                    let is_one = |a: f64, _| {
                        !a.is_nan() && list.iter().any(|&item| constants[item] == a) == *is_wanted
                    };
                    self.flags_of((*a, *a, constants, block.count), *to, is_one);
                }
                &Step::Named { a, test, is_wanted, to } => {
                    let (test, kind) = (&bound.program.tests[test], &mut bound.known[test]);
                    self.named((a, &bound.constants, block.count), to, is_wanted, (test, kind, names));
                }
                &Step::Not { a, to } => self.truth_of((a, a, block.count), to, |a, _| a ^ 1),
                &Step::And { a, b, to } => self.truth_of((a, b, block.count), to, |a, b| a & b),
                &Step::Or { a, b, to } => self.truth_of((a, b, block.count), to, |a, b| a | b),
                &Step::Same { a, b, is_wanted, to } => {
                    self.truth_of((a, b, block.count), to, |a, b| a ^ b ^ u8::from(is_wanted));
                }
                &Step::ChooseFlags { flags, a, b, to } => {
                    let mut out = std::mem::take(&mut self.flags[to]);
                    for (row, out) in out[..block.count].iter_mut().enumerate() {
                        let chosen = if self.flags[flags][row] == 1 { a } else { b };
                        *out = self.flags[chosen][row];
                    }
                    self.flags[to] = out;
                }
                &Step::Choose { flags, a, b, to } => {
                    let mut out = std::mem::take(&mut self.numbers[to]);
                    let chosen = |row: usize| if self.flags[flags][row] == 1 { a } else { b };
                    for (row, out) in out[..block.count].iter_mut().enumerate() {
                        *out = self.number(chosen(row), row, &bound.constants);
                    }
                    self.numbers[to] = out;
                }
            }
        }
        true
    }

    /// The number of a row at a place.
    pub(crate) fn number(&self, place: Place, row: usize, constants: &[f64]) -> f64 {
        match place {
            Place::Numbers(register) => self.numbers[register][row],
            Place::Constant(constant) => constants[constant],
            Place::Flags(register) => f64::from(self.flags[register][row]),
        }
    }

    /// The numbers of some rows at a place, in place of what `out` has.
    pub(crate) fn numbers_at(&self, place: Place, rows: &[usize], constants: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match place {
            Place::Numbers(register) => {
                let numbers = &self.numbers[register];
                out.extend(rows.iter().map(|&row| numbers[row]));
            }
            Place::Constant(constant) => out.resize(rows.len(), constants[constant]),
            Place::Flags(register) => {
                let flags = &self.flags[register];
                out.extend(rows.iter().map(|&row| f64::from(flags[row])));
            }
        }
    }

    /// Makes numbers of two numbers.
    fn numbers_of(
        &mut self,
        (a, b, constants, count): (Place, Place, &[f64], usize),
        to: usize,
        make: impl Fn(f64, f64) -> f64,
    ) {
        let mut out = std::mem::take(&mut self.numbers[to]);
        each(self, (a, b, constants), &mut out[..count], make);
        self.numbers[to] = out;
    }

    /// Makes truth of two numbers.
    fn flags_of(
        &mut self,
        (a, b, constants, count): (Place, Place, &[f64], usize),
        to: usize,
        make: impl Fn(f64, f64) -> bool,
    ) {
        let mut out = std::mem::take(&mut self.flags[to]);
        each(self, (a, b, constants), &mut out[..count], |a, b| u8::from(make(a, b)));
        self.flags[to] = out;
    }

    /// Makes truth of truth.
    fn truth_of(&mut self, (a, b, count): (usize, usize, usize), to: usize, make: impl Fn(u8, u8) -> u8) {
        let mut out = std::mem::take(&mut self.flags[to]);
        let (a, b) = (&self.flags[a][..count], &self.flags[b][..count]);
        for ((out, &a), &b) in out[..count].iter_mut().zip(a).zip(b) {
            *out = make(a, b);
        }
        self.flags[to] = out;
    }

    /// Tests names, each once.
    fn named(
        &mut self,
        (a, constants, count): (Place, &[f64], usize),
        to: usize,
        is_wanted: bool,
        ((test, kind), known, names): (&(Test, Kind), &mut Vec<u8>, &dyn Names),
    ) {
        let mut out = std::mem::take(&mut self.flags[to]);
        for (row, out) in out[..count].iter_mut().enumerate() {
            let number = self.number(a, row, constants);
            *out = match number.is_nan() {
                true => 0,
                false => passes(test, *kind, whole(number), known, names) ^ u8::from(!is_wanted),
            };
        }
        self.flags[to] = out;
    }
}

/// Whether the name of a number passes a test; one without a name does not.
fn passes(test: &Test, kind: Kind, number: i64, known: &mut Vec<u8>, names: &dyn Names) -> u8 {
    const UNKNOWN: u8 = 2;
    let position = usize::try_from(number).ok().filter(|&position| position < MOST_REMEMBERED);
    if let Some(position) = position {
        match known.get(position) {
            Some(&UNKNOWN) => {}
            Some(&passes) => return passes,
            None => known.resize(position + 1, UNKNOWN),
        }
    }
    let name = names.name(kind.kind, kind.domain, number);
    let passes = u8::from(name.is_some_and(|name| test.passes(&name)));
    if let Some(position) = position {
        known[position] = passes;
    }
    passes
}

/// Makes something of two numbers of each row; registers and constants are told apart once for all rows.
fn each<T>(
    machine: &Machine,
    (a, b, constants): (Place, Place, &[f64]),
    out: &mut [T],
    make: impl Fn(f64, f64) -> T,
) {
    let register = |place: Place| match place {
        Place::Numbers(register) => Some(&machine.numbers[register][..out.len()]),
        Place::Constant(_) | Place::Flags(_) => None,
    };
    match (register(a), register(b)) {
        (Some(a), Some(b)) => {
            for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *out = make(a, b);
            }
        }
        (Some(a), None) => {
            let b = machine.number(b, 0, constants);
            for (out, &a) in out.iter_mut().zip(a) {
                *out = make(a, b);
            }
        }
        (None, Some(b)) => {
            let a = machine.number(a, 0, constants);
            for (out, &b) in out.iter_mut().zip(b) {
                *out = make(a, b);
            }
        }
        (None, None) => {
            let (a, b) = (machine.number(a, 0, constants), machine.number(b, 0, constants));
            out.iter_mut().for_each(|out| *out = make(a, b));
        }
    }
}

/// A quotient; absent if it has no value.
pub(crate) fn divide(a: f64, b: f64) -> f64 {
    if b == 0.0 { f64::NAN } else { a / b }
}

/// Whether two numbers differ; not if one is absent.
pub(crate) fn are_different(a: f64, b: f64) -> bool {
    a != b && !a.is_nan() && !b.is_nan()
}

/// The smaller number; absent if one is.
pub(crate) fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// The greater number; absent if one is.
pub(crate) fn greatest(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

// Beyond 2^53 the nearest number will do: 104 days in nanoseconds.
#[allow(clippy::cast_precision_loss)]
fn load(block: Block<'_>, column: usize, out: &mut [f64]) {
    let out = &mut out[..block.count];
    match block.columns[column] {
        Values::Whole(values) => {
            for (out, &value) in out.iter_mut().zip(&values[block.from..]) {
                *out = if value == ABSENT { f64::NAN } else { value as f64 };
            }
        }
        Values::Numbers(values) => out.copy_from_slice(&values[block.from..block.from + block.count]),
        Values::Flags(_) | Values::Missing => out.fill(f64::NAN),
    }
}

fn load_flags(block: Block<'_>, column: usize, out: &mut [u8]) {
    let out = &mut out[..block.count];
    match block.columns[column] {
        Values::Flags(values) => {
            for (out, &value) in out.iter_mut().zip(&values[block.from..]) {
                *out = u8::from(value == 1);
            }
        }
        _ => out.fill(0),
    }
}

fn check_limits(block: Block<'_>, column: usize, limits: Limits, out: &mut [u8]) {
    let out = &mut out[..block.count];
    let Values::Whole(values) = block.columns[column] else {
        out.fill(0);
        return;
    };
    let Limits { least, most, is_wanted } = limits;
    let values = out.iter_mut().zip(&values[block.from..]);
    if is_wanted {
        // What is absent is less than any limit.
        values.for_each(|(out, &value)| *out = u8::from((value >= least) & (value <= most)));
    } else {
        values.for_each(|(out, &value)| {
            *out = u8::from(((value < least) | (value > most)) & (value != ABSENT));
        });
    }
}
