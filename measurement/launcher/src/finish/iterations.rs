//! What is said of the iterations that were to be recorded: in the last line, and in properties of the archive.

use super::contexts::NO_CONTEXT;
use super::journals::Process;
use super::notices::name_ranks;
use super::run::Run;
use crate::report::{grouped, size};
use recording::journal::{IterationWindow, LoopSearch, WindowScope};
use recording::layout;

/// What each process tells of its search; none if none was asked for.
struct Told<'a> {
    of: Vec<(u32, &'a LoopSearch)>,
}

/// A window on all processes that have told of it.
struct Window {
    of: Vec<(u32, IterationWindow)>,
}

/// Returns the sentence about a run whose iterations were to be recorded.
pub(super) fn sentence(run: &Run<'_>) -> Option<String> {
    let told = Told::new(run.processes)?;
    Some(told.sentence(run.processes.len(), |rank, path| place(run, rank, path)))
}

/// A loop of which all processes have recorded the same iterations.
pub(super) struct RecordedLoop {
    /// Call path at which its iterations begin, by process.
    pub(super) headers: Vec<u32>,
    /// How many iterations it had, if that is known.
    pub(super) iterations: Option<u64>,
    /// The first and the last one of each window.
    pub(super) windows: Vec<[u64; 2]>,
    /// The call that they begin with, and where it is.
    pub(super) place: Option<String>,
}

/// Returns the loops of which all processes have recorded the same iterations.
pub(super) fn recorded_loops(run: &Run<'_>) -> Vec<RecordedLoop> {
    let mut loops: Vec<RecordedLoop> = Vec::new();
    let Some(told) = Told::new(run.processes) else { return loops };
    for window in told.windows() {
        let is_on_all = window.of.len() == run.host_of.len() && window.is_common() && window.corresponds();
        let Some(range) = window.recorded().filter(|_| is_on_all) else { continue };
        let headers: Vec<u32> = window.of.iter().map(|(_, window)| window.header).collect();
        let iterations = window.of.iter().map(|(_, window)| window.begun).max().filter(|&begun| begun > 0);
        match loops.iter_mut().find(|known| known.headers == headers) {
            Some(known) => {
                known.windows.push(range);
                known.iterations = iterations.max(known.iterations);
            }
            None => {
                let place = window.of.first().and_then(|&(rank, window)| place(run, rank, window.header));
                loops.push(RecordedLoop { headers, iterations, windows: vec![range], place });
            }
        }
    }
    loops
}

/// Returns the properties of the archive about its iterations.
pub(super) fn properties(processes: &[Process]) -> Vec<(String, String)> {
    Told::new(processes).map_or_else(Vec::new, |told| told.properties())
}

