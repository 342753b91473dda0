//! When the iterations of a loop began, all of them: a file that outlives the process, see `recording::iterations`.

use std::sync::atomic::{Ordering, compiler_fence};

use call_paths::GrowingFile;
use recording::iterations::{IterationsHeader, MAGIC, MOST, Moment};
use recording::layout;

use crate::iterations::search::FoundLoop;
use crate::process::Process;

/// Maximum number of loops whose iterations are kept.
const MOST_LOOPS: u32 = 16;
/// Least number of iterations of a loop that are worth a file of their own.
const FEW: u64 = 3;

/// The times of the loops of a thread.
pub(crate) struct Times {
    /// Those of the loop that it repeats, if they are kept.
    current: Option<Kept>,
    /// How many files there are.
    files: u32,
}

/// The times of a loop.
struct Kept {
    file: GrowingFile,
    /// Maximum number of moments.
    most: u64,
}

impl Times {
    pub(crate) const fn new() -> Times {
        Times { current: None, files: 0 }
    }

    /// Keeps times of another loop from here on.
    pub(crate) fn follow(&mut self, process: &Process, found: &FoundLoop) {
        let unused = self.current.take().filter(|kept| kept.count() < FEW);
        self.current = unused.or_else(|| self.create(process));
        if let Some(kept) = &mut self.current {
            kept.reset(found);
        }
    }

    fn create(&mut self, process: &Process) -> Option<Kept> {
        if self.files >= MOST_LOOPS {
            return None;
        }
        let path = layout::iterations(&process.directory, process.rank, self.files);
        self.files += 1;
        let bytes = size_of::<IterationsHeader>() + MOST as usize * size_of::<Moment>();
        match GrowingFile::create(&path, bytes) {
            Ok(file) => Some(Kept { file, most: MOST }),
            Err(cause) => {
                process.notice(&format!("times of iterations are not kept: {}: {cause}", path.display()));
                self.files = MOST_LOOPS;
                None
            }
        }
    }

    /// Notes the begin of an iteration; they come in their order.
    pub(crate) fn add(&mut self, iteration: u64, moment: Moment) {
        if let Some(kept) = &mut self.current
            && !kept.add(iteration, moment)
        {
            self.current = None;
        }
    }

    /// Notes that the loop was left in an iteration; in none, if it was not left after all.
    pub(crate) fn end(&mut self, iteration: u64, moment: Moment) {
        if let Some(kept) = &mut self.current {
            // Nobody must see the new number with the old time.
            kept.header().ended = 0;
            compiler_fence(Ordering::Release);
            kept.header().end = moment;
            compiler_fence(Ordering::Release);
            kept.header().ended = iteration;
        }
    }
}

impl Kept {
    fn header(&mut self) -> &mut IterationsHeader {
        // SAFETY: the header is at the start of the mapping, which is larger and aligned to a page; zeros are one; only this
        // value, borrowed mutably, refers to it.
        unsafe { self.file.start().cast().as_mut() }
    }

    fn count(&self) -> u64 {
        // SAFETY: as in `header`; nobody changes it meanwhile.
        unsafe { self.file.start().cast::<IterationsHeader>().as_ref() }.count
    }

    /// Begins anew, with a loop.
    fn reset(&mut self, found: &FoundLoop) {
        self.header().magic = 0;
        compiler_fence(Ordering::Release);
        *self.header() = IterationsHeader {
            path: found.path.into(),
            stride: 1,
            begin: found.begin,
            ..IterationsHeader::default()
        };
        compiler_fence(Ordering::Release);
        self.header().magic = MAGIC;
    }

    /// Keeps the begin of an iteration; `false` if there is no room on the disk.
    fn add(&mut self, iteration: u64, moment: Moment) -> bool {
        if self.count() >= self.most {
            self.thin();
        }
        let header = self.header();
        if !iteration.is_multiple_of(header.stride) {
            return true;
        }
        if header.count == 0 {
            header.first = iteration;
        }
        let at = header.count as usize;
        let end = size_of::<IterationsHeader>() + (at + 1) * size_of::<Moment>();
        while self.file.mapped() < end {
            if self.file.grow().is_err() {
                return false;
            }
        }
        *self.at(at) = moment;
        compiler_fence(Ordering::Release);
        self.header().count += 1;
        true
    }

    /// Drops every second moment. The file is consistent in each step, as moments only move to the front.
    #[cold]
    fn thin(&mut self) {
        let IterationsHeader { count, first, stride, .. } = *self.header();
        let skipped = u64::from(!first.is_multiple_of(2 * stride));
        self.header().count = 0;
        compiler_fence(Ordering::Release);
        (self.header().first, self.header().stride) = (first + skipped * stride, 2 * stride);
        for (to, from) in (skipped..count).step_by(2).enumerate() {
            *self.at(to) = *self.at(from as usize);
            compiler_fence(Ordering::Release);
            self.header().count = to as u64 + 1;
        }
    }

    /// The moment at a position, which is mapped.
    fn at(&mut self, position: usize) -> &mut Moment {
        let start = self.file.start();
        debug_assert!(
            size_of::<IterationsHeader>() + (position + 1) * size_of::<Moment>() <= self.file.mapped()
        );
        // SAFETY: callers see to it that it is mapped; zeros are a moment; only this value, borrowed mutably, refers to it.
        unsafe { start.cast::<IterationsHeader>().add(1).cast::<Moment>().add(position).as_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, most: u64) -> Kept {
        let path = std::env::temp_dir().join(format!("times-{name}-{}", std::process::id()));
        let bytes = size_of::<IterationsHeader>() + MOST as usize * size_of::<Moment>();
        let mut kept = Kept { file: GrowingFile::create(&path, bytes).unwrap(), most };
        std::fs::remove_file(path).unwrap();
        kept.header().stride = 1;
        kept
    }

    /// The iterations that are kept, each with a time that is its number.
    fn numbers(kept: &mut Kept) -> Vec<u64> {
        let IterationsHeader { count, first, stride, .. } = *kept.header();
        let times: Vec<u64> = (0..count as usize).map(|at| kept.at(at).time).collect();
        assert!(times.iter().copied().eq((0..count).map(|at| first + at * stride)), "{first}, {stride}");
        times
    }

    #[test]
    fn every_second_iteration_is_dropped_where_there_are_too_many() {
        for first in 1..6 {
            let mut kept = kept(&format!("thin{first}"), 10);
            for iteration in first..first + 100 {
                assert!(kept.add(iteration, Moment { time: iteration, ..Moment::default() }));
            }
            let stride = kept.header().stride;
            assert_eq!(stride, 16);
            let expected = (first..first + 100).filter(|iteration| iteration.is_multiple_of(stride));
            assert_eq!(numbers(&mut kept), expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn file_grows_with_the_iterations() {
        let mut kept = kept("grow", MOST);
        for iteration in 7..30_007 {
            assert!(kept.add(iteration, Moment { time: iteration, ..Moment::default() }));
        }
        assert_eq!(numbers(&mut kept).len(), 30_000);
    }
}
