//! Coverage of runs: where little of the MPI time was analysed, waiting is not known, and must not be taken as small.

use patterns::PATTERNS;

use super::side::Side;
use crate::overview::LEAST_COVERAGE;
use crate::values::{DELAY, WAITING};

/// Whether values of a metric come from the analysis of MPI calls: waiting in MPI, and its causes.
pub fn needs_coverage(metric: &str) -> bool {
    let is_of_mpi = || {
        let mut ids = PATTERNS.iter().map(|pattern| pattern.metric.id).filter(|id| id.starts_with("mpi_"));
        ids.any(|id| id == metric)
    };
    metric == WAITING
        || metric == DELAY
        || is_of_mpi()
        || patterns::metrics_of_causes().any(|it| it.id == metric)
}

/// The least share of the MPI time that was analysed in a run of a side, from 0 to 1; `None` if no run says it.
pub fn least(side: &Side<'_>) -> Option<f64> {
    side.runs.iter().filter_map(|run| run.coverage).reduce(f64::min)
}

/// Whether as much was analysed as numbers of waiting need, or no run says that it was not.
pub fn is_enough(side: &Side<'_>) -> bool {
    least(side).is_none_or(|coverage| coverage >= LEAST_COVERAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_in_mpi_and_its_causes_need_coverage() {
        for name in ["waiting", "delay", "mpi_latesender", "mpi_wait_nxn", "delay_latesender"] {
            assert!(needs_coverage(name), "{name}");
        }
        for name in ["time", "mpi", "comp", "visits", "omp_ibarrier_wait"] {
            assert!(!needs_coverage(name), "{name}");
        }
    }
}
