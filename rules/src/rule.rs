//! Rules and events that have been read and checked.

use std::collections::BTreeSet;

use crate::Type;
use crate::code::{Aggregate, Code, Op};
use crate::glob;
use crate::program::Program;
use crate::schema::Schema;
use crate::template::Template;

/// All rules of some files, in the order of their ids, whatever the order of files was.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Rules {
    pub(crate) schema: Schema,
    pub(crate) rules: Vec<Rule>,
    pub(crate) events: Vec<Event>,
}

impl Rules {
    /// All rules that are not off, by id.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// All events, by id.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The tables that rules are over, each once, with the event if rows are of one: what the caller has to go through.
    #[must_use]
    pub fn tables(&self) -> Vec<Over> {
        let tables: BTreeSet<Over> = self.rules.iter().map(|rule| rule.over).collect();
        tables.into_iter().collect()
    }

    /// The table of this name, if any rule is over it.
    #[must_use]
    pub fn over(&self, table: &str) -> Option<Over> {
        self.tables().into_iter().find(|over| self.schema.tables[over.table].name == table)
    }

    /// Columns of a table that its rules read, by position.
    #[must_use]
    pub fn columns(&self, over: Over) -> Vec<usize> {
        let mut columns = BTreeSet::new();
        for rule in self.rules.iter().filter(|rule| rule.over == over) {
            columns.extend(rule.columns());
        }
        columns.into_iter().collect()
    }

    /// Rules over the table of this name that read its column of that name, by position in [`Self::rules`].
    pub fn reading(&self, table: &str, column: &str) -> impl Iterator<Item = usize> {
        let reads = move |rule: &Rule| {
            let of = &self.schema.tables[rule.over.table];
            of.name == table && rule.columns().iter().any(|&at| of.columns[at].name == column)
        };
        self.rules.iter().enumerate().filter(move |(_, rule)| reads(rule)).map(|(at, _)| at)
    }
}

impl Rules {
    /// Columns that conditions of rules over a table read and that depend on the call site only, by position: what to ask
    /// [`crate::Scanner::rules_at`] with.
    #[must_use]
    pub fn columns_of_site(&self, over: Over) -> Vec<usize> {
        let rules = self.rules.iter().filter(|rule| rule.over == over);
        let read: BTreeSet<usize> = rules.flat_map(|rule| &rule.filter).flat_map(Code::columns).collect();
        let columns = &self.schema.tables[over.table].columns;
        read.into_iter().filter(|&column| columns[column].is_of_site).collect()
    }
}

/// A table, and the event that its rows are instances of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Over {
    /// The table's position in the schema.
    pub table: usize,
    /// The event's position in [`Rules::events`].
    pub event: Option<usize>,
}

/// Something longer than a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub(crate) id: String,
    pub(crate) kind: EventKind,
}

impl Event {
    /// Its name in rules.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What makes an instance.
    #[must_use]
    pub fn kind(&self) -> &EventKind {
        &self.kind
    }
}

/// What makes an instance of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A visit of a region, outermost only.
    Visits {
        /// Patterns of the region's name.
        regions: Vec<String>,
    },
    /// From one call to a later one of the same rank.
    Pairs {
        /// Patterns of the name of the first region.
        begin: Vec<String>,
        /// Patterns of the name of the second one.
        end: Vec<String>,
        /// Which begin an end belongs to.
        matching: Matching,
    },
}

impl EventKind {
    /// Whether a visit of the region is an instance, or begins one.
    #[must_use]
    pub fn begins(&self, region: &str) -> bool {
        let (EventKind::Visits { regions: begin } | EventKind::Pairs { begin, .. }) = self;
        begin.iter().any(|pattern| glob::fits(pattern, region))
    }

    /// Whether a visit of the region is an instance, or ends one.
    #[must_use]
    pub fn ends(&self, region: &str) -> bool {
        let (EventKind::Visits { regions: end } | EventKind::Pairs { end, .. }) = self;
        end.iter().any(|pattern| glob::fits(pattern, region))
    }
}

/// Which open begin an end belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Matching {
    /// The first one.
    Fifo,
    /// The last one.
    Lifo,
    /// The one with the same value of this parameter.
    Parameter(String),
}

/// A rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    pub(crate) id: String,
    pub(crate) library: Option<String>,
    pub(crate) refines: Vec<String>,
    pub(crate) over: Over,
    pub(crate) filter: Option<Code>,
    pub(crate) protects: Option<Vec<String>>,
    pub(crate) by: Vec<usize>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) programs: Programs,
    /// The column of ranks, if `series` needs it.
    pub(crate) rank: Option<usize>,
    pub(crate) lets: Vec<(String, Code)>,
    pub(crate) when: Code,
    /// Names that `when` compares with a number once, and those numbers.
    pub(crate) limits: Vec<(String, String)>,
    pub(crate) severity: Code,
    pub(crate) gain: Option<Gain>,
    pub(crate) gain_value: Option<Code>,
    pub(crate) scenario: Option<Scenario>,
    /// Whether what the scenario saves is a bound only.
    pub(crate) bound_if: Option<Code>,
    pub(crate) confidence: Option<Code>,
    pub(crate) claims: Claims,
    pub(crate) change: Option<Place>,
    pub(crate) title: Template,
    pub(crate) advice: Template,
    pub(crate) shows: Vec<(String, Code)>,
}

