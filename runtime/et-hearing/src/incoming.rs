//! Sound that comes bit by bit: a WAV file of 16-bit samples, or samples alone.

use std::io::BufRead;

use et_llm::Error;

use crate::mel::RATE;

/// The bytes of a sample.
const SAMPLE: usize = 2;
/// The beginning of a WAV file.
const MAGIC: &[u8] = b"RIFF";
/// PCM, and the form that names PCM behind the other fields.
const FORMATS: [u16; 2] = [1, 0xfffe];

/// Samples as they come.
pub struct Incoming<'i> {
    input: &'i mut dyn BufRead,
    /// The sampling rate in hertz.
    pub rate: u32,
    channels: usize,
}

impl<'i> Incoming<'i> {
    /// Reads the header of a WAV file; without a header, sound is 16-bit samples of one channel at 16 kHz, little-endian.
    ///
    /// # Errors
    /// [`Error::Sound`] for another encoding than 16-bit PCM, and for a header that breaks off.
    pub fn open(input: &'i mut dyn BufRead) -> Result<Self, Error> {
        let mut incoming = Self { input, rate: RATE, channels: 1 };
        if incoming.input.fill_buf()?.starts_with(MAGIC) {
            incoming.read_header()?;
        }
        Ok(incoming)
    }

    fn read_header(&mut self) -> Result<(), Error> {
        self.take(12)?;
        loop {
            let chunk = self.take(8)?;
            let length = chunk.iter().skip(4).rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
            if chunk.starts_with(b"data") {
                return Ok(());
            }
            let content = self.take(length.next_multiple_of(2).min(MOST))?;
            if chunk.starts_with(b"fmt ") {
                self.read_format(&content)?;
            }
        }
    }

    fn read_format(&mut self, content: &[u8]) -> Result<(), Error> {
        let number = |at: usize| content.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        let [kind, channels, low, high, bits] = [0, 2, 4, 6, 14].map(number);
        (self.channels, self.rate) = (usize::from(channels), u32::from(high) << 16 | u32::from(low));
        match FORMATS.contains(&kind) && bits == 16 && channels > 0 && self.rate > 0 {
            true => Ok(()),
            false => Err(Error::Sound("its encoding is not supported in a stream; send 16-bit PCM".to_owned())),
        }
    }

    /// The next bytes.
    fn take(&mut self, count: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.fill(&mut bytes, count)?;
        if bytes.len() < count { Err(Error::Sound("the header breaks off".to_owned())) } else { Ok(bytes) }
    }

    /// Appends so many bytes, or fewer at the end.
    fn fill(&mut self, bytes: &mut Vec<u8>, mut count: usize) -> Result<(), Error> {
        while count > 0 {
            let there = self.input.fill_buf()?;
            let part = there.get(..count.min(there.len())).unwrap_or_default();
            let length = part.len();
            if length == 0 {
                break;
            }
            bytes.extend_from_slice(part);
            self.input.consume(length);
            count -= length;
        }
        Ok(())
    }

    /// Waits for so many samples, and appends them; the number is less at the end.
    ///
    /// # Errors
    /// Input that cannot be read.
    pub fn read(&mut self, samples: &mut Vec<f32>, count: usize) -> Result<usize, Error> {
        let (mut bytes, frame) = (Vec::new(), SAMPLE * self.channels);
        self.fill(&mut bytes, count * frame)?;
        let mean = |frame: &[u8]| {
            let numbers = frame.as_chunks().0.iter().copied().map(i16::from_le_bytes);
            numbers.map(f32::from).sum::<f32>() / (32_768 * self.channels) as f32
        };
        samples.extend(bytes.chunks_exact(frame).map(mean));
        Ok(bytes.len() / frame)
    }
}

/// The most bytes of a chunk ahead of the samples: a damaged header may state any number.
const MOST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<(u32, Vec<f32>), Error> {
        let mut incoming = Incoming::open(&mut bytes)?;
        let mut samples = Vec::new();
        while incoming.read(&mut samples, 2)? == 2 {}
        Ok((incoming.rate, samples))
    }

    fn wav(channels: u8, bits: u8) -> Vec<u8> {
        let format = [1, 0, channels, 0, 0x40, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0, bits, 0];
        let extra = [&b"LIST"[..], &[3, 0, 0, 0, 1, 2, 3, 0]].concat();
        let data = [&b"data"[..], &[0xff; 4], &[0, 0x40, 0, 0xc0, 0, 0x20]].concat();
        [&b"RIFF____WAVEfmt "[..], &[16, 0, 0, 0], &format, &extra, &data].concat()
    }

    #[test]
    fn samples_come_with_and_without_a_header() {
        assert_eq!(read(&[0, 0x40, 0, 0xc0, 0, 0x20, 7]).unwrap(), (16_000, vec![0.5, -0.5, 0.25]));
        assert_eq!(read(&wav(1, 16)).unwrap(), (8_000, vec![0.5, -0.5, 0.25]));
        assert_eq!(read(&wav(2, 16)).unwrap(), (8_000, vec![0.0]));
        assert_eq!(read(&[]).unwrap().1, []);
    }

    #[test]
    fn other_encodings_and_broken_headers_are_refused() {
        for bytes in [wav(1, 24), wav(0, 16), wav(1, 16)[..30].to_vec(), b"RIFF".to_vec()] {
            assert!(matches!(read(&bytes), Err(Error::Sound(_))), "{bytes:?}");
        }
    }
}
