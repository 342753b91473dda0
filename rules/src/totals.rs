//! Groups of all rules with what is gathered of them, of one worker or of several.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::gathered::Gathered;
use crate::rule::{Rule, Rules};
use crate::words::Reader;

/// Groups of a rule at most (advice 5.3).
const MOST_GROUPS: usize = 65_536;

/// Values that `distinct` and `most` of a rule list at most, of all its groups.
const MOST_LISTED: usize = 1 << 20;

/// What is gathered for all rules.
#[derive(Clone, PartialEq, Debug)]
pub struct Totals {
    pub(crate) rules: Vec<RuleTotals>,
}

/// What is gathered for a rule.
#[derive(Clone, Default, Debug)]
pub(crate) struct RuleTotals {
    /// Where each group is.
    positions: FxHashMap<Box<[i64]>, usize>,
    pub(crate) groups: Vec<Group>,
    /// Values listed in groups.
    listed: usize,
    /// Whether there are more groups or values than allowed: then nothing is kept, never a part.
    pub(crate) has_too_many: bool,
    /// The first column that it reads and the analysis does not have.
    pub(crate) lacks: Option<usize>,
}

/// A group.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Group {
    pub(crate) keys: Box<[i64]>,
    pub(crate) rows: u64,
    pub(crate) gathered: Vec<Gathered>,
}

/// Words that are no totals of these rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("words of another worker that are no totals of these rules")
    }
}

impl std::error::Error for Malformed {}

impl PartialEq for RuleTotals {
    /// Whether the same groups have the same totals; which came first is of no importance.
    fn eq(&self, other: &RuleTotals) -> bool {
        self.has_too_many == other.has_too_many
            && self.lacks == other.lacks
            && self.sorted() == other.sorted()
    }
}

impl Rules {
    /// Totals without any rows.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals { rules: vec![RuleTotals::default(); self.rules.len()] }
    }

    /// Reads totals that [`Totals::to_words`] of a worker with the same rules has written.
    ///
    /// # Errors
    /// If the words are anything else.
    pub fn totals_from_words(&self, words: &[u64]) -> Result<Totals, Malformed> {
        let mut words = Reader::new(words);
        let rules: Option<Vec<RuleTotals>> =
            self.rules.iter().map(|rule| RuleTotals::read(rule, &mut words)).collect();
        match rules {
            Some(rules) if words.is_empty() => Ok(Totals { rules }),
            _ => Err(Malformed),
        }
    }
}

impl Totals {
    /// Adds the totals of another worker. The order of workers has no influence.
    ///
    /// # Panics
    /// If they are of other rules.
    pub fn merge(&mut self, other: Totals) {
        assert_eq!(self.rules.len(), other.rules.len(), "totals of the same rules");
        for (rule, more) in self.rules.iter_mut().zip(other.rules) {
            rule.merge(more);
        }
    }

    /// All of it as words. The same rows make the same words, in whatever order they came.
    #[must_use]
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = Vec::new();
        self.rules.iter().for_each(|rule| rule.write(&mut words));
        words
    }

    /// Groups of a rule, by its position in [`Rules::rules`].
    #[must_use]
    pub fn groups(&self, rule: usize) -> usize {
        self.rules[rule].groups.len()
    }
}

impl RuleTotals {
    /// The position of a group, which is made if there is none; `None` if there are too many.
    pub(crate) fn group(&mut self, rule: &Rule, keys: &[i64]) -> Option<usize> {
        if let Some(&position) = self.positions.get(keys) {
            return Some(position);
        }
        if self.has_too_many || self.groups.len() == MOST_GROUPS {
            self.give_up();
            return None;
        }
        let gathered = rule.aggregates.iter().map(|aggregate| Gathered::new(aggregate.gather)).collect();
        self.positions.insert(keys.into(), self.groups.len());
        self.groups.push(Group { keys: keys.into(), rows: 0, gathered });
        Some(self.groups.len() - 1)
    }

    /// Counts a value that was listed.
    pub(crate) fn count_listed(&mut self, more: usize) {
        self.listed += more;
        if self.listed > MOST_LISTED {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        self.has_too_many = true;
        self.positions.clear();
        self.groups.clear();
        self.listed = 0;
    }

    /// Groups in the order of their keys.
    pub(crate) fn sorted(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.iter().collect();
        groups.sort_by(|a, b| a.keys.cmp(&b.keys));
        groups
    }

    fn merge(&mut self, other: RuleTotals) {
        self.lacks = [self.lacks, other.lacks].into_iter().flatten().min();
        if other.has_too_many {
            self.give_up();
        }
        for group in other.groups {
            if self.has_too_many {
                return;
            }
            self.merge_group(group);
        }
    }

    fn merge_group(&mut self, group: Group) {
        let Some(&position) = self.positions.get(&group.keys) else {
            if self.groups.len() == MOST_GROUPS {
                self.give_up();
                return;
            }
            let listed = group.gathered.iter().map(Gathered::listed).sum();
            self.positions.insert(group.keys.clone(), self.groups.len());
            self.groups.push(group);
            self.count_listed(listed);
            return;
        };
        let known = &mut self.groups[position];
        known.rows += group.rows;
        let mut listed = 0;
        for (gathered, more) in known.gathered.iter_mut().zip(group.gathered) {
            let before = gathered.listed();
            gathered.merge(more);
            listed += gathered.listed() - before;
        }
        self.count_listed(listed);
    }

    fn write(&self, words: &mut Vec<u64>) {
        let number = |number: usize| u64::try_from(number).expect("a length has 64 bits");
        words.push(u64::from(self.has_too_many));
        words.push(self.lacks.map_or(0, |column| 1 + number(column)));
        words.push(number(self.groups.len()));
        for group in self.sorted() {
            words.extend(group.keys.iter().map(|key| key.cast_unsigned()));
            words.push(group.rows);
            group.gathered.iter().for_each(|gathered| gathered.write(words));
        }
    }

    fn read(rule: &Rule, words: &mut Reader<'_>) -> Option<RuleTotals> {
        let has_too_many = match words.word()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let lacks = usize::try_from(words.word()?).ok()?.checked_sub(1);
        let mut totals = RuleTotals { has_too_many, lacks, ..RuleTotals::default() };
        let count = usize::try_from(words.word()?).ok()?;
        if count > MOST_GROUPS || has_too_many && count > 0 {
            return None;
        }
        for _ in 0..count {
            let keys = rule.by.iter().map(|_| words.number()).collect::<Option<_>>()?;
            let rows = words.word()?;
            let gathered = rule.aggregates.iter().map(|aggregate| Gathered::read(aggregate.gather, words));
            totals.merge_group(Group { keys, rows, gathered: gathered.collect::<Option<_>>()? });
        }
        (totals.groups.len() == count).then_some(totals)
    }
}
