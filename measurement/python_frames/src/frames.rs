//! The frames of a thread, from the innermost function outwards.
//!
//! A C function of the interpreter evaluates one frame or several, one having called the other. Where the frames of one end
//! is known by something that this C function has on the stack ([`Chain`]), which tells which C function it is.

use crate::interpreter::Types;
use crate::layout::{Chain, GENERATOR, INSTRUCTION, INTERPRETER, Layout};
use crate::memory::Memory;
use std::ops::Range;

/// Frames that are passed beyond those that are wanted, to find out which C function evaluates the last of them.
const BEYOND: usize = 4096;

/// The frame of a function that is active.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Frame {
    /// Its address.
    pub address: u64,
    /// Address of the code object.
    pub code: u64,
    /// Address of the instruction, or one in it.
    pub instruction: u64,
    /// An address in the frame of the C function that evaluates it; 0 if that is not known.
    pub marker: u64,
}

/// Why there are no further frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// These are all.
    Outermost,
    /// There was no room for more.
    Limit,
    /// The next one makes no sense.
    Broken,
}

/// What a frame is.
enum Kind {
    Function {
        code: u64,
        instruction: u64,
    },
    /// It belongs to the interpreter, or its function has not begun.
    None,
}

/// Finds the frames of the thread that has this state and this part of its stack in use. They are in the beginning of
/// `frames` then, the innermost first.
pub fn read(
    (layout, types): (&Layout, &Types),
    memory: &mut impl Memory,
    state: u64,
    stack: Range<u64>,
    frames: &mut [Frame],
) -> (usize, End) {
    let mut walk = Walk { frames, found: 0, open: 0 };
    let end = walk.go((layout, types), memory, state, stack).unwrap_or(End::Broken);
    (walk.found, end)
}

struct Walk<'a> {
    frames: &'a mut [Frame],
    found: usize,
    /// The first frame of those whose C function is not known yet.
    open: usize,
}

impl Walk<'_> {
    /// `None` if something cannot be read.
    fn go(
        &mut self,
        (layout, types): (&Layout, &Types),
        memory: &mut impl Memory,
        state: u64,
        stack: Range<u64>,
    ) -> Option<End> {
        let mut controls = Controls::default();
        let mut frame = match layout.chain {
            Chain::Frames { frame } => memory.word(state + frame)?,
            Chain::Controls { control, .. } => {
                let first = memory.word(state + control)?;
                controls.enter(layout.chain, memory, first)?
            }
        };
        let mut passed = false;
        for _ in 0..self.frames.len() + BEYOND {
            if controls.end_at(frame) {
                self.close(&stack, controls.control);
                frame = controls.enter(layout.chain, memory, controls.next)?;
            }
            if frame == 0 {
                let delimits = matches!(layout.chain, Chain::Controls { delimit: true, .. });
                self.close(&stack, if delimits { controls.control } else { 0 });
                return Some(if passed { End::Limit } else { End::Outermost });
            }
            if stack.contains(&frame) {
                self.close(&stack, frame);
            }
            if self.found == self.frames.len() && self.open == self.found {
                return Some(End::Limit);
            }
            if stack.contains(&frame) {
                // It only says that the C function ends here.
            } else if self.found < self.frames.len() {
                match kind(layout, types, memory, frame) {
                    Some(Kind::Function { code, instruction }) => {
                        let place = self.frames.get_mut(self.found)?;
                        *place = Frame { address: frame, code, instruction, marker: 0 };
                        self.found += 1;
                    }
                    Some(Kind::None) => {}
                    // A control frame that has only just been made refers to nothing yet.
                    None if self.found == 0 && controls.next != 0 => {
                        frame = controls.enter(layout.chain, memory, controls.next)?;
                        continue;
                    }
                    None => return Some(End::Broken),
                }
            } else {
                passed = true;
            }
            frame = memory.word(frame.wrapping_add(layout.previous))?;
        }
        Some(End::Limit)
    }

    /// The C function that evaluates the last frames has this address in its frame.
    fn close(&mut self, stack: &Range<u64>, marker: u64) {
        if stack.contains(&marker) {
            let open = self.frames.get_mut(self.open..self.found).unwrap_or_default();
            open.iter_mut().for_each(|frame| frame.marker = marker);
            self.open = self.found;
        }
    }
}

/// The control frame that the frames are of.
#[derive(Default)]
struct Controls {
    control: u64,
    next: u64,
    /// The frame that is the next one's; 0 if none is, or control frames do not say where the frames end.
    end: u64,
}

impl Controls {
    /// Goes to a control frame; answers the frame that it refers to.
    fn enter(&mut self, chain: Chain, memory: &mut impl Memory, control: u64) -> Option<u64> {
        let Chain::Controls { frame, next, delimit, .. } = chain else { return None };
        self.control = control;
        self.next = memory.word(control.wrapping_add(next))?;
        self.end = if delimit && self.next != 0 { memory.word(self.next.wrapping_add(frame))? } else { 0 };
        memory.word(control.wrapping_add(frame))
    }

