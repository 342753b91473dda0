//! The frames of a thread, from the innermost function outwards.
//!
//! A C function of the interpreter evaluates one frame or several, one having called the other. Where the
//! frames of one C function end is known by something that it has on the stack ([`Chain`]), which also
//! identifies that C function.

use crate::interpreter::Types;
use crate::layout::{Chain, GENERATOR, INSTRUCTION, INTERPRETER, Layout};
use crate::memory::Memory;
use std::ops::Range;

/// Frames that are passed beyond those that are wanted, to find out which C function evaluates the last of
/// them.
const BEYOND: usize = 4096;

/// The frame of an active function (`_PyInterpreterFrame`).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Frame {
    /// Its address.
    pub address: u64,
    /// Address of the code object.
    pub code: u64,
    /// Address of the instruction, or one inside of it.
    pub instruction: u64,
    /// An address in the frame of the C function that evaluates it; 0 if it is not known.
    pub marker: u64,
}

/// Why there are no further frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkEnd {
    /// These are all.
    Outermost,
    /// There was no room for more.
    Limit,
    /// The next one is not a frame.
    Broken,
}

/// The kind of a frame.
enum FrameKind {
    Function {
        code: u64,
        instruction: u64,
    },
    /// It belongs to the interpreter, or its function has not started.
    None,
}

/// Reads the frames of the thread that has this state and this part of its stack in use into the start of
/// `frames`, the innermost first. Returns their number.
pub fn read(
    (layout, types): (&Layout, &Types),
    memory: &mut impl Memory,
    state: u64,
    stack: Range<u64>,
    frames: &mut [Frame],
) -> (usize, WalkEnd) {
    let mut walk = Walk { frames, found: 0, open: 0 };
    let end = walk.go((layout, types), memory, state, stack).unwrap_or(WalkEnd::Broken);
    (walk.found, end)
}

struct Walk<'a> {
    frames: &'a mut [Frame],
    found: usize,
    /// The first of the frames that no C function has been found for yet.
    open: usize,
}

impl Walk<'_> {
    /// Walks the frames. `None` if something cannot be read.
    fn go(
        &mut self,
        (layout, types): (&Layout, &Types),
        memory: &mut impl Memory,
        state: u64,
        stack: Range<u64>,
    ) -> Option<WalkEnd> {
        let mut cframes = CFrames::default();
        let mut frame = match layout.chain {
            Chain::Frames { frame } => memory.word(state + frame)?,
            Chain::CFrames { cframe, .. } => {
                let first = memory.word(state + cframe)?;
                cframes.enter(layout.chain, memory, first)?
            }
        };
        let mut passed = false;
        for _ in 0..self.frames.len() + BEYOND {
            if cframes.end_at(frame) {
                self.close(&stack, cframes.cframe);
                frame = cframes.enter(layout.chain, memory, cframes.next)?;
            }
            if frame == 0 {
                let delimits = matches!(layout.chain, Chain::CFrames { delimits: true, .. });
                self.close(&stack, if delimits { cframes.cframe } else { 0 });
                return Some(if passed { WalkEnd::Limit } else { WalkEnd::Outermost });
            }
            if stack.contains(&frame) {
                self.close(&stack, frame);
            }
            if self.found == self.frames.len() && self.open == self.found {
                return Some(WalkEnd::Limit);
            }
            if stack.contains(&frame) {
                // A frame on the stack only marks the end of those of the C function.
            } else if self.found < self.frames.len() {
                match kind(layout, types, memory, frame) {
                    Some(FrameKind::Function { code, instruction }) => {
                        let place = self.frames.get_mut(self.found)?;
                        *place = Frame { address: frame, code, instruction, marker: 0 };
                        self.found += 1;
                    }
                    Some(FrameKind::None) => {}
                    // A `_PyCFrame` that has only just been made refers to no frame yet.
                    None if self.found == 0 && cframes.next != 0 => {
                        frame = cframes.enter(layout.chain, memory, cframes.next)?;
                        continue;
                    }
                    None => return Some(WalkEnd::Broken),
                }
            } else {
                passed = true;
            }
            frame = memory.word(frame.wrapping_add(layout.previous))?;
        }
        Some(WalkEnd::Limit)
    }

    /// Sets the marker of the last frames: their C function has this address in its frame.
    fn close(&mut self, stack: &Range<u64>, marker: u64) {
        if stack.contains(&marker) {
            let open = self.frames.get_mut(self.open..self.found).unwrap_or_default();
            open.iter_mut().for_each(|frame| frame.marker = marker);
            self.open = self.found;
        }
    }
}

/// The `_PyCFrame` that the current frames belong to.
#[derive(Default)]
struct CFrames {
    cframe: u64,
    next: u64,
    /// The frame that the next `_PyCFrame` refers to; 0 if there is none, or if these do not delimit frames.
    end: u64,
}

impl CFrames {
    /// Steps to a `_PyCFrame`; returns the frame that it refers to.
    fn enter(&mut self, chain: Chain, memory: &mut impl Memory, cframe: u64) -> Option<u64> {
        let Chain::CFrames { frame, next, delimits, .. } = chain else { return None };
        self.cframe = cframe;
        self.next = memory.word(cframe.wrapping_add(next))?;
        self.end = if delimits && self.next != 0 { memory.word(self.next.wrapping_add(frame))? } else { 0 };
        memory.word(cframe.wrapping_add(frame))
    }

