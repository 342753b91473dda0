//! From which numbers on something is told as inefficient (io.md 5.3).

use serde::{Deserialize, Serialize};

/// Numbers that a file can change; what it leaves out has its default. Shares are from 0 to 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Least cost of anything, as a share of the run: time of the requests concerned, or waiting.
    pub cost: f64,
    /// One rank does the I/O: least number of ranks of the run, and its share of the bytes of a family of files.
    pub one_rank_ranks: u64,
    /// See `one_rank_ranks`.
    pub one_rank_bytes: f64,
    /// Requests of fewer bytes are small.
    pub small_bytes: u64,
    /// More than this share of the requests of a file, and more than this number, are small.
    pub small_share: f64,
    /// See `small_share`.
    pub small_requests: u64,
    /// Requests should begin at multiples of so many bytes, in which file systems lock, too.
    pub block_bytes: u64,
    /// More than this share of the requests of a file are misaligned.
    pub misaligned_share: f64,
    /// More than this share of the requests of a file, and more than this number, are out of order.
    pub out_of_order_share: f64,
    /// See `out_of_order_share`.
    pub out_of_order_requests: u64,
    /// More than this number of requests of a shared file, and more than this share, are independent, and none is collective.
    pub independent_requests: u64,
    /// See `independent_requests`.
    pub independent_share: f64,
    /// Bytes read are more than so many times the different bytes read.
    pub read_again: f64,
    /// At least this share of the bytes read was written by the rank itself.
    pub own_share: f64,
    /// More than this share of the writes of a file are contended.
    pub contended_share: f64,
    /// These take at least so many times as long as others of like size, if there are any.
    pub contended_slower: f64,
    /// More than this share of those that call collectively move nothing.
    pub empty_share: f64,
    /// A rank takes more than this share of its time longer than the median of ranks.
    pub straggler_share: f64,
    /// The rank that moves least moves by more than this share fewer bytes than the one that moves most.
    pub unequal_share: f64,
    /// Flushes take at least this share of the run,
    pub sync_time: f64,
    /// or more than this share of the writes has one behind.
    pub sync_share: f64,
    /// Ranks wait at least this share of the time of all for the last one in collective I/O.
    pub late_waiting: f64,
    /// Handling takes at least this share of the run, and
    pub handling_time: f64,
    /// a rank makes more than this number of calls for it, or all ranks make more than they transfer.
    pub handling_calls: u64,
    /// More than this share of the openings of a family of files, and more than this number, are without any operation.
    pub unused_share: f64,
    /// See `unused_share`.
    pub unused_openings: u64,
    /// More than this share of the bytes of a family of files goes through streams of ISO C, in pieces that are small on average.
    pub buffered_share: f64,
    /// More than this share of the time of non-blocking operations lies within the calls that complete them.
    pub overlap_share: f64,
    /// Bytes that the MPI library moves are more than so many times those asked for.
    pub amplified: f64,
    /// Requests within collective calls are on average smaller than so many pieces of the view.
    pub buffered_pieces: f64,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            cost: 0.01,
            one_rank_ranks: 4,
            one_rank_bytes: 0.9,
            small_bytes: 1 << 20,
            small_share: 0.1,
            small_requests: 1000,
            block_bytes: 4096,
            misaligned_share: 0.1,
            out_of_order_share: 0.2,
            out_of_order_requests: 1000,
            independent_requests: 1000,
            independent_share: 0.5,
            read_again: 1.1,
            own_share: 0.1,
            contended_share: 0.1,
            contended_slower: 2.0,
            empty_share: 0.5,
            straggler_share: 0.15,
            unequal_share: 0.3,
            sync_time: 0.01,
            sync_share: 0.5,
            late_waiting: 0.01,
            handling_time: 0.01,
            handling_calls: 1000,
            unused_share: 0.5,
            unused_openings: 100,
            buffered_share: 0.1,
            overlap_share: 0.9,
            amplified: 1.5,
            buffered_pieces: 2.0,
        }
    }
}

impl Thresholds {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong in it, in words.
    pub fn from_json(text: &str) -> Result<Thresholds, String> {
        let read: Thresholds = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let numbers = [
            read.cost,
            read.one_rank_bytes,
            read.small_share,
            read.misaligned_share,
            read.out_of_order_share,
            read.independent_share,
            read.read_again,
            read.own_share,
            read.contended_share,
            read.contended_slower,
            read.empty_share,
            read.straggler_share,
            read.unequal_share,
            read.sync_time,
            read.sync_share,
            read.late_waiting,
            read.handling_time,
            read.unused_share,
            read.buffered_share,
            read.overlap_share,
            read.amplified,
            read.buffered_pieces,
        ];
        match numbers.iter().all(|number| *number >= 0.0) {
            true => Ok(read),
            false => Err("a threshold is less than 0".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_changes_what_it_names_and_nothing_else() {
        let read = Thresholds::from_json(r#"{"cost": 0.05, "small_bytes": 4096}"#).unwrap();
        assert_eq!(read, Thresholds { cost: 0.05, small_bytes: 4096, ..Thresholds::default() });
        assert_eq!(Thresholds::from_json("{}").unwrap(), Thresholds::default());
    }

    #[test]
    fn unknown_names_and_impossible_numbers_are_refused() {
        for (text, problem) in [
            (r#"{"costs": 0.05}"#, "unknown field `costs`"),
            (r#"{"cost": -1}"#, "a threshold is less than 0"),
            (r#"{"small_bytes": -1}"#, "invalid value"),
            ("[", "EOF"),
        ] {
            let said = Thresholds::from_json(text).unwrap_err();
            assert!(said.contains(problem), "{text}: {said}");
        }
    }
}
