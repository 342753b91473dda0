//! Whose waiting a culprit has caused: the way that costs came back, once more and forwards.
//!
//! A wait state is charged to what its cause did more, and to the waiting of the cause before, tick by tick alike. So a
//! culprit's share of it is what it did more in there, and its shares of that waiting. Every location goes through what it
//! had to do backwards in the opposite order; where costs were told by whoever waited, shares are told to it. The order in
//! which all went back, turned round, is one in which nobody is held, so nothing is ever released.

use rustc_hash::FxHashMap;

use super::{Culprit, Excess, NAMED};
use crate::causes::backward::{Item, Kind, Message, Returned};
use crate::causes::delay::{Class, Costs};
use crate::causes::kept::Kept;
use crate::causes::lines::Lines;
use crate::causes::sides::{Causes, Waits};
use crate::fraction::fixed;
use crate::relay::{Blocked, Recurrence};

/// Where someone waits: the report's call path and the location.
pub(super) type Place = (u32, u32);

/// Waiting by place, and by culprit, in ticks as fixed-point numbers.
pub(super) type Waiting = FxHashMap<Place, [i128; NAMED]>;

/// Ticks, or parts of them, by culprit.
type Shares = [f64; NAMED];

/// A location on its way.
#[derive(Debug)]
struct Way {
    /// What is left to do is from here on.
    first: usize,
    /// And before here: the last of that is next.
    left: usize,
    /// The culprits' shares of all waiting up to here, in ticks.
    waited: Shares,
}

/// The locations of a worker on their way.
pub(super) struct Forward<'a> {
    lines: &'a Lines,
    waits: &'a Waits,
    causes: &'a Causes,
    culprits: &'a [Culprit],
    excess: &'a Excess,
    returned: Returned,
    worker: usize,
    ways: Vec<Way>,
    /// Locations that can go on.
    ready: Vec<usize>,
    /// Causes that pass nothing on, whose wait states wait to hear that.
    without: Vec<u32>,
    /// By cause that reaches until the current position: the shares of all waiting where it begins to reach.
    before: Kept<Shares>,
    /// The culprits' shares by wait, from when they have come until they are needed.
    shares: Kept<Shares>,
    /// Waiting in each culprit's class.
    waiting: Waiting,
}

