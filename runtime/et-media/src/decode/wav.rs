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
    if samples.iter().any(|sample| !sample.is_finite()) {
        return Err("damaged: a sample is infinite or no number".to_owned());
    }
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
        // What `hound` calls a float of another width.
        Error::Unsupported | Error::FormatError("bits per sample is not 32") => {
            "its encoding is not supported; save it as 16-bit PCM".to_owned()
        }
        other => format!("damaged: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording of one sample in floating point.
    fn file(sample: &[u8]) -> Vec<u8> {
        let width = sample.len() as u16;
        let mut file =
            [b"RIFF", &(36 + u32::from(width)).to_le_bytes()[..], b"WAVEfmt ", &16_u32.to_le_bytes()].concat();
        for number in [3, 1, 8000, 0, 8000 * width, 0, width, 8 * width] {
            file.extend(number.to_le_bytes());
        }
        file.extend([b"data", &u32::from(width).to_le_bytes()[..], sample].concat());
        file
    }

    #[test]
    fn floats_are_finite_and_of_32_bits() {
        assert_eq!(decode(&file(&0.25_f32.to_le_bytes())).unwrap().samples, [0.25]);
        for (sample, word) in [
            (&f32::NAN.to_le_bytes()[..], "no number"),
            (&f32::INFINITY.to_le_bytes(), "infinite"),
            (&0.25_f64.to_le_bytes(), "16-bit PCM"),
        ] {
            let refused = decode(&file(sample)).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
