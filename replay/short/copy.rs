//! Copies the records of a location that lie in its windows.
//!
//! Outside of windows recording is off. A region that is entered before a window and left inside it, or behind it, is entered where
//! the window begins; one that is entered inside and left behind it is left where it ends. A region that is never left between two windows stays
//! entered, as in windows of the recorder.

use model::{MeasurementMode, Ticks};
use otf2::{Attribute, Attributes, Event, EventCursor, EventRecord, EventWriter, Mappings};
use rustc_hash::FxHashSet;

use super::chosen::Chosen;
use super::stack::{Frame, FrameOf, Stack};
use crate::focus::{Window, Windows};
use crate::ids::RecordNumber;
use crate::trace::Trace;

/// A location whose records are copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    pub(super) trace: &'s Trace,
    pub(super) mappings: &'s Mappings,
    pub(super) windows: &'s Windows,
    /// The time of each record, in ticks of the analysis.
    pub(super) times: &'s [Ticks],
    pub(super) chosen: &'s Chosen,
    /// Says of `MeasurementOnOff` that what is not recorded is counted: nothing is missing on one side only.
    pub(super) counted: &'s [Attribute],
}

/// Whether records are written.
#[derive(Debug)]
enum State {
    /// Before the first record.
    Begin,
    On,
    /// Since a time of the location, in which these regions are entered in the copy.
    Off(u64, Vec<Frame>),
}

/// Operations that begin with a record and end with another one, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Pending {
    Request(u64),
    Transfer(u32, u64),
    Access(u32, u64),
}

/// What a record is to an operation that takes time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Begins(Pending),
    GoesOn(Pending),
    Ends(Pending),
    /// It is of no such operation.
    Other,
}

struct Copier<'c, 's> {
    source: Source<'s>,
    out: &'c mut EventWriter,
    stack: Stack<'s>,
    state: State,
    /// The next window, or the current one.
    window: usize,
    /// Time of the record before, in ticks and as it was recorded.
    before: (Ticks, u64),
    /// The innermost node of the call path that was written last.
    path: Option<usize>,
    /// Whether the next record is the first one of a window.
    begins_window: bool,
    /// Operations whose begin was not copied.
    dead: FxHashSet<Pending>,
    /// The time of the record that was written last.
    written: u64,
}

/// Copies records until the end of a file.
///
/// # Errors
/// If the file is damaged, or a record cannot be written.
pub(super) fn copy(
    mut events: EventCursor<'_>,
    source: Source<'_>,
    out: &mut EventWriter,
) -> Result<(), otf2::Error> {
    let stack = Stack::new(source.trace, source.mappings);
    let mut copier = Copier {
        source,
        out,
        stack,
        state: State::Begin,
        window: 0,
        before: (Ticks::MIN, 0),
        path: None,
        begins_window: false,
        dead: FxHashSet::default(),
        written: 0,
    };
    for (number, &time) in source.times.iter().enumerate() {
        let Some(record) = events.next()? else { break };
        copier.take(RecordNumber::new(number), time, &record)?;
    }
    copier.end()
}

impl Copier<'_, '_> {
    fn take(
        &mut self,
        number: RecordNumber,
        time: Ticks,
        record: &EventRecord<'_>,
    ) -> Result<(), otf2::Error> {
        let moment = (time, record.time);
        if matches!(self.state, State::Begin) {
            self.begin(moment, record)?;
            if matches!(record.event, Event::ProgramBegin { .. }) {
                return Ok(());
            }
        } else {
            self.pass_borders(moment)?;
        }
        self.before = moment;
        let is_on = matches!(self.state, State::On);
        let attributes = self.attributes(number, record);
        let is_wanted = self.is_wanted(number, time, record);
        // The end of the program ends the copy, too.
        let ends = matches!(record.event, Event::ProgramEnd { .. }) && !is_on;
        if ends {
            self.switch_on(record.time, false)?;
        }
        self.stack.follow(&record.event);
        if !is_wanted && !ends {
            return Ok(());
        }
        let event = self.at_begin(record.event);
        self.note_path(&event);
        self.write(record.time, event, attributes)
    }

    /// Writes a record. Times that go backwards are those of the record before.
    fn write(&mut self, time: u64, event: Event<'_>, attributes: Attributes<'_>) -> Result<(), otf2::Error> {
        self.written = time.max(self.written);
        self.out.write(self.written, event, attributes)
    }

