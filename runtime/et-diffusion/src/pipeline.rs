//! The pipeline: a prompt becomes a picture.

use std::rc::Rc;
use std::sync::Arc;

use et_module::{Engines, FileBytes, named_data};

use crate::network::{Network, malformed};
use crate::prompt::{Prompt, Prompts};
use crate::times::timed;
use crate::{DIFFUSION_KEY, Error, Facts, Loading, Noise, Settings, Times};

/// The methods of a pipeline: the text encoder, the UNet, the decoder of the VAE.
pub const METHODS: [&str; 3] = ["text_encoder", "unet", "vae_decoder"];

const TEXT_ENCODER: &str = METHODS[0];
const UNET: &str = METHODS[1];
const VAE_DECODER: &str = METHODS[2];

/// A pipeline. A method is loaded while the method is in use, so that memory is needed for one method at a time.
pub struct Pipeline<'k> {
    file: Rc<FileBytes>,
    facts: Facts,
    loading: Loading<'k>,
    engines: Engines,
}

/// The contents of a picture, as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The tokens of the prompt.
    pub prompt: Vec<u32>,
    /// The tokens of the negative prompt.
    pub negative: Vec<u32>,
    /// The noise at the beginning; the noise of the seed for `None`.
    pub noise: Option<Vec<f32>>,
}

/// A stage of a picture that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// The text encoder has read the prompts.
    Text,
    /// The UNet has been called so many times of all.
    Step(usize, usize),
    /// The VAE decoder has made the picture.
    Decoded,
}

/// What a caller does after each stage, such as the display of a bar; an error ends the picture.
pub type See<'s> = &'s mut dyn FnMut(Stage) -> Result<(), Error>;

impl<'k> Pipeline<'k> {
    /// The pipeline of a program file; `None` for a program file with another model.
    ///
    /// # Errors
    /// Malformed facts.
    pub fn find(file: &Rc<FileBytes>, loading: Loading<'k>) -> Result<Option<Self>, Error> {
        let Some(facts) = named_data(file, DIFFUSION_KEY) else { return Ok(None) };
        let engines = Engines::new(loading.engines, loading.threads);
        let engines = match loading.observer {
            Some(observer) => engines.observed_by(Arc::clone(observer)),
            None => engines,
        };
        Ok(Some(Self { file: Rc::clone(file), facts: Facts::parse(facts)?, loading, engines }))
    }

