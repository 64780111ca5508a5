//! Pictures and recordings in memory.

/// A picture or a recording before preprocessing: an encoded file, pixels or samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Media<'m> {
    /// The bytes of a file: PNG, JPEG or WAV.
    File(&'m [u8]),
    /// A picture: red, green and blue of each pixel, row by row from the top.
    Pixels {
        /// The pixels, 3 bytes each.
        bytes: &'m [u8],
        /// The pixels of a row.
        width: usize,
        /// The rows.
        height: usize,
    },
    /// A recording of one channel.
    Samples {
        /// The samples, full scale from -1 to 1.
        samples: &'m [f32],
        /// The sampling rate in hertz.
        rate: u32,
    },
}