    fn end_at(&self, frame: u64) -> bool {
        self.end != 0 && frame == self.end
    }
}

/// Returns the kind of a frame; `None` if it is not a frame.
fn kind(layout: &Layout, types: &Types, memory: &mut impl Memory, frame: u64) -> Option<FrameKind> {
    // Since 3.14 the lowest bits are those of a `_PyStackRef`.
    let code = memory.word(frame.wrapping_add(layout.executable))? & !7;
    let owner = memory.byte(frame.wrapping_add(layout.owner))?;
    if owner >= INTERPRETER {
        return Some(FrameKind::None);
    }
    if memory.peek(code.wrapping_add(layout.object_type))? != types.code {
        return None;
    }
    let instruction = memory.word(frame.wrapping_add(layout.instruction))?;
    let first = u64::from(memory.number(code.wrapping_add(layout.firsttraceable))?);
    let begin = code.wrapping_add(layout.instructions).wrapping_add(first.wrapping_mul(INSTRUCTION));
    // As `_PyFrame_IsIncomplete` of CPython.
    if instruction < begin && owner != GENERATOR {
        return Some(FrameKind::None);
    }
    Some(FrameKind::Function { code, instruction })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{MockInterpreter, STACK, layouts};

    /// Returns the names of the functions, the innermost first, with their markers, relative to the start of
    /// the stack.
    fn names(mock: &mut MockInterpreter, limit: usize) -> (Vec<(String, u64)>, WalkEnd) {
        let (layout, types, state) = (mock.layout, mock.types, mock.state());
        let mut frames = vec![Frame::default(); limit];
        let (found, end) = read((&layout, &types), mock, state, STACK, &mut frames);
        let name = |frame: &Frame| (mock.name_of(frame.code), frame.marker.saturating_sub(STACK.start));
        (frames[..found].iter().map(name).collect(), end)
    }

    fn named(names: &[(&str, u64)]) -> Vec<(String, u64)> {
        names.iter().map(|&(name, marker)| (name.to_owned(), marker)).collect()
    }

    #[test]
    fn frames_of_each_version_belong_to_the_functions_that_evaluate_them() {
        for layout in layouts() {
            let mut mock = MockInterpreter::new(layout);
            // Outermost first.
            mock.evaluate(0x800, &["<module>", "main"]);
            mock.evaluate(0x400, &["callback"]);
            mock.evaluate(0x100, &["a", "b", "c"]);
            let expected = [("c", 0x100), ("b", 0x100), ("a", 0x100), ("callback", 0x400), ("main", 0x800)];
            let all = [&expected[..], &[("<module>", 0x800)]].concat();
            assert_eq!(names(&mut mock, 10), (named(&all), WalkEnd::Outermost));
            assert_eq!(names(&mut mock, 5), (named(&expected), WalkEnd::Limit), "the marker lies beyond");
        }
    }

    #[test]
    fn thread_without_frames_has_none() {
        for layout in layouts() {
            assert_eq!(names(&mut MockInterpreter::new(layout), 10), (Vec::new(), WalkEnd::Outermost));
        }
    }

    #[test]
    fn functions_that_have_not_begun_are_left_out_but_not_generators() {
        for layout in layouts() {
            let mut mock = MockInterpreter::new(layout);
            let frames = mock.evaluate(0x800, &["<module>", "begins", "generator"]);
            for &frame in &frames[1..] {
                mock.rewind(frame);
            }
            mock.set_byte(frames[2] + layout.owner, GENERATOR);
            assert_eq!(names(&mut mock, 10).0, named(&[("generator", 0x800), ("<module>", 0x800)]));
        }
    }

    #[test]
    fn frames_of_the_interpreter_are_left_out() {
        for layout in layouts().into_iter().skip(1) {
            let mut mock = MockInterpreter::new(layout);
            let frames = mock.evaluate(0x800, &["<module>", "none", "f"]);
            let none = mock.bytes_object(b"no code");
            mock.set(frames[1] + layout.executable, none);
            mock.set_byte(frames[1] + layout.owner, INTERPRETER);
            assert_eq!(names(&mut mock, 10).0, named(&[("f", 0x800), ("<module>", 0x800)]));
        }
    }

    #[test]
    fn frames_that_make_no_sense_end_the_list() {
        for layout in layouts() {
            let mut mock = MockInterpreter::new(layout);
            let frames = mock.evaluate(0x800, &["<module>", "f", "g"]);
            mock.set(frames[1] + layout.executable, 0x1234_5678);
            assert_eq!(names(&mut mock, 10), (named(&[("g", 0)]), WalkEnd::Broken));
            // Frames that refer to each other.
            let mut mock = MockInterpreter::new(layout);
            let frames = mock.evaluate(0x800, &["<module>", "f"]);
            mock.set(frames[0] + layout.previous, frames[1]);
            assert_eq!(names(&mut mock, 2).1, WalkEnd::Limit);
        }
    }

    #[test]
    fn control_frame_that_refers_to_nothing_yet_is_passed_over() {
        for layout in layouts() {
            let Chain::CFrames { frame, .. } = layout.chain else { continue };
            let mut mock = MockInterpreter::new(layout);
            mock.evaluate(0x800, &["<module>", "f"]);
            mock.evaluate(0x400, &["g"]);
            mock.set(mock.cframe() + frame, 0x5550);
            assert_eq!(
                names(&mut mock, 10),
                (named(&[("f", 0x800), ("<module>", 0x800)]), WalkEnd::Outermost)
            );
        }
    }
}
