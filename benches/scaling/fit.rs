//! Least-squares fits of `a · x + b · y` to measurements.

/// The non-negative `a` and `b` with the smallest sum of squared relative errors, and the largest relative
/// error. Each measurement is `(x, y, value)` with a positive value.
pub(crate) fn fit(measured: &[(f64, f64, f64)]) -> (f64, f64, f64) {
    // Divided by its value, each measurement has the same weight.
    let relative = || measured.iter().map(|&(x, y, value)| (x / value, y / value));
    let sum = |of: fn((f64, f64)) -> f64| relative().map(of).sum::<f64>();
    let (xx, xy, yy) = (sum(|(x, _)| x * x), sum(|(x, y)| x * y), sum(|(_, y)| y * y));
    let (x, y) = (sum(|(x, _)| x), sum(|(_, y)| y));
    let determinant = xx * yy - xy * xy;
    let (mut a, mut b) = ((x * yy - y * xy) / determinant, (y * xx - x * xy) / determinant);
    // Also if all `x` are zero.
    if a < 0.0 || xx == 0.0 {
        (a, b) = (0.0, y / yy);
    } else if b < 0.0 {
        (a, b) = (x / xx, 0.0);
    }
    let worst = relative().map(|(x, y)| (a * x + b * y - 1.0).abs()).fold(0.0, f64::max);
    (a, b, worst)
}
