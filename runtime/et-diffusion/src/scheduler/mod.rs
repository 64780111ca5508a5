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
