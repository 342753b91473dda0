//! Wrong clocks: what is known of them, and what is doubtful because of them.

use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Semantics, Summary};

use crate::support::parse::Case;
use crate::support::{archive, fresh, options, write};

fn analyze(experiment: &std::path::Path) -> Summary {
    let directory = fresh();
    let options = options(experiment, &directory.path().join("report.cubex"), Semantics::Corrected);
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap().summary.unwrap()
}

#[test]
fn waiting_no_longer_than_the_largest_violation_is_doubtful() {
    // The first message arrives 7 ticks before it was sent, and seems to wait for 5; the second one waits for 6, the third
    // one for 30.
    let script = "program prog
rank 0
  0 > main ; 20 > MPI_Send ; 21 send 1 ; 22 < ; 40 > MPI_Send ; 41 send 1 ; 42 < ; 90 > MPI_Send ; 91 send 1 ; 92 < ; 100 <
rank 1
  0 > main ; 10 > MPI_Recv ; 14 recv 0 ; 15 < ; 34 > MPI_Recv ; 43 recv 0 ; 44 < ; 60 > MPI_Recv ; 93 recv 0 ; 94 < ; 100 <
";
    let directory = fresh();
    write::write(&Case::parse(script).unwrap().trace, directory.path());
    let summary = analyze(directory.path());
    assert!((summary.clock_error - 7e-9).abs() < 1e-15, "{}", summary.clock_error);
    let [doubt] = &summary.doubts[..] else { panic!("{:?}", summary.doubts) };
    assert_eq!(doubt.title, "Late Sender");
    assert!((doubt.seconds - 11e-9).abs() < 1e-15 && (doubt.of - 41e-9).abs() < 1e-15, "{doubt:?}");
    assert!(summary.to_string().contains("Clocks are wrong by at least 0.000000007 s"), "{summary}");
}

#[test]
fn right_clocks_are_not_mentioned_and_skewed_ones_are() {
    let right = analyze(&archive("late_sender.4"));
    assert!(right.clock_error == 0.0 && right.doubts.is_empty());
    assert!(!right.to_string().contains("Clocks are wrong"));
    let skewed = analyze(&archive("skewed.4"));
    assert!(skewed.clock_error > 0.0, "{skewed}");
    assert!(skewed.doubts.iter().all(|doubt| doubt.seconds <= doubt.of), "{:?}", skewed.doubts);
}
