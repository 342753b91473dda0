//! Layout of a graph in layers: what was visited first is at the top, what follows it below.
//!
//! Arrows that lead down go through the layers between, those that lead back run beside all boxes.

use std::cmp::Ordering;

/// Between boxes of a layer, and between layers.
const GAP: [f64; 2] = [30.0, 46.0];

/// Between boxes and the arrows beside them, and between two of these.
const BESIDE: f64 = 16.0;
const LANE: f64 = 10.0;

/// Times that layers are sorted.
const ROUNDS: usize = 8;

/// A point: from the left, from the top.
pub(super) type Point = [f64; 2];

/// Where boxes and arrows are.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Layout {
    /// Centres of boxes.
    pub(super) centres: Vec<Point>,
    /// Points of each arrow.
    pub(super) routes: Vec<Vec<Point>>,
    /// Width and height.
    pub(super) size: Point,
}

/// A place in a layer: a box, or where an arrow passes.
#[derive(Clone, Debug)]
struct Place {
    layer: usize,
    width: f64,
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Places boxes of some sizes, which are in the order of first visits, and arrows between them.
pub(super) fn layout(sizes: &[Point], arrows: &[(usize, usize)]) -> Layout {
    let layer_of = layers(sizes.len(), arrows);
    let count = layer_of.iter().max().map_or(0, |last| last + 1);
    let mut places: Vec<Place> = sizes
        .iter()
        .zip(&layer_of)
        .map(|(size, &layer)| Place { layer, width: size[0], x: 0.0, above: Vec::new(), below: Vec::new() })
        .collect();
    // By arrow down: the places that it comes through.
    let mut passed: Vec<Vec<usize>> = Vec::with_capacity(arrows.len());
    for &(from, to) in arrows {
        let mut way = vec![from];
        if from < to {
            for layer in layer_of[from] + 1..layer_of[to] {
                way.push(places.len());
                places.push(Place { layer, width: 0.0, x: 0.0, above: Vec::new(), below: Vec::new() });
            }
            way.push(to);
            for pair in way.windows(2) {
                places[pair[0]].below.push(pair[1]);
                places[pair[1]].above.push(pair[0]);
            }
        }
        passed.push(way);
    }
    let mut of_layer: Vec<Vec<usize>> = vec![Vec::new(); count];
    places.iter().enumerate().for_each(|(at, place)| of_layer[place.layer].push(at));
    arrange(&mut places, &mut of_layer);
    let least = places.iter().map(|it| it.x - it.width / 2.0).fold(f64::INFINITY, f64::min);
    places.iter_mut().for_each(|it| it.x -= least);
    let width = places.iter().map(|it| it.x + it.width / 2.0).fold(0.0, f64::max);
    // Tops of layers, and their heights.
    let height_of = |layer: &Vec<usize>| {
        layer.iter().filter_map(|&at| sizes.get(at)).map(|size| size[1]).fold(0.0, f64::max)
    };
    let heights: Vec<f64> = of_layer.iter().map(height_of).collect();
    let tops: Vec<f64> = heights
        .iter()
        .scan(0.0, |next, height| {
            let top = *next;
            *next += height + GAP[1];
            Some(top)
        })
        .collect();
    let middle = |at: usize| tops[places[at].layer] + heights[places[at].layer] / 2.0;
    let centres: Vec<Point> = (0..sizes.len()).map(|at| [places[at].x, middle(at)]).collect();
    let mut lane = width + BESIDE;
    let route = |(&(from, to), way): (&(usize, usize), &Vec<usize>)| {
        if from < to {
            let inner = way[1..way.len() - 1].iter().map(|&at| [places[at].x, middle(at)]);
            let begin = [centres[from][0], centres[from][1] + sizes[from][1] / 2.0];
            let end = [centres[to][0], centres[to][1] - sizes[to][1] / 2.0];
            return [begin].into_iter().chain(inner).chain([end]).collect();
        }
        let (x, shift) = (lane, if from == to { sizes[from][1] / 4.0 } else { 0.0 });
        lane += LANE;
        let begin = [centres[from][0] + sizes[from][0] / 2.0, centres[from][1] + shift];
        let end = [centres[to][0] + sizes[to][0] / 2.0, centres[to][1] - shift];
        vec![begin, [x, begin[1]], [x, end[1]], end]
    };
    let routes = arrows.iter().zip(&passed).map(route).collect();
    let height = tops.last().zip(heights.last()).map_or(0.0, |(top, height)| top + height);
    Layout { centres, routes, size: [lane, height] }
}

/// The layer of each box: behind all that lead to it.
fn layers(count: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); count];
    arrows.iter().filter(|(from, to)| from < to).for_each(|&(from, to)| into[to].push(from));
    let mut layers: Vec<usize> = Vec::with_capacity(count);
    for into in into {
        let layer = into.iter().map(|&from| layers[from] + 1).max().unwrap_or(0);
        layers.push(layer);
    }
    layers
}

