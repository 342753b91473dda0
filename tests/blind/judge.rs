//! Judgement: compares the first culprit of a summary with the ground truth.

use super::draw::{Draw, Mode};
use super::summary::{Culprit, Line, Summary};
use super::truth::{DelayPath, GroundTruth};

/// Limit of the delay costs of any location if there is no delay, relative to the run.
const BALANCED: f64 = 0.02;

/// Below this percentage of analyzed time in MPI, a summary need not name a culprit: it says that it knows
/// little.
const MOSTLY_UNKNOWN: f64 = 50.0;

/// Smallest share of the delay that the others must have spent in MPI for the delay to have an effect.
const FELT: f64 = 0.5;

/// Largest share of the delay on paths that cannot be located without enter and leave events of functions.
const OBSCURE: f64 = 0.25;

/// Result of a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// There is nothing to find, for this reason.
    NoCase(&'static str),
    /// The summary cannot explain most of the waiting.
    Unexplained,
    /// The first culprit was judged: the error in the rank, and the error in the place.
    Judged { rank: Option<String>, place: Option<String> },
}

impl Verdict {
    /// Whether rank and place are right.
    pub(crate) fn is_right(&self) -> bool {
        *self == Verdict::Judged { rank: None, place: None }
    }
}

/// Judges the summary of a draw.
pub(crate) fn judge(draw: &Draw, truth: &GroundTruth, summary: &Summary) -> Verdict {
    if draw.mode == Mode::Balanced {
        let problem = accused(summary);
        return Verdict::Judged { rank: problem.clone(), place: problem };
    }
    if let Some(reason) = no_case(draw.mode, truth) {
        return Verdict::NoCase(reason);
    }
    let Some(culprit) = summary.culprits.first() else {
        if summary.coverage.is_some_and(|coverage| coverage < MOSTLY_UNKNOWN) {
            return Verdict::Unexplained;
        }
        let problem = Some("nobody is named".to_owned());
        return Verdict::Judged { rank: problem.clone(), place: problem };
    };
    if culprit.is_unexplained {
        // An MPI library may complete a send only at the rank's next call, which a trace does not show.
        let problem = Some("unexplained, but all is covered".to_owned());
        let is_covered = summary.coverage.is_none_or(|coverage| coverage >= 100.0);
        return if is_covered {
            Verdict::Judged { rank: problem.clone(), place: problem }
        } else {
            Verdict::Unexplained
        };
    }
    let is_rank = culprit.ranks == [draw.rank].into();
    let rank = (!is_rank).then(|| format!("not rank {}", draw.rank));
    let mut places = truth.largest().map(|way| place(draw, way, culprit));
    let first = places.next().flatten();
    let place = first.filter(|_| places.all(|problem| problem.is_some()));
    Verdict::Judged { rank, place }
}

/// Error of a summary that names a rank although none is delayed.
fn accused(summary: &Summary) -> Option<String> {
    if summary.run <= 0.0 {
        return Some("the summary has no time of the run".into());
    }
    let share = |culprit: &Culprit| culprit.seconds / summary.run;
    let mut accused = summary.culprits.iter().filter(|culprit| !culprit.is_unexplained);
    let first = accused.find(|culprit| share(culprit) > BALANCED)?;
    Some(format!("accused of {:.1} % of the run", 100.0 * share(first)))
}

/// The reason why there is nothing to find; `None` if there is something.
fn no_case(mode: Mode, truth: &GroundTruth) -> Option<&'static str> {
    // Calling contexts are the same whether both calls are made in one activation of a function, or in two
    // activations with the same call site. Only enter and leave events of the function distinguish them.
    let is_obscure = |way: &DelayPath| match mode {
        Mode::Lines => way.sites > way.common,
        Mode::Symbols => way.names > way.common,
        _ => false,
    };
    if truth.paths.is_empty() {
        Some("the place is not reached")
    } else if truth.others < FELT * truth.delay() {
        Some("nobody waits")
    } else if truth.share(is_obscure) > OBSCURE {
        Some("two calls of one function")
    } else {
        None
    }
}

