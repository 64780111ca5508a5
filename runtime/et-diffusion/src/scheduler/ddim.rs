//! DDIM (Song et al. 2020) without added noise.

use super::Scheduler;
use crate::{Prediction, Schedule};

/// The scheduler.
pub struct Ddim {
    schedule: Schedule,
    alphas: Vec<f32>,
    stride: usize,
    timesteps: Vec<usize>,
}

/// The scheduler for a number of steps.
pub fn make(schedule: Schedule, steps: usize) -> Box<dyn Scheduler> {
    let (alphas, stride, timesteps) = (schedule.alphas(), schedule.stride(steps), schedule.whole_timesteps(steps));
    Box::new(Ddim { schedule, alphas, stride, timesteps })
}

impl Scheduler for Ddim {
    fn timesteps(&self) -> Vec<f64> {
        self.timesteps.iter().map(|timestep| *timestep as f64).collect()
    }

    fn step(&mut self, call: usize, output: &[f32], latents: &mut [f32]) {
        let here = self.timesteps.get(call).copied().unwrap_or_default();
        let at = |timestep: usize| self.alphas.get(timestep).copied().unwrap_or(1.0);
        let end = if self.schedule.ends_at_one { 1.0 } else { at(0) };
        let (alpha, next) = (at(here), here.checked_sub(self.stride).map_or(end, at));
        let (scale, deviation) = (alpha.sqrt(), (1.0 - alpha).sqrt());
        for (latent, output) in latents.iter_mut().zip(output) {
            let (picture, noise) = match self.schedule.prediction {
                Prediction::Epsilon => ((*latent - deviation * output) / scale, *output),
                Prediction::Sample => (*output, (*latent - scale * output) / deviation),
                Prediction::Velocity => (scale * *latent - deviation * output, scale * output + deviation * *latent),
            };
            *latent = next.sqrt() * picture + (1.0 - next).sqrt() * noise;
        }
    }
}
