//! Clusters: iterations that are alike (structure 3.3).

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// What distinguishes iterations: numbers of the size of 1.
pub type Features = [f64; 3];

/// The distance up to which iterations are alike, before it is doubled.
const DISTANCE: f64 = 0.1;

/// Iterations that are alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// The member nearest to the mean of all.
    pub representative: usize,
    /// Its members, rising.
    pub members: Vec<usize>,
}

/// Sorts iterations into at most `most` clusters, and returns these with the distance up to which their members are alike. In
/// rising order of features each joins the first leader within that distance, or becomes one; the distance is doubled until
/// there are few enough clusters. Iterations of different classes are in different clusters, unless there are more
/// classes than `most`.
pub fn clusters(features: &[Features], classes: &[u32], most: usize) -> (f64, Vec<Cluster>) {
    let mut order: Vec<usize> = (0..features.len()).collect();
    order.sort_by(|&a, &b| compare(&features[a], &features[b]).then(a.cmp(&b)));
    let most = most.max(1);
    let is_separate = classes.iter().collect::<BTreeSet<_>>().len() <= most;
    let mut distance = DISTANCE;
    loop {
        if let Some(clusters) =
            with_distance(features, &order, is_separate.then_some(classes), distance, most)
        {
            return (distance, clusters.into_iter().map(|members| cluster(features, members)).collect());
        }
        distance *= 2.0;
    }
}

/// The members of each cluster, the leader first; `None` if there are more than `most`.
fn with_distance(
    features: &[Features],
    order: &[usize],
    classes: Option<&[u32]>,
    distance: f64,
    most: usize,
) -> Option<Vec<Vec<usize>>> {
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for &at in order {
        // Numbers that are none have no distance: they must not keep us searching.
        let is_alike = |leader: usize| {
            classes.is_none_or(|classes| classes[leader] == classes[at])
                && difference(&features[at], &features[leader]).partial_cmp(&distance)
                    != Some(Ordering::Greater)
        };
        match clusters.iter().position(|members| is_alike(members[0])) {
            Some(cluster) => clusters[cluster].push(at),
            None => clusters.push(vec![at]),
        }
        if clusters.len() > most {
            return None;
        }
    }
    Some(clusters)
}

fn cluster(features: &[Features], mut members: Vec<usize>) -> Cluster {
    let count = members.len() as f64;
    let mean: Features =
        std::array::from_fn(|axis| members.iter().map(|&member| features[member][axis]).sum::<f64>() / count);
    members.sort_unstable();
    let to_mean = |&member: &usize| difference(&features[member], &mean);
    let nearest = members.iter().copied().min_by(|a, b| to_mean(a).total_cmp(&to_mean(b)));
    Cluster { representative: nearest.unwrap_or(0), members }
}

fn compare(a: &Features, b: &Features) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn difference(a: &Features, b: &Features) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[f64], classes: &[u32], most: usize) -> Vec<(usize, Vec<usize>)> {
        let features: Vec<Features> = list.iter().map(|&it| [it, 0.0, 0.0]).collect();
        let (_, clusters) = clusters(&features, classes, most);
        clusters.into_iter().map(|cluster| (cluster.representative, cluster.members)).collect()
    }

    #[test]
    fn iterations_that_are_alike_are_together_and_the_middle_one_stands_for_them() {
        assert_eq!(of(&[1.0, 1.02, 5.0, 1.01], &[0; 4], 10), [(3, vec![0, 1, 3]), (2, vec![2])]);
        assert_eq!(of(&[], &[], 10), []);
    }

    #[test]
    fn iterations_of_different_classes_are_apart_unless_there_are_too_many_classes() {
        assert_eq!(of(&[1.0, 1.0, 1.0], &[0, 1, 0], 10), [(0, vec![0, 2]), (1, vec![1])]);
        assert_eq!(of(&[1.0, 1.0, 1.0], &[0, 1, 2], 2), [(0, vec![0, 1, 2])]);
    }

    #[test]
    fn the_distance_grows_until_there_are_few_enough_clusters() {
        let features: Vec<Features> = (0..100).map(|at| [f64::from(at), 0.0, 0.0]).collect();
        let (distance, clusters) = clusters(&features, &[0; 100], 10);
        assert!(clusters.len() <= 10 && distance > 9.0, "{distance}");
        assert_eq!(clusters.iter().map(|cluster| cluster.members.len()).sum::<usize>(), 100);
    }

    #[test]
    fn classes_that_stay_apart_at_any_distance_end_the_search() {
        let alone: Vec<u32> = (0..5).collect();
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0], &alone, 5).len(), 5);
    }
}
