//! Evaluation of CubePL: numbers, texts, and rows of numbers with one for each location.

use cubex::{CnodeId, Cube};
use rustc_hash::FxHashMap;

use super::parse::NotUnderstood;
use super::syntax::{Comparison, Expression, Flavour, Function, Statement};

type Result<T> = std::result::Result<T, NotUnderstood>;

/// Variables that describe the report and the calculation.
pub(super) const PREDEFINED: [&str; 21] = [
    "cube::#callpaths",
    "cube::#locations",
    "cube::#locationgroups",
    "cube::#regions",
    "cube::#metrics",
    "cube::callpath::calleeid",
    "cube::callpath::parent::id",
    "cube::callpath::mod",
    "cube::callpath::line",
    "cube::region::name",
    "cube::region::mangled::name",
    "cube::region::mangled_name",
    "cube::region::mod",
    "cube::region::paradigm",
    "cube::region::role",
    "cube::region::description",
    "cube::region::url",
    "cube::region::begin::line",
    "cube::region::end::line",
    "calculation::callpath::id",
    "calculation::region::id",
];

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    /// A number for each location.
    Row(Vec<f64>),
}

impl Value {
    /// A number; a text is one if it looks so, and 0 otherwise. A row is none.
    fn number(&self) -> Result<f64> {
        match self {
            Value::Number(number) => Ok(*number),
            Value::Text(text) => Ok(text.trim().parse().unwrap_or(0.0)),
            Value::Row(_) => Err(NotUnderstood),
        }
    }

    /// Memory besides the value itself, in words of 8 bytes.
    fn words(&self) -> u64 {
        let words = match self {
            Value::Number(_) => 0,
            Value::Text(text) => text.len() / 8,
            Value::Row(row) => row.len(),
        };
        words as u64
    }

    fn text(&self) -> Result<String> {
        match self {
            Value::Number(number) => Ok(number.to_string()),
            Value::Text(text) => Ok(text.clone()),
            Value::Row(_) => Err(NotUnderstood),
        }
    }
}

/// Variables: lists of numbers and texts.
pub(super) type Variables = FxHashMap<String, Vec<Value>>;

/// Values of metrics, at what is calculated.
pub(super) trait Operands {
    /// The values of a metric: a number, or a row.
    fn values(&mut self, metric: &str, flavour: Flavour) -> Result<Value>;
}

/// Programs that have no metrics to ask for: initialisations.
pub(super) struct NoOperands;

impl Operands for NoOperands {
    fn values(&mut self, _: &str, _: Flavour) -> Result<Value> {
        Err(NotUnderstood)
    }
}

/// A run of a program.
pub(super) struct Machine<'m> {
    pub(super) cube: &'m Cube,
    /// The call path of the calculation.
    pub(super) cnode: Option<CnodeId>,
    pub(super) globals: &'m Variables,
    pub(super) locals: Variables,
    pub(super) operands: &'m mut dyn Operands,
    /// Metrics that were switched off.
    pub(super) voids: Vec<String>,
    /// Variables that were declared as shared.
    pub(super) shared: Vec<String>,
    /// Steps that may still be taken, so that every program ends, and takes no more memory than they allow.
    pub(super) steps: &'m mut u64,
}

/// Steps that an element of a list costs when it is made.
const ELEMENT: u64 = 16;

