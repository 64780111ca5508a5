//! Euler's method on the deviations of the noise (algorithm 2 of Karras et al. 2022, without added noise).

use super::Scheduler;
use crate::{Prediction, Schedule, Spacing};

/// The scheduler.
pub struct Euler {
    schedule: Schedule,
    timesteps: Vec<f64>,
    /// The deviation of the noise at each timestep, and 0 at the end.
    sigmas: Vec<f32>,
}

/// The scheduler for a number of steps.
pub fn make(schedule: Schedule, steps: usize) -> Box<dyn Scheduler> {
    let timesteps: Vec<f64> = schedule.timesteps(steps).iter().map(|timestep| f64::from(*timestep as f32)).collect();
    let trained: Vec<f32> = schedule.alphas().iter().map(|alpha| ((1.0 - alpha) / alpha).sqrt()).collect();
    let sigmas = timesteps.iter().map(|timestep| interpolated(&trained, *timestep)).chain([0.0]).collect();
    Box::new(Euler { schedule, timesteps, sigmas })
}

impl Scheduler for Euler {
    fn timesteps(&self) -> Vec<f64> {
        self.timesteps.clone()
    }

    fn first_scale(&self) -> f32 {
        let most = self.sigmas.iter().copied().fold(0.0, f32::max);
        if self.schedule.spacing == Spacing::Leading { (most * most + 1.0).sqrt() } else { most }
    }

    fn input_divisor(&self, call: usize) -> f32 {
        let sigma = self.sigma(call);
        (sigma * sigma + 1.0).sqrt()
    }

    fn step(&mut self, call: usize, output: &[f32], latents: &mut [f32]) {
        let (sigma, next) = (self.sigma(call), self.sigma(call + 1));
        let variance = sigma * sigma + 1.0;
        for (latent, output) in latents.iter_mut().zip(output) {
            let picture = match self.schedule.prediction {
                Prediction::Epsilon => *latent - sigma * output,
                Prediction::Velocity => output * (-sigma / variance.sqrt()) + *latent / variance,
                Prediction::Sample => *output,
            };
            *latent += (*latent - picture) / sigma * (next - sigma);
        }
    }
}

impl Euler {
    fn sigma(&self, index: usize) -> f32 {
        self.sigmas.get(index).copied().unwrap_or_default()
    }
}

/// The value between two elements.
fn interpolated(values: &[f32], place: f64) -> f32 {
    let index = place.floor() as usize;
    let at = |index: usize| values.get(index).or(values.last()).copied().map_or(0.0, f64::from);
    (at(index) + (at(index + 1) - at(index)) * place.fract()) as f32
}
