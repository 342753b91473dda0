//! Steps: the outermost calls of MPI of a location, which its structure is made of (structure 2.1 to 2.3).

use model::Ticks;
use rustc_hash::FxHashMap;
use structure::Polls;

use super::process::ProcessWalk;
use super::requests::Message;
use super::thread::Thread;
use crate::communicators::Participants;
use crate::ids::PathId;
use crate::int::to_u32;

/// What a step is: steps of a location with equal keys may be visits of the same node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StepKey {
    /// The call path in the process's tree.
    pub path: PathId,
    /// Hash of the operations begun in the call, in the order of their records: kind, communicator, peer relative to the own
    /// rank, size class of bytes.
    pub shape: u64,
    /// Whether it is no call, but the time for which recording was off.
    pub is_gap: bool,
}

/// A step in the order of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedStep {
    /// Position of its key in [`Steps::keys`].
    pub key: u32,
    /// When its call was entered.
    pub enter: Ticks,
    /// When it was left.
    pub leave: Ticks,
}

/// Compact form of a step.
#[derive(Clone, Copy, Debug)]
struct PackedStep {
    key: u32,
    /// Ticks since the leave of the step before, or [`WIDE`].
    since: u32,
    /// Ticks from enter to leave, or the index of both numbers of ticks among the wide ones.
    ticks: u32,
}

/// Stands for ticks that do not fit.
const WIDE: u32 = u32::MAX;

/// The steps of a location.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Time of the first event; of no meaning if there are no steps.
    pub begin: Ticks,
    /// The different keys, by first occurrence.
    pub keys: Vec<StepKey>,
    /// By key: bytes of the operations begun in its steps.
    pub bytes: Vec<u64>,
    /// Polls, each with the number of the step before which they were.
    pub polls: Vec<(u32, Polls)>,
    /// Stretches in which recording was off and whole iterations may be missing, each with the number of the step before which it was.
    /// These are no steps: what is before and behind may belong together.
    pub cuts: Vec<(u32, [Ticks; 2])>,
    kept: Vec<PackedStep>,
    wide: Vec<(Ticks, Ticks)>,
}

impl Steps {
    /// The number of steps.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The position of each step's key in [`Steps::keys`].
    pub fn key_numbers(&self) -> impl ExactSizeIterator<Item = u32> {
        self.kept.iter().map(|step| step.key)
    }

    /// The steps in the order of time.
    pub fn iter(&self) -> impl Iterator<Item = TimedStep> {
        let mut now = self.begin;
        self.kept.iter().map(move |&PackedStep { key, since, ticks }| {
            let (since, ticks) = match since {
                WIDE => self.wide[ticks as usize],
                since => (since.into(), ticks.into()),
            };
            let enter = now + since;
            now = enter + ticks;
            TimedStep { key, enter, leave: now }
        })
    }

    /// When each step is entered and left, in ticks that count only while recording was on. A step that stands for a gap takes none.
    pub fn recorded(&self) -> impl Iterator<Item = (Ticks, Ticks)> {
        let mut cuts = self.cuts.iter().peekable();
        let mut off = 0;
        (0..).zip(self.iter()).map(move |(number, TimedStep { key, enter, leave })| {
            off += cuts.next_if(|(before, _)| *before == number).map_or(0, |(_, [begin, end])| end - begin);
            let enter = enter - off;
            off += if self.keys[key as usize].is_gap { leave - off - enter } else { 0 };
            (enter, leave - off)
        })
    }
}

/// Collects the steps of a location while its events are walked.
#[derive(Debug, Default)]
pub(super) struct StepCollector {
    steps: Steps,
    numbers: FxHashMap<StepKey, u32>,
    /// By key: that of the step behind the latest one with it, which nearly always comes behind the next one, too.
    behind: Vec<u32>,
    /// Time of the first event; `None` before it.
    begin: Option<Ticks>,
    /// The time of the last leave.
    now: Ticks,
    /// What is between steps so far.
    between: Between,
    current: Current,
    /// By communicator: the rank of the process in it, if it has one.
    ranks: FxHashMap<u32, Option<u32>>,
}

/// Ticks between steps whose times are not kept.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Between {
    /// In polls.
    pub polls: Ticks,
    /// With recording off.
    pub off: Ticks,
}

/// Operations of the current outermost call.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    shape: u64,
    bytes: u64,
    completes: bool,
    is_gap: bool,
}

/// Kinds of operations in the shape of a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begun {
    /// A send to a relative rank.
    Send(u32),
    /// A blocking receive from a relative rank.
    Receive(u32),
    /// The posting of a receive, whose peer is not recorded before its completion.
    Posting,
    /// A blocking collective operation, by OTF2's number.
    Collective(u8),
    /// The start of a non-blocking collective operation, which is not named before its completion.
    NonBlocking,
}

