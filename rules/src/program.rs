//! Programs over blocks of rows: what code about rows is compiled to (advice 5.3).

use crate::Type;
use crate::code::{Code, Kind, Op, Test};
use crate::parse::{Arithmetic, Compare};

/// Steps of a program at most.
const MOST_STEPS: usize = 64;

/// Registers for numbers, and as many for truth.
pub(crate) const REGISTERS: usize = 8;

/// A program over a block.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) constants: Vec<Constant>,
    /// Tests of names, with what the names are of.
    pub(crate) tests: Vec<(Test, Kind)>,
    pub(crate) result: Place,
}

/// A number that is known when there is a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Constant {
    Number(f64),
    Seconds(f64),
    Run(usize),
}

/// Where a value of each row is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A register of numbers.
    Numbers(usize),
    /// A register of truth.
    Flags(usize),
    /// The same number in each row.
    Constant(usize),
}

impl Default for Place {
    fn default() -> Place {
        Place::Constant(0)
    }
}

/// A step: for all rows of the block, from registers and columns into a register. It is never one of those that are read.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Step {
    /// Ends the program if no row is true: the result is true of none.
    Stop {
        flags: usize,
    },
    Load {
        column: usize,
        to: usize,
    },
    LoadFlags {
        column: usize,
        to: usize,
    },
    Arithmetic {
        sign: Arithmetic,
        a: Place,
        b: Place,
        to: usize,
    },
    Least {
        a: Place,
        b: Place,
        to: usize,
    },
    Greatest {
        a: Place,
        b: Place,
        to: usize,
    },
    Negative {
        a: Place,
        to: usize,
    },
    Absolute {
        a: Place,
        to: usize,
    },
    Choose {
        flags: usize,
        a: Place,
        b: Place,
        to: usize,
    },
    Compare {
        compare: Compare,
        a: Place,
        b: Place,
        to: usize,
    },
    /// A column of whole numbers compared with a constant.
    Limit {
        compare: Compare,
        column: usize,
        constant: usize,
        to: usize,
    },
    In {
        a: Place,
        list: Vec<usize>,
        is_wanted: bool,
        to: usize,
    },
    Named {
        a: Place,
        test: usize,
        is_wanted: bool,
        to: usize,
    },
    Not {
        a: usize,
        to: usize,
    },
    And {
        a: usize,
        b: usize,
        to: usize,
    },
    Or {
        a: usize,
        b: usize,
        to: usize,
    },
    Same {
        a: usize,
        b: usize,
        is_wanted: bool,
        to: usize,
    },
    ChooseFlags {
        flags: usize,
        a: usize,
        b: usize,
        to: usize,
    },
}

/// Compiles code about rows.
///
/// # Errors
/// If it takes too many steps or registers: how many of which.
pub(crate) fn compile(code: &Code) -> Result<Program, String> {
    let mut compiler = Compiler::new(code);
    let result = compiler.node(code.root())?;
    compiler.finish(result)
}

/// Compiles a condition. Of what is joined by `and` the shortest part comes first, and nothing else is worked out for a block
/// in which no row fulfils it.
///
/// # Errors
/// As those of [`compile`].
pub(crate) fn compile_condition(code: &Code) -> Result<Program, String> {
    let mut compiler = Compiler::new(code);
    let mut parts = Vec::new();
    let mut open = vec![code.root()];
    while let Some(node) = open.pop() {
        match code.nodes[node].0 {
            Op::And(a, b) => open.extend([b, a]),
            _ => parts.push(node),
        }
    }
    parts.sort_by_key(|&part| compiler.sizes[part]);
    let mut whole = compiler.node(parts[0])?;
    for &part in &parts[1..] {
        let flags = register(whole);
        compiler.program.steps.push(Step::Stop { flags });
        let next = compiler.node(part)?;
        whole = compiler.makes_flag(whole, next, |to| Step::And { a: flags, b: register(next), to })?;
    }
    compiler.finish(whole)
}

/// For each node how many nodes it has below, to begin with the larger operand: that takes the fewest registers.
fn sizes(code: &Code) -> Vec<usize> {
    let mut sizes: Vec<usize> = Vec::with_capacity(code.nodes.len());
    for (op, _) in &code.nodes {
        let size = match op {
            Op::Not(a) | Op::Negative(a) | Op::Absolute(a) | Op::Named(a, ..) | Op::In(a, ..) => sizes[*a],
            Op::And(a, b)
            | Op::Or(a, b)
            | Op::Arithmetic(_, a, b)
            | Op::Compare(_, a, b)
            | Op::Least(a, b)
            | Op::Greatest(a, b) => sizes[*a] + sizes[*b],
            Op::If(a, b, c) => sizes[*a] + sizes[*b] + sizes[*c],
            _ => 0,
        };
        sizes.push(size + 1);
    }
    sizes
}

