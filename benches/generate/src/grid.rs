//! Two-dimensional grid of ranks.

/// A grid as square as the number of ranks allows; ranks are numbered row by row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    /// Ranks in a row.
    pub(crate) width: u32,
    /// Number of rows.
    pub(crate) height: u32,
}

impl Grid {
    pub(crate) fn of(ranks: u32) -> Grid {
        let root = ranks.isqrt();
        let height = (1..=root).rev().find(|height| ranks.is_multiple_of(*height)).unwrap_or(1);
        Grid { width: ranks / height, height }
    }

    /// Column and row of a rank.
    pub(crate) fn place(self, rank: u32) -> (u32, u32) {
        (rank % self.width, rank / self.width)
    }

    /// The rank in a column and a row.
    pub(crate) fn rank(self, x: u32, y: u32) -> u32 {
        y * self.width + x
    }

    /// Neighbours of a rank in a periodic grid: west, east, north, south. A dimension of one rank has none.
    pub(crate) fn around(self, rank: u32) -> impl Iterator<Item = u32> {
        let (x, y) = self.place(rank);
        let before = |at: u32, size: u32| (at + size - 1) % size;
        let after = |at: u32, size: u32| (at + 1) % size;
        let in_line = [before(x, self.width), after(x, self.width)].map(|x| self.rank(x, y));
        let in_column = [before(y, self.height), after(y, self.height)].map(|y| self.rank(x, y));
        let pair = |pair: [u32; 2], size: u32| pair.into_iter().filter(move |_| size > 1);
        pair(in_line, self.width).chain(pair(in_column, self.height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_square_as_can_be() {
        let size = |ranks| (Grid::of(ranks).width, Grid::of(ranks).height);
        assert_eq!(
            [1, 2, 12, 16, 17, 65_536].map(size),
            [(1, 1), (2, 1), (4, 3), (4, 4), (17, 1), (256, 256)]
        );
    }

    #[test]
    fn neighbours_come_in_pairs_of_opposite_directions() {
        let around = |ranks, rank| Grid::of(ranks).around(rank).collect::<Vec<_>>();
        assert_eq!(around(12, 0), [3, 1, 8, 4]);
        assert_eq!(around(5, 0), [4, 1]);
        assert_eq!(around(2, 0), [1, 1]);
        assert_eq!(around(1, 0), []);
    }
}
