//! Expressions with types: what the check makes of trees, and what is evaluated.

use crate::Type;
use crate::glob;
use crate::parse::{Arithmetic, Compare};

/// An expression with types. Operands stand before what uses them; the last node is the whole.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Code {
    pub(crate) nodes: Vec<(Op, Kind)>,
}

impl Code {
    /// The position of the whole expression.
    pub(crate) fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Columns of the row that it reads.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().filter_map(|node| match node.0 {
            Op::Column(column) => Some(column),
            _ => None,
        })
    }

    /// Facts of the run that it reads.
    pub(crate) fn facts(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().filter_map(|node| match node.0 {
            Op::Run(fact) => Some(fact),
            _ => None,
        })
    }

    /// What the whole expression is.
    pub(crate) fn kind(&self) -> Kind {
        self.nodes[self.root()].1
    }
}

/// The type of a value, and of texts also which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub(crate) kind: Type,
    pub(crate) domain: u16,
}

impl From<Type> for Kind {
    fn from(kind: Type) -> Kind {
        Kind { kind, domain: 0 }
    }
}

/// The domain of lines of paths, which only texts print: the value is the path.
pub(crate) const LINES: u16 = u16::MAX;

/// What a node does. Numbers are positions of nodes unless said otherwise.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op {
    /// A number, or the number of a name.
    Constant(f64),
    /// A time in seconds: ticks are known when there is a run.
    Seconds(f64),
    /// A fact of the run, by its position.
    Run(usize),
    /// A column of the row.
    Column(usize),
    /// Whether the name of a value passes a test, or fails it.
    Named(usize, Test, bool),
    Not(usize),
    Negative(usize),
    And(usize, usize),
    Or(usize, usize),
    Arithmetic(Arithmetic, usize, usize),
    Compare(Compare, usize, usize),
    /// Whether a value is one of those, or none of them.
    In(usize, Vec<usize>, bool),
    If(usize, usize, usize),
    Least(usize, usize),
    Greatest(usize, usize),
    Absolute(usize),
    /// A column that makes the groups, by position among them.
    Key(usize),
    /// A value of `let`, by position.
    Let(usize),
    /// The culprit of the group's waits.
    Cause,
    /// The line of the place to change.
    Line,
    /// The number of rows.
    Rows,
    /// Of an aggregate, by its position in the rule.
    Aggregate(Of, usize),
}

/// What is asked of an aggregate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Of {
    Sum,
    Mean,
    Least,
    Greatest,
    Share,
    Distinct,
    Most,
    Quantile(f64),
    Series,
}

impl Of {
    /// The word for it in rules.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Of::Sum => "sum",
            Of::Mean => "mean",
            Of::Least => "min",
            Of::Greatest => "max",
            Of::Share => "share",
            Of::Distinct => "distinct",
            Of::Most => "most",
            Of::Quantile(_) => "quantile",
            Of::Series => "series",
        }
    }
}

/// A test of a name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Test {
    /// It is one of these.
    Is(Vec<String>),
    /// It fits one of these patterns.
    Fits(Vec<String>),
    /// A part of it between `/` fits one of these patterns.
    Part(Vec<String>),
}

impl Test {
    /// Whether a name, or what is left of it if it ends before a `/`, fits one of the patterns.
    pub(crate) fn under(patterns: &[String]) -> Test {
        let and_below = |pattern: &String| [pattern.clone(), format!("{pattern}/*")];
        Test::Fits(patterns.iter().flat_map(and_below).collect())
    }

    /// Whether a name passes.
    pub(crate) fn passes(&self, name: &str) -> bool {
        let fits = |patterns: &[String], name: &str| patterns.iter().any(|pattern| glob::fits(pattern, name));
        match self {
            Test::Is(names) => names.iter().any(|known| known == name),
            Test::Fits(patterns) => fits(patterns, name),
            Test::Part(patterns) => name.split('/').any(|part| fits(patterns, part)),
        }
    }
}

/// Something that is gathered from the rows of a group.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Aggregate {
    pub(crate) gather: Gather,
    /// What of each row.
    pub(crate) input: Code,
    /// Of `most` the weight.
    pub(crate) weight: Option<Code>,
}

/// How an aggregate is gathered. Sums, means and extremes of the same input share what they gather.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gather {
    /// Sum and number.
    Sum,
    /// Least and greatest.
    Extremes,
    /// How many fulfil it, of how many.
    Share,
    /// The set of values.
    Distinct,
    /// Weight by value.
    Most,
    /// Classes of values.
    Histogram,
    /// Runs of rows of one rank that fulfil it.
    Series,
}

impl From<Of> for Gather {
    fn from(of: Of) -> Gather {
        match of {
            Of::Sum | Of::Mean => Gather::Sum,
            Of::Least | Of::Greatest => Gather::Extremes,
            Of::Share => Gather::Share,
            Of::Distinct => Gather::Distinct,
            Of::Most => Gather::Most,
            Of::Quantile(_) => Gather::Histogram,
            Of::Series => Gather::Series,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_is_true_of_the_path_and_all_below_it() {
        let test = Test::under(&["*/write".to_owned()]);
        assert!(test.passes("main/write") && test.passes("main/write/MPI_Send"));
        assert!(!test.passes("main/writer") && !test.passes("main"));
    }

    #[test]
    fn a_part_is_a_whole_region_of_the_path() {
        let test = Test::Part(vec!["solve_?".to_owned()]);
        assert!(test.passes("main/solve_a/MPI_Send") && test.passes("solve_b"));
        assert!(!test.passes("main/solve_ab"));
    }
}
