//! Event stream of one location, in the trace's clock, with a lookahead of one event.

use model::Ticks;
use otf2::{Archive, ClockCorrection, Event, EventCursor, EventHead, FileBytes, LocalDefinitions, Mappings};

use super::process::ProcessWalk;
use super::run::{KnownRegion, Run};
use crate::call_tree::NO_SITE;
use crate::error::Error;
use crate::findings::Finding;
use crate::int::to_usize;
use crate::trace::{Location, Trace};

/// Times are clamped to this distance from the start of the trace, so that no difference of two overflows:
/// 146 years in nanoseconds.
pub(crate) const FARTHEST: Ticks = (1 << 62) - 1;

/// Order of the events of all locations: whether it waits for a fork, its time, and a tie-breaker, which has
/// the kinds of events that come last at one time in its upper half and the thread in its lower half.
pub(super) type Turn = (bool, Ticks, u64);

/// Contents of a location's event and definition files.
#[derive(Debug)]
pub(super) struct LocationFile {
    events: FileBytes,
    local: LocalDefinitions,
}

/// Content of a location's files.
#[derive(Debug)]
pub(super) enum Content {
    /// There are files to walk.
    Events(LocationFile),
    /// The location has no events, and no event file.
    Nothing,
    /// The location has events that cannot be walked: the finding, and its text.
    Lost(Finding, String),
}