/// Sorts the places of each layer by the middle of those that they are joined to, and gives them room.
fn arrange(places: &mut [Place], of_layer: &mut [Vec<usize>]) {
    of_layer.iter().for_each(|layer| spread(places, layer));
    for round in 0..ROUNDS {
        let is_down = round % 2 == 0;
        let count = of_layer.len();
        for step in 0..count {
            let layer = &mut of_layer[if is_down { step } else { count - 1 - step }];
            let middle = |at: usize| {
                let joined = if is_down { &places[at].above } else { &places[at].below };
                let sum: f64 = joined.iter().map(|&other| places[other].x).sum();
                #[expect(clippy::cast_precision_loss, reason = "a handful")]
                let count = joined.len() as f64;
                if joined.is_empty() { places[at].x } else { sum / count }
            };
            let mut middles: Vec<(f64, usize)> = layer.iter().map(|&at| (middle(at), at)).collect();
            middles.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1)));
            *layer = middles.iter().map(|&(_, at)| at).collect();
            spread(places, layer);
            // The layer as a whole where it is joined best.
            #[expect(clippy::cast_precision_loss, reason = "a layer")]
            let shift = middles.iter().map(|&(middle, at)| middle - places[at].x).sum::<f64>()
                / middles.len().max(1) as f64;
            layer.iter().for_each(|&at| places[at].x += shift);
        }
    }
}

/// Places those of a layer beside each other, around 0.
fn spread(places: &mut [Place], layer: &[usize]) {
    let mut x = 0.0;
    for &at in layer {
        places[at].x = x + places[at].width / 2.0;
        x += places[at].width + GAP[0];
    }
    let half = (x - GAP[0]) / 2.0;
    layer.iter().for_each(|&at| places[at].x -= half);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_do_not_overlap_and_arrows_end_at_them() {
        let sizes: Vec<Point> = (0..40).map(|at| [60.0 + f64::from(at % 7) * 10.0, 40.0]).collect();
        let mut arrows: Vec<(usize, usize)> = (0..39).map(|at| (at, at + 1)).collect();
        arrows.extend((0..30).map(|at| (at * 7 % 40, at * 11 % 40)));
        let Layout { centres, routes, size } = layout(&sizes, &arrows);
        for a in 0..sizes.len() {
            for b in 0..a {
                let apart = |axis: usize| {
                    (centres[a][axis] - centres[b][axis]).abs() >= (sizes[a][axis] + sizes[b][axis]) / 2.0
                };
                assert!(apart(0) || apart(1), "{a} and {b}");
            }
            let is_inside = (0..2).all(|axis| {
                centres[a][axis] - sizes[a][axis] / 2.0 >= -1e-6
                    && centres[a][axis] + sizes[a][axis] / 2.0 <= size[axis] + 1e-6
            });
            assert!(is_inside, "{a}: {:?} in {size:?}", centres[a]);
        }
        for (&(from, to), route) in arrows.iter().zip(&routes) {
            for (at, point) in [(from, route[0]), (to, *route.last().unwrap())] {
                let is_at = (0..2)
                    .all(|axis| (point[axis] - centres[at][axis]).abs() <= sizes[at][axis] / 2.0 + 1e-6);
                assert!(is_at, "{from} -> {to}: {route:?}");
            }
        }
    }

    #[test]
    fn what_follows_is_below_and_nothing_has_no_size() {
        let layout = layout(&[[10.0, 10.0]; 4], &[(0, 1), (1, 2), (0, 3), (2, 3), (2, 1), (1, 1)]);
        assert!(layout.centres.windows(2).all(|pair| pair[0][1] < pair[1][1]), "{layout:?}");
        assert_eq!(super::layout(&[], &[]).centres, Vec::<Point>::new());
    }
}
