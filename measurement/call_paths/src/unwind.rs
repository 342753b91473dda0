//! Unwinder: finds the active functions, from the innermost outwards, and records every word that it reads.
//!
//! Which word is read next, and whether one is read at all, depends on nothing but the registers at the
//! start, the words read before, and the modules: the list of words determines the result. [`crate::memo`]
//! relies on this.

use crate::architecture::{ADDRESS, SAVED};
use crate::modules::Snapshot;
use crate::pages::{Pages, Plain};
use crate::registers::Registers;
use crate::roles::Role;
use crate::rules::{Context, KEPT, LOST, Rule, RuleKind, rule_at};
use crate::stack::StackInUse;
use std::io;

/// A word that was read, with its address.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct Word {
    pub(crate) address: u64,
    pub(crate) value: u64,
}

// SAFETY: two integers; zero is a value of each.
unsafe impl Plain for Word {}

/// An active native function.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct NativeFrame {
    /// Its return address: where it continues after the call that is active.
    pub(crate) address: u64,
    /// The stack pointer of its caller at the call: all of its frame is below. Its own one if it cannot be
    /// unwound.
    pub(crate) caller_stack: u64,
}

// SAFETY: two integers; zero is a value of each.
unsafe impl Plain for NativeFrame {}

/// Native functions of the interpreter, which are left out, for each function that is not: an upper estimate.
pub(crate) const INTERPRETED: usize = 16;

/// Additional functions that are looked for beyond the depth, so that those that start the program do not
/// take the place of others.
const START: usize = 4;

/// Size of the cache of rules, a power of two.
const RULES: usize = 2048;

#[derive(Clone, Copy)]
struct CachedRule {
    /// The address that the rule is for; 0 for none.
    address: u64,
    rule: Rule,
}

// SAFETY: integers, and enumerations with a variant of value 0.
unsafe impl Plain for CachedRule {}

/// The parameters of a search.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    /// The starting point. The function that these registers are of is left out.
    pub(crate) registers: Registers,
    /// The frame pointer is one of the words that are read: the address where it is kept.
    pub(crate) frame_pointer_at: u64,
    /// Functions are left out if their caller's stack pointer is above this.
    pub(crate) below: u64,
    /// Whether innermost functions of the MPI library and the recorder are left out.
    pub(crate) skip_measured: bool,
    /// Maximum number of functions, at most [`INTERPRETED`] times what the unwinder was made for.
    pub(crate) depth: usize,
}

/// Functions and words of the last search, and a cache of rules.
pub(crate) struct Unwinder {
    rules: Pages<CachedRule>,
    context: Box<Context>,
    frames: Pages<NativeFrame>,
    found: usize,
    words: Pages<Word>,
    read: usize,
    /// The stack pointer of the function that has called the innermost ones, which are left out, at that
    /// call.
    pub(crate) caller_stack: u64,
}

/// The registers of a function on the way outwards.
struct FrameState {
    instruction: u64,
    /// Whether it is a return address.
    returns: bool,
    stack: u64,
    /// Address of each register's value, or [`NOWHERE`]. The value is read only when it is needed: registers
    /// that are not needed may change without the path being another.
    saved: [u64; SAVED.len()],
}

/// The value is not known.
const NOWHERE: u64 = 0;

impl Unwinder {
    /// Creates an unwinder for paths of at most `depth` functions. Allocates; searching does not.
    pub(crate) fn new(depth: usize) -> io::Result<Self> {
        // Few functions need more than two words, and those of the MPI library come on top.
        Ok(Self {
            rules: Pages::new(RULES)?,
            context: Box::new(Context::new_in()),
            frames: Pages::new(INTERPRETED * depth + START)?,
            found: 0,
            words: Pages::new(2 * INTERPRETED * depth + 64)?,
            read: 0,
            caller_stack: 0,
        })
    }

    /// Empties the cache of rules: the modules have changed.
    pub(crate) fn forget(&mut self) {
        self.rules.fill(CachedRule { address: 0, rule: Rule::default() });
    }

    /// Returns the functions, the innermost first.
    pub(crate) fn frames(&self) -> &[NativeFrame] {
        self.frames.get(..self.found).unwrap_or_default()
    }

    /// Returns the words that were read, in order.
    pub(crate) fn words(&self) -> &[Word] {
        self.words.get(..self.read).unwrap_or_default()
    }

