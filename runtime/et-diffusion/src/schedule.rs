//! The noise schedule: how much of a picture is noise at a timestep, and the timesteps of the steps.

use std::f64::consts::FRAC_PI_2;

/// The noise schedule that a model was trained with, and the timesteps of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The number of timesteps of the training.
    pub train_steps: usize,
    /// The form of the variances.
    pub betas: Betas,
    /// The variance of the first timestep.
    pub beta_start: f64,
    /// The variance of the last timestep.
    pub beta_end: f64,
    /// The meaning of the UNet's output.
    pub prediction: Prediction,
    /// The places of the timesteps.
    pub spacing: Spacing,
    /// Whether nothing of the last step's result is noise; else as much as at timestep 0.
    pub ends_at_one: bool,
}

/// The form of the variances over the timesteps of the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Betas {
    /// Evenly spaced.
    Linear,
    /// Squares of evenly spaced numbers.
    ScaledLinear,
    /// A squared cosine, capped (Nichol and Dhariwal 2021).
    SquaredCosine,
}

/// The meaning of the UNet's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prediction {
    /// The noise.
    Epsilon,
    /// The velocity (Salimans and Ho 2022).
    Velocity,
    /// The latents without noise.
    Sample,
}

/// The places of the timesteps (table 2 of Lin et al. 2023).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// From 1 on, in steps of equal length.
    Leading,
    /// From the last timestep down, in steps of equal length.
    Trailing,
    /// From the first to the last timestep.
    Linspace,
}

/// The offset of leading timesteps, which the pipeline of Stable Diffusion prescribes.
const OFFSET: f64 = 1.0;
/// The largest variance of a squared cosine.
const MOST_BETA: f64 = 0.999;

impl Schedule {
    /// The share of the picture in the variance, by timestep: the cumulative product of 1 less the variances.
    pub fn alphas(&self) -> Vec<f32> {
        let count = self.train_steps;
        let mut product = 1.0_f64;
        let alpha = |index| {
            product *= f64::from(1.0 - self.beta(index, count));
            product as f32
        };
        (0..count).map(alpha).collect()
    }

    fn beta(&self, index: usize, count: usize) -> f32 {
        match self.betas {
            Betas::Linear => between(self.beta_start, self.beta_end, index, count),
            Betas::ScaledLinear => between(self.beta_start.sqrt(), self.beta_end.sqrt(), index, count).powi(2),
            Betas::SquaredCosine => {
                let share = |index: usize| ((index as f64 / count as f64 + 0.008) / 1.008 * FRAC_PI_2).cos().powi(2);
                (1.0 - share(index + 1) / share(index)).min(MOST_BETA) as f32
            }
        }
    }

    /// The timesteps of a number of steps, the last first. `steps` is from 1 to the timesteps of the training.
    pub fn timesteps(&self, steps: usize) -> Vec<f64> {
        let (count, train) = (steps as f64, self.train_steps as f64);
        let indices = (0..steps).rev().map(|index| index as f64);
        match self.spacing {
            Spacing::Leading => indices.map(|index| index * self.stride(steps) as f64 + OFFSET).collect(),
            Spacing::Trailing => {
                indices.rev().map(|index| (train - index * (train / count)).round_ties_even() - 1.0).collect()
            }
            Spacing::Linspace => indices.map(|index| index * ((train - 1.0) / (count - 1.0).max(1.0))).collect(),
        }
    }

    /// The timesteps, rounded.
    pub fn whole_timesteps(&self, steps: usize) -> Vec<usize> {
        let whole = |timestep: f64| (timestep.round_ties_even() as usize).min(self.train_steps.saturating_sub(1));
        self.timesteps(steps).into_iter().map(whole).collect()
    }

    /// The distance of the timesteps of two steps.
    pub const fn stride(&self, steps: usize) -> usize {
        self.train_steps / if steps == 0 { 1 } else { steps }
    }
}

/// An evenly spaced number in single precision, as `torch.linspace` computes the number from the nearer end.
fn between(start: f64, end: f64, index: usize, count: usize) -> f32 {
    let (start, end) = (start as f32, end as f32);
    let step = (end - start) / count.saturating_sub(1).max(1) as f32;
    if index < count / 2 { start + step * index as f32 } else { end - step * (count - index - 1) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STABLE: Schedule = Schedule {
        train_steps: 1000,
        betas: Betas::ScaledLinear,
        beta_start: 0.00085,
        beta_end: 0.012,
        prediction: Prediction::Epsilon,
        spacing: Spacing::Leading,
        ends_at_one: false,
    };

    // The numbers of diffusers 0.42.
    #[test]
    fn alphas_are_those_of_diffusers() {
        let rows = [
            (Betas::Linear, [0.99915, 0.16181217, 0.0015981406]),
            (Betas::ScaledLinear, [0.99915, 0.27766943, 0.0047166958]),
            (Betas::SquaredCosine, [0.9999587, 0.49384347, 2.4287663e-06]),
        ];
        for (betas, expected) in rows {
            let alphas = Schedule { betas, ..STABLE }.alphas();
            for (index, expected) in [0, 499, 998].into_iter().zip(expected) {
                let error = (alphas[index] / expected - 1.0_f32).abs();
                assert!(error < 1e-5, "{betas:?} {index}: {} is not {expected}", alphas[index]);
            }
        }
    }

    #[test]
    fn timesteps_have_a_place_by_spacing() {
        let of = |spacing, steps| Schedule { spacing, ..STABLE }.whole_timesteps(steps);
        assert_eq!(of(Spacing::Leading, 3), [667, 334, 1]);
        assert_eq!(of(Spacing::Trailing, 3), [999, 666, 332]);
        assert_eq!(of(Spacing::Linspace, 3), [999, 500, 0]);
        assert_eq!(of(Spacing::Linspace, 1), [0]);
    }
}
