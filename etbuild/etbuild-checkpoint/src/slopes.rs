//! The slopes of heads in attention with linear biases (Press et al. 2022, ALiBi).

/// A slope for each head: the powers of one base for the greatest power of two in the number of heads; the other heads have the odd
/// powers of the base for twice as many heads.
pub fn of(heads: usize) -> Vec<f32> {
    let whole = 1_usize << heads.max(1).ilog2();
    let base = |heads: usize| 2.0_f64.powf(-8.0 / heads as f64) as f32;
    let powers = |base: f32, first: usize, step: usize, count: usize| {
        (0..count).map(move |index| f64::from(base).powi((first + step * index) as i32) as f32)
    };
    powers(base(whole), 1, 1, whole).chain(powers(base(2 * whole), 1, 2, heads - whole)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_powers_and_other_heads_lie_between() {
        assert_eq!(of(8), [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015_625, 0.007_812_5, 0.003_906_25]);
        let expected = [0.25, 0.0625, 0.015_625, 0.003_906_25, 0.5, 0.125];
        assert!(of(6).iter().zip(expected).all(|(slope, expected)| (slope - expected).abs() < 1e-7));
    }
}
