//! Messages in a row to, or from, all others of a communicator: an operation of all, made by hand (advice 4.3, `handmade`).

use rustc_hash::FxHashSet;

/// For each message whether it is one of a round: of messages that follow each other, one with each of so many others.
///
/// `follows` says whether a message comes right behind another one and is like it; `with` is the process that it is exchanged with, and
/// how many others there are, the same for messages that follow each other.
pub(super) fn rounds<M>(
    messages: &[M],
    follows: impl Fn(&M, &M) -> bool,
    with: impl Fn(&M) -> (u32, i64),
) -> Vec<bool> {
    let mut found = vec![false; messages.len()];
    let mut from = 0;
    for run in messages.chunk_by(follows) {
        // Most runs are shorter than a round, all of which is with the same others.
        if (run.len() as i64) < with(&run[0]).1 {
            from += run.len();
            continue;
        }
        let mut begin = from;
        let mut reached = FxHashSet::default();
        // A run may be of several rounds.
        for (at, message) in run.iter().enumerate() {
            let (peer, others) = with(message);
            if !reached.insert(peer) {
                reached.clear();
                begin = from + at;
                reached.insert(peer);
            }
            if others >= 2 && reached.len() as i64 == others {
                found[begin..=from + at].fill(true);
                reached.clear();
                begin = from + at + 1;
            }
        }
        from += run.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds among messages with these peers; a 0 is something else in between.
    fn found(peers: &[u32]) -> Vec<bool> {
        rounds(peers, |one, next| *one != 0 && *next != 0, |&peer| (peer, 3))
    }

    #[test]
    fn messages_with_all_others_are_a_round_in_any_order() {
        assert_eq!(found(&[1, 2, 3]), [true; 3]);
        assert_eq!(found(&[3, 1, 2, 2, 1, 3]), [true; 6]);
    }

    #[test]
    fn messages_with_some_or_with_something_in_between_are_none() {
        assert_eq!(found(&[1, 2]), [false; 2]);
        assert_eq!(found(&[1, 2, 0, 3]), [false; 4]);
        assert_eq!(found(&[1, 1, 2, 3]), [false, true, true, true]);
    }
}
