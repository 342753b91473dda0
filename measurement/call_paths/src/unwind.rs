//! Finds the functions that are active, from the innermost outwards, and keeps every word that it has read for that.
//!
//! Which word is read next, and whether one is read at all, depends on nothing but the registers in the beginning, the
//! words read before, and the modules: the list of words is a complete account of why the answer is what it is. That is
//! what [`crate::memo`] relies on.

use crate::architecture::{ADDRESS, SAVED};
use crate::modules::Snapshot;
use crate::pages::{Pages, Plain};
use crate::registers::Registers;
use crate::roles::Role;
use crate::rules::{Context, KEPT, Kind, LOST, Rule, rule_at};
use crate::stack::Live;
use std::io;

/// A word that was read, and where.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct Word {
    pub(crate) address: u64,
    pub(crate) value: u64,
}

// SAFETY: two numbers.
unsafe impl Plain for Word {}

/// A function that is active.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct Native {
    /// Its return address: where it goes on in the one that is called.
    pub(crate) address: u64,
    /// The stack pointer of its caller at the call: all of its frame is below. Its own one if it cannot be unwound.
    pub(crate) caller_stack: u64,
}

// SAFETY: two numbers.
unsafe impl Plain for Native {}

/// Of functions of the interpreter, which are left out, there are so many for each that is not.
pub(crate) const INTERPRETED: usize = 16;

/// More functions than the depth are looked for, so that those that start the program do not take the place of others.
const START: usize = 4;

/// Rules that are kept, a power of two.
const RULES: usize = 2048;

#[derive(Clone, Copy)]
struct Known {
    /// The address that the rule is for; 0 for none.
    address: u64,
    rule: Rule,
}

// SAFETY: numbers, and enumerations in which 0 is the first.
unsafe impl Plain for Known {}

/// What to find.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    /// Where to begin. The function that this is in is left out.
    pub(crate) registers: Registers,
    /// The frame pointer is one of the words: this is where it is kept.
    pub(crate) frame_pointer_at: u64,
    /// Functions whose caller's stack pointer is above this are left out.
    pub(crate) below: u64,
    /// Whether innermost functions of the MPI library and the recorder are left out.
    pub(crate) skip_measured: bool,
    /// How many functions are enough, at most [`INTERPRETED`] times what the unwinder was made for.
    pub(crate) depth: usize,
}

/// Functions and words of the last search, and the rules of earlier ones.
pub(crate) struct Unwinder {
    rules: Pages<Known>,
    context: Box<Context>,
    frames: Pages<Native>,
    found: usize,
    words: Pages<Word>,
    read: usize,
    /// The stack pointer of the function that has called the innermost ones, which are left out, at that call.
    pub(crate) caller_stack: u64,
}

/// The registers of a function on the way outwards.
struct State {
    instruction: u64,
    /// Whether it is a return address.
    returns: bool,
    stack: u64,
    /// Where the value of each register is, or one of the constants below. It is read only when it is needed, as
    /// registers that nobody needs may change without the path being another.
    saved: [u64; SAVED.len()],
}

/// The value is not known.
const NOWHERE: u64 = 0;

impl Unwinder {
    /// For paths of at most `depth` functions. Allocates; searching does not.
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

    /// Forgets the rules: the modules are others now.
    pub(crate) fn forget(&mut self) {
        self.rules.fill(Known { address: 0, rule: Rule::default() });
    }

    /// The functions, the innermost first.
    pub(crate) fn frames(&self) -> &[Native] {
        self.frames.get(..self.found).unwrap_or_default()
    }

    /// The words that were read, in order.
    pub(crate) fn words(&self) -> &[Word] {
        self.words.get(..self.read).unwrap_or_default()
    }

    /// Finds the functions that are active. They are in [`Self::frames`] then.
    pub(crate) fn search(&mut self, snapshot: &Snapshot, live: Live, search: &Search) {
        (self.found, self.read, self.caller_stack) = (0, 0, search.registers.stack);
        let mut saved = [NOWHERE; SAVED.len()];
        if let Some(frame) = saved.first_mut() {
            *frame = search.frame_pointer_at;
        }
        let (instruction, stack) = (search.registers.instruction, search.registers.stack);
        let mut state = State { instruction, returns: false, stack, saved };
        let (mut first, mut skipping, mut reached_end) = (true, search.skip_measured, false);
        let frame_pointer = Word { address: search.frame_pointer_at, value: search.registers.frame };
        loop {
            let at = state.instruction;
            let rule = self.rule(snapshot, at.wrapping_sub(u64::from(state.returns)));
            let (stack, returns) = (state.stack, state.returns);
            let next = self.step(&mut state, &rule, live, frame_pointer);
            skipping &= first || rule.role == Role::Measured;
            let counts = !first && !skipping;
            if !counts {
                self.caller_stack = state.stack;
            }
            // Of a function that cannot be unwound it is only known that its caller's stack pointer is not below its own.
            let end = if next.is_some() { state.stack } else { stack };
            if end > search.below {
                break;
            }
            if counts {
                // A function that was interrupted has no return address; one that is behind is taken for one.
                let address = at.wrapping_add(u64::from(!returns));
                if self.found == search.depth + START {
                    break;
                }
                let Some(frame) = self.frames.get_mut(self.found) else { break };
                *frame = Native { address, caller_stack: end };
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

    /// Leaves out the functions that call `main` or the function of a thread: those of the C library at the outer end,
    /// and the one of the program behind them, `_start`.
    fn drop_start(&mut self, snapshot: &Snapshot) {
        let role = |frame: &Native| {
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
                *known = Known { address, rule };
                rule
            }
            None => Rule::default(),
        }
    }

    /// Goes from a function to its caller. `None` if it has none or the way is not known.
    fn step(&mut self, state: &mut State, rule: &Rule, live: Live, frame_pointer: Word) -> Option<()> {
        if !matches!(rule.kind, Kind::Ordinary | Kind::Signal) {
            return None;
        }
        let mut read = |address: u64| {
            let value =
                if address == frame_pointer.address { frame_pointer.value } else { live.read(address)? };
            // A word that cannot be kept must not be used: the account would not be complete.
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
        // Only the code at the very beginning can have the same stack pointer as its caller, and outwards is upwards.
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
        state.returns = rule.kind != Kind::Signal;
        state.stack = caller_stack;
        Some(())
    }
}