    /// Starts with the first record. The program begins even if recording is off.
    fn begin(&mut self, (time, recorded): (Ticks, u64), record: &EventRecord<'_>) -> Result<(), otf2::Error> {
        let list = self.source.windows.list();
        self.window = list.partition_point(|window| window.end <= time);
        let is_inside = list.get(self.window).is_some_and(|window| window.begin <= time);
        if matches!(record.event, Event::ProgramBegin { .. }) {
            self.write(record.time, record.event, record.attributes)?;
            self.stack.follow(&record.event);
        }
        self.before = (time, recorded);
        self.state = State::On;
        if !is_inside {
            self.switch_off(recorded);
        }
        Ok(())
    }

    /// Begins and ends windows up to the time of the next record. What happens at the time of a border belongs to what is before
    /// it as long as a call lasts.
    fn pass_borders(&mut self, next: (Ticks, u64)) -> Result<(), otf2::Error> {
        while let Some(&Window { begin, end }) = self.source.windows.list().get(self.window) {
            let border = if matches!(self.state, State::On) { end } else { begin };
            if border > next.0 || border == next.0 && self.stack.is_in_mpi() {
                break;
            }
            let recorded = self.recorded(border, next);
            if matches!(self.state, State::On) {
                self.window += 1;
                self.switch_off(recorded);
            } else {
                self.switch_on(recorded, true)?;
            }
        }
        Ok(())
    }

    /// The time of a border between two records, as the location would have recorded it.
    fn recorded(&self, border: Ticks, (next, next_recorded): (Ticks, u64)) -> u64 {
        let (before, before_recorded) = self.before;
        let [into, length] = [border - before, next - before].map(i128::from);
        let recorded = i128::from(next_recorded) - i128::from(before_recorded);
        let into = if length > 0 { into.clamp(0, length) * recorded / length } else { 0 };
        before_recorded.saturating_add(u64::try_from(into).unwrap_or(0))
    }

    /// Stops copying. What is left then is written when copying goes on: until then nobody knows it.
    fn switch_off(&mut self, recorded: u64) {
        self.stack.stayed();
        self.state = State::Off(recorded, self.stack.frames().to_vec());
    }

    /// Goes on with copying; with the regions that were entered meanwhile, if they matter.
    fn switch_on(&mut self, recorded: u64, enters: bool) -> Result<(), otf2::Error> {
        let State::Off(since, open) = std::mem::replace(&mut self.state, State::On) else { return Ok(()) };
        let stayed = self.stack.stayed();
        for frame in open.iter().skip(stayed).rev() {
            match frame.of {
                FrameOf::Program => {}
                FrameOf::Region(region) => {
                    self.write(since, Event::Leave { region }, Attributes::EMPTY)?;
                }
                FrameOf::Context(calling_context, at) => {
                    let event = Event::CallingContextLeave { calling_context };
                    self.write(since, event, Attributes::EMPTY)?;
                    self.path = at.and_then(|at| self.source.trace.definitions.calling_contexts[at].parent);
                }
            }
        }
        for (time, measurement_mode) in [(since, MeasurementMode::OFF), (recorded, MeasurementMode::ON)] {
            let event = Event::MeasurementOnOff { measurement_mode };
            self.write(time, event, Attributes::from(self.source.counted))?;
        }
        let entered: Vec<Frame> = self.stack.frames().iter().skip(stayed).copied().collect();
        for frame in entered.iter().filter(|_| enters) {
            match frame.of {
                FrameOf::Program => {}
                FrameOf::Region(region) => {
                    self.write(recorded, Event::Enter { region }, Attributes::EMPTY)?;
                }
                FrameOf::Context(calling_context, at) => {
                    let unwind_distance = self.distance(at).max(2);
                    let event = Event::CallingContextEnter { calling_context, unwind_distance };
                    self.write(recorded, event, Attributes::EMPTY)?;
                    self.path = at;
                }
            }
        }
        self.begins_window = true;
        Ok(())
    }

    /// The number of nodes of a path that are not on the one that was written last, and one more.
    fn distance(&self, innermost: Option<usize>) -> u32 {
        let known: Vec<usize> = self.stack.path(self.path).collect();
        let new = self.stack.path(innermost).take_while(|at| !known.contains(at)).count();
        crate::int::to_u32(new + 1)
    }