impl Begun {
    fn code(self) -> u64 {
        let (kind, number) = match self {
            Begun::Send(peer) => (1, peer),
            Begun::Receive(peer) => (2, peer),
            Begun::Posting => (3, 0),
            Begun::Collective(operation) => (4, operation.into()),
            Begun::NonBlocking => (5, 0),
        };
        kind << 32 | u64::from(number)
    }
}

impl StepCollector {
    /// Notes the time of an event before all steps.
    #[inline]
    pub(super) fn begin(&mut self, time: Ticks) {
        if self.begin.is_none() {
            (self.begin, self.now, self.steps.begin) = (Some(time), time, time);
        }
    }

    /// Notes an operation that the current call begins, on a communicator, with the bytes of both directions.
    pub(super) fn note(&mut self, begun: Begun, communicator: u32, bytes: [u64; 2]) {
        let (sent, received) = (size_class(bytes[0]), size_class(bytes[1]));
        let Current { shape, bytes: all, .. } = &mut self.current;
        *shape = mixed(mixed(*shape, begun.code()), u64::from(communicator) << 16 | sent << 8 | received);
        *all = all.saturating_add(bytes[0]);
    }

    /// Notes that the current call completes an operation.
    #[inline]
    pub(super) fn complete(&mut self) {
        self.current.completes = true;
    }

    /// Ends the outermost call of MPI; `is_poll` says that it asks for completions, so that it is no step if there was none.
    #[inline]
    pub(super) fn leave(&mut self, path: PathId, (enter, leave): (Ticks, Ticks), is_poll: bool) {
        let Current { shape, bytes, completes, is_gap } = std::mem::take(&mut self.current);
        if is_poll && !completes {
            return self.poll(leave.saturating_sub(enter));
        }
        self.begin(enter);
        let number = self.number(StepKey { path, shape, is_gap });
        let steps = &mut self.steps;
        steps.bytes[number as usize] = steps.bytes[number as usize].saturating_add(bytes);
        let (since, ticks) = (enter - self.now, leave - enter);
        let fits = |ticks: Ticks| u32::try_from(ticks).ok().filter(|&ticks| ticks != WIDE);
        let (since, ticks) = fits(since).zip(fits(ticks)).unwrap_or_else(|| {
            steps.wide.push((since, ticks));
            (WIDE, to_u32(steps.wide.len() - 1))
        });
        steps.kept.push(PackedStep { key: number, since, ticks });
        self.now = leave;
    }

    /// The number of the key of a step.
    #[inline]
    fn number(&mut self, key: StepKey) -> u32 {
        let before = self.steps.kept.last().map(|step| step.key as usize);
        if let Some(before) = before
            && self.steps.keys.get(self.behind[before] as usize) == Some(&key)
        {
            return self.behind[before];
        }
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.steps.keys.push(key);
            self.steps.bytes.push(0);
            self.behind.push(0);
            to_u32(self.steps.keys.len() - 1)
        });
        if let Some(before) = before {
            self.behind[before] = number;
        }
        number
    }

    /// Notes a stretch in which recording was off, before the next step.
    fn cut(&mut self, stretch: [Ticks; 2]) {
        let next = to_u32(self.steps.len());
        match self.steps.cuts.last_mut() {
            Some((before, [_, end])) if *before == next => *end = stretch[1],
            _ => self.steps.cuts.push((next, stretch)),
        }
    }

    /// Adds the time for which recording was off as a step of its own.
    fn gap(&mut self, path: PathId, times: (Ticks, Ticks)) {
        self.current = Current { is_gap: true, ..Current::default() };
        self.leave(path, times, false);
    }

    #[cold]
    fn poll(&mut self, ticks: Ticks) {
        self.between.polls = self.between.polls.saturating_add(ticks);
        let step = to_u32(self.steps.kept.len());
        let poll = Polls { count: 1, ticks };
        match self.steps.polls.last_mut() {
            Some((before, polls)) if *before == step => {
                (polls.count, polls.ticks) = (polls.count + 1, polls.ticks.saturating_add(ticks));
            }
            _ => self.steps.polls.push((step, poll)),
        }
    }

    /// Returns the steps.
    pub(super) fn finish(self) -> Steps {
        self.steps
    }
}