impl<'a> Told<'a> {
    fn new(processes: &'a [Process]) -> Option<Told<'a>> {
        let of = processes.iter().filter_map(|process| Some((process.rank, process.search.as_ref()?)));
        let of: Vec<_> = of.collect();
        (!of.is_empty()).then_some(Told { of })
    }

    /// Whether processes have agreed on iterations, and on which. No property is empty: OTF2 has none of these.
    fn properties(&self) -> Vec<(String, String)> {
        let windows = self.windows();
        let is_recorded = |(_, it): &(u32, IterationWindow)| it.is_open || it.last >= it.first;
        let kind = if !windows.iter().any(|window| window.of.iter().any(is_recorded)) {
            "none"
        } else if windows.iter().all(|window| window.is_common() && window.corresponds()) {
            "common"
        } else {
            "local"
        };
        let ranges: Vec<String> = windows.iter().filter_map(Window::range).collect();
        let mut properties = vec![("REPLAY::WINDOWS".to_string(), kind.to_string())];
        if kind == "common" && !ranges.is_empty() {
            properties.push(("REPLAY::ITERATIONS".into(), ranges.join(",")));
        }
        properties
    }

    /// The windows that are settled, in their order, of which each process has had the same number unless it was killed.
    fn windows(&self) -> Vec<Window> {
        let is_settled =
            |it: &&IterationWindow| [WindowScope::Common, WindowScope::Local].contains(&it.scope);
        let mut windows: Vec<Window> = Vec::new();
        for &(rank, search) in &self.of {
            for (at, window) in search.windows.iter().filter(is_settled).enumerate() {
                if at == windows.len() {
                    windows.push(Window { of: Vec::new() });
                }
                windows[at].of.push((rank, *window));
            }
        }
        windows
    }

    fn sentence(&self, processes: usize, place: impl Fn(u32, u32) -> Option<String>) -> String {
        if let Some(problem) = self.of.iter().find_map(|(_, search)| search.problem.as_ref()) {
            return format!("no loop is looked for, as {problem}; {}", self.begin());
        }
        let windows = self.windows();
        if !windows.is_empty() {
            let begin = if self.limit() > 0 { "the begin and " } else { "" };
            let part = |window: &Window| {
                let at = window.of.first().and_then(|&(rank, window)| place(rank, window.header));
                let at = at.map_or(String::new(), |place| format!(" of the loop at {place}"));
                window.sentence(&at, processes)
            };
            let parts: Vec<String> = windows.iter().map(part).collect();
            return format!("recorded {begin}{}{}", parts.join("; "), self.tried());
        }
        let found = self.of.iter().filter(|(_, search)| search.header.is_some()).count();
        if found > 0 {
            let all = grouped(processes as u64);
            return format!(
                "no iterations are recorded: {} of {all} processes found a loop, but all did not agree on iterations of it \
                 before the end; {}{}",
                grouped(found as u64),
                self.begin(),
                self.tried()
            );
        }
        let last = self.of.iter().map(|&(_, search)| search).max_by_key(|search| search.newest);
        // A process that is killed does not tell what it has found.
        let Some(LoopSearch { nodes, newest, steps, .. }) = last.filter(|search| search.steps > 0) else {
            return format!(
                "no iterations are recorded, as no process has come to its end; {}",
                self.begin()
            );
        };
        let share = newest.saturating_mul(100) / steps;
        format!(
            "no stable loop ({} call path{}, the last new one after {share} % of the calls); {}",
            grouped((*nodes).into()),
            if *nodes == 1 { "" } else { "s" },
            self.begin()
        )
    }

    /// What else is in the archive: windows that some processes have begun, but others could not record.
    fn tried(&self) -> &'static str {
        let is_tried = |it: &IterationWindow| {
            let is_settled = [WindowScope::Common, WindowScope::Local].contains(&it.scope);
            !is_settled && (it.is_open || it.last >= it.first)
        };
        match self.of.iter().any(|(_, search)| search.windows.iter().any(is_tried)) {
            true => "; and on some processes other iterations, on which not all had agreed",
            false => "",
        }
    }

    /// Bytes of events of a process that may be recorded of the begin of the program.
    fn limit(&self) -> u64 {
        self.of.iter().map(|(_, search)| search.until_stable).max().unwrap_or(0)
    }

    /// What is recorded of the begin of the program.
    fn begin(&self) -> String {
        let limit = self.limit();
        if limit == 0 {
            "nothing else is recorded".into()
        } else if self.of.iter().any(|(_, search)| search.is_begin_over) {
            format!("recorded the begin (limit: {} of events of each process)", size(limit))
        } else {
            "everything is recorded".into()
        }
    }
}

impl Window {
    /// Whether all processes record the same numbers.
    fn is_common(&self) -> bool {
        self.of.iter().all(|(_, window)| window.scope == WindowScope::Common)
    }

    /// Whether nothing contradicts that these are the same iterations: loops of all processes had as many, and the same
    /// number of collective operations of all was before the first one.
    fn corresponds(&self) -> bool {
        let known = |of: fn(&IterationWindow) -> Option<u64>| {
            let mut values = self.of.iter().filter_map(|(_, window)| of(window));
            let first = values.next();
            values.all(|value| Some(value) == first)
        };
        known(|window| Some(window.begun).filter(|&begun| begun > 0))
            && known(|window| Some(window.meetings).filter(|_| window.is_open || window.last >= window.first))
    }

    /// Whether some process was killed while it recorded them.
    fn is_open(&self) -> bool {
        self.of.iter().any(|(_, window)| window.is_open)
    }