    /// The first record of a window with a call path has nodes that were entered outside.
    fn at_begin<'e>(&mut self, event: Event<'e>) -> Event<'e> {
        if !self.begins_window {
            return event;
        }
        let wider = |context: u32, known: u32| known.max(self.distance(self.stack.context(context)));
        let changed = match event {
            Event::CallingContextEnter { calling_context, unwind_distance } => Event::CallingContextEnter {
                calling_context,
                unwind_distance: wider(calling_context, unwind_distance),
            },
            Event::CallingContextSample { calling_context, unwind_distance, interrupt_generator } => {
                let unwind_distance = wider(calling_context, unwind_distance);
                Event::CallingContextSample { calling_context, unwind_distance, interrupt_generator }
            }
            other => return other,
        };
        self.begins_window = false;
        changed
    }

    /// Notes the call path of a record that is written.
    fn note_path(&mut self, event: &Event<'_>) {
        match *event {
            Event::CallingContextEnter { calling_context, .. }
            | Event::CallingContextSample { calling_context, .. } => {
                self.path = self.stack.context(calling_context);
            }
            Event::CallingContextLeave { calling_context } => {
                let at = self.stack.context(calling_context);
                self.path = at.and_then(|at| self.source.trace.definitions.calling_contexts[at].parent);
            }
            _ => {}
        }
    }

    /// The attributes of a record. A call whose operation is dropped stays, without those that make it one.
    fn attributes<'r>(&self, number: RecordNumber, record: &EventRecord<'r>) -> Attributes<'r> {
        match enters_or_leaves(&record.event) && self.source.chosen.is_dropped(number) {
            true => Attributes::EMPTY,
            false => record.attributes,
        }
    }

    /// Whether a record is wanted where records are written. Follows the operations that it begins and ends.
    fn is_wanted(&mut self, number: RecordNumber, time: Ticks, record: &EventRecord<'_>) -> bool {
        let is_on = matches!(self.state, State::On);
        let chosen = self.source.chosen;
        if enters_or_leaves(&record.event) {
            return is_on;
        }
        let is_chosen = match record.event {
            Event::MpiIrecvRequest { .. }
            | Event::MpiImrecvRequest { .. }
            | Event::NonBlockingCollectiveRequest { .. } => chosen.has_request(number),
            // A window may end before recording went on.
            Event::BufferFlush { stop_time } => {
                let end = self.source.windows.list().get(self.window).map_or(Ticks::MAX, |window| window.end);
                stop_time.0.saturating_sub(record.time) <= (end - time).max(0).cast_unsigned()
            }
            _ => !chosen.is_dropped(number),
        };
        match part(&record.event) {
            Part::Begins(pending) => {
                let is_copied = is_on && is_chosen;
                if is_copied {
                    self.dead.remove(&pending);
                } else {
                    self.dead.insert(pending);
                }
                is_copied
            }
            Part::GoesOn(pending) => is_on && is_chosen && !self.dead.contains(&pending),
            Part::Ends(pending) => {
                let is_dead = self.dead.remove(&pending);
                is_on && is_chosen && !is_dead
            }
            Part::Other => is_on && is_chosen,
        }
    }

    /// Ends the copy with the time of the last record.
    fn end(mut self) -> Result<(), otf2::Error> {
        let (_, recorded) = self.before;
        match self.state {
            State::Off(..) => self.switch_on(recorded, false),
            State::Begin | State::On => Ok(()),
        }
    }
}

fn enters_or_leaves(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Enter { .. }
            | Event::Leave { .. }
            | Event::CallingContextEnter { .. }
            | Event::CallingContextLeave { .. }
            | Event::CallingContextSample { .. }
            | Event::ProgramBegin { .. }
            | Event::ProgramEnd { .. }
    )
}

fn part(event: &Event<'_>) -> Part {
    match *event {
        Event::MpiIsend { request_id, .. }
        | Event::MpiIrecvRequest { request_id }
        | Event::MpiImrecvRequest { request_id, .. }
        | Event::NonBlockingCollectiveRequest { request_id } => Part::Begins(Pending::Request(request_id)),
        Event::MpiRequestTest { request_id } => Part::GoesOn(Pending::Request(request_id)),
        Event::MpiIsendComplete { request_id }
        | Event::MpiIrecv { request_id, .. }
        | Event::MpiImrecv { request_id, .. }
        | Event::NonBlockingCollectiveComplete { request_id, .. }
        | Event::MpiRequestCancelled { request_id } => Part::Ends(Pending::Request(request_id)),
        Event::IoOperationBegin { handle, matching_id, .. } => {
            Part::Begins(Pending::Transfer(handle, matching_id))
        }
        Event::IoOperationTest { handle, matching_id } | Event::IoOperationIssued { handle, matching_id } => {
            Part::GoesOn(Pending::Transfer(handle, matching_id))
        }
        Event::IoOperationComplete { handle, matching_id, .. }
        | Event::IoOperationCancelled { handle, matching_id } => {
            Part::Ends(Pending::Transfer(handle, matching_id))
        }
        Event::RmaPut { win, matching_id, .. }
        | Event::RmaGet { win, matching_id, .. }
        | Event::RmaAtomic { win, matching_id, .. } => Part::Begins(Pending::Access(win, matching_id)),
        Event::RmaOpTest { win, matching_id } => Part::GoesOn(Pending::Access(win, matching_id)),
        // At the origin, and once more at the target.
        Event::RmaOpCompleteBlocking { win, matching_id }
        | Event::RmaOpCompleteNonBlocking { win, matching_id }
        | Event::RmaOpCompleteRemote { win, matching_id } => Part::GoesOn(Pending::Access(win, matching_id)),
        _ => Part::Other,
    }
}