impl<'a> Forward<'a> {
    /// All locations at their begin.
    pub(super) fn new(
        lines: &'a Lines,
        waits: &'a Waits,
        causes: &'a Causes,
        returned: Returned,
        culprits: &'a [Culprit],
        excess: &'a Excess,
        worker: usize,
    ) -> Forward<'a> {
        let way = |ends: &[usize]| Way { first: ends[0], left: ends[1], waited: [0.0; NAMED] };
        let ways: Vec<Way> = returned.items.firsts.windows(2).map(way).collect();
        let without = causes.list.iter().enumerate();
        // Where the way back went on without costs, nobody may wait for shares: they would be a circle again.
        let is_released = |number: usize| returned.released.contains(&(number as u32));
        let without = without.filter(|&(number, cause)| {
            cause.awaits_costs() && (cause.denominator <= 0.0 || is_released(number))
        });
        let without = without.map(|(number, _)| number as u32).collect();
        Forward {
            ready: (0..ways.len()).collect(),
            without,
            lines,
            waits,
            causes,
            culprits,
            excess,
            returned,
            worker,
            ways,
            before: Kept::new(causes.list.len()),
            shares: Kept::new(waits.list.len()),
            waiting: FxHashMap::default(),
        }
    }

    /// Who waits where for which culprit.
    pub(super) fn into_waiting(self) -> Waiting {
        debug_assert!(self.ways.iter().all(|way| way.left == way.first), "a location is held");
        self.waiting
    }

    /// A cause passes on what it did more itself, and the waiting since it began to reach back.
    fn cause(&mut self, at: usize, number: u32, tell: &mut impl FnMut(usize, Message)) {
        let cause = &self.causes.list[number as usize];
        let mut passed = match cause.reach {
            None => [0.0; NAMED],
            Some(_) => {
                let (waited, before) =
                    (&self.ways[at].waited, self.before.remove(number).unwrap_or_default());
                std::array::from_fn(|which| waited[which] - before[which])
            }
        };
        for work in self.excess.of(number) {
            passed[work.culprit] += work.more as f64;
        }
        let class = cause.delay.class;
        let is_waiting = |which: usize| passed[which] > 0.0 && self.culprits[which].class == class;
        if (0..self.culprits.len()).any(is_waiting) {
            let place = (cause.waiting_path, cause.delay.waiting.location);
            let sums = self.waiting.entry(place).or_default();
            for which in (0..self.culprits.len()).filter(|&which| is_waiting(which)) {
                sums[which] = sums[which].saturating_add(fixed(cause.scale * passed[which]));
            }
        }
        if cause.awaits_costs() && !self.returned.released.contains(&number) {
            let mut shares = [0.0; Class::COUNT];
            for ((share, &passed), culprit) in shares.iter_mut().zip(&passed).zip(self.culprits) {
                // What waiting at barriers of threads costs through further ones is not charged to anyone (Q16).
                let is_known = (culprit.class, class) != (Class::ThreadBarrier, Class::ThreadBarrier);
                if passed > 0.0 && is_known {
                    *share = passed / cause.denominator;
                }
            }
            self.tell(number, shares, tell);
        }
    }

    /// Tells whoever waits for a cause which shares of its waiting the culprits have.
    fn tell(&mut self, number: u32, shares: Costs, tell: &mut impl FnMut(usize, Message)) {
        let (worker, number) = self.causes.told(number);
        if worker == self.worker {
            self.arrive(worker, number, &shares);
        } else {
            tell(worker, Message::Costs(number, shares));
        }
    }

    /// The shares of a delay that a worker was told of.
    fn arrive(&mut self, worker: usize, number: u32, shares: &Costs) {
        let wait = self.waits.firsts[worker] as u32 + number;
        self.shares.insert(wait, std::array::from_fn(|which| shares[which]));
        let at = self.lines.at(self.waits.list[wait as usize].delay.waiting.location);
        if self.next(at).is_some_and(|item| item == (Kind::Wait, wait)) {
            self.ready.push(at);
        }
    }

    /// What a location has to do next.
    fn next(&self, at: usize) -> Option<Item> {
        let Way { first, left, .. } = self.ways[at];
        (first < left).then(|| self.returned.items.list[left - 1])
    }

    /// The culprits' shares of a wait state are known.
    fn wait(&mut self, at: usize, number: u32, shares: Shares) {
        let ticks = self.waits.list[number as usize].costly as f64;
        for (waited, share) in self.ways[at].waited.iter_mut().zip(shares) {
            *waited += share * ticks;
        }
    }
}

impl Recurrence for Forward<'_> {
    type Message = Message;

    fn step(&mut self, tell: &mut impl FnMut(usize, Message)) -> bool {
        for number in std::mem::take(&mut self.without) {
            self.tell(number, [0.0; Class::COUNT], tell);
        }
        let Some(at) = self.ready.pop() else { return false };
        while let Some((kind, number)) = self.next(at) {
            match kind {
                Kind::End => self.before.insert(number, self.ways[at].waited),
                Kind::Cause => self.cause(at, number, tell),
                Kind::Wait => match self.shares.remove(number) {
                    Some(shares) => self.wait(at, number, shares),
                    None => return true,
                },
            }
            self.ways[at].left -= 1;
        }
        true
    }

    fn hear(&mut self, worker: usize, message: Message, _: &mut impl FnMut(usize, Message)) {
        if let Message::Costs(number, shares) = message {
            self.arrive(worker, number, &shares);
        }
    }

    fn blocked(&self) -> Option<Blocked> {
        None
    }

    fn release(&mut self, _: Blocked) {}
}
