//! CubePL: expressions of derived metrics in reports of Score-P and Scalasca.
//!
//! The part of the language that their files use is understood: arithmetic, comparisons, `if` and `while`, variables and lists,
//! regular expressions, values of other metrics, and what the report says of its call paths and regions. A metric with
//! anything else has no values, and is never taken as 0. Every program ends: steps, memory and depth are limited.

mod machine;
mod parse;
mod syntax;

use cubex::{CnodeId, Cube, MetricId};
use rustc_hash::{FxHashMap, FxHashSet};

use machine::{Machine, NoOperands, Operands, Value, Variables};
pub(crate) use parse::NotUnderstood;
pub(crate) use syntax::Flavour;
use syntax::{Expression, Statement};

/// Programs of all derived metrics of a report.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// The program of a metric; metrics that are not understood have none.
    programs: FxHashMap<MetricId, Vec<Statement>>,
    globals: Variables,
    /// Metrics that are switched off.
    voids: FxHashSet<MetricId>,
    /// Metrics by name; the first of a name counts, as in CubeLib.
    names: FxHashMap<String, MetricId>,
}

/// Steps that a program may take at a call path: statements, and words of memory that it copies.
const STEPS: u64 = 1 << 20;

/// Steps more for each location, or, in initialisations, each thing of the report.
const STEPS_OF_ONE: u64 = 1000;

/// The most metrics that need one another in a chain.
const CHAIN: usize = 8;

impl Programs {
    /// Reads the programs of a report, and runs their initialisations.
    pub(crate) fn new(cube: &Cube) -> Programs {
        let mut programs = Programs::default();
        for (at, metric) in cube.metrics.iter().enumerate() {
            programs.names.entry(metric.unique_name.clone()).or_insert(MetricId(at));
        }
        let derived = cube.metrics.iter().enumerate().filter(|(_, metric)| metric.kind.is_derived());
        let derived: Vec<_> = derived.collect();
        // An initialisation takes some steps for each thing in the report.
        let things = cube.cnodes.len() + cube.regions.len() + cube.locations.len();
        let mut steps = STEPS + STEPS_OF_ONE * things as u64;
        let mut is_initialised = true;
        for (_, metric) in &derived {
            let Some(expression) = metric.expression.as_ref().filter(|it| !it.init.trim().is_empty()) else {
                continue;
            };
            is_initialised &= programs.initialise(cube, &expression.init, &mut steps).is_ok();
        }
        for (at, metric) in &derived {
            let Some(expression) = &metric.expression else { continue };
            // Their own sums and differences are not understood.
            if !expression.aggregations.is_empty() {
                continue;
            }
            if let Ok(program) = parse::program(&expression.value) {
                // Variables of an initialisation that failed are not what they should be.
                if is_initialised || !uses_variables(&program) {
                    programs.programs.insert(MetricId(*at), program);
                }
            }
        }
        programs.keep_computable(cube);
        programs
    }

    fn initialise(&mut self, cube: &Cube, text: &str, steps: &mut u64) -> Result<(), NotUnderstood> {
        let program = parse::program(text)?;
        let mut operands = NoOperands;
        let mut machine = Machine::new(cube, None, &self.globals, &mut operands, steps);
        machine.run(&program)?;
        let Machine { mut locals, voids, shared, .. } = machine;
        for name in shared {
            if let Some(list) = locals.remove(&name) {
                self.globals.insert(name, list);
            }
        }
        let voids = voids.iter().filter_map(|name| self.names.get(name).copied());
        self.voids.extend(voids);
        Ok(())
    }