/// Error in the place, if the delay is on this path.
fn place(draw: &Draw, way: &DelayPath, culprit: &Culprit) -> Option<String> {
    let named = culprit.functions();
    let is_function = match draw.mode {
        Mode::Instrumented | Mode::Samples => named == way.place,
        // Functions that do not call MPI are not recorded.
        _ => way.place.starts_with(named) && named.len() >= way.common,
    };
    if !is_function {
        let [before, after] = &way.calls;
        return Some(format!("not in {} between {before} and {after}", way.place.join("/")));
    }
    let is_call =
        |(named, call): (&Option<String>, &String)| named.as_ref().is_none_or(|named| named == call);
    if !culprit.between.iter().zip(&way.calls).all(is_call) {
        return Some(format!("not between {} and {}", way.calls[0], way.calls[1]));
    }
    let line = culprit.line.as_ref()?;
    let is_line = line.file == format!("{}.c", draw.shape.name)
        && (line.number == way.line && !line.is_before
            || is_last_call(&draw.shape.source, way, named.len(), line));
    (!is_line).then(|| format!("not at line {}, nor behind the call before it", way.line))
}

/// Whether this line has the last call of a function of the path before the delay; it is the `depth`-th of
/// them.
fn is_last_call(source: &str, way: &DelayPath, depth: usize, line: &Line) -> bool {
    let at = depth.wrapping_sub(1);
    let (Some(function), Some(Some(called))) = (way.place.get(at), way.last.get(at)) else { return false };
    let lines = (1..).zip(source.lines());
    let is_begin = |line: &str| line.ends_with('{') && line.contains(&format!(" {function}("));
    let body = lines.skip_while(|(_, line)| !is_begin(line)).take_while(|&(_, line)| line != "}");
    let is_call = |text: &str| text.contains(&format!("{called}(")) || text.contains(&format!("({called},"));
    body.skip(1).any(|(number, text)| number == line.number && is_call(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A delay of rank 2 in `solve`, behind the call of `exchange`.
    const TRUTH: &str = "DELAY place=main/solve/work line=8 before=main/solve/exchange/MPI_Wait \
        after=main/solve/norm/MPI_Allreduce common=2 sites=2 names=2 last=solve/exchange/- visits=8 seconds=0.16\n\
        OTHERS seconds=0.48\n";

    const SOURCE: &str = "NOINLINE void exchange(void) {\n    CALL(MPI_Wait, request);\n}\n\n\
        NOINLINE void solve(void) {\n    exchange();\n    work();\n    norm();\n}\n";

    fn draw(mode: Mode) -> Draw {
        let mut draw = (0..5).map(|seed| Draw::new(seed, |_| 4)).find(|draw| draw.mode == mode).unwrap();
        (draw.rank, draw.shape.name, draw.shape.source) = (2, "prog", SOURCE.into());
        draw
    }

    fn judged(mode: Mode, truth: &str, culprits: &str) -> Verdict {
        let text = format!(
            "Between MPI_Init and MPI_Finalize, summed over 4 threads: 1.0 s\nWho made others wait:\n{culprits}\n\n\
             Coverage: 90.0 % of the MPI time"
        );
        judge(&draw(mode), &GroundTruth::parse(truth), &Summary::parse(&text))
    }

    /// Whether rank and place are wrong, if this is the statement about [`TRUTH`].
    fn problems(mode: Mode, culprit: &str) -> [bool; 2] {
        match judged(mode, TRUTH, &format!("  90.0 %  0.48 s  {culprit}: late senders")) {
            Verdict::Judged { rank, place } => [rank.is_some(), place.is_some()],
            verdict => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn functions_known_from_calls_are_right_from_the_common_one_to_that_of_the_place() {
        for (culprit, expected) in [
            ("rank 2 in prog/main/solve", [false, false]),
            ("rank 2 in prog/main/solve/work", [false, false]),
            ("rank 1 in prog/main/solve", [true, false]),
            ("ranks 1–2 in prog/main/solve", [true, false]),
            ("rank 2 in prog/main", [false, true]),
            ("rank 2 in prog/main/solve/exchange", [false, true]),
            ("rank 2 in prog/main/solve/exchange/MPI_Wait", [false, true]),
        ] {
            assert_eq!(problems(Mode::Lines, culprit), expected, "{culprit}");
            assert_eq!(problems(Mode::Symbols, culprit), expected, "{culprit}");
        }
    }

    #[test]
    fn functions_that_are_recorded_are_those_of_the_place() {
        for mode in [Mode::Instrumented, Mode::Samples] {
            assert_eq!(problems(mode, "rank 2 in prog/main/solve/work"), [false, false]);
            assert_eq!(problems(mode, "rank 2 in prog/main/solve"), [false, true]);
        }
    }

    #[test]
    fn stretch_and_line_are_right_if_they_are_given() {
        for (rest, is_wrong) in [
            ("(prog.c:6)", false),
            ("(prog.c:8)", false),
            ("(prog.c:7)", true),
            ("(prog.c:2)", true),
            ("(other.c:6)", true),
            ("after line 6 (prog.c)", false),
            ("after line 8 (prog.c)", true),
            ("between MPI_Wait and MPI_Allreduce", false),
            ("between MPI_Allreduce and MPI_Wait", true),
            ("before MPI_Allreduce", false),
            ("before MPI_Wait", true),
            ("after line 6 (prog.c), between MPI_Isend and MPI_Allreduce (80 %)", true),
        ] {
            let culprit = format!("rank 2 in prog/main/solve {rest}");
            assert_eq!(problems(Mode::Lines, &culprit), [false, is_wrong], "{culprit}");
        }
    }

    #[test]
    fn unexplained_time_accuses_nobody_and_is_not_covered() {
        let said = "  90.0 %  0.48 s  rank 1 in prog/main/MPI_Wait, time in MPI that is no wait state";
        assert_eq!(judged(Mode::Lines, TRUTH, said), Verdict::Unexplained);
        let mut summary = Summary::parse(&format!("Who made others wait:\n{said}"));
        summary.coverage = Some(100.0);
        assert!(matches!(
            judge(&draw(Mode::Lines), &GroundTruth::parse(TRUTH), &summary),
            Verdict::Judged { rank: Some(_), .. }
        ));
    }

    #[test]
    fn delay_that_nobody_feels_or_nobody_can_place_is_no_case() {
        let culprit = "  90.0 %  0.48 s  rank 2 in prog/main/solve: late senders";
        let is_case = |mode, truth: &str| !matches!(judged(mode, truth, culprit), Verdict::NoCase(_));
        assert!(is_case(Mode::Lines, TRUTH));
        assert!(!is_case(Mode::Lines, ""));
        assert!(!is_case(Mode::Lines, &TRUTH.replace("0.48", "0.05")));
        let by_name = TRUTH.replace("names=2", "names=3");
        assert_eq!(
            [Mode::Lines, Mode::Symbols, Mode::Samples].map(|mode| is_case(mode, &by_name)),
            [true, false, true]
        );
        assert!(!is_case(Mode::Lines, &TRUTH.replace("sites=2", "sites=3")));
    }

    #[test]
    fn summary_without_culprit_is_wrong_and_balanced_run_may_have_small_ones() {
        assert!(!judged(Mode::Lines, TRUTH, "").is_right());
        let mut unknown = Summary::parse("");
        unknown.coverage = Some(49.0);
        assert_eq!(judge(&draw(Mode::Lines), &GroundTruth::parse(TRUTH), &unknown), Verdict::Unexplained);
        assert!(judged(Mode::Balanced, "", "  99.0 %  0.02 s  rank 2 in prog/main: late").is_right());
        assert!(!judged(Mode::Balanced, "", "  50.0 %  0.021 s  rank 2 in prog/main: late").is_right());
    }
}
