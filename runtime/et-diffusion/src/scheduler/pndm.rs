//! PNDM (Liu et al. 2022) without Runge-Kutta steps, as Stable Diffusion 1 uses it: a linear multistep method of up to four outputs. The
//! first step calls the UNet twice.

use super::Scheduler;
use crate::{Prediction, Schedule};

/// The most outputs that a step is made of.
const ORDER: usize = 4;

/// The state between the calls of the UNet.
pub struct Pndm {
    schedule: Schedule,
    alphas: Vec<f32>,
    stride: usize,
    timesteps: Vec<usize>,
    /// The last outputs of the UNet, the newest last.
    outputs: Vec<Vec<f32>>,
    /// The latents before the first step.
    before: Vec<f32>,
}

/// The scheduler for a number of steps.
pub fn make(schedule: Schedule, steps: usize) -> Box<dyn Scheduler> {
    let mut timesteps = schedule.whole_timesteps(steps);
    if let Some(second) = timesteps.get(1).copied() {
        timesteps.insert(1, second);
    }
    let (alphas, stride) = (schedule.alphas(), schedule.stride(steps));
    Box::new(Pndm { schedule, alphas, stride, timesteps, outputs: Vec::new(), before: Vec::new() })
}

impl Scheduler for Pndm {
    fn timesteps(&self) -> Vec<f64> {
        self.timesteps.iter().map(|timestep| *timestep as f64).collect()
    }

    fn step(&mut self, call: usize, output: &[f32], latents: &mut [f32]) {
        let here = self.timesteps.get(call).copied().unwrap_or_default();
        let stride = self.stride;
        if call == 1 {
            // The second call repairs the first step: at its end, with the latents from before.
            let mean: Vec<f32> = self.last(0).iter().zip(output).map(|(last, output)| (output + last) / 2.0).collect();
            latents.copy_from_slice(&self.before);
            return self.advance(&mean, latents, (here + stride, Some(here)));
        }
        if call == 0 {
            self.before = latents.to_vec();
        }
        if self.outputs.len() == ORDER {
            self.outputs.remove(0);
        }
        self.outputs.push(output.to_vec());
        let combined = self.combined();
        self.advance(&combined, latents, (here, here.checked_sub(stride)));
    }
}

impl Pndm {
    /// An output, counted back from the newest.
    fn last(&self, back: usize) -> &[f32] {
        self.outputs.iter().rev().nth(back).map_or(&[], Vec::as_slice)
    }

    /// The linear multistep combination of the last outputs (Adams-Bashforth).
    fn combined(&self) -> Vec<f32> {
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|back| self.last(back));
        let all = |combine: &dyn Fn(usize) -> f32| (0..first.len()).map(combine).collect();
        match self.outputs.len() {
            0 | 1 => first.to_vec(),
            2 => all(&|at| (3.0 * first[at] - second[at]) / 2.0),
            3 => all(&|at| (23.0 * first[at] - 16.0 * second[at] + 5.0 * third[at]) / 12.0),
            _ => all(&|at| (1.0 / 24.0) * (55.0 * first[at] - 59.0 * second[at] + 37.0 * third[at] - 9.0 * fourth[at])),
        }
    }

    /// Formula 9 of the paper, from one timestep to another; `None` for the end.
    fn advance(&self, output: &[f32], latents: &mut [f32], (from, to): (usize, Option<usize>)) {
        let at = |timestep: usize| self.alphas.get(timestep).or(self.alphas.last()).copied().unwrap_or(1.0);
        let end = if self.schedule.ends_at_one { 1.0 } else { at(0) };
        let (alpha, next) = (at(from), to.map_or(end, at));
        let (beta, next_beta) = (1.0 - alpha, 1.0 - next);
        let scale = (next / alpha).sqrt();
        let divisor = alpha * next_beta.sqrt() + (alpha * beta * next).sqrt();
        for (latent, output) in latents.iter_mut().zip(output) {
            let output = match self.schedule.prediction {
                Prediction::Velocity => alpha.sqrt() * output + beta.sqrt() * *latent,
                Prediction::Epsilon | Prediction::Sample => *output,
            };
            *latent = scale * *latent - (next - alpha) * output / divisor;
        }
    }
}
