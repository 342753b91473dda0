//! Which iterations of the main loop are those that a recording was limited to (structure 3.7 and 5).

use super::summary::NAMED;
use crate::int::to_u64;

/// When a recorded iteration was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moment {
    /// Its number in the loop.
    pub number: u64,
    /// When the last process began it, in seconds since the begin of the trace.
    pub begin: f64,
    /// Seconds until the last process was through.
    pub elapsed: f64,
}

/// The iterations of the main loop of a recording that was limited to some.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FoundIterations {
    /// How many there are; 0 without a loop.
    pub count: u64,
    /// Those that are recorded ones, as stretches: the number of the first here, its number in the program's loop, and how many
    /// these are.
    pub numbers: Vec<[u64; 3]>,
    /// Whether they are the recorded ones, all of them and no others.
    pub are_recorded: bool,
}

impl FoundIterations {
    /// Finds which iterations, by their begin and length in seconds, are recorded ones: those that begin when these did, give or take
    /// half of them, and are at least half and at most twice as long.
    pub(super) fn new(iterations: &[[f64; 2]], moments: &[Moment]) -> FoundIterations {
        let mut numbers: Vec<[u64; 3]> = Vec::new();
        let mut rest = moments.iter().peekable();
        let mut same = 0;
        for (place, &[begin, elapsed]) in (1..).zip(iterations) {
            let is_before = |moment: &Moment| moment.begin + moment.elapsed / 2.0 < begin;
            while rest.next_if(|moment| is_before(moment)).is_some() {}
            let is_it = |moment: &Moment| {
                let is_as_long = elapsed >= moment.elapsed / 2.0 && elapsed <= 2.0 * moment.elapsed;
                is_as_long && (moment.begin - begin).abs() <= moment.elapsed / 2.0
            };
            let Some(moment) = rest.next_if(|moment| is_it(moment)) else { continue };
            same += 1;
            add(&mut numbers, [place, moment.number]);
        }
        let are_recorded = same == iterations.len() && same == moments.len();
        FoundIterations { count: to_u64(iterations.len()), numbers, are_recorded }
    }

    /// Those whose number here is wanted.
    pub(crate) fn only(&self, is_wanted: impl Fn(u64) -> bool) -> FoundIterations {
        let each = self.numbers.iter().flat_map(|&[place, number, count]| {
            (0..count).map(move |behind| [place + behind, number + behind])
        });
        let mut numbers = Vec::new();
        for pair in each.filter(|&[place, _]| is_wanted(place)) {
            add(&mut numbers, pair);
        }
        FoundIterations { numbers, ..*self }
    }

    /// Says which numbers these have in the program; `None` where none is another one than here.
    pub(crate) fn in_program(&self) -> Option<String> {
        // Without windows before them they have the numbers that they have here.
        if self.numbers.iter().all(|[place, number, _]| place == number) {
            return None;
        }
        let part = |(at, &[place, number, count]): (usize, &[u64; 3])| {
            let [here, there] = [place, number].map(|first| range([first, first + count - 1]));
            match (at, count) {
                (0, 1) => format!("Iteration {here} here is {there} of the program"),
                (0, _) => format!("Iterations {here} here are {there} of the program"),
                (_, 1) => format!("{here} is {there}"),
                _ => format!("{here} are {there}"),
            }
        };
        let mut parts: Vec<String> = self.numbers.iter().take(NAMED).enumerate().map(part).collect();
        parts.extend((self.numbers.len() > NAMED).then(|| "and so on".to_owned()));
        Some(parts.join(", "))
    }
}

/// Adds an iteration, by its numbers here and in the program, to stretches of these.
fn add(stretches: &mut Vec<[u64; 3]>, [place, number]: [u64; 2]) {
    match stretches.last_mut() {
        Some([first, its_number, count]) if *first + *count == place && *its_number + *count == number => {
            *count += 1;
        }
        _ => stretches.push([place, number, 1]),
    }
}

/// Numbers from the first to the last one.
pub(super) fn range([first, last]: [u64; 2]) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_iterations_have_the_numbers_of_those_that_were_recorded() {
        let moment = |number, begin| Moment { number, begin, elapsed: 10.0 };
        let moments = [moment(8, 80.0), moment(9, 90.0), moment(12, 120.0)];
        let numbers = |times: &[[f64; 2]]| {
            let FoundIterations { numbers, are_recorded, .. } = FoundIterations::new(times, &moments);
            (numbers, are_recorded)
        };
        assert_eq!(numbers(&[[80.0, 10.0], [90.0, 10.0], [120.0, 9.0]]), (vec![[1, 8, 2], [3, 12, 1]], true));
        // The begin of the program was recorded, too.
        let with_begin = [[10.0, 10.0], [20.0, 10.0], [81.0, 11.0], [92.0, 8.0], [119.0, 10.0]];
        assert_eq!(numbers(&with_begin), (vec![[3, 8, 2], [5, 12, 1]], false));
        // Those of a loop inside of it, and two as one.
        assert_eq!(numbers(&[[80.0, 3.0], [83.0, 3.0], [86.0, 3.0]]), (vec![], false));
        assert_eq!(numbers(&[[80.0, 25.0], [120.0, 10.0]]), (vec![[2, 12, 1]], false));
        assert_eq!(numbers(&[]), (vec![], false));
    }

    #[test]
    fn numbers_in_the_program_are_said_if_they_are_others() {
        let said = |numbers: &[[u64; 3]]| {
            FoundIterations { numbers: numbers.to_vec(), ..FoundIterations::default() }.in_program()
        };
        assert_eq!(said(&[[1, 48, 10]]).unwrap(), "Iterations 1-10 here are 48-57 of the program");
        assert_eq!(said(&[[1, 8, 1]]).unwrap(), "Iteration 1 here is 8 of the program");
        let several = [[1, 1, 2], [3, 8, 1], [4, 12, 2]];
        assert_eq!(
            said(&several).unwrap(),
            "Iterations 1-2 here are 1-2 of the program, 3 is 8, 4-5 are 12-13"
        );
        let many: Vec<[u64; 3]> = (1..8).map(|at| [at, 2 * at, 1]).collect();
        assert!(said(&many).unwrap().ends_with(", 5 is 10, and so on"), "{:?}", said(&many));
        assert_eq!((said(&[]), said(&[[1, 1, 9]])), (None, None));
        let all = FoundIterations { numbers: vec![[1, 48, 10], [11, 70, 2]], ..FoundIterations::default() };
        let only = all.only(|number| [2, 3, 7, 10, 11, 30].contains(&number)).in_program().unwrap();
        assert_eq!(only, "Iterations 2-3 here are 49-50 of the program, 7 is 54, 10 is 57, 11 is 70");
    }
}
