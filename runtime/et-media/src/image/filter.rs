//! The kernels of resampling filters.

use et_module::preprocess::Filter;

/// A filter as a function of the distance in pixels, and the distance from which it is zero.
pub struct Kernel {
    /// The weight of a pixel at a distance.
    pub weight: fn(f64) -> f64,
    /// Half of the width.
    pub support: f64,
}

/// The kernel of a filter; `None` for the nearest pixel, which needs no weights.
pub fn kernel(filter: Filter) -> Option<Kernel> {
    Some(match filter {
        Filter::Nearest => return None,
        Filter::Box => Kernel { weight: covered, support: 0.5 },
        Filter::Bilinear => Kernel { weight: triangle, support: 1.0 },
        Filter::Bicubic => Kernel { weight: cubic, support: 2.0 },
        Filter::Lanczos => Kernel { weight: lanczos, support: LOBES },
    })
}

const LOBES: f64 = 3.0;

fn covered(distance: f64) -> f64 {
    if distance > -0.5 && distance <= 0.5 { 1.0 } else { 0.0 }
}

fn triangle(distance: f64) -> f64 {
    (1.0 - distance.abs()).max(0.0)
}

/// Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.5.
fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.5;
    let x = distance.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

fn lanczos(distance: f64) -> f64 {
    if (-LOBES..LOBES).contains(&distance) { sinc(distance) * sinc(distance / LOBES) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    let angle = x * std::f64::consts::PI;
    if angle == 0.0 { 1.0 } else { angle.sin() / angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_one_in_the_middle_and_zero_at_the_other_pixels() {
        for filter in [Filter::Bilinear, Filter::Bicubic, Filter::Lanczos] {
            let Kernel { weight, support } = kernel(filter).unwrap();
            assert_eq!(weight(0.0), 1.0, "{filter:?}");
            for distance in [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, support] {
                assert!(weight(distance).abs() < 1e-12, "{filter:?} {distance}");
            }
        }
        assert!(kernel(Filter::Nearest).is_none());
    }
}