#[cfg(test)]
mod tests {
    use model::{CallingContext, Paradigm, Region};
    use otf2::{Anchor, List, UNDEFINED};

    use super::*;
    use crate::options::Semantics;
    use crate::trace::tests::world;

    /// Regions 0 main, 1 work, 2 a call of MPI; calling contexts of the same numbers, each inside the one before.
    fn trace() -> Trace {
        let mut definitions = world(&[7]);
        for (number, name) in ["main", "work", "MPI_Recv"].into_iter().enumerate() {
            let paradigm = if number == 2 { Paradigm::MPI } else { Paradigm::USER };
            let (name, canonical_name) = (name.to_owned(), name.to_owned());
            let region = Region { name, canonical_name, paradigm, ..Region::default() };
            definitions.regions.push(number as u64, region).unwrap();
            let parent = number.checked_sub(1);
            let context = CallingContext { region: number, source: None, parent };
            definitions.calling_contexts.push(number as u64, context).unwrap();
        }
        Trace::new(definitions, Semantics::Corrected).unwrap()
    }

    fn said(time: u64, event: Event<'_>) -> String {
        let what = match event {
            Event::Enter { region } => format!("+{region}"),
            Event::Leave { region } => format!("-{region}"),
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                format!("+{calling_context}/{unwind_distance}")
            }
            Event::CallingContextLeave { calling_context } => format!("-{calling_context}"),
            Event::MeasurementOnOff { measurement_mode: MeasurementMode::ON } => "on".into(),
            Event::MeasurementOnOff { .. } => "off".into(),
            Event::MpiIrecvRequest { request_id } => format!("post {request_id}"),
            Event::MpiIrecv { request_id, .. } => format!("irecv {request_id}"),
            Event::MpiRequestTest { request_id } => format!("test {request_id}"),
            Event::MpiRecv { .. } => "recv".into(),
            Event::ProgramBegin { .. } => "begin".into(),
            Event::ProgramEnd { .. } => "end".into(),
            other => other.name().to_owned(),
        };
        format!("{time} {what}")
    }

    /// Copies records, which are at these times, and at ten times these in the file.
    fn copied(
        events: &[(u64, Event<'_>)],
        windows: &[[Ticks; 2]],
        requests: &[usize],
        dropped: &[usize],
    ) -> String {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.evt", "b.evt"].map(|name| folder.path().join(name));
        let mut out = EventWriter::create(&paths[0], &Anchor::default()).unwrap();
        for &(time, event) in events {
            out.write(10 * time, event, Attributes::EMPTY).unwrap();
        }
        out.finish().unwrap();
        let (trace, mappings, windows) = (
            trace(),
            Mappings::default(),
            Windows::new(windows.iter().map(|&[begin, end]| Window { begin, end })),
        );
        let times: Vec<Ticks> = events.iter().map(|&(time, _)| time as Ticks).collect();
        let numbers = |list: &[usize]| list.iter().map(|&number| RecordNumber::new(number)).collect();
        let chosen = Chosen::new(numbers(dropped), numbers(requests));
        let source = Source {
            trace: &trace,
            mappings: &mappings,
            windows: &windows,
            times: &times,
            chosen: &chosen,
            counted: &[],
        };
        let chunk = Anchor::default().event_chunk_size;
        let file = std::fs::read(&paths[0]).unwrap();
        let mut out = EventWriter::create(&paths[1], &Anchor::default()).unwrap();
        copy(EventCursor::new(&file, &paths[0], chunk), source, &mut out).unwrap();
        out.finish().unwrap();
        let file = std::fs::read(&paths[1]).unwrap();
        let mut events = EventCursor::new(&file, &paths[1], chunk);
        let mut all = Vec::new();
        while let Some(record) = events.next().unwrap() {
            all.push(said(record.time, record.event));
        }
        all.join(", ")
    }

    fn enter(region: u32) -> Event<'static> {
        Event::Enter { region }
    }

    fn leave(region: u32) -> Event<'static> {
        Event::Leave { region }
    }

    #[test]
    fn calls_that_borders_cut_are_left_and_entered_there() {
        let events = [
            (0, enter(0)),
            (1, enter(2)),
            (9, leave(2)),
            (10, enter(1)),
            (20, leave(1)),
            (30, enter(1)),
            (31, enter(2)),
            (39, leave(2)),
            (40, leave(1)),
            (50, leave(0)),
        ];
        // Main stays entered between two windows, work and the call do not.
        assert_eq!(
            copied(&events, &[[4, 15], [35, 45]], &[], &[]),
            "0 off, 40 on, 40 +0, 40 +2, 90 -2, 100 +1, 150 -1, 150 off, 350 on, 350 +1, 350 +2, 390 -2, 400 -1, 450 -0, 450 off, 500 on"
        );
        assert_eq!(copied(&events, &[], &[], &[]), "0 off, 500 on");
        let all = "0 +0, 10 +2, 90 -2, 100 +1, 200 -1, 300 +1, 310 +2, 390 -2, 400 -1, 500 -0";
        assert_eq!(copied(&events, &[[-5, 60]], &[], &[]), all);
    }

    #[test]
    fn call_that_ends_with_a_window_is_whole_and_the_next_one_is_outside() {
        let events = [
            (0, enter(0)),
            (10, enter(2)),
            (20, leave(2)),
            (20, enter(2)),
            (30, leave(2)),
            (30, enter(2)),
            (30, leave(2)),
            (40, leave(0)),
        ];
        assert_eq!(
            copied(&events, &[[20, 30]], &[], &[]),
            "0 off, 200 on, 200 +0, 200 +2, 300 -2, 300 -0, 300 off, 400 on"
        );
    }

    #[test]
    fn program_begins_and_ends_though_recording_is_off() {
        let arguments = List::EMPTY;
        let begin = Event::ProgramBegin { program_name: UNDEFINED, program_arguments: arguments };
        let events = [(5, begin), (10, enter(0)), (20, leave(0)), (25, Event::ProgramEnd { exit_status: 0 })];
        assert_eq!(
            copied(&events, &[[10, 15]], &[], &[]),
            "50 begin, 50 off, 100 on, 100 +0, 150 -0, 150 off, 250 on, 250 end"
        );
        assert_eq!(copied(&events, &[], &[], &[]), "50 begin, 50 off, 250 on, 250 end");
    }

    #[test]
    fn paths_of_calls_are_entered_where_a_window_begins() {
        let on = |calling_context, unwind_distance| Event::CallingContextEnter {
            calling_context,
            unwind_distance,
        };
        let off = |calling_context| Event::CallingContextLeave { calling_context };
        // Each call says only what is new since the one before.
        let events = [(1, on(2, 4)), (2, off(2)), (11, on(2, 2)), (12, off(2)), (21, on(2, 2)), (22, off(2))];
        assert_eq!(
            copied(&events, &[[11, 20], [21, 30]], &[], &[]),
            "10 off, 110 on, 110 +2/4, 120 -2, 200 off, 210 on, 210 +2/2, 220 -2"
        );
        // A call that is cut is entered with its path.
        assert_eq!(copied(&events[2..4], &[[12, 20]], &[], &[]), "110 off, 120 on");
    }

    #[test]
    fn requests_are_kept_with_both_records_or_not_at_all() {
        let post = |request_id| Event::MpiIrecvRequest { request_id };
        let test = |request_id| Event::MpiRequestTest { request_id };
        let (sender, communicator, msg_tag, msg_length) = (0, 0, 0, 0);
        let done = |request_id| Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id };
        let recv = Event::MpiRecv { sender, communicator, msg_tag, msg_length };
        let events = [
            (1, post(1)),
            (11, post(2)),
            (12, test(1)),
            (13, test(2)),
            (14, done(1)),
            (15, done(2)),
            (16, recv),
            (17, recv),
        ];
        let windows = [[10, 20]];
        assert_eq!(
            copied(&events, &windows, &[0, 1], &[]),
            "10 off, 100 on, 110 post 2, 130 test 2, 150 irecv 2, 160 recv, 170 recv"
        );
        // A receive is wanted by its posting.
        assert_eq!(copied(&events, &windows, &[], &[5, 6]), "10 off, 100 on, 170 recv");
    }
}
