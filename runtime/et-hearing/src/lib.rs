//! Models that hear: speech to text, and sound in the prompts of language models.
//!
//! A program with an audio encoder has the method `audio_encoder`, which reads the log-mel features of a window of sound, and named data
//! with [`Facts`]. [`open`] loads both: a transcriber for a model such as Whisper, whose decoder attends to the states of the encoder, or
//! the part that makes prompts of texts and sounds. A binary has this crate only for a model that hears. No third-party crate: files are
//! decoded by a function of the binary.

mod align;
mod facts;
mod fourier;
mod incoming;
mod mel;
mod prompts;
mod recordings;
mod rules;
mod segments;
mod stream;
mod transcriber;
mod transcripts;
mod warp;
mod words;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use et_llm::{EncoderMethod, Error, Model, OpenedHearing, OpenedVision};
use et_module::preprocess::ReadSound;
use et_module::{DataFiles, Engines, FileBytes, Kernels, named_data};

use align::AlignMethod;
pub use facts::{AudioTokens, Facts, HEARING_KEY, Speech, SpokenTokens};
pub use mel::{Features, Mel};
use prompts::{Embedder, Listener};
use recordings::Recordings;
use transcriber::WindowTranscriber;

/// The method: log-mel features in, states or embeddings out.
const METHOD: &str = "audio_encoder";

/// Loads the audio encoder of a program file, as an [`et_llm::OpenHearing`]; `None` for a program file without one.
///
/// # Errors
/// Malformed facts; a method that cannot be loaded.
pub fn open(
    file: &Rc<FileBytes>,
    data: &dyn Fn() -> Result<DataFiles, et_module::Error>,
    kernels: Kernels<'_>,
    engines: &Engines,
    read: ReadSound,
    model: &Model,
) -> Result<Option<OpenedHearing>, Error> {
    let Some(bytes) = named_data(file, HEARING_KEY) else { return Ok(None) };
    let Facts { bands, frames, speech } = Facts::parse(bytes)?;
    // Beside the model, so that the encoder writes the state that the decoder reads.
    let module = model.load_beside(file, data()?, METHOD, kernels, engines)?;
    let has_align = module.method_names()?.iter().any(|name| name == align::METHOD);
    let align = has_align.then(|| AlignMethod::load(model, file, data()?, kernels, engines)).transpose()?;
    let encoder = EncoderMethod::new(module, METHOD, vec![1, bands, frames])?;
    let recordings = Recordings { read, mel: Mel::new(bands), frames };
    Ok(Some(match speech {
        Speech::Transcripts(spoken) => {
            OpenedHearing::Transcriber(Box::new(WindowTranscriber::new(spoken, (encoder, align), recordings, model)))
        }
        Speech::Prompts(audio) => OpenedHearing::Prompts(OpenedVision {
            viewer: Arc::new(Listener::new(audio, recordings)),
            encoder: Rc::new(RefCell::new(Embedder::new(encoder))),
            method: "prefill_audio",
        }),
    }))
}
