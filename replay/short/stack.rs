//! Regions that a location is in, as the records of its event file enter and leave them.

use otf2::{Event, MappingType, Mappings};

use crate::trace::Trace;

/// A region that was entered by a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    pub(super) of: FrameOf,
    is_mpi: bool,
}

/// How a region was entered; the location's own reference of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrameOf {
    /// By the begin of the program, which leaves with its end.
    Program,
    Region(u32),
    /// By a calling context: its reference, and its place in the definitions.
    Context(u32, Option<usize>),
}

/// The regions that a location is in.
#[derive(Clone, Debug)]
pub(super) struct Stack<'t> {
    trace: &'t Trace,
    mappings: &'t Mappings,
    frames: Vec<Frame>,
    mpi: usize,
    /// The fewest frames since it was asked for the last time.
    lowest: usize,
}

impl<'t> Stack<'t> {
    pub(super) fn new(trace: &'t Trace, mappings: &'t Mappings) -> Stack<'t> {
        Stack { trace, mappings, frames: Vec::new(), mpi: 0, lowest: 0 }
    }

    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Whether a call of MPI is among them.
    pub(super) fn is_in_mpi(&self) -> bool {
        self.mpi > 0
    }

    /// Returns the number of frames that have stayed since the last time that this was asked for.
    pub(super) fn stayed(&mut self) -> usize {
        std::mem::replace(&mut self.lowest, self.frames.len())
    }

    /// Follows a record.
    pub(super) fn follow(&mut self, event: &Event<'_>) {
        match *event {
            Event::ProgramBegin { .. } => self.push(FrameOf::Program, false),
            Event::ProgramEnd { .. } => self.cut(0),
            Event::Enter { region } => {
                let global = self.mappings.global(MappingType::Region, region);
                let position = self.trace.definitions.regions.position(global.into());
                let is_mpi = self.is_mpi(position);
                self.push(FrameOf::Region(region), is_mpi);
            }
            Event::Leave { region } => {
                if let Some(at) = self.frames.iter().rposition(|frame| frame.of == FrameOf::Region(region)) {
                    self.cut(at);
                }
            }
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                let context = self.context(calling_context);
                self.move_to(context, unwind_distance.max(2));
                let region = context.map(|at| self.trace.definitions.calling_contexts[at].region);
                let is_mpi = self.is_mpi(region);
                self.push(FrameOf::Context(calling_context, context), is_mpi);
            }
            Event::CallingContextSample { calling_context, unwind_distance, .. } => {
                let context = self.context(calling_context);
                self.move_to(context, unwind_distance);
            }
            Event::CallingContextLeave { calling_context } => {
                let is_it = |frame: &Frame| matches!(frame.of, FrameOf::Context(known, _) if known == calling_context);
                if let Some(at) = self.frames.iter().rposition(is_it) {
                    self.cut(at);
                }
            }
            _ => {}
        }
    }

    /// The place of a calling context in the definitions.
    pub(super) fn context(&self, local: u32) -> Option<usize> {
        let global = self.mappings.global(MappingType::CallingContext, local);
        self.trace.definitions.calling_contexts.position(global.into())
    }

    /// The nodes of a call path, the innermost first.
    pub(super) fn path(&self, innermost: Option<usize>) -> impl Iterator<Item = usize> {
        let contexts = &self.trace.definitions.calling_contexts;
        std::iter::successors(innermost, move |&at| contexts[at].parent)
    }

    /// Leaves the calling contexts that are not on a path, of which the innermost nodes, one less than this distance, are new.
    fn move_to(&mut self, innermost: Option<usize>, distance: u32) {
        while let Some(Frame { of: FrameOf::Context(_, known), .. }) = self.frames.last() {
            let new = distance.saturating_sub(1) as usize;
            let stays = known.is_some_and(|known| self.path(innermost).skip(new).any(|at| at == known));
            if stays {
                break;
            }
            self.cut(self.frames.len() - 1);
        }
    }

    fn is_mpi(&self, region: Option<usize>) -> bool {
        region.and_then(|at| self.trace.kinds.get(at)).is_some_and(|kind| kind.is_mpi)
    }

    fn push(&mut self, of: FrameOf, is_mpi: bool) {
        self.frames.push(Frame { of, is_mpi });
        self.mpi += usize::from(is_mpi);
    }

    /// Leaves all frames but so many.
    fn cut(&mut self, left: usize) {
        let mpi = self.frames.drain(left..).filter(|frame| frame.is_mpi).count();
        self.mpi -= mpi;
        self.lowest = self.lowest.min(left);
    }
}