    /// The facts in the program file.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.engines.threads()
    }

    /// The prompts as tokens, and the number of tokens that were cut off from each.
    ///
    /// # Errors
    /// A missing tokenizer; a text that the tokenizer refuses.
    pub fn read(&self, prompt: &str, negative: &str) -> Result<(Given, [usize; 2]), Error> {
        let prompts = Prompts::of(&self.file, &self.facts, self.loading.text)?;
        let [prompt, negative] = [prompts.read(prompt)?, prompts.read(negative)?];
        let cuts = [&prompt, &negative].map(|Prompt { cut, .. }| *cut);
        Ok((Given { prompt: prompt.tokens, negative: negative.tokens, noise: None }, cuts))
    }

    /// Makes a picture: the sizes `[1, 3, height, width]`, and numbers from -1 to 1.
    ///
    /// # Errors
    /// Settings out of range; methods that fail, or that do not fit together.
    pub fn make(
        &self,
        given: &Given,
        settings: &Settings,
        see: See<'_>,
    ) -> Result<(Vec<usize>, Vec<f32>, Times), Error> {
        settings.check(self.facts.schedule.train_steps)?;
        let mut times = Times::default();
        let states = self.encode(given, settings, &mut times)?;
        see(Stage::Text)?;
        let latents = self.denoise(&states, given.noise.as_deref(), settings, (&mut times, see))?;
        let (sizes, numbers) = self.decode(latents, &mut times)?;
        see(Stage::Decoded)?;
        Ok((sizes, numbers, times))
    }

    /// The states of the prompts that a picture needs, the negative prompt first.
    fn encode(&self, given: &Given, settings: &Settings, times: &mut Times) -> Result<Vec<Vec<f32>>, Error> {
        let (mut encoder, load) = timed(|| self.load(TEXT_ENCODER))?;
        times.load_ms[0] = load;
        let input = encoder.only_input()?;
        let [batch, length] = encoder.sizes(input)?;
        let negative = settings.is_guided().then_some(&given.negative);
        let mut states = Vec::new();
        for tokens in negative.into_iter().chain([&given.prompt]) {
            same_count("tokens", tokens.len(), length)?;
            let tokens: Vec<f32> = tokens.iter().map(|token| *token as f32).collect();
            encoder.set(input, &tokens)?;
            let ((_, mut output), elapsed) = timed(|| encoder.run())?;
            times.text_encoder_ms += elapsed;
            output.truncate(output.len() / batch.max(1));
            states.push(output);
        }
        Ok(states)
    }

    /// Removes the noise; returns the latents.
    fn denoise(
        &self,
        states: &[Vec<f32>],
        noise: Option<&[f32]>,
        settings: &Settings,
        (times, see): (&mut Times, See<'_>),
    ) -> Result<Vec<f32>, Error> {
        let (mut unet, load) = timed(|| Denoiser::new(self.load(UNET)?))?;
        times.load_ms[1] = load;
        let mut scheduler = (self.facts.scheduler.make)(self.facts.schedule, settings.steps);
        let mut latents = match noise {
            Some(noise) => {
                same_count("elements of noise", noise.len(), unet.latents)?;
                noise.to_vec()
            }
            None => Noise::new(settings.seed).normal(unet.latents),
        };
        latents.iter_mut().for_each(|latent| *latent *= scheduler.first_scale());
        let timesteps = scheduler.timesteps();
        for (call, timestep) in timesteps.iter().enumerate() {
            let divisor = scheduler.input_divisor(call);
            let input: Vec<f32> = latents.iter().map(|latent| latent / divisor).collect();
            let (output, elapsed) = timed(|| unet.call(&input, *timestep, states, settings.guidance))?;
            times.unet_ms.push(elapsed);
            scheduler.step(call, &output, &mut latents);
            see(Stage::Step(call + 1, timesteps.len()))?;
        }
        Ok(latents)
    }

    fn decode(&self, mut latents: Vec<f32>, times: &mut Times) -> Result<(Vec<usize>, Vec<f32>), Error> {
        let (mut decoder, load) = timed(|| self.load(VAE_DECODER))?;
        times.load_ms[2] = load;
        latents.iter_mut().for_each(|latent| *latent /= self.facts.latent_scale);
        decoder.set(decoder.only_input()?, &latents)?;
        let (decoded, elapsed) = timed(|| decoder.run())?;
        times.vae_decoder_ms = elapsed;
        Ok(decoded)
    }

    fn load(&self, method: &'static str) -> Result<Network, Error> {
        Network::load(FileBytes::shared(&self.file), method, &self.loading, &self.engines)
    }
}

fn same_count(what: &str, given: usize, wanted: usize) -> Result<(), Error> {
    let problem = || Error::NotAPipeline(format!("{given} {what} are given, and a picture has {wanted}"));
    if given == wanted { Ok(()) } else { Err(problem()) }
}

/// The UNet, called once for both prompts or once for each, as its inputs say.
struct Denoiser {
    network: Network,
    sample: usize,
    timestep: usize,
    states: usize,
    /// The prompts of a call.
    batch: usize,
    /// The elements of a picture's latents.
    latents: usize,
}

impl Denoiser {
    fn new(network: Network) -> Result<Self, Error> {
        let [sample, timestep, states] =
            ["sample", "timestep", "encoder_hidden_states"].map(|name| network.input(name));
        let (sample, timestep, states) = (sample?, timestep?, states?);
        let [batch, channels, height, width] = network.sizes(sample)?;
        if !(1..=2).contains(&batch) {
            return Err(malformed(UNET, &format!("a call is for {batch} prompts, and not for one or two")));
        }
        Ok(Self { network, sample, timestep, states, batch, latents: channels * height * width })
    }

    /// The output for the prompts, combined by the guidance.
    fn call(&mut self, latents: &[f32], timestep: f64, states: &[Vec<f32>], guidance: f32) -> Result<Vec<f32>, Error> {
        if timestep.fract() != 0.0 && self.network.takes_integers(self.timestep) {
            let problem = "the input `timestep` takes integers, and the scheduler has fractions: export the UNet with a `float32` timestep";
            return Err(malformed(UNET, problem));
        }
        let mut outputs = Vec::new();
        for states in states.chunks(self.batch) {
            // A call may overwrite the memory of its inputs.
            self.network.set(self.sample, latents)?;
            self.network.set(self.timestep, &[timestep as f32])?;
            self.network.set(self.states, &states.concat())?;
            outputs.extend(self.network.run()?.1);
        }
        let mut parts = outputs.chunks_exact(latents.len().max(1));
        let first = parts.next().ok_or_else(|| malformed(UNET, "the output has other sizes than the latents"))?;
        let Some(prompt) = parts.next().filter(|_| states.len() == 2) else { return Ok(first.to_vec()) };
        Ok(first.iter().zip(prompt).map(|(negative, prompt)| negative + guidance * (prompt - negative)).collect())
    }
}
