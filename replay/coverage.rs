//! Coverage: the share of the MPI time that was analysed, and why the rest was not.
//! Zero waiting differs from time that was not analysed.
//!
//! `MPI_Init` and `MPI_Finalize` are left out: in short runs they would hide everything else.

use crate::wire::wire;

/// The result of the analysis for the time of an MPI call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Fate {
    /// Its waiting, if any, is in the report; calls that cannot wait for others count here too.
    #[default]
    Analysed,
    /// One-sided communication: no wait states are computed.
    OneSided,
    /// MPI-IO: no wait states are computed.
    FileAccess,
    /// Non-blocking, neighbourhood, communicator-creating and other collective operations without analysis.
    OtherCollective,
    /// Alltoallv and Alltoallw, which the reference only counts.
    VariableAllToAll,
    /// Probes that block until there is a message: their waiting is not computed.
    Probe,
    /// Operations among neighbours, where the trace does not say which these are.
    Neighborhood,
    /// Initialization of persistent collective operations, where the trace does not say when they are started.
    PersistentCollective,
    /// Connections to processes that the trace does not have.
    OutsideProcesses,
    /// No partner of its operation was found in the trace.
    Unmatched,
    /// The part of an analysed call that is no wait state and longer than the data transfer can take.
    Unexplained,
}

impl Fate {
    /// All fates, in the order of reports.
    pub const ALL: [Fate; 11] = [
        Fate::Analysed,
        Fate::OneSided,
        Fate::FileAccess,
        Fate::OtherCollective,
        Fate::VariableAllToAll,
        Fate::Probe,
        Fate::Neighborhood,
        Fate::PersistentCollective,
        Fate::OutsideProcesses,
        Fate::Unmatched,
        Fate::Unexplained,
    ];

    /// Returns the reason in words.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Analysed => "analysed",
            Fate::OneSided => "one-sided communication",
            Fate::FileAccess => "MPI file access",
            Fate::OtherCollective => "non-blocking and other collectives",
            Fate::VariableAllToAll => "Alltoallv and Alltoallw",
            Fate::Probe => "blocking probes",
            Fate::Neighborhood => "neighbourhoods without their neighbours",
            Fate::PersistentCollective => "persistent collectives without records",
            Fate::OutsideProcesses => "processes outside of the trace",
            Fate::Unmatched => "no partner in the trace",
            Fate::Unexplained => "time in MPI that is not explained",
        }
    }

    /// Whether nothing has this fate where the reference is followed.
    pub fn is_beyond_reference(self) -> bool {
        matches!(
            self,
            Fate::Neighborhood | Fate::PersistentCollective | Fate::OutsideProcesses | Fate::Unexplained
        )
    }
}

/// Time in MPI calls other than `MPI_Init` and `MPI_Finalize` by its fate, in ticks, summed over locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    ticks: [i64; Fate::ALL.len()],
}

impl Coverage {
    /// Adds the time of a call.
    pub fn add(&mut self, fate: Fate, ticks: i64) {
        let sum = &mut self.ticks[fate as usize];
        *sum = sum.saturating_add(ticks);
    }

    /// Moves the time of a call from the analysed time to another fate.
    pub fn lose(&mut self, fate: Fate, ticks: i64) {
        self.add(Fate::Analysed, -ticks);
        self.add(fate, ticks);
    }

    /// Returns the time with this fate, in ticks.
    pub fn ticks(&self, fate: Fate) -> i64 {
        self.ticks[fate as usize]
    }

    /// Returns all MPI time, in ticks.
    pub fn total(&self) -> i64 {
        self.ticks.iter().copied().fold(0, i64::saturating_add)
    }

    /// Returns the share of the MPI time with this fate, from 0 to 1; without any MPI time all of it counts
    /// as analysed.
    pub fn share(&self, fate: Fate) -> f64 {
        match (self.total(), fate) {
            (0, Fate::Analysed) => 1.0,
            (0, _) => 0.0,
            (total, _) => self.ticks(fate) as f64 / total as f64,
        }
    }

    /// Adds the coverage of another location or worker.
    pub fn merge(&mut self, other: Coverage) {
        for (ticks, more) in self.ticks.iter_mut().zip(other.ticks) {
            *ticks = ticks.saturating_add(more);
        }
    }
}

wire!(Coverage { ticks });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_without_partner_moves_from_analysed_to_unmatched() {
        let mut coverage = Coverage::default();
        coverage.add(Fate::Analysed, 100);
        coverage.lose(Fate::Unmatched, 25);
        assert_eq!((coverage.share(Fate::Analysed), coverage.share(Fate::Unmatched)), (0.75, 0.25));
    }

    #[test]
    fn trace_without_mpi_is_covered() {
        assert_eq!(Coverage::default().share(Fate::Analysed), 1.0);
    }
}