    /// Removes metrics that depend on themselves, on one that is not understood, or on too long a chain of others.
    fn keep_computable(&mut self, cube: &Cube) {
        let is_open =
            |metric: &MetricId| cube.metrics[metric.0].kind.is_derived() && !self.voids.contains(metric);
        // Which metrics need one, and how many each still needs.
        let mut needed_by: FxHashMap<MetricId, Vec<MetricId>> = FxHashMap::default();
        let mut missing: FxHashMap<MetricId, usize> = FxHashMap::default();
        for (&metric, program) in &self.programs {
            let needs = self.metrics_of(program);
            let needs = needs.iter().filter(|needed| is_open(needed));
            let count = needs.map(|&needed| needed_by.entry(needed).or_default().push(metric)).count();
            missing.insert(metric, count);
        }
        // Level by level: those that need nothing, those that need only these, and so on.
        let mut computable: FxHashSet<MetricId> = FxHashSet::default();
        let mut level: Vec<MetricId> =
            missing.iter().filter(|(_, count)| **count == 0).map(|(&metric, _)| metric).collect();
        for _ in 0..CHAIN {
            computable.extend(&level);
            let mut next = Vec::new();
            for above in level.iter().filter_map(|metric| needed_by.get(metric)).flatten() {
                let Some(count) = missing.get_mut(above) else { continue };
                *count -= 1;
                if *count == 0 {
                    next.push(*above);
                }
            }
            level = next;
        }
        self.programs.retain(|metric, _| computable.contains(metric));
    }

    /// Whether a metric was switched off by an initialisation.
    pub(crate) fn is_void(&self, metric: MetricId) -> bool {
        self.voids.contains(&metric)
    }

    /// Whether a metric and all that it needs are understood.
    pub(crate) fn is_understood(&self, metric: MetricId) -> bool {
        self.is_void(metric) || self.programs.contains_key(&metric)
    }

    /// The metrics whose values a metric needs.
    pub(crate) fn needs(&self, metric: MetricId) -> Vec<MetricId> {
        self.programs.get(&metric).map(|program| self.metrics_of(program)).unwrap_or_default()
    }

    /// Whether a metric is a quotient of others and nothing else, as means are: of nothing it is no number.
    pub(crate) fn is_quotient(&self, metric: MetricId) -> bool {
        let Some([Statement::Return(Expression::Product(factors))]) =
            self.programs.get(&metric).map(Vec::as_slice)
        else {
            return false;
        };
        let are_metrics = factors.iter().all(|(_, factor)| matches!(factor, Expression::Metric(..)));
        are_metrics && factors.iter().any(|(divides, _)| *divides)
    }

    /// The values of a metric at a call path, if there is one; `operands` returns those of other metrics, by name:
    /// numbers or rows of one length. A result that is one number is returned as a row with one.
    pub(crate) fn evaluate(
        &self,
        cube: &Cube,
        metric: MetricId,
        cnode: Option<CnodeId>,
        operands: &mut dyn FnMut(MetricId, Flavour) -> Result<Vec<f64>, NotUnderstood>,
    ) -> Result<Vec<f64>, NotUnderstood> {
        let program = self.programs.get(&metric).ok_or(NotUnderstood)?;
        let mut rows = Rows { names: &self.names, of: operands, known: FxHashMap::default(), column: None };
        let mut steps = STEPS + STEPS_OF_ONE * cube.locations.len() as u64;
        match self.run(cube, program, cnode, &mut rows, &mut steps) {
            Ok(Value::Number(number)) => Ok(vec![number]),
            Ok(Value::Row(row)) => Ok(row),
            Ok(Value::Text(_)) => Err(NotUnderstood),
            // A condition on rows: once more, location by location.
            Err(NotUnderstood) => {
                let length = rows
                    .known
                    .values()
                    .map(Vec::len)
                    .max()
                    .filter(|&length| length > 1)
                    .ok_or(NotUnderstood)?;
                let mut steps = STEPS + STEPS_OF_ONE * length as u64;
                let columns = (0..length).map(|column| {
                    rows.column = Some(column);
                    match self.run(cube, program, cnode, &mut rows, &mut steps)? {
                        Value::Number(number) => Ok(number),
                        _ => Err(NotUnderstood),
                    }
                });
                columns.collect()
            }
        }
    }