impl<'m> Machine<'m> {
    pub(super) fn new(
        cube: &'m Cube,
        cnode: Option<CnodeId>,
        globals: &'m Variables,
        operands: &'m mut dyn Operands,
        steps: &'m mut u64,
    ) -> Machine<'m> {
        let (locals, voids, shared) = (Variables::default(), Vec::new(), Vec::new());
        Machine { cube, cnode, globals, locals, operands, voids, shared, steps }
    }

    /// Runs a program; returns its result, 0 if it has none.
    pub(super) fn run(&mut self, statements: &[Statement]) -> Result<Value> {
        Ok(self.block(statements)?.unwrap_or(Value::Number(0.0)))
    }

    /// Runs statements; returns a value if they do.
    fn block(&mut self, statements: &[Statement]) -> Result<Option<Value>> {
        for statement in statements {
            self.step()?;
            match statement {
                Statement::Return(value) => return self.evaluate(value).map(Some),
                Statement::Void(metric) => self.voids.push(metric.clone()),
                Statement::Global(name) => self.shared.push(name.clone()),
                Statement::Assign(name, position, value) => {
                    let position = self.position(position.as_ref())?;
                    let value = self.evaluate(value)?;
                    self.assign(name, position, value)?;
                }
                Statement::If(branches, otherwise) => {
                    let mut chosen = otherwise;
                    for (condition, statements) in branches {
                        if self.holds(condition)? {
                            chosen = statements;
                            break;
                        }
                    }
                    if let Some(value) = self.block(chosen)? {
                        return Ok(Some(value));
                    }
                }
                Statement::While(condition, statements) => {
                    while self.holds(condition)? {
                        self.step()?;
                        if let Some(value) = self.block(statements)? {
                            return Ok(Some(value));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn step(&mut self) -> Result<()> {
        self.spend(1)
    }

    fn spend(&mut self, steps: u64) -> Result<()> {
        *self.steps = self.steps.checked_sub(steps).ok_or(NotUnderstood)?;
        Ok(())
    }

    /// A copy of a value costs as many steps as it has words.
    fn copied(&mut self, value: Value) -> Result<Value> {
        self.spend(value.words())?;
        Ok(value)
    }

    /// The most elements of a variable: one for each thing that the report has, and some.
    fn limit(&self) -> usize {
        let Cube { cnodes, regions, locations, metrics, .. } = self.cube;
        1024 + cnodes.len().max(regions.len()).max(locations.len()).max(metrics.len())
    }

    fn assign(&mut self, name: &str, position: usize, value: Value) -> Result<()> {
        if position >= self.limit() || name.contains("::") {
            return Err(NotUnderstood);
        }
        let length = self.locals.get(name).map_or(0, Vec::len);
        let longer = (position + 1).saturating_sub(length);
        self.spend(ELEMENT * longer as u64)?;
        let list = self.locals.entry(name.to_owned()).or_default();
        list.resize(length + longer, Value::Number(0.0));
        list[position] = value;
        Ok(())
    }

    /// A position in a list: a whole number that is not negative.
    fn position(&mut self, position: Option<&Expression>) -> Result<usize> {
        let Some(position) = position else { return Ok(0) };
        let position = self.evaluate(position)?.number()?;
        // No list is so long that this matters.
        if position.is_finite() && (0.0..1e15).contains(&position) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in this range")]
            return Ok(position as usize);
        }
        Err(NotUnderstood)
    }

    fn holds(&mut self, condition: &Expression) -> Result<bool> {
        Ok(self.evaluate(condition)?.number()? != 0.0)
    }

    fn evaluate(&mut self, expression: &Expression) -> Result<Value> {
        match expression {
            Expression::Number(number) => Ok(Value::Number(*number)),
            Expression::Text(text) => self.copied(Value::Text(text.clone())),
            Expression::Variable(name, position) => {
                let position = self.position(position.as_deref())?;
                let value = self.variable(name, position)?;
                self.copied(value)
            }
            Expression::Metric(name, flavour) => {
                let value = self.operands.values(name, *flavour)?;
                self.copied(value)
            }
            Expression::Sum(terms) => {
                self.chain(terms, |sum, term, is_less| if is_less { sum - term } else { sum + term })
            }
            Expression::Product(factors) => self.chain(factors, |product, factor, divides| match divides {
                // As in CubeLib, so that a ratio of nothing is nothing.
                true if factor == 0.0 => 0.0,
                true => product / factor,
                false => product * factor,
            }),
            Expression::Power(base, exponent) => {
                let (base, exponent) = (self.evaluate(base)?, self.evaluate(exponent)?);
                combine(base, &exponent, f64::powf)
            }
            Expression::Minus(value) => {
                combine(Value::Number(0.0), &self.evaluate(value)?, |zero, value| zero - value)
            }
            Expression::Compare(left, comparison, right) => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                compare(left, *comparison, &right)
            }
            Expression::Matches(text, pattern) => {
                let text = self.evaluate(text)?.text()?;
                Ok(truth(pattern.is_match(&text)))
            }
            Expression::And(parts) => self.count(parts).map(|holding| truth(holding == parts.len())),
            Expression::Or(parts) => self.count(parts).map(|holding| truth(holding > 0)),
            Expression::Xor(parts) => self.count(parts).map(|holding| truth(holding % 2 == 1)),
            Expression::Not(part) => Ok(truth(!self.holds(part)?)),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// How many of the parts hold.
    fn count(&mut self, parts: &[Expression]) -> Result<usize> {
        let mut holding = 0;
        for part in parts {
            holding += usize::from(self.holds(part)?);
        }
        Ok(holding)
    }

    fn chain(&mut self, parts: &[(bool, Expression)], join: fn(f64, f64, bool) -> f64) -> Result<Value> {
        let Some(((_, first), rest)) = parts.split_first() else { return Err(NotUnderstood) };
        let mut value = self.evaluate(first)?;
        for (is_inverse, part) in rest {
            self.step()?;
            let part = self.evaluate(part)?;
            value = combine(value, &part, |value, part| join(value, part, *is_inverse))?;
        }
        Ok(value)
    }

    fn call(&mut self, function: Function, arguments: &[Expression]) -> Result<Value> {
        let Some(first) = arguments.first() else { return Err(NotUnderstood) };
        let first = self.evaluate(first)?;
        let map =
            |value: Value, of: fn(f64) -> f64| combine(value, &Value::Number(0.0), |value, _| of(value));
        match function {
            Function::Sqrt => map(first, f64::sqrt),
            Function::Abs => map(first, f64::abs),
            Function::Exp => map(first, f64::exp),
            Function::Ln => map(first, f64::ln),
            Function::Floor => map(first, f64::floor),
            Function::Ceil => map(first, f64::ceil),
            Function::Sign => map(first, |value| if value == 0.0 { 0.0 } else { value.signum() }),
            Function::Positive => map(first, |value| value.max(0.0)),
            Function::Negative => map(first, |value| value.min(0.0)),
            Function::Lowercase => Ok(Value::Text(first.text()?.to_lowercase())),
            Function::Uppercase => Ok(Value::Text(first.text()?.to_uppercase())),
            Function::Minimum | Function::Maximum => {
                let Some(second) = arguments.get(1) else { return Err(NotUnderstood) };
                let second = self.evaluate(second)?;
                combine(first, &second, if function == Function::Minimum { f64::min } else { f64::max })
            }
        }
    }

    fn variable(&self, name: &str, position: usize) -> Result<Value> {
        if name.contains("::") {
            return self.predefined(name, position);
        }
        let list = self.locals.get(name).or_else(|| self.globals.get(name));
        Ok(list.and_then(|list| list.get(position)).cloned().unwrap_or(Value::Number(0.0)))
    }

    /// Variables that describe the report and the calculation.
    fn predefined(&self, name: &str, position: usize) -> Result<Value> {
        let cube = self.cube;
        let region = |text: fn(&cubex::Region) -> &str| {
            let region = cube.regions.get(position).ok_or(NotUnderstood)?;
            Ok(Value::Text(text(region).to_owned()))
        };
        let line = |line: fn(&cubex::Region) -> Option<u32>| {
            let region = cube.regions.get(position).ok_or(NotUnderstood)?;
            Ok(Value::Number(line(region).map_or(-1.0, f64::from)))
        };
        let cnode = cube.cnodes.get(position).ok_or(NotUnderstood);
        match name {
            "cube::#callpaths" => Ok(count(cube.cnodes.len())),
            "cube::#locations" => Ok(count(cube.locations.len())),
            "cube::#locationgroups" => Ok(count(cube.location_groups.len())),
            "cube::#regions" => Ok(count(cube.regions.len())),
            "cube::#metrics" => Ok(count(cube.metrics.len())),
            "cube::callpath::calleeid" => Ok(count(cnode?.region.0)),
            "cube::callpath::parent::id" => {
                Ok(cnode?.parent.map_or(Value::Number(-1.0), |parent| count(parent.0)))
            }
            "cube::callpath::mod" => Ok(Value::Text(cnode?.module.clone())),
            "cube::callpath::line" => Ok(Value::Number(cnode?.line.map_or(-1.0, f64::from))),
            "cube::region::name" => region(|region| &region.name),
            "cube::region::mangled::name" | "cube::region::mangled_name" => {
                region(|region| &region.mangled_name)
            }
            "cube::region::mod" => region(|region| &region.module),
            "cube::region::paradigm" => region(|region| &region.paradigm),
            "cube::region::role" => region(|region| &region.role),
            "cube::region::description" => region(|region| &region.description),
            "cube::region::url" => region(|region| &region.url),
            "cube::region::begin::line" => line(|region| region.begin_line),
            "cube::region::end::line" => line(|region| region.end_line),
            "calculation::callpath::id" => self.cnode.map(|cnode| count(cnode.0)).ok_or(NotUnderstood),
            "calculation::region::id" => {
                let cnode = self.cnode.and_then(|cnode| cube.cnodes.get(cnode.0)).ok_or(NotUnderstood)?;
                Ok(count(cnode.region.0))
            }
            _ => Err(NotUnderstood),
        }
    }
}

fn truth(holds: bool) -> Value {
    Value::Number(f64::from(u8::from(holds)))
}

/// A number of things; none of a report is so large that it is rounded.
#[expect(clippy::cast_precision_loss, reason = "documented")]
fn count(number: usize) -> Value {
    Value::Number(number as f64)
}

/// Joins numbers, a number and each of a row, or rows number by number.
fn combine(left: Value, right: &Value, join: impl Fn(f64, f64) -> f64) -> Result<Value> {
    match (left, right) {
        (Value::Row(mut left), Value::Row(right)) => {
            if left.len() != right.len() {
                return Err(NotUnderstood);
            }
            left.iter_mut().zip(right).for_each(|(left, &right)| *left = join(*left, right));
            Ok(Value::Row(left))
        }
        (Value::Row(mut left), right) => {
            let right = right.number()?;
            left.iter_mut().for_each(|left| *left = join(*left, right));
            Ok(Value::Row(left))
        }
        (left, Value::Row(right)) => {
            let left = left.number()?;
            Ok(Value::Row(right.iter().map(|&right| join(left, right)).collect()))
        }
        (left, right) => Ok(Value::Number(join(left.number()?, right.number()?))),
    }
}

fn compare(left: Value, comparison: Comparison, right: &Value) -> Result<Value> {
    let number = |holds: fn(&f64, &f64) -> bool| {
        move |left: f64, right: f64| f64::from(u8::from(holds(&left, &right)))
    };
    match comparison {
        Comparison::Less => combine(left, right, number(|left, right| left < right)),
        Comparison::LessOrEqual => combine(left, right, number(|left, right| left <= right)),
        Comparison::Greater => combine(left, right, number(|left, right| left > right)),
        Comparison::GreaterOrEqual => combine(left, right, number(|left, right| left >= right)),
        Comparison::Equal => combine(left, right, number(|left, right| left == right)),
        Comparison::Unequal => combine(left, right, number(|left, right| left != right)),
        Comparison::Same => Ok(truth(left.text()? == right.text()?)),
        Comparison::SameIgnoringCase => {
            Ok(truth(left.text()?.to_lowercase() == right.text()?.to_lowercase()))
        }
    }
}