struct Compiler<'c> {
    code: &'c Code,
    sizes: Vec<usize>,
    program: Program,
    /// Free registers.
    numbers: Vec<usize>,
    flags: Vec<usize>,
}

impl<'c> Compiler<'c> {
    fn new(code: &'c Code) -> Compiler<'c> {
        Compiler {
            code,
            sizes: sizes(code),
            program: Program::default(),
            numbers: (0..REGISTERS).rev().collect(),
            flags: (0..REGISTERS).rev().collect(),
        }
    }

    fn finish(mut self, result: Place) -> Result<Program, String> {
        let is_work = |step: &&Step| !matches!(step, Step::Stop { .. });
        let steps = self.program.steps.iter().filter(is_work).count();
        if steps > MOST_STEPS {
            return Err(format!("{steps} steps for each row, expected at most {MOST_STEPS}"));
        }
        self.program.result = result;
        Ok(self.program)
    }

    fn number(&mut self) -> Result<usize, String> {
        self.numbers.pop().ok_or_else(too_many_registers)
    }

    fn flag(&mut self) -> Result<usize, String> {
        self.flags.pop().ok_or_else(too_many_registers)
    }

    fn free(&mut self, place: Place) {
        match place {
            Place::Numbers(register) => self.numbers.push(register),
            Place::Flags(register) => self.flags.push(register),
            Place::Constant(_) => {}
        }
    }

    fn constant(&mut self, constant: Constant) -> usize {
        let constants = &mut self.program.constants;
        constants.iter().position(|known| *known == constant).unwrap_or_else(|| {
            constants.push(constant);
            constants.len() - 1
        })
    }

    /// A node that is the same in each row.
    fn as_constant(&mut self, node: usize) -> Option<usize> {
        let constant = match self.code.nodes[node].0 {
            Op::Constant(value) => Constant::Number(value),
            Op::Seconds(value) => Constant::Seconds(value),
            Op::Run(fact) if self.code.nodes[node].1.kind != Type::Bool => Constant::Run(fact),
            _ => return None,
        };
        Some(self.constant(constant))
    }

    /// Two operands, the larger one first.
    fn pair(&mut self, a: usize, b: usize) -> Result<(Place, Place), String> {
        if self.sizes[b] > self.sizes[a] {
            let b = self.node(b)?;
            return Ok((self.node(a)?, b));
        }
        let a = self.node(a)?;
        Ok((a, self.node(b)?))
    }

    /// A step from two numbers to a number.
    fn makes_number(
        &mut self,
        a: Place,
        b: Place,
        step: impl FnOnce(usize) -> Step,
    ) -> Result<Place, String> {
        let to = self.number()?;
        self.program.steps.push(step(to));
        self.free(a);
        self.free(b);
        Ok(Place::Numbers(to))
    }

    /// A step from two values to truth.
    fn makes_flag(&mut self, a: Place, b: Place, step: impl FnOnce(usize) -> Step) -> Result<Place, String> {
        let to = self.flag()?;
        self.program.steps.push(step(to));
        self.free(a);
        self.free(b);
        Ok(Place::Flags(to))
    }

    fn node(&mut self, node: usize) -> Result<Place, String> {
        const NONE: Place = Place::Constant(0);
        let (op, kind) = &self.code.nodes[node];
        if let Some(constant) = self.as_constant(node) {
            return Ok(Place::Constant(constant));
        }
        match op {
            &Op::Column(column) if kind.kind == Type::Bool => {
                self.makes_flag(NONE, NONE, |to| Step::LoadFlags { column, to })
            }
            &Op::Column(column) => self.makes_number(NONE, NONE, |to| Step::Load { column, to }),
            &Op::Not(a) => {
                let a = self.node(a)?;
                let register = register(a);
                self.makes_flag(a, NONE, |to| Step::Not { a: register, to })
            }
            &Op::Negative(a) => {
                let a = self.node(a)?;
                self.makes_number(a, NONE, |to| Step::Negative { a, to })
            }
            &Op::Absolute(a) => {
                let a = self.node(a)?;
                self.makes_number(a, NONE, |to| Step::Absolute { a, to })
            }
            &Op::And(a, b) => {
                let (a, b) = self.pair(a, b)?;
                self.makes_flag(a, b, |to| Step::And { a: register(a), b: register(b), to })
            }
            &Op::Or(a, b) => {
                let (a, b) = self.pair(a, b)?;
                self.makes_flag(a, b, |to| Step::Or { a: register(a), b: register(b), to })
            }
            &Op::Arithmetic(sign, a, b) => {
                let (a, b) = self.pair(a, b)?;
                self.makes_number(a, b, |to| Step::Arithmetic { sign, a, b, to })
            }
            &Op::Least(a, b) => {
                let (a, b) = self.pair(a, b)?;
                self.makes_number(a, b, |to| Step::Least { a, b, to })
            }
            &Op::Greatest(a, b) => {
                let (a, b) = self.pair(a, b)?;
                self.makes_number(a, b, |to| Step::Greatest { a, b, to })
            }
            &Op::Compare(compare, a, b) => self.compare(compare, a, b),
            Op::In(a, list, is_wanted) => {
                let list = list.iter().map(|&item| self.listed(item)).collect();
                let a = self.node(*a)?;
                self.makes_flag(a, NONE, |to| Step::In { a, list, is_wanted: *is_wanted, to })
            }
            Op::Named(a, test, is_wanted) => {
                let kind = self.code.nodes[*a].1;
                let a = self.node(*a)?;
                self.program.tests.push((test.clone(), kind));
                let test = self.program.tests.len() - 1;
                self.makes_flag(a, NONE, |to| Step::Named { a, test, is_wanted: *is_wanted, to })
            }
            &Op::If(condition, a, b) => {
                let flags = self.node(condition)?;
                let (a, b) = self.pair(a, b)?;
                let place = match (a, b) {
                    (Place::Flags(a), Place::Flags(b)) => {
                        self.makes_flag(Place::Flags(a), Place::Flags(b), |to| Step::ChooseFlags {
                            flags: register(flags),
                            a,
                            b,
                            to,
                        })
                    }
                    _ => self.makes_number(a, b, |to| Step::Choose { flags: register(flags), a, b, to }),
                }?;
                self.free(flags);
                Ok(place)
            }
            // A fact of the run that is true or false: 1 or 0, if it is there.
            &Op::Run(fact) => {
                let a = Place::Constant(self.constant(Constant::Run(fact)));
                let one = Place::Constant(self.constant(Constant::Number(1.0)));
                self.makes_flag(a, one, |to| Step::Compare { compare: Compare::Equal, a, b: one, to })
            }
            _ => unreachable!("code about rows has no values of groups"),
        }
    }

    fn listed(&mut self, node: usize) -> usize {
        self.as_constant(node).expect("lists are of constants")
    }

    fn compare(&mut self, compare: Compare, a: usize, b: usize) -> Result<Place, String> {
        for (column, constant, compare) in [(a, b, compare), (b, a, turned(compare))] {
            let (op, kind) = &self.code.nodes[column];
            if let (&Op::Column(column), true) = (op, kind.kind.is_whole() && kind.kind != Type::Bool)
                && let Some(constant) = self.as_constant(constant)
            {
                let none = Place::Constant(0);
                return self.makes_flag(none, none, |to| Step::Limit { compare, column, constant, to });
            }
        }
        let (a, b) = self.pair(a, b)?;
        match (a, b) {
            (Place::Flags(left), Place::Flags(right)) => {
                let is_wanted = compare == Compare::Equal;
                self.makes_flag(a, b, |to| Step::Same { a: left, b: right, is_wanted, to })
            }
            _ => self.makes_flag(a, b, |to| Step::Compare { compare, a, b, to }),
        }
    }
}

fn too_many_registers() -> String {
    format!("more than {REGISTERS} values at once for each row, expected less nesting")
}

/// The register of a truth value; the check has made sure that it is one.
fn register(place: Place) -> usize {
    match place {
        Place::Flags(register) => register,
        Place::Numbers(_) | Place::Constant(_) => unreachable!("types are checked"),
    }
}

/// The comparison with its sides exchanged.
fn turned(compare: Compare) -> Compare {
    match compare {
        Compare::Less => Compare::More,
        Compare::AtMost => Compare::AtLeast,
        Compare::AtLeast => Compare::AtMost,
        Compare::More => Compare::Less,
        same @ (Compare::Equal | Compare::Different) => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{filter, rules};

    fn steps(condition: &str) -> Vec<Step> {
        rules(&filter(condition)).rules()[0].programs.filter.clone().unwrap().steps
    }

    #[test]
    fn a_column_compared_with_a_constant_is_one_step_on_whichever_side_it_is() {
        let [Step::Limit { compare: Compare::More, column: 1, .. }] = steps("wait > 5 ms")[..] else {
            panic!()
        };
        assert_eq!(steps("5 ms < wait"), steps("wait > 5 ms"));
    }

    #[test]
    fn the_shortest_part_of_a_condition_comes_first_and_may_be_the_last() {
        let steps = steps("wait + completion > 5 ms and bytes > 1 B");
        assert!(matches!(steps[..2], [Step::Limit { column: 3, .. }, Step::Stop { .. }]), "{steps:?}");
        assert!(matches!(steps.last(), Some(Step::And { .. })));
    }

    #[test]
    fn the_larger_operand_comes_first_so_that_few_registers_are_needed() {
        let nested = (0..20).fold("wait".to_owned(), |inner, _| format!("(completion - {inner})"));
        let used = steps(&format!("{nested} > 0 s"))
            .iter()
            .filter_map(|step| match step {
                Step::Arithmetic { to, .. } | Step::Load { to, .. } => Some(*to),
                _ => None,
            })
            .max();
        assert_eq!(used, Some(2));
    }
}
