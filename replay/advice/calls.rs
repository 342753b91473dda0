//! The table `call`: calls of MPI that make others wait, over all ranks, and whether their messages say why (advice 4.2, `uneven-messages`).

use model::Ticks;
use rules::Type;

use super::culprits::Culprit;
use super::sums::WorkOfRank;
use super::table::{Field, Of, RowTable, RowsAre};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::report_paths::ReportPaths;
use crate::wire::{self, Wire, wire};

/// Time without waiting of ranks in a call path, and their bytes there: sums, of squares, and of products.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Moments {
    time: i128,
    bytes: i128,
    times: i128,
    squares: i128,
    products: i128,
    most: u64,
}

wire!(Moments { time, bytes, times, squares, products, most });

impl Moments {
    fn of(time: Ticks, bytes: u64) -> Moments {
        let (time, whole) = (i128::from(time), i128::from(bytes));
        Moments {
            time,
            bytes: whole,
            times: time * time,
            squares: whole.saturating_mul(whole),
            products: time.saturating_mul(whole),
            most: bytes,
        }
    }

    fn add(&mut self, other: &Moments) {
        self.time = self.time.saturating_add(other.time);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.times = self.times.saturating_add(other.times);
        self.squares = self.squares.saturating_add(other.squares);
        self.products = self.products.saturating_add(other.products);
        self.most = self.most.max(other.most);
    }

    /// The share of the variance of times that goes with that of bytes, between so many ranks.
    #[expect(clippy::cast_precision_loss)]
    fn by_bytes(&self, ranks: u64) -> f64 {
        let ranks = ranks as f64;
        let (time, bytes) = (self.time as f64 / ranks, self.bytes as f64 / ranks);
        let of_times = self.times as f64 / ranks - time * time;
        let of_bytes = self.squares as f64 / ranks - bytes * bytes;
        let of_both = self.products as f64 / ranks - time * bytes;
        match of_times > 0.0 && of_bytes > 0.0 && of_both > 0.0 {
            true => (of_both * of_both / (of_times * of_bytes)).min(1.0),
            false => 0.0,
        }
    }
}

/// Calls of MPI of a call path.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRow {
    call: Culprit,
    region: u32,
    by_bytes: f64,
    bytes: i64,
    bytes_ratio: f64,
    is_master: bool,
}

/// The table.
pub(super) const CALLS: RowTable<CallRow> = RowTable {
    name: "call",
    about: "a call path of MPI, over all ranks",
    rows: RowsAre::Groups,
    site: |row| (row.call.path, row.region),
    fields: &[
        Field {
            name: "cost",
            kind: Type::Time,
            about: "waiting that it has caused, at all ranks",
            of: Of::Whole(|it| it.call.sum.cost),
        },
        Field {
            name: "work",
            kind: Type::Time,
            about: "its time without waiting, of all ranks",
            of: Of::Whole(|it| it.call.sum.work),
        },
        Field {
            name: "ranks",
            kind: Type::Count,
            about: "ranks that come there",
            of: Of::Whole(|it| it.call.sum.ranks.into()),
        },
        Field {
            name: "ranks.most",
            kind: Type::Rank,
            about: "the rank with most of it",
            of: Of::Whole(|it| it.call.sum.rank.into()),
        },
        Field {
            name: "ranks.ratio",
            kind: Type::Number,
            about: "how many times the mean of all ranks that rank has",
            of: Of::Number(|it| it.call.ratio()),
        },
        Field {
            name: "balance",
            kind: Type::Time,
            about: "what sharing it evenly saves on the critical path",
            of: Of::Whole(|it| it.call.balance),
        },
        Field {
            name: "static_share",
            kind: Type::Number,
            about: "the part of its costs that sharing it evenly would save",
            of: Of::Number(|it| it.call.static_share()),
        },
        Field {
            name: "on_path",
            kind: Type::Time,
            about: "its time on the critical path",
            of: Of::Whole(|it| it.call.sum.on_path),
        },
        Field {
            name: "bytes",
            kind: Type::Bytes,
            about: "bytes of messages that it sends or has received, of all ranks",
            of: Of::Whole(|it| it.bytes),
        },
        Field {
            name: "bytes_ratio",
            kind: Type::Number,
            about: "how many times the mean of all ranks the rank with most of them has",
            of: Of::Number(|it| it.bytes_ratio),
        },
        Field {
            name: "by_bytes",
            kind: Type::Number,
            about: "the share of the variance of its time between ranks that goes with that of these bytes",
            of: Of::Number(|it| it.by_bytes),
        },
        Field {
            name: "is_master",
            kind: Type::Bool,
            about: "whether the rank with most of it hands out work to others",
            of: Of::Flag(|it| it.is_master),
        },
    ],
};

/// The rows, the same at all workers.
///
/// # Errors
/// If a worker failed.
pub(super) fn rows(
    paths: &ReportPaths,
    (work, calls, masters): (&[WorkOfRank], &[Culprit], &[i64]),
    exchange: &mut dyn Exchange,
) -> Result<Vec<CallRow>, Error> {
    let mut place = vec![usize::MAX; paths.len()];
    calls.iter().enumerate().for_each(|(at, call)| place[call.path.index()] = at);
    let mut all = vec![Moments::default(); calls.len()];
    for it in work.iter().flat_map(|of_rank| &of_rank.work) {
        if let Some(sum) = all.get_mut(place[it.path.index()]) {
            sum.add(&Moments::of(it.work, it.bytes));
        }
    }
    let mut words = Batch::new();
    all.iter().for_each(|of| of.put(&mut words));
    let mut all = vec![Moments::default(); calls.len()];
    for batch in share(exchange, words)? {
        all.iter_mut().zip(wire::all::<Moments>(&batch)).for_each(|(sum, of)| sum.add(&of));
    }
    let row = |(&call, moments): (&Culprit, &Moments)| row((call, masters), paths.region(call.path), moments);
    Ok(calls.iter().zip(&all).map(row).collect())
}

#[expect(clippy::cast_precision_loss)]
fn row((call, masters): (Culprit, &[i64]), region: u32, moments: &Moments) -> CallRow {
    let ranks = u64::from(call.of_ranks.max(1));
    CallRow {
        call,
        region,
        by_bytes: moments.by_bytes(ranks),
        bytes: i64::try_from(moments.bytes).unwrap_or(i64::MAX),
        bytes_ratio: moments.most as f64 * ranks as f64 / moments.bytes.max(1) as f64,
        is_master: masters.contains(&call.sum.rank.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_bytes(ranks: &[(Ticks, u64)]) -> f64 {
        let mut all = Moments::default();
        ranks.iter().for_each(|&(time, bytes)| all.add(&Moments::of(time, bytes)));
        all.by_bytes(ranks.len() as u64)
    }

    #[test]
    fn times_that_grow_with_bytes_go_with_them() {
        assert!((by_bytes(&[(10, 100), (20, 200), (60, 600)]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn times_of_equal_or_other_bytes_do_not_go_with_them() {
        assert!(by_bytes(&[(10, 100), (20, 100)]) < 1e-9);
        assert!(by_bytes(&[(10, 200), (20, 100)]) < 1e-9);
        assert!(by_bytes(&[(10, 100), (10, 200)]) < 1e-9);
        assert!(by_bytes(&[]) < 1e-9);
    }

    #[test]
    fn largest_numbers_do_not_overflow() {
        assert!(by_bytes(&[(i64::MAX, u64::MAX), (0, 0)]) <= 1.0);
    }
}
