//! Syntax of CubePL: expressions and statements as trees.

use regex::Regex;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(f64),
    Text(String),
    /// A variable, and the position in it: 0 if none is given.
    Variable(String, Option<Box<Expression>>),
    /// A value of a metric at the call path of the calculation.
    Metric(String, Flavour),
    /// Terms, and whether each is subtracted.
    Sum(Vec<(bool, Expression)>),
    /// Factors, and whether each divides.
    Product(Vec<(bool, Expression)>),
    Power(Box<Expression>, Box<Expression>),
    Minus(Box<Expression>),
    Compare(Box<Expression>, Comparison, Box<Expression>),
    Matches(Box<Expression>, Regex),
    /// Parts of which all hold.
    And(Vec<Expression>),
    /// Parts of which one holds.
    Or(Vec<Expression>),
    /// Parts of which an odd number holds.
    Xor(Vec<Expression>),
    Not(Box<Expression>),
    Call(Function, Vec<Expression>),
}

/// Which values of a metric along the call tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Flavour {
    /// Of the call path alone.
    Exclusive,
    /// With those below.
    Inclusive,
    /// As those that are calculated.
    Same,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    /// Texts are equal.
    Same,
    /// Texts are equal but for capital letters.
    SameIgnoringCase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    Sqrt,
    Abs,
    Exp,
    Ln,
    Floor,
    Ceil,
    Sign,
    /// The value if it is positive, else 0.
    Positive,
    /// The value if it is negative, else 0.
    Negative,
    Minimum,
    Maximum,
    Lowercase,
    Uppercase,
}

impl Function {
    pub(super) fn from_name(name: &str) -> Option<Function> {
        Some(match name {
            "sqrt" => Function::Sqrt,
            "abs" => Function::Abs,
            "exp" => Function::Exp,
            "ln" => Function::Ln,
            "floor" => Function::Floor,
            "ceil" => Function::Ceil,
            "sgn" => Function::Sign,
            "pos" => Function::Positive,
            "neg" => Function::Negative,
            "min" => Function::Minimum,
            "max" => Function::Maximum,
            "lowercase" => Function::Lowercase,
            "uppercase" => Function::Uppercase,
            _ => return None,
        })
    }

    /// The number of arguments.
    pub(super) fn arity(self) -> usize {
        match self {
            Function::Minimum | Function::Maximum => 2,
            _ => 1,
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// Variable, position, value.
    Assign(String, Option<Expression>, Expression),
    /// The variable is shared by all metrics.
    Global(String),
    /// Conditions with what is done where they are the first that holds, and what is done else.
    If(Vec<(Expression, Vec<Statement>)>, Vec<Statement>),
    While(Expression, Vec<Statement>),
    Return(Expression),
    /// The metric is switched off.
    Void(String),
}