    /// The metrics that a program asks for, and that exist; each once.
    fn metrics_of(&self, program: &[Statement]) -> Vec<MetricId> {
        let mut metrics = Vec::new();
        visit(program, &mut |expression| {
            if let Expression::Metric(name, _) = expression {
                metrics.extend(self.names.get(name));
            }
        });
        metrics.sort_unstable();
        metrics.dedup();
        metrics
    }

    fn run(
        &self,
        cube: &Cube,
        program: &[Statement],
        cnode: Option<CnodeId>,
        operands: &mut dyn Operands,
        steps: &mut u64,
    ) -> Result<Value, NotUnderstood> {
        Machine::new(cube, cnode, &self.globals, operands, steps).run(program)
    }
}

/// Rows of other metrics, each read once.
struct Rows<'o> {
    names: &'o FxHashMap<String, MetricId>,
    of: &'o mut dyn FnMut(MetricId, Flavour) -> Result<Vec<f64>, NotUnderstood>,
    known: FxHashMap<(MetricId, Flavour), Vec<f64>>,
    /// The location, if only one is evaluated.
    column: Option<usize>,
}

impl Operands for Rows<'_> {
    fn values(&mut self, metric: &str, flavour: Flavour) -> Result<Value, NotUnderstood> {
        // As in CubeLib, what does not exist is 0.
        let Some(&metric) = self.names.get(metric) else { return Ok(Value::Number(0.0)) };
        let row = match self.known.entry((metric, flavour)) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => place.insert((self.of)(metric, flavour)?),
        };
        match (self.column, &row[..]) {
            (_, [number]) => Ok(Value::Number(*number)),
            (Some(column), row) => row.get(column).copied().map(Value::Number).ok_or(NotUnderstood),
            (None, row) => Ok(Value::Row(row.to_vec())),
        }
    }
}

/// Whether a program asks for variables that an initialisation may have set.
fn uses_variables(program: &[Statement]) -> bool {
    let mut uses = false;
    visit(program, &mut |expression| {
        uses |= matches!(expression, Expression::Variable(name, _) if !name.contains("::"));
    });
    uses
}

/// Visits all expressions of a program.
fn visit(program: &[Statement], visitor: &mut dyn FnMut(&Expression)) {
    for statement in program {
        match statement {
            Statement::Assign(_, position, value) => {
                position.iter().chain([value]).for_each(|it| visit_expression(it, visitor));
            }
            Statement::If(branches, otherwise) => {
                for (condition, statements) in branches {
                    visit_expression(condition, visitor);
                    visit(statements, visitor);
                }
                visit(otherwise, visitor);
            }
            Statement::While(condition, statements) => {
                visit_expression(condition, visitor);
                visit(statements, visitor);
            }
            Statement::Return(value) => visit_expression(value, visitor),
            Statement::Global(_) | Statement::Void(_) => {}
        }
    }
}

fn visit_expression(expression: &Expression, visitor: &mut dyn FnMut(&Expression)) {
    visitor(expression);
    match expression {
        Expression::Number(_) | Expression::Text(_) | Expression::Metric(..) => {}
        Expression::Variable(_, position) => {
            position.iter().for_each(|position| visit_expression(position, visitor));
        }
        Expression::Sum(parts) | Expression::Product(parts) => {
            parts.iter().for_each(|(_, part)| visit_expression(part, visitor));
        }
        Expression::Power(left, right) | Expression::Compare(left, _, right) => {
            visit_expression(left, visitor);
            visit_expression(right, visitor);
        }
        Expression::Minus(part) | Expression::Not(part) | Expression::Matches(part, _) => {
            visit_expression(part, visitor);
        }
        Expression::And(parts)
        | Expression::Or(parts)
        | Expression::Xor(parts)
        | Expression::Call(_, parts) => {
            parts.iter().for_each(|part| visit_expression(part, visitor));
        }
    }
}
