//! Sizes of pictures between a least and a largest number of pixels, as `smart_resize` of Qwen2-VL computes the sizes.

/// The largest ratio of the sides.
const MOST_RATIO: f64 = 200.0;

/// Height and width: multiples of `factor`, near the aspect ratio, with a product from `least` to `most`. A picture that is one factor
/// high or wide may have more pixels.
///
/// # Errors
/// A picture whose longer side is more than 200 times the shorter side.
pub fn size(size: [usize; 2], factor: usize, [least, most]: [usize; 2]) -> Result<[usize; 2], String> {
    let [height, width] = size.map(|side| side as f64);
    if height.max(width) / height.min(width) > MOST_RATIO {
        let [height, width] = size;
        return Err(format!("the longer side of {height}x{width} is more than {MOST_RATIO} times the shorter side"));
    }
    let step = factor.max(1) as f64;
    let multiple = |count: f64| (count as usize).saturating_mul(factor);
    let near = size.map(|side| multiple((side as f64 / step).round_ties_even()));
    let pixels = near[0].saturating_mul(near[1]);
    if pixels > most {
        let shrink = (height * width / most as f64).sqrt();
        return Ok([height, width].map(|side| multiple((side / shrink / step).floor()).max(factor)));
    }
    if pixels < least {
        let growth = (least as f64 / (height * width)).sqrt();
        return Ok([height, width].map(|side| multiple((side * growth / step).ceil())));
    }
    Ok(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_smart_resize() {
        for (given, expected) in [
            ([480, 640], [476, 644]),
            ([3000, 4000], [840, 1148]),
            ([42, 70], [56, 56]),
            ([9, 1500], [28, 728]),
            ([20, 20], [56, 56]),
            ([14, 42], [56, 112]),
        ] {
            assert_eq!(size(given, 28, [3136, 28 * 28 * 1280]), Ok(expected), "{given:?}");
        }
    }

    #[test]
    fn a_strip_is_refused() {
        assert!(size([1, 201], 28, [3136, 784_000]).unwrap_err().contains("200 times"));
        assert!(size([1, 200], 28, [3136, 784_000]).is_ok());
    }
}
