//! The cosines and sines of positions.

/// The elements of two tables, `[positions, pairs]`: cosines and sines of the products of positions and frequencies, times a factor. Angles
/// are rounded to `float32`, and so are the functions of both.
pub fn angles(frequencies: &[f32], positions: u32, factor: f32) -> [Vec<f32>; 2] {
    let length = positions as usize * frequencies.len();
    let [mut cosines, mut sines] = [Vec::with_capacity(length), Vec::with_capacity(length)];
    for position in 0..positions {
        for frequency in frequencies {
            let angle = f64::from(position as f32 * frequency);
            cosines.push(angle.cos() as f32 * factor);
            sines.push(angle.sin() as f32 * factor);
        }
    }
    [cosines, sines]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_position_has_a_row_of_all_frequencies() {
        let expected = |function: fn(f64) -> f64| [0.0, 0.0, 1.0, 0.25].map(|angle| 2.0 * function(angle) as f32);
        assert_eq!(angles(&[1.0, 0.25], 2, 2.0), [f64::cos, f64::sin].map(|function| expected(function).to_vec()));
    }
}