impl ProcessWalk<'_> {
    /// What is between the steps of a thread so far; nothing unless these are noted.
    pub(super) fn between_steps(&self, thread: usize) -> Between {
        self.threads[thread].steps.as_ref().map(|steps| steps.between).unwrap_or_default()
    }

    /// Notes an operation without bytes that the current call of a thread begins.
    pub(super) fn note_begun(&mut self, thread: usize, begun: Begun) {
        if let Some(steps) = &mut self.threads[thread].steps {
            steps.note(begun, 0, [0, 0]);
        }
    }

    /// Notes a message that the current call of a thread sends or receives.
    pub(super) fn note_message(&mut self, thread: usize, message: Message, begun: impl Fn(u32) -> Begun) {
        let Some(steps) = &mut self.threads[thread].steps else { return };
        let Message { peer, communicator, bytes, .. } = message;
        let process = to_u32(self.process);
        let rank = *steps.ranks.entry(communicator).or_insert_with(|| {
            match self.trace.communicators.get(communicator as usize)? {
                Participants::Ranks(ranks) => ranks.iter().position(|&rank| rank == process).map(to_u32),
                _ => None,
            }
        });
        // Numbers around 2^32 stand for negative distances.
        steps.note(begun(peer.wrapping_sub(rank.unwrap_or(0))), communicator, [bytes, 0]);
    }

    /// Notes that recording of a thread was off since it entered a region that stands for that: what is before and behind does
    /// not belong together, unless whole operations are missing. Inside of a call of MPI that is no step of its own.
    pub(super) fn note_gap(&mut self, thread: usize, region: u32, time: Ticks) {
        let Thread { stack, steps, .. } = &mut self.threads[thread];
        if let Some(steps) = steps
            && stack.mpi_depth == 0
            && let Some(gap) = stack.frames().iter().find(|frame| frame.region == region)
        {
            steps.between.off = steps.between.off.saturating_add(time - gap.enter);
            match self.told.is_even {
                true => steps.cut([gap.enter, time]),
                false => steps.gap(gap.path, (gap.enter, time)),
            }
        }
    }
}

/// Size class of bytes: 0 for none, or 1 + ⌊log₂ bytes⌋.
fn size_class(bytes: u64) -> u64 {
    (u64::BITS - bytes.leading_zeros()).into()
}

/// Mixes a word into a hash; the order of words matters.
fn mixed(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    let [upper, lower] = crate::int::words(product);
    (upper ^ lower).rotate_left(29).wrapping_add(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leave(collector: &mut StepCollector, path: usize, enter: Ticks, leave: Ticks) {
        collector.leave(PathId::new(path), (enter, leave), false);
    }

    #[test]
    fn steps_of_any_length_come_back_with_their_times() {
        let mut collector = StepCollector::default();
        collector.begin(-5);
        let long = 1 << 40;
        let times = [(0, 3), (3, 3), (long, 2 * long), (2 * long + 1, 2 * long + 7)];
        times.iter().for_each(|&(enter, end)| leave(&mut collector, 7, enter, end));
        let steps = collector.finish();
        let found: Vec<_> = steps.iter().map(|step| (step.enter, step.leave)).collect();
        assert_eq!((found.as_slice(), steps.begin, steps.keys.len()), (&times[..], -5, 1));
    }

    #[test]
    fn the_shape_of_a_step_is_what_it_begins_in_order() {
        let mut collector = StepCollector::default();
        let mut call = |operations: &[(Begun, u64)]| {
            operations.iter().for_each(|&(begun, bytes)| collector.note(begun, 0, [bytes, 0]));
            leave(&mut collector, 1, 0, 0);
        };
        let (right, left) = (Begun::Send(1), Begun::Send(u32::MAX));
        // 5 and 7 bytes are of one class, 8 are of another.
        for operations in [
            [(right, 5), (left, 5)],
            [(right, 7), (left, 5)],
            [(left, 5), (right, 5)],
            [(right, 8), (left, 5)],
        ] {
            call(&operations);
        }
        let steps = collector.finish();
        assert_eq!(steps.iter().map(|step| step.key).collect::<Vec<_>>(), [0, 0, 1, 2]);
        assert_eq!(steps.bytes, [22, 10, 13]);
    }

    #[test]
    fn calls_that_ask_for_a_completion_and_find_none_are_polls() {
        let mut collector = StepCollector::default();
        leave(&mut collector, 1, 0, 1);
        collector.leave(PathId::new(2), (2, 5), true);
        collector.leave(PathId::new(2), (6, 7), true);
        collector.complete();
        collector.leave(PathId::new(2), (8, 9), true);
        let steps = collector.finish();
        assert_eq!((steps.len(), steps.polls), (2, vec![(1, Polls { count: 2, ticks: 4 })]));
    }
}
