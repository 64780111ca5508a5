//! WAV, through `hound`.

use std::io::ErrorKind;

use hound::{Error, SampleFormat, WavReader};

/// A recording with one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The sampling rate in hertz.
    pub rate: u32,
    /// The samples, full scale from -1 to 1.
    pub samples: Vec<f32>,
}

/// Decodes the recording; the one channel is the mean of all channels.
pub fn decode(file: &[u8]) -> Result<Recording, String> {
    let mut reader = WavReader::new(file).map_err(|error| damaged(&error))?;
    let spec = reader.spec();
    if spec.sample_rate == 0 || spec.channels == 0 {
        return Err("damaged: no sampling rate, or no channel".to_owned());
    }
    let samples: Result<Vec<f32>, Error> = match spec.sample_format {
        SampleFormat::Float => reader.samples::<f32>().collect(),
        SampleFormat::Int => {
            let full_scale = (1_u64 << (spec.bits_per_sample.clamp(1, 32) - 1)) as f32;
            reader.samples::<i32>().map(|sample| sample.map(|sample| sample as f32 / full_scale)).collect()
        }
    };
    let samples = samples.map_err(|error| damaged(&error))?;
    Ok(Recording { rate: spec.sample_rate, samples: mono(&samples, usize::from(spec.channels)) })
}

fn mono(samples: &[f32], channels: usize) -> Vec<f32> {
    samples.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32).collect()
}

fn damaged(error: &Error) -> String {
    match error {
        Error::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            "the file ends too early: is it complete?".to_owned()
        }
        // What `hound` calls a failed read of a cut file.
        Error::FormatError("Failed to read enough bytes.") | Error::IoError(_) => {
            "the file ends too early: is it complete?".to_owned()
        }
        Error::Unsupported => "its encoding is not supported; save it as 16-bit PCM".to_owned(),
        other => format!("damaged: {other}"),
    }
}
