//! Why a place computes for longer than others, by what the processor has counted there (site.md, 5.2): it takes the number of
//! instructions, by instructions a cycle, by cycles a second.

/// Instructions and cycles of computation, and how long it takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Work {
    pub(super) seconds: f64,
    /// Instructions, cycles; `None` if they are not known.
    pub(super) counts: [Option<f64>; 2],
}

/// The part of the excess, as a logarithm, that a factor has to explain, or to add, to be told.
const NOTABLE: f64 = 0.2;

/// Returns in words by what the work of a place differs from the mean of all; `None` without instructions. `share` is the part of the
/// work of all that it would have with the mean.
pub(super) fn against(own: &Work, all: &Work, share: f64) -> Option<String> {
    let positive = |number: f64| (number.is_finite() && number > 0.0).then_some(number);
    let excess = positive((own.seconds / (all.seconds * share)).ln())?;
    let is_same = |factor: f64| factor.ln().abs() < NOTABLE * excess;
    let [instructions, of_all] = [own, all].map(|work| work.counts[0].and_then(positive));
    let (instructions, of_all) = (instructions?, of_all?);
    let ratio = positive(instructions / (of_all * share))?;
    let mut words = vec![match ratio {
        _ if is_same(ratio) => "same instructions".to_owned(),
        _ if ratio > 1.0 => format!("{:.0} % more instructions", 100.0 * (ratio - 1.0)),
        _ => format!("{:.0} % fewer instructions", 100.0 * (1.0 - ratio)),
    }];
    let [cycles, cycles_of_all] = [own, all].map(|work| work.counts[1].and_then(positive));
    if let (Some(cycles), Some(cycles_of_all)) = (cycles, cycles_of_all) {
        let (ipc, mean) = (instructions / cycles, of_all / cycles_of_all);
        words.push(match is_same(ipc / mean) {
            true => "same IPC".to_owned(),
            false => format!("IPC {}", one_against_other(ipc, mean)),
        });
        // Not a frequency: cycles of the program are counted, the time is all of it.
        let (rate, mean) = (1e-9 * cycles / own.seconds, 1e-9 * cycles_of_all / all.seconds);
        if !is_same(rate / mean) {
            words.push(format!("{} cycles a nanosecond", one_against_other(rate, mean)));
            if rate < mean {
                words.push("so a slower clock, or time in the kernel or off the processor".to_owned());
            }
        }
    }
    Some(words.join(", "))
}

/// Two different positive numbers, with two digits of the smaller one that say something, or as many as show the difference.
fn one_against_other(one: f64, other: f64) -> String {
    let least = one.min(other);
    let enough = |&digits: &usize| {
        let places = 10_f64.powi(i32::try_from(digits).unwrap_or(9));
        least * places >= 10.0 && format!("{one:.digits$}") != format!("{other:.digits$}")
    };
    let digits = (1..9).find(enough).unwrap_or(9);
    format!("{one:.digits$} against {other:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four places, all with the mean of 100 instructions and 50 cycles in 20 ns.
    const ALL: Work = Work { seconds: 80e-9, counts: [Some(400.0), Some(200.0)] };

    fn told(instructions: f64, cycles: f64, nanoseconds: f64) -> String {
        let own = Work { seconds: 1e-9 * nanoseconds, counts: [Some(instructions), Some(cycles)] };
        against(&own, &ALL, 0.25).unwrap()
    }

    #[test]
    fn longer_work_is_more_instructions_or_slower_ones_or_fewer_cycles() {
        assert_eq!(told(136.0, 68.0, 27.2), "36 % more instructions, same IPC");
        assert_eq!(told(102.0, 102.0, 40.8), "same instructions, IPC 1.0 against 2.0");
        let slower = "so a slower clock, or time in the kernel or off the processor";
        assert_eq!(
            told(98.0, 49.0, 30.0),
            format!("same instructions, same IPC, 1.6 against 2.5 cycles a nanosecond, {slower}")
        );
        assert_eq!(
            told(50.0, 100.0, 50.0),
            format!(
                "50 % fewer instructions, IPC 0.50 against 2.00, 2.0 against 2.5 cycles a nanosecond, {slower}"
            )
        );
        // More work with a faster clock.
        assert_eq!(
            told(150.0, 75.0, 25.0),
            "50 % more instructions, same IPC, 3.0 against 2.5 cycles a nanosecond"
        );
    }

    #[test]
    fn small_excess_is_explained_by_small_differences() {
        assert_eq!(told(104.0, 52.0, 20.8), "4 % more instructions, same IPC");
        assert_eq!(told(100.0, 52.0, 20.8), "same instructions, IPC 1.9 against 2.0");
        assert_eq!(told(100.0, 50.5, 20.2), "same instructions, IPC 1.98 against 2.00");
    }

    #[test]
    fn what_is_not_counted_is_not_told() {
        let without = |work: Work, at: usize| {
            let mut counts = work.counts;
            counts[at] = None;
            Work { counts, ..work }
        };
        let own = Work { seconds: 160e-9, counts: [Some(800.0), Some(400.0)] };
        assert_eq!(against(&without(own, 1), &ALL, 1.0).unwrap(), "100 % more instructions");
        assert_eq!(against(&without(own, 0), &ALL, 1.0), None);
        assert_eq!(against(&own, &without(ALL, 0), 1.0), None);
        let nothing = Work { seconds: 0.0, counts: [Some(0.0); 2] };
        assert_eq!(against(&nothing, &nothing, 0.0), None);
    }
}