    /// The iterations that all record, if it is known which.
    fn recorded(&self) -> Option<[u64; 2]> {
        if self.is_open() {
            return None;
        }
        let (first, last) = (self.of.first()?.1.first, self.of.iter().map(|(_, window)| window.last).min()?);
        (last >= first).then_some([first, last])
    }

    fn range(&self) -> Option<String> {
        self.recorded().map(|[first, last]| format!("{first}-{last}"))
    }

    fn sentence(&self, at: &str, processes: usize) -> String {
        let begun: Vec<u64> = self.of.iter().map(|(_, window)| window.begun).filter(|&it| it > 0).collect();
        let of = match (begun.iter().min(), begun.iter().max()) {
            (Some(least), Some(most)) if least == most => format!(" of {}{at}", grouped(*most)),
            (Some(least), Some(most)) => format!(" of {} to {}{at}", grouped(*least), grouped(*most)),
            _ => at.to_string(),
        };
        let ranks = |is_meant: fn(&IterationWindow) -> bool| {
            let ranks = self.of.iter().filter(|(_, window)| is_meant(window)).map(|&(rank, _)| rank);
            ranks.collect::<Vec<_>>()
        };
        let incomplete = ranks(|window| !window.is_whole);
        let mut text = match self.range() {
            Some(range) if self.is_common() => format!("iterations {range}{of}"),
            None if self.is_common() => {
                let first = self.of.first().map_or(0, |it| it.1.first);
                if self.is_open() {
                    return format!("iterations{of} from {first} on, until the program ended");
                }
                let missing = ranks(|window| window.last < window.first);
                format!("nothing of a loop that ended before iteration {first} on {}", name_ranks(&missing))
            }
            _ => format!("iterations{of}, but others on each process, as they did not come to agree"),
        };
        if !incomplete.is_empty() && self.range().is_some() {
            text += &format!(" (and what comes next on {}, where the loop ended)", name_ranks(&incomplete));
        }
        if self.of.len() < processes {
            text += &format!(" on {} of {} processes", self.of.len(), grouped(processes as u64));
        }
        if self.is_common() && !self.corresponds() {
            text += ", which are not the same iterations on all processes: their loops differ";
        }
        text
    }
}