impl Rule {
    /// Its name, `PREFIX/NAME`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The library that its file is about.
    #[must_use]
    pub fn library(&self) -> Option<&str> {
        self.library.as_deref()
    }

    /// Coarser rules, by id.
    #[must_use]
    pub fn refines(&self) -> &[String] {
        &self.refines
    }

    /// The table that it is over.
    #[must_use]
    pub fn over(&self) -> Over {
        self.over
    }

    /// Columns that make groups, by position in the table.
    #[must_use]
    pub fn by(&self) -> &[usize] {
        &self.by
    }

    /// Patterns of call paths that it leaves out; `Some` as soon as a file says which, even if none.
    #[must_use]
    pub fn protects(&self) -> Option<&[String]> {
        self.protects.as_deref()
    }

    /// Facts of the run that it needs to choose rows and to read them, by position in the schema.
    #[must_use]
    pub fn facts_of_rows(&self) -> Vec<usize> {
        let inputs = self.aggregates.iter().flat_map(|it| std::iter::once(&it.input).chain(&it.weight));
        let facts: BTreeSet<usize> = self.filter.iter().chain(inputs).flat_map(Code::facts).collect();
        facts.into_iter().collect()
    }

    /// Numbers of its condition that a file may set, as `when.NAME`: names and numbers with their units.
    #[must_use]
    pub fn limits(&self) -> &[(String, String)] {
        &self.limits
    }

    /// What bounds its gain.
    #[must_use]
    pub fn gain(&self) -> Option<Gain> {
        self.gain
    }

    /// What to replay.
    #[must_use]
    pub fn scenario(&self) -> Option<&Scenario> {
        self.scenario.as_ref()
    }

    /// Which cells it claims.
    #[must_use]
    pub fn claims(&self) -> Claims {
        self.claims
    }

    /// The place to change.
    #[must_use]
    pub fn change(&self) -> Option<Place> {
        self.change
    }

    /// Whether the caller has to say what caused the waits of groups.
    #[must_use]
    pub fn needs_cause(&self) -> bool {
        let of_group = self.lets.iter().map(|(_, code)| code).chain(self.shows.iter().map(|(_, code)| code));
        let of_group =
            of_group.chain([&self.when, &self.severity]).chain(&self.gain_value).chain(&self.confidence);
        let of_group = of_group.chain(&self.bound_if);
        let of_texts = self.title.codes().chain(self.advice.codes());
        of_group.chain(of_texts).any(|code| code.nodes.iter().any(|node| node.0 == Op::Cause))
            || self.change == Some(Place::Cause)
            || self.scenario.as_ref().is_some_and(|scenario| scenario.place == Some(Place::Cause))
    }

    /// Columns that are read of each row.
    fn columns(&self) -> BTreeSet<usize> {
        let gathered = self.aggregates.iter();
        let inputs = gathered.flat_map(|aggregate| [&aggregate.input].into_iter().chain(&aggregate.weight));
        let of_code = inputs.chain(&self.filter).flat_map(Code::columns);
        of_code.chain(self.by.iter().copied()).chain(self.rank).collect()
    }
}

/// Programs over rows of a rule.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Programs {
    /// Of `where`.
    pub(crate) filter: Option<Program>,
    /// Of each aggregate the input and the weight.
    pub(crate) inputs: Vec<(Program, Option<Program>)>,
}

/// What bounds the gain of a rule (advice 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gain {
    /// The smaller one of E and W, of the waits of the group's rows.
    Edges,
    /// The smaller one of the balance and C, at the place to change.
    Work,
    /// The balance of phases.
    Phase,
    /// Receiving in the order of arrival.
    Order,
    /// P of the group's calls.
    Calls,
    /// An expression of the rule.
    Value,
}

impl Gain {
    /// Words for those that the caller works out.
    pub(crate) const WORDS: [(&str, Gain); 5] = [
        ("edges", Gain::Edges),
        ("work", Gain::Work),
        ("phase", Gain::Phase),
        ("order", Gain::Order),
        ("calls", Gain::Calls),
    ];
}

/// Which cells of waiting a rule claims (advice 3.3).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Claims {
    /// Waits of the group's rows.
    Waits,
    /// Delay costs.
    Costs,
    /// Time of calls.
    Calls,
    /// None.
    #[default]
    None,
}

impl Claims {
    /// Words for them.
    pub(crate) const WORDS: [(&str, Claims); 4] = [
        ("waits", Claims::Waits),
        ("costs", Claims::Costs),
        ("calls", Claims::Calls),
        ("none", Claims::None),
    ];
}

/// A call path of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// One that makes groups, by position in [`Rule::by`].
    Key(usize),
    /// One that does not: the path with most of what `severity` sums up. The number is the rule's own.
    Most(usize),
    /// The culprit of the group's waits.
    Cause,
}

/// What to replay, such as `split=path:4`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// The word before `=`.
    pub word: String,
    /// The place behind `=`.
    pub place: Option<Place>,
    /// What follows, if there is no place or behind `:`.
    pub rest: String,
}

/// Whether rows can be grouped by a type.
pub(crate) fn can_group(kind: Type) -> bool {
    kind.is_name() || matches!(kind, Type::Bool | Type::Count | Type::Bytes)
}
