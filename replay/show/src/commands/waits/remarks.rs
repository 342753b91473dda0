//! What the list of waits does not have: it is bounded, and has one member of each operation.

use cubex::MetricId;

use super::{Args, Names, is_completion};
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::output::numbers;
use crate::overview::{LEAST_COVERAGE, coverage};
use crate::tables::waits::Instance;
use crate::values::{Values, WAITING};

/// What is to be said besides the waits that are wanted.
pub(super) fn remarks(
    args: &Args,
    opened: &Opened,
    waits: &[Instance],
    names: &Names<'_>,
) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    let coverage = coverage(opened).filter(|&coverage| coverage < LEAST_COVERAGE);
    if !waits.iter().any(|wait| is_wanted(args, wait, names)) {
        remarks.push(missing(args, opened, names, coverage.is_none())?);
        remarks.extend(above(args, waits, names));
    }
    remarks.extend(longest(args, waits, names));
    remarks.extend(coverage.map(|coverage| {
        format!("{} of the time in MPI was analysed: other waits are not known", numbers::percent(coverage))
    }));
    Ok(remarks)
}

/// Whether the arguments choose a wait.
pub(super) fn is_wanted(args: &Args, wait: &Instance, names: &Names<'_>) -> bool {
    args.metric.as_ref().is_none_or(|metric| names.is_of(wait, metric))
        && args.rank.is_none_or(|rank| names.rank(wait) == Some(rank))
}

/// That there are none of these waits: none at all only if the report has no such time either.
fn missing(args: &Args, opened: &Opened, names: &Names<'_>, is_analysed: bool) -> Result<String> {
    let cube = opened.cube();
    let metric = args.metric.as_deref().unwrap_or(WAITING);
    let values = Values::new(&opened.report);
    let mut seconds = None;
    if let Some(quantity) = values.find(metric) {
        let row = or_obstacle(values.by_location(&quantity, &|_| true))?.unwrap_or_default();
        let of_rank = row.iter().enumerate().filter(|(at, _)| {
            args.rank.is_none_or(|rank| cube.location_groups[cube.locations[*at].group.0].rank == rank)
        });
        seconds = (!row.is_empty()).then(|| of_rank.map(|(_, value)| value).sum::<f64>());
    }
    let whose = args.rank.map_or("all ranks".to_owned(), |rank| format!("rank {rank}"));
    let what = args.metric.as_deref().map_or("waiting".into(), |metric| names.title_of(metric));
    Ok(match seconds {
        Some(0.0) if is_analysed => "no such waits".into(),
        Some(seconds) if seconds > 0.0 => {
            let seconds = numbers::seconds(seconds);
            format!("{what} of {whose} is {seconds}, but the report lists no such waits")
        }
        _ => "the report lists no such waits".into(),
    })
}

/// Where waits of a metric are listed if not under its own name: under the next metric above that has any.
fn above(args: &Args, waits: &[Instance], names: &Names<'_>) -> Option<String> {
    let wanted = names.cube.metric_named(args.metric.as_ref()?)?;
    let parent = |id: MetricId| names.cube.metrics.get(id.0).and_then(|metric| metric.parent);
    let is_listed = |metric: &str| {
        let of_rank = |wait: &&Instance| args.rank.is_none_or(|rank| names.rank(wait) == Some(rank));
        waits.iter().filter(of_rank).any(|wait| names.metrics(wait).any(|name| name == metric))
    };
    let mut above = std::iter::successors(parent(wanted), |&id| parent(id));
    let metric = above.find_map(|id| {
        let name = names.cube.metrics.get(id.0)?.unique_name.as_str();
        is_listed(name).then_some(name)
    })?;
    Some(format!("they may be among those of {} (-m\u{a0}{metric})", names.title_of(metric)))
}

/// That a rank may have waited in operations that are listed for the member that waited longest.
fn longest(args: &Args, waits: &[Instance], names: &Names<'_>) -> Option<String> {
    let rank = args.rank?;
    let may_take_part = |wait: &&Instance| {
        let Ok(communicator) = u32::try_from(wait.communicator) else { return false };
        let known = names.manifest.communicators.iter().find(|known| known.number == communicator);
        let members = known.and_then(|known| known.members.as_ref());
        wait.members > 1
            && names.rank(wait) != Some(rank)
            && members.is_none_or(|members| members.iter().any(|&member| u64::from(member) == rank))
            && match &args.metric {
                Some(metric) => names.is_of(wait, metric),
                None => !is_completion(names.metric(wait.metric)),
            }
    };
    let count = waits.iter().filter(may_take_part).count();
    let operations = if count == 1 { "operation" } else { "operations" };
    (count > 0).then(|| {
        format!(
            "only the longest waiter of each operation is listed: \
             rank {rank} may have waited in {count} {operations} listed for other ranks"
        )
    })
}