/// Returns the MPI function at a path of the first thread of a process, and where it is called.
fn place(run: &Run<'_>, rank: u32, path: u32) -> Option<String> {
    let location = run.places.iter().position(|place| place.reference == layout::location(rank, 0))?;
    let context = *run.contexts.of.get(location)?.get(path as usize)?;
    let context = run.contexts.nodes.get(usize::try_from(context).ok().filter(|_| context != NO_CONTEXT)?)?;
    let name = &run.contexts.regions.get(context.region as usize)?.name;
    let caller = context.parent.and_then(|parent| run.contexts.nodes.get(parent as usize));
    let line = caller.and_then(|caller| run.contexts.lines.get(caller.line? as usize));
    Some(match line {
        Some((file, 0)) => format!("{name} ({file})"),
        Some((file, line)) => {
            format!("{name} ({}:{line})", file.rsplit('/').next().unwrap_or_default())
        }
        None => name.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(windows: Vec<IterationWindow>) -> LoopSearch {
        let (nodes, steps, newest) = (212, 1000, 810);
        LoopSearch { until_stable: 16 << 20, nodes, steps, newest, windows, ..LoopSearch::default() }
    }

    fn window(first: u64, last: u64) -> IterationWindow {
        let scope = WindowScope::Common;
        let is_whole = last == first + 9;
        IterationWindow { header: 7, first, last, is_open: false, is_whole, meetings: 5, begun: 60, scope }
    }

    fn said(searches: &[LoopSearch]) -> String {
        let place = |rank, path| Some(format!("MPI_Send (a.c:{})", rank + path));
        Told { of: (0..).zip(searches).collect() }.sentence(searches.len(), place)
    }

    #[test]
    fn windows_of_all_processes_are_named() {
        const RECORDED: &str = "recorded the begin and iterations";
        let whole = search(vec![window(9, 18)]);
        let line = format!("{RECORDED} 9-18 of 60 of the loop at MPI_Send (a.c:7)");
        assert_eq!(said(&[whole.clone(), whole.clone()]), line);
        let alone = LoopSearch { until_stable: 0, ..whole.clone() };
        assert_eq!(said(&[alone]), line.replace("the begin and ", ""));
        let short = search(vec![window(9, 15)]);
        let line = format!(
            "{RECORDED} 9-15 of 60 of the loop at MPI_Send (a.c:7) (and what comes next on rank 1, where the loop ended)"
        );
        assert_eq!(said(&[whole.clone(), short]), line);
        let odd = search(vec![IterationWindow { begun: 30, ..window(9, 18) }]);
        let line = format!(
            "{RECORDED} 9-18 of 30 to 60 of the loop at MPI_Send (a.c:7), which are not the same iterations on all \
             processes: their loops differ"
        );
        assert_eq!(said(&[whole.clone(), odd]), line);
        let own = search(vec![IterationWindow { scope: WindowScope::Local, ..window(30, 39) }]);
        let line = format!(
            "{RECORDED} of 60 of the loop at MPI_Send (a.c:7), but others on each process, as they did not come to agree"
        );
        assert_eq!(said(&[own.clone(), own]), line);
        let tried =
            search(vec![IterationWindow { scope: WindowScope::Cancelled, ..window(5, 8) }, window(9, 18)]);
        let line = "; and on some processes other iterations, on which not all had agreed";
        assert!(said(&[whole, tried]).ends_with(line));
        let open = search(vec![IterationWindow { is_open: true, begun: 0, ..window(9, 8) }]);
        let line = format!("{RECORDED} of the loop at MPI_Send (a.c:7) from 9 on, until the program ended");
        assert_eq!(said(&[open]), line);
        let missed = search(vec![window(70, 69)]);
        let line = "recorded the begin and nothing of a loop that ended before iteration 70 on ranks 0-1";
        assert_eq!(said(&[missed.clone(), missed]), line);
    }

    #[test]
    fn properties_tell_what_all_processes_have() {
        let properties = |searches: &[LoopSearch]| {
            let told = Told { of: (0..).zip(searches).collect() };
            let values = told.properties().into_iter().map(|(_, value)| value);
            values.collect::<Vec<_>>().join(" ")
        };
        let of = |windows: &[IterationWindow]| search(windows.to_vec());
        let (whole, missed) = (window(9, 18), window(70, 69));
        let (open, other) = (IterationWindow { is_open: true, ..window(9, 8) }, window(9, 15));
        let local = IterationWindow { scope: WindowScope::Local, ..whole };
        for (searches, expected) in [
            ([of(&[whole]), of(&[whole])], "common 9-18"),
            ([of(&[whole, window(40, 49)]), of(&[other, window(40, 49)])], "common 9-15,40-49"),
            ([of(&[missed]), of(&[missed])], "none"),
            ([of(&[]), of(&[])], "none"),
            ([of(&[open]), of(&[whole])], "common"),
            ([of(&[local]), of(&[local])], "local"),
            ([of(&[whole]), of(&[IterationWindow { meetings: 6, ..whole }])], "local"),
        ] {
            assert_eq!(properties(&searches), expected);
        }
    }

    #[test]
    fn without_a_window_it_is_said_why_and_what_there_is() {
        let none = search(Vec::new());
        let begin = "no stable loop (212 call paths, the last new one after 81 % of the calls)";
        assert_eq!(said(std::slice::from_ref(&none)), format!("{begin}; everything is recorded"));
        let cut = LoopSearch { is_begin_over: true, ..none.clone() };
        let line = format!("{begin}; recorded the begin (limit: 16.8 MB of events of each process)");
        assert_eq!(said(&[none.clone(), cut]), line);
        let killed = LoopSearch { until_stable: 0, ..LoopSearch::default() };
        let line = "no iterations are recorded, as no process has come to its end; nothing else is recorded";
        assert_eq!(said(&[killed]), line);
        let found = LoopSearch { header: Some(3), ..none.clone() };
        let line = "no iterations are recorded: 1 of 2 processes found a loop, but all did not agree on iterations of it before \
                    the end; everything is recorded";
        assert_eq!(said(&[found, none]), line);
    }
}
