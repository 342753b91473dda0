//! What processes account for besides severities: findings, coverage, and waiting that wrong clocks may have made up.

use crate::clock_errors::Doubtful;
use crate::coverage::Coverage;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, reduce};
use crate::findings::Findings;
use crate::walk::ProcessProfile;
use crate::wire::Wire;

/// What all processes account for besides severities.
pub(super) struct Accounts {
    pub(super) findings: Findings,
    pub(super) coverage: Coverage,
    pub(super) doubtful: Doubtful,
}

impl Accounts {
    /// Those of all workers, at worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        profiles: &[ProcessProfile],
        findings: Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Accounts, Error> {
        let mut own = Accounts { findings, coverage: Coverage::default(), doubtful: Doubtful::default() };
        for profile in profiles {
            own.findings.merge(profile.findings.clone());
            own.coverage.merge(profile.coverage);
            own.doubtful.merge(&profile.doubtful);
        }
        let encode = |accounts: &Accounts| {
            let mut batch = Batch::new();
            accounts.findings.put(&mut batch);
            accounts.coverage.put(&mut batch);
            accounts.doubtful.put(&mut batch);
            batch
        };
        reduce(exchange, own, encode, |accounts, words| {
            let mut reader = BatchReader::new(words);
            accounts.findings.merge(Wire::get(&mut reader));
            accounts.coverage.merge(Wire::get(&mut reader));
            accounts.doubtful.merge(&Wire::get(&mut reader));
        })
    }
}