    fn end_at(&self, frame: u64) -> bool {
        self.end != 0 && frame == self.end
    }
}

/// What a frame is; `None` if it makes no sense.
fn kind(layout: &Layout, types: &Types, memory: &mut impl Memory, frame: u64) -> Option<Kind> {
    // Since 3.14 the lowest bits say how the reference is counted.
    let code = memory.word(frame.wrapping_add(layout.executable))? & !7;
    let owner = memory.byte(frame.wrapping_add(layout.owner))?;
    if owner >= INTERPRETER {
        return Some(Kind::None);
    }
    if memory.peek(code.wrapping_add(layout.object_type))? != types.code {
        return None;
    }
    let instruction = memory.word(frame.wrapping_add(layout.instruction))?;
    let first = u64::from(memory.number(code.wrapping_add(layout.firsttraceable))?);
    let begin = code.wrapping_add(layout.instructions).wrapping_add(first.wrapping_mul(INSTRUCTION));
    // As `_PyFrame_IsIncomplete` has it.
    if instruction < begin && owner != GENERATOR {
        return Some(Kind::None);
    }
    Some(Kind::Function { code, instruction })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{Made, STACK, layouts};

    /// The names of the functions, the innermost first, with their markers, counted from the begin of the stack.
    fn names(made: &mut Made, limit: usize) -> (Vec<(String, u64)>, End) {
        let (layout, types, state) = (made.layout, made.types, made.state());
        let mut frames = vec![Frame::default(); limit];
        let (found, end) = read((&layout, &types), made, state, STACK, &mut frames);
        let name = |frame: &Frame| (made.name_of(frame.code), frame.marker.saturating_sub(STACK.start));
        (frames[..found].iter().map(name).collect(), end)
    }

    fn named(names: &[(&str, u64)]) -> Vec<(String, u64)> {
        names.iter().map(|&(name, marker)| (name.to_owned(), marker)).collect()
    }

    #[test]
    fn frames_of_each_version_belong_to_the_functions_that_evaluate_them() {
        for layout in layouts() {
            let mut made = Made::new(layout);
            // Outermost first.
            made.evaluate(0x800, &["<module>", "main"]);
            made.evaluate(0x400, &["callback"]);
            made.evaluate(0x100, &["a", "b", "c"]);
            let expected = [("c", 0x100), ("b", 0x100), ("a", 0x100), ("callback", 0x400), ("main", 0x800)];
            let all = [&expected[..], &[("<module>", 0x800)]].concat();
            assert_eq!(names(&mut made, 10), (named(&all), End::Outermost));
            assert_eq!(names(&mut made, 5), (named(&expected), End::Limit), "the marker lies beyond");
        }
    }

    #[test]
    fn thread_without_frames_has_none() {
        for layout in layouts() {
            assert_eq!(names(&mut Made::new(layout), 10), (Vec::new(), End::Outermost));
        }
    }

    #[test]
    fn functions_that_have_not_begun_are_left_out_but_not_generators() {
        for layout in layouts() {
            let mut made = Made::new(layout);
            let frames = made.evaluate(0x800, &["<module>", "begins", "generator"]);
            for &frame in &frames[1..] {
                made.rewind(frame);
            }
            made.set_byte(frames[2] + layout.owner, GENERATOR);
            assert_eq!(names(&mut made, 10).0, named(&[("generator", 0x800), ("<module>", 0x800)]));
        }
    }

    #[test]
    fn frames_of_the_interpreter_are_left_out() {
        for layout in layouts().into_iter().skip(1) {
            let mut made = Made::new(layout);
            let frames = made.evaluate(0x800, &["<module>", "none", "f"]);
            let none = made.bytes_object(b"no code");
            made.set(frames[1] + layout.executable, none);
            made.set_byte(frames[1] + layout.owner, INTERPRETER);
            assert_eq!(names(&mut made, 10).0, named(&[("f", 0x800), ("<module>", 0x800)]));
        }
    }

    #[test]
    fn frames_that_make_no_sense_end_the_list() {
        for layout in layouts() {
            let mut made = Made::new(layout);
            let frames = made.evaluate(0x800, &["<module>", "f", "g"]);
            made.set(frames[1] + layout.executable, 0x1234_5678);
            assert_eq!(names(&mut made, 10), (named(&[("g", 0)]), End::Broken));
            // Frames that refer to each other.
            let mut made = Made::new(layout);
            let frames = made.evaluate(0x800, &["<module>", "f"]);
            made.set(frames[0] + layout.previous, frames[1]);
            assert_eq!(names(&mut made, 2).1, End::Limit);
        }
    }

    #[test]
    fn control_frame_that_refers_to_nothing_yet_is_passed_over() {
        for layout in layouts() {
            let Chain::Controls { frame, .. } = layout.chain else { continue };
            let mut made = Made::new(layout);
            made.evaluate(0x800, &["<module>", "f"]);
            made.evaluate(0x400, &["g"]);
            made.set(made.control() + frame, 0x5550);
            assert_eq!(names(&mut made, 10), (named(&[("f", 0x800), ("<module>", 0x800)]), End::Outermost));
        }
    }
}