    /// Finds the active functions. They are in [`Self::frames`] then.
    pub(crate) fn search(&mut self, snapshot: &Snapshot, live: StackInUse, search: &Search) {
        (self.found, self.read, self.caller_stack) = (0, 0, search.registers.stack);
        let mut saved = [NOWHERE; SAVED.len()];
        if let Some(frame) = saved.first_mut() {
            *frame = search.frame_pointer_at;
        }
        let (instruction, stack) = (search.registers.instruction, search.registers.stack);
        let mut state = FrameState { instruction, returns: false, stack, saved };
        let (mut first, mut skipping, mut reached_end) = (true, search.skip_measured, false);
        let frame_pointer = Word { address: search.frame_pointer_at, value: search.registers.frame };
        loop {
            let at = state.instruction;
            let rule = self.rule(snapshot, at.wrapping_sub(u64::from(state.returns)));
            let (stack, returns) = (state.stack, state.returns);
            let next = self.step(&mut state, &rule, live, frame_pointer);
            skipping &= first || matches!(rule.role, Role::Measured | Role::Recorder);
            let is_innermost = first || skipping;
            if is_innermost {
                self.caller_stack = state.stack;
            }
            let counts = !is_innermost && rule.role != Role::Recorder;
            // Of a function that cannot be unwound it is only known that its caller's stack pointer is not
            // below its own.
            let end = if next.is_some() { state.stack } else { stack };
            if end > search.below {
                break;
            }
            if counts {
                // An interrupted function has no return address; the next byte's address serves as one.
                let address = at.wrapping_add(u64::from(!returns));
                if self.found == search.depth + START {
                    break;
                }
                let Some(frame) = self.frames.get_mut(self.found) else { break };
                *frame = NativeFrame { address, caller_stack: end };
                self.found += 1;
            }
            first = false;
            if next.is_none() {
                reached_end = true;
                break;
            }
        }
        if reached_end {
            self.drop_start(snapshot);
        }
        self.found = self.found.min(search.depth);
    }

    /// Leaves out the functions that call `main` or the function of a thread: those of the C library at the
    /// outer end, and the one of the program behind them, `_start`.
    fn drop_start(&mut self, snapshot: &Snapshot) {
        let role = |frame: &NativeFrame| {
            snapshot.find(frame.address.wrapping_sub(1)).map_or(Role::Program, |module| module.role)
        };
        let frames = self.frames.get(..self.found).unwrap_or_default();
        let keep = match frames {
            [inner @ .., system, start] if role(start) == Role::Main && role(system) == Role::System => inner,
            all => all,
        };
        let system = keep.iter().rev().take_while(|frame| role(frame) == Role::System).count();
        self.found = keep.len() - system;
    }

    fn rule(&mut self, snapshot: &Snapshot, address: u64) -> Rule {
        let hash = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        match self.rules.get_mut(hash as usize & (RULES - 1)) {
            Some(known) if known.address == address => known.rule,
            Some(known) => {
                let rule = rule_at(snapshot, &mut self.context, address);
                *known = CachedRule { address, rule };
                rule
            }
            None => Rule::default(),
        }
    }

    /// Steps from a function to its caller. `None` if it has none or the rule is not known.
    fn step(
        &mut self,
        state: &mut FrameState,
        rule: &Rule,
        live: StackInUse,
        frame_pointer: Word,
    ) -> Option<()> {
        if !matches!(rule.kind, RuleKind::Ordinary | RuleKind::Signal) {
            return None;
        }
        let mut read = |address: u64| {
            let value =
                if address == frame_pointer.address { frame_pointer.value } else { live.read(address)? };
            // A word that cannot be recorded must not be used: the list would not be complete.
            *self.words.get_mut(self.read)? = Word { address, value };
            self.read += 1;
            Some(value)
        };
        let place = |base: u64, words: i16| base.wrapping_add_signed(i64::from(words) * 8);
        let base = match rule.from.checked_sub(1) {
            None => state.stack,
            Some(register) => read(*state.saved.get(usize::from(register))?)?,
        };
        let sum = base.wrapping_add_signed(i64::from(rule.offset));
        let caller_stack = if rule.indirect { read(sum)? } else { sum };
        // Only the code at the start can have the same stack pointer as its caller, and outwards is upwards.
        if !live.may_point(caller_stack)
            || caller_stack < state.stack
            || (state.returns && caller_stack == state.stack)
        {
            return None;
        }
        let base_of = |i: usize| if rule.from_register & 1 << i != 0 { base } else { caller_stack };
        if rule.return_address == KEPT {
            return None;
        }
        let instruction = read(place(base_of(SAVED.len()), rule.return_address))? & ADDRESS;
        for (i, (saved, words)) in state.saved.iter_mut().zip(rule.saved).enumerate() {
            match words {
                KEPT => {}
                LOST => *saved = NOWHERE,
                words => *saved = place(base_of(i), words),
            }
        }
        if instruction == 0 {
            return None;
        }
        state.instruction = instruction;
        state.returns = rule.kind != RuleKind::Signal;
        state.stack = caller_stack;
        Some(())
    }
}
