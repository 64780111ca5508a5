//! Recordings to tensors.

mod resample;

use et_core::ScalarType;
use et_module::preprocess::AudioSteps;
use et_module::{Array, TensorType};

use crate::decode::Recording;
use crate::numbers::bytes_of;
use crate::wanted::{shape_for, text};

/// The tensor of a recording by `steps`, samples along the last dimension of an input of type `wanted`.
///
/// # Errors
/// An input whose other dimensions are not 1, or whose type is neither of floating-point numbers nor int16.
pub fn tensor(recording: &Recording, steps: AudioSteps, wanted: &TensorType) -> Result<Array, String> {
    let mut samples = resample::resample(&recording.samples, recording.rate, steps.rate)?;
    let bound = wanted.shape.last().copied().unwrap_or(1);
    let length = steps.length.unwrap_or(if wanted.dynamic { samples.len().min(bound) } else { bound });
    let misfit = || format!("{length} samples do not fit the input {}", text(wanted));
    let shape = shape_for(wanted, &[length]).ok_or_else(misfit)?;
    samples.resize(length, 0.0);
    let bytes = if wanted.scalar_type == ScalarType::Short {
        samples.iter().flat_map(|sample| int16(*sample).to_le_bytes()).collect()
    } else {
        bytes_of(wanted.scalar_type, &samples).ok_or_else(|| {
            format!("a recording becomes floating-point numbers or int16, and the input is {}", text(wanted))
        })?
    };
    Ok(Array { scalar_type: wanted.scalar_type, shape, bytes })
}

/// A sample as an integer, full scale at 32768; a conversion saturates.
fn int16(sample: f32) -> i16 {
    (sample * 32768.0).round() as i16
}

/// The samples of a recording at a rate.
///
/// # Errors
/// A rate that cannot be converted.
pub fn samples(recording: &Recording, rate: u32) -> Result<Vec<f32>, String> {
    resample::resample(&recording.samples, recording.rate, rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(length: Option<usize>, shape: &[usize], dynamic: bool) -> Result<(Vec<usize>, Vec<f32>), String> {
        let recording = Recording { rate: 8, samples: vec![0.5, -0.5, 1.0] };
        let wanted = TensorType { scalar_type: ScalarType::Float, shape: shape.to_vec(), dynamic };
        let array = tensor(&recording, AudioSteps { rate: 8, length }, &wanted)?;
        Ok((array.shape.clone(), array.to_floats().unwrap()))
    }

    #[test]
    fn samples_are_cut_or_padded_to_the_length_of_the_input() {
        assert_eq!(floats(None, &[1, 2], false), Ok((vec![1, 2], vec![0.5, -0.5])));
        assert_eq!(floats(None, &[4], false), Ok((vec![4], vec![0.5, -0.5, 1.0, 0.0])));
        assert_eq!(floats(None, &[1, 1, 8], true), Ok((vec![1, 1, 3], vec![0.5, -0.5, 1.0])));
        assert_eq!(floats(Some(5), &[8], true), Ok((vec![5], vec![0.5, -0.5, 1.0, 0.0, 0.0])));
    }

    #[test]
    fn int16_inputs_take_integers() {
        let recording = Recording { rate: 8, samples: vec![0.5, -1.0, 1.0] };
        let wanted = TensorType { scalar_type: ScalarType::Short, shape: vec![4], dynamic: false };
        let array = tensor(&recording, AudioSteps { rate: 8, length: None }, &wanted).unwrap();
        let bytes: Vec<u8> = [16384_i16, -32768, 32767, 0].iter().flat_map(|sample| sample.to_le_bytes()).collect();
        assert_eq!(array.bytes, bytes);
    }

    #[test]
    fn another_shape_is_told() {
        assert_eq!(floats(Some(5), &[1, 4], false), Err("5 samples do not fit the input float32[1, 4]".to_owned()));
        assert!(floats(None, &[2, 4], false).is_err());
    }
}
