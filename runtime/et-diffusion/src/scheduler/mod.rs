//! Schedulers: how the latents change with each output of the UNet.

mod ddim;
mod euler;
mod pndm;

use crate::{Prediction, Schedule, Spacing};

/// Removes noise from latents, an output of the UNet at a time.
pub trait Scheduler {
    /// The timestep of each call of the UNet.
    fn timesteps(&self) -> Vec<f64>;

    /// The factor of the first noise.
    fn first_scale(&self) -> f32 {
        1.0
    }

    /// The divisor of the latents in the UNet's input.
    fn input_divisor(&self, _call: usize) -> f32 {
        1.0
    }

    /// Changes the latents by the output of a call. The calls come in their order.
    fn step(&mut self, call: usize, output: &[f32], latents: &mut [f32]);
}

/// A kind of scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name in recipes and in program files.
    pub name: &'static str,
    /// The class in `diffusers`.
    pub class: &'static str,
    /// The predictions that the class knows.
    pub predictions: &'static [Prediction],
    /// The spacing where a configuration states no spacing.
    pub spacing: Spacing,
    /// [`Schedule::ends_at_one`] where a configuration does not state it.
    pub ends_at_one: bool,
    /// Makes the scheduler for a number of steps, 1 or more.
    pub make: fn(schedule: Schedule, steps: usize) -> Box<dyn Scheduler>,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The kinds of schedulers.
pub const SCHEDULERS: [Kind; 3] = [
    Kind {
        name: "pndm",
        class: "PNDMScheduler",
        predictions: &[Prediction::Epsilon, Prediction::Velocity],
        spacing: Spacing::Leading,
        ends_at_one: false,
        make: pndm::make,
    },
    Kind {
        name: "ddim",
        class: "DDIMScheduler",
        predictions: &[Prediction::Epsilon, Prediction::Velocity, Prediction::Sample],
        spacing: Spacing::Leading,
        ends_at_one: true,
        make: ddim::make,
    },
    Kind {
        name: "euler",
        class: "EulerDiscreteScheduler",
        predictions: &[Prediction::Epsilon, Prediction::Velocity],
        spacing: Spacing::Linspace,
        ends_at_one: true,
        make: euler::make,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Betas;

    /// The latents after six steps with a UNet that is a linear function.
    fn latents(kind: Kind, prediction: Prediction) -> Vec<f32> {
        let schedule = Schedule {
            train_steps: 1000,
            betas: Betas::ScaledLinear,
            beta_start: 0.00085,
            beta_end: 0.012,
            prediction,
            spacing: kind.spacing,
            ends_at_one: false,
        };
        let mut scheduler = (kind.make)(schedule, 6);
        let mut latents: Vec<f32> = [1.0, -0.5].iter().map(|latent| latent * scheduler.first_scale()).collect();
        for (call, timestep) in scheduler.timesteps().into_iter().enumerate() {
            let divisor = scheduler.input_divisor(call);
            let rows = latents.iter().zip([0.3, 0.7]);
            let output: Vec<f32> =
                rows.map(|(latent, factor)| factor * (latent / divisor) + timestep as f32 / 1000.0).collect();
            scheduler.step(call, &output, &mut latents);
        }
        latents
    }

    // The numbers of diffusers 0.42.
    #[test]
    fn latents_are_those_of_diffusers() {
        let [pndm, ddim, euler] = SCHEDULERS;
        let (noise, velocity) = (Prediction::Epsilon, Prediction::Velocity);
        for (kind, prediction, expected) in [
            (pndm, noise, [0.915_05, -1.393_704]),
            (pndm, velocity, [0.229_113, -0.360_771]),
            (ddim, noise, [0.523_027, -2.009_971]),
            (ddim, velocity, [0.121_604, -0.416_291]),
            (euler, noise, [-1.048_461, -4.076_255]),
            (euler, velocity, [0.011_208_5, -0.418_578]),
        ] {
            for (found, expected) in latents(kind, prediction).into_iter().zip(expected) {
                let error = (found - expected).abs() / expected.abs();
                assert!(error < 1e-4, "{}, {prediction:?}: {found} is not {expected}", kind.name);
            }
        }
    }
}