/// Opens the files of a location. Defects of the files are findings.
///
/// # Errors
/// If a file exists and cannot be read.
pub(super) fn open(archive: &Archive, trace: &Trace, location: &Location) -> Result<Content, Error> {
    let events = match archive.event_file(location.reference) {
        Ok(events) => events,
        // Nothing is lost of a location without events.
        Err(error) if error.is_not_found() && trace.has_no_events(location) => return Ok(Content::Nothing),
        Err(error) if error.is_not_found() => {
            return Ok(Content::Lost(Finding::MissingEvents, within(archive, &error)));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(match local_definitions(archive, trace, location) {
        Ok(local) => Content::Events(LocationFile { events, local }),
        // With unknown mappings and clock every event could mean something else.
        Err(error) => Content::Lost(Finding::UnreadableMapping, within(archive, &error)),
    })
}

/// Adds the finding of lost events of a location. The communication of a thread is then unknown from the
/// start.
pub(super) fn miss(
    finding: Finding,
    text: &str,
    location: &Location,
    thread: usize,
    state: &mut ProcessWalk<'_>,
) {
    state.find(finding, thread, || text);
    if location.is_thread() {
        state.lose(thread);
    }
}

/// Adds what the recorder says of the end of a thread's events.
#[cold]
pub(super) fn check_end(thread: usize, state: &mut ProcessWalk<'_>) {
    let trace = state.trace;
    let location = &trace.definitions.locations[trace.locations[state.location(thread)].definition];
    if let Some(why) = &location.unfinished {
        state.find(Finding::Unfinished, thread, || why);
    }
    if let Some(lost) = &location.lost {
        state.find(Finding::LostEvents, thread, || lost);
        state.lose(thread);
    }
}

/// Loads id mappings and clock offsets (local definitions); these are empty if no location has such a file.
/// If the file is missing, only the first and last location are probed, to save a stat for each location.
fn local_definitions(
    archive: &Archive,
    trace: &Trace,
    location: &Location,
) -> Result<LocalDefinitions, otf2::Error> {
    let is_there = |location: &Location| archive.has_local_definitions(location.reference);
    match archive.local_definition_file(location.reference) {
        Err(error) if error.is_not_found() => {
            let is_lost =
                [trace.locations.first(), trace.locations.last()].into_iter().flatten().any(is_there);
            if is_lost { Err(error) } else { Ok(LocalDefinitions::default()) }
        }
        Err(error) => Err(error),
        Ok(file) => LocalDefinitions::collect(archive.local_definition_records(&file)),
    }
}

/// Returns the text of an error without the archive's directory: a report does not depend on where its trace
/// is stored.
fn within(archive: &Archive, error: &otf2::Error) -> String {
    let text = error.to_string();
    let place = archive.directory().display().to_string();
    match text.strip_prefix(&place) {
        Some(rest) => rest.trim_start_matches('/').to_owned(),
        None => text,
    }
}

/// Bytes of an event file that are announced to the system ahead.
pub(super) const AHEAD: usize = 8 << 20;

/// Conversion of global times to ticks of the analysis.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The start of the trace.
    origin: u64,
    /// Ticks of the analysis in one tick of the archive.
    fineness: Ticks,
    /// [`FARTHEST`] in ticks of the archive.
    farthest: Ticks,
}

impl Scale {
    /// Returns a global time as ticks since the start of the trace; `None` if it is too far from there.
    #[inline(always)]
    fn near(self, time: u64) -> Option<Ticks> {
        let time = time.wrapping_sub(self.origin) as Ticks;
        let is_near = (time.wrapping_add(self.farthest)).cast_unsigned() <= 2 * self.farthest.cast_unsigned();
        is_near.then(|| time * self.fineness)
    }
}

/// A cursor over the events of a location.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    archive: &'a Archive,
    thread: usize,
    file: &'a FileBytes,
    /// End of the part that was announced to the system.
    expected: usize,
    cursor: EventCursor<'a>,
    clock: ClockCorrection,
    mappings: &'a Mappings,
    /// The regions that are defined, by the location's own numbers, as far as they are known.
    regions: Vec<Option<KnownRegion>>,
    scale: Scale,
    /// The time of each event, if it differs from the recorded one; empty otherwise.
    times: &'a [Ticks],
    /// The number of events in the definitions, and of those read so far.
    promised: u64,
    read: u64,
    /// The next event, with its time; it is not decoded yet.
    next: Option<(Ticks, EventHead)>,
    /// Buffer flushes that wait for events which are not later: start and end.
    flushes: Vec<(Ticks, Ticks)>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        archive: &'a Archive,
        trace: &Trace,
        location: &Location,
        thread: usize,
        file: &'a LocationFile,
        times: &'a [Ticks],
    ) -> Stream<'a> {
        Stream {
            archive,
            thread,
            file: &file.events,
            expected: 0,
            cursor: archive.events(&file.events),
            clock: file.local.clock.clone(),
            mappings: &file.local.mappings,
            regions: Vec::new(),
            scale: Scale {
                origin: trace.definitions.clock.global_offset,
                fineness: trace.fineness,
                farthest: FARTHEST / trace.fineness,
            },
            times,
            promised: trace.definitions.locations[location.definition].events,
            read: 0,
            next: None,
            flushes: Vec::new(),
        }
    }

    /// Announces to the system the part of the file that is needed next. To be called now and then.
    pub(super) fn expect(&mut self) {
        let Some((_, head)) = self.next else { return };
        let at = to_usize(head.offset);
        if at + AHEAD / 2 > self.expected {
            self.expected = self.expected.max(at);
            self.file.expect(self.expected, AHEAD);
            self.expected += AHEAD;
        }
    }

    /// Returns this stream's turn: the time of the next event, after all that do not wait for a fork; `None`
    /// at the end. At one time joins come last, and after them the begin events of a later team.
    #[inline]
    pub(super) fn turn(&self, state: &ProcessWalk<'_>) -> Option<Turn> {
        self.next.map(|(time, head)| match head.begins_team() || head.joins() {
            false => (false, time, self.thread as u64),
            true => self.turn_of_team(time, head, state),
        })
    }

    #[cold]
    fn turn_of_team(&self, time: Ticks, head: EventHead, state: &ProcessWalk<'_>) -> Turn {
        let (begins, thread) = (head.begins_team(), self.thread);
        let last = match begins {
            true if state.has_left_team(thread) => u32::MAX,
            true => 0,
            false => state.turn_of_join(thread),
        };
        (begins && state.waits_for_fork(thread), time, u64::from(last) << 32 | thread as u64)
    }

    /// Announces a program that begins with the next event: it is the root even if another location has
    /// earlier events.
    pub(super) fn announce(&self, state: &mut ProcessWalk<'_>) {
        if let Some((_, head)) = self.next
            && let Ok(Event::ProgramBegin { program_name, .. }) = self.cursor.clone().event(head)
        {
            state.announce_program(program_name, self.mappings);
        }
    }

    /// Returns a raw local time as ticks since the start of the trace.
    #[inline(always)]
    fn ticks(&mut self, time: u64, state: &mut ProcessWalk<'_>) -> Ticks {
        let time = self.clock.correct(time);
        self.scale.near(time).unwrap_or_else(|| self.cut(time, state))
    }

    #[cold]
    fn cut(&self, time: u64, state: &mut ProcessWalk<'_>) -> Ticks {
        let time = time.wrapping_sub(self.scale.origin) as Ticks;
        state.find(Finding::FarTime, self.thread, || format!("{time} ticks from the begin of the trace"));
        time.saturating_mul(self.scale.fineness).clamp(-FARTHEST, FARTHEST)
    }

    /// Moves to the first event.
    pub(super) fn begin(&mut self, state: &mut ProcessWalk<'_>) {
        self.next = self.advance(state);
    }

    /// Moves to the next event, and returns it.
    #[inline(always)]
    fn advance(&mut self, state: &mut ProcessWalk<'_>) -> Option<(Ticks, EventHead)> {
        match self.cursor.head() {
            Ok(Some(head)) => {
                let recorded = self.ticks(head.time, state);
                Some((self.times.get(to_usize(self.read)).copied().unwrap_or(recorded), head))
            }
            Ok(None) => {
                self.check_count(state);
                check_end(self.thread, state);
                self.end(state);
                None
            }
            Err(error) => {
                self.fail(&error, state);
                None
            }
        }
    }

    /// Ends the stream: handles the flushes that waited for further events.
    #[cold]
    fn end(&mut self, state: &mut ProcessWalk<'_>) {
        if self.thread == 0 {
            state.end_forks();
        }
        self.flush(state, Ticks::MAX);
    }

    #[cold]
    fn check_count(&self, state: &mut ProcessWalk<'_>) {
        // A writer that did not know the number has written 0.
        if self.promised != 0 && self.read != self.promised {
            let (read, promised) = (self.read, self.promised);
            state.find(Finding::EventCount, self.thread, || format!("{read} events, {promised} defined"));
        }
    }

    #[cold]
    fn fail(&mut self, error: &otf2::Error, state: &mut ProcessWalk<'_>) {
        state.find(Finding::DamagedEvents, self.thread, || within(self.archive, error));
        // Other threads continue.
        state.lose(self.thread);
        self.end(state);
    }

    /// Handles the next event, and those behind it as long as they are before a time, at most so many;
    /// returns their number. After a fork the order of all streams changes.
    #[inline]
    pub(super) fn step(&mut self, state: &mut ProcessWalk<'_>, before: Ticks, most: u64) -> u64 {
        let (read, forks) = (self.read, state.forks());
        let mut next = self.next.take();
        while let Some((time, head)) = next {
            if !self.handle_next(time, head, state) {
                let error = self.cursor.failure(head);
                self.fail(&error, state);
                return self.read - read;
            }
            let is_my_turn = state.forks() == forks;
            if is_my_turn && self.cursor.region_events().peek().is_some() {
                self.run(state, before, most);
            }
            next = self.advance(state);
            let is_before =
                next.is_some_and(|(time, head)| time < before && !head.joins() && !head.begins_team());
            if !is_my_turn || !is_before || self.read - read >= most {
                break;
            }
        }
        self.next = next;
        self.read - read
    }

    /// Handles the event at the cursor; returns whether it can be decoded.
    #[inline(always)]
    fn handle_next(&mut self, time: Ticks, head: EventHead, state: &mut ProcessWalk<'_>) -> bool {
        // Fast path: the region does not go through memory as an event of any kind.
        if head.enters() || head.leaves() {
            let Some(region) = self.cursor.region(head) else { return false };
            let time = self.observe(time, false, state);
            if (head.leaves() || state.offload.is_some()) && self.has_attributes(state) {
                self.tell(time, head.time, state);
                self.change_region(head.enters(), region, time, state);
                state.forget_told();
            } else {
                self.change_region(head.enters(), region, time, state);
            }
            return true;
        }
        match &self.cursor.decode(head) {
            Some(event) => self.handle(time, head.time, event, state),
            None => return false,
        }
        true
    }

    /// Handles the next events as long as they enter or leave regions before a time, at most so many, and
    /// nothing about them is unusual.
    #[inline(never)]
    fn run(&mut self, state: &mut ProcessWalk<'_>, before: Ticks, most: u64) {
        if !self.flushes.is_empty() || !self.times.is_empty() {
            return;
        }
        let Some(mut run) = Run::new(state, self.thread) else { return };
        let before = before.min(run.until());
        let mut events = self.cursor.region_events();
        while events.taken() < most
            && let Some(event) = events.peek()
            && let Some(time) = self.scale.near(self.clock.correct(event.time))
            && time < before
            && let Some(&Some(region)) = self.regions.get(event.region as usize)
            && region.is_plain
            && if event.enters { run.enter(region, time) } else { run.leave(region, time) }
        {
            events.take(event);
        }
        run.end();
        self.read += events.taken();
        self.cursor.resume(events);
    }

    /// Notes the time of an event; returns the time to use.
    #[inline(always)]
    fn observe(&mut self, time: Ticks, is_end: bool, state: &mut ProcessWalk<'_>) -> Ticks {
        self.read += 1;
        // Nothing comes after the end of the program.
        if self.flushes.first().is_some_and(|&(begin, _)| time > begin || is_end) {
            self.flush(state, time);
        }
        state.observe(self.thread, time)
    }

    /// Enters or leaves a region.
    #[inline]
    fn change_region(&mut self, enters: bool, local: u32, time: Ticks, state: &mut ProcessWalk<'_>) {
        let known = self.regions.get(local as usize).copied().flatten();
        match known.or_else(|| self.find_region(local, state)) {
            Some(region) if region.is_idle => {}
            Some(region) if enters => state.enter(self.thread, region.position, NO_SITE, time),
            Some(region) => state.leave(self.thread, region.position, time),
            None => {}
        }
    }

    #[cold]
    fn find_region(&mut self, local: u32, state: &mut ProcessWalk<'_>) -> Option<KnownRegion> {
        let region = state.region(self.thread, self.mappings, local)?;
        let (at, kinds) = (local as usize, &state.trace.kinds);
        let kind = kinds.get(region as usize)?;
        let known = KnownRegion::new(region, kind, state.is_idle(self.thread, region));
        // Locations number the regions that they use; a damaged trace may have any number.
        if at < kinds.len() {
            self.regions.resize(self.regions.len().max(at + 1), None);
            self.regions[at] = Some(known);
        }
        Some(known)
    }

    /// Handles an event other than one of a region, with the time to use and the one that was recorded.
    #[inline]
    fn handle(&mut self, time: Ticks, recorded: u64, event: &Event<'_>, state: &mut ProcessWalk<'_>) {
        let time = self.observe(time, matches!(event, Event::ProgramEnd { .. }), state);
        if let Event::BufferFlush { stop_time } = *event {
            let mut end = self.ticks(stop_time.0, state);
            if !self.times.is_empty() {
                // The duration is the same in a corrected clock.
                let moved = time - self.ticks(recorded, state);
                end = end.saturating_add(moved).clamp(-FARTHEST, FARTHEST);
            }
            self.flushes.push((time, end));
        } else if self.has_attributes(state) {
            self.handle_with_attributes(time, recorded, event, state);
        } else {
            state.handle(self.thread, event, self.mappings, time);
        }
    }

    /// Whether the event at the cursor has attributes that may matter.
    #[inline(always)]
    fn has_attributes(&self, state: &ProcessWalk<'_>) -> bool {
        state.trace.attributes.is_some() && !self.cursor.attributes().is_empty()
    }

    /// Reads the attributes of an event, for which the time is that to use.
    #[cold]
    fn tell(&mut self, time: Ticks, recorded: u64, state: &mut ProcessWalk<'_>) {
        let Some(known) = &state.trace.attributes else { return };
        if known.tells_streams_only() {
            [state.attributes.stream, state.attributes.event] =
                known.read_streams(self.cursor.attributes(), self.mappings);
            return;
        }
        let attributes = self.cursor.attributes();
        if !known.read_access(attributes, self.mappings, &mut state.attributes.access) {
            return;
        }
        let told = known.read(attributes, self.mappings, state.attributes.access);
        // The distance is the same in a corrected clock.
        state.told = told
            .missing
            .with_time(|posted| (time - self.ticks(recorded, state) + self.ticks(posted, state)).min(time));
        state.attributes = told;
        if let Some(probed) = told.probed {
            state.note_probed(self.thread, probed, self.mappings);
        }
    }

    /// Handles an event that may have attributes.
    #[cold]
    fn handle_with_attributes(
        &mut self,
        time: Ticks,
        recorded: u64,
        event: &Event<'_>,
        state: &mut ProcessWalk<'_>,
    ) {
        self.tell(time, recorded, state);
        state.handle(self.thread, event, self.mappings, time);
        state.forget_told();
    }

    /// Handles the waiting flushes, up to the time of the next event.
    #[inline]
    fn flush(&mut self, state: &mut ProcessWalk<'_>, next: Ticks) {
        for (begin, end) in self.flushes.drain(..) {
            state.flush(self.thread, begin, end.min(next));
        }
    }
}
