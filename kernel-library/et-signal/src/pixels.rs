//! Pictures of cameras, resized as by Pillow: a pass along rows and a pass along columns, each with weights in fixed point and 8-bit results.

use core::cell::Cell;

use crate::Table;

/// The fraction bits of weights: an 8-bit value, two bits of overshoot and the sign leave so many of 32.
pub const FRACTION: u32 = 32 - 8 - 2;

/// Half of a value, where sums begin, so that [`value`] rounds to nearest.
pub const HALF: i32 = 1 << (FRACTION - 1);

/// The bytes of a camera's pixel, and the channels that they become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PixelFormat {
    /// The bytes are channels.
    Bytes,
    /// Three bytes in the opposite order.
    Reversed,
    /// Red, green and blue to luma (ITU-R 601).
    Luma,
    /// Two bytes with 5 bits of red, 6 of green and 5 of blue, the byte with red first, to red, green and blue.
    Rgb565,
    /// The same to blue, green and red.
    Bgr565,
    /// The same to luma.
    Luma565,
}

/// The input pixels of each output pixel along an axis, as tables.
#[derive(Clone, Copy)]
pub struct Axis<L> {
    /// The first input pixel, the number of input pixels, and the index of the first weight, of each output pixel.
    pub places: L,
    /// The output pixels.
    pub count: usize,
    /// The weights.
    pub weights: L,
}

/// A picture that becomes another.
pub struct Pixels<L> {
    /// The height and the width of the camera's picture.
    pub size: [usize; 2],
    /// The bytes of a pixel of the camera.
    pub bytes: usize,
    /// What the bytes are.
    pub format: PixelFormat,
    /// The channels of the result.
    pub channels: usize,
    /// The rows of the result.
    pub rows: Axis<L>,
    /// The columns of the result.
    pub columns: Axis<L>,
    /// Whether the pass along columns is the first.
    pub is_columns_first: bool,
    /// The most input rows of an output row.
    pub kept: usize,
}

impl PixelFormat {
    /// All formats, by their numbers.
    pub const ALL: [Self; 6] = [Self::Bytes, Self::Reversed, Self::Luma, Self::Rgb565, Self::Bgr565, Self::Luma565];

    /// The channels of a pixel of so many bytes; `None` where the format has another number of bytes.
    pub const fn channels(self, bytes: usize) -> Option<usize> {
        match (self, bytes) {
            (Self::Bytes, _) => Some(bytes),
            (Self::Reversed, 3) | (Self::Rgb565 | Self::Bgr565, 2) => Some(3),
            (Self::Luma, 3) | (Self::Luma565, 2) => Some(1),
            _ => None,
        }
    }

    /// A channel of the pixel whose first byte is at an index.
    #[inline]
    fn channel(self, frame: impl Table<u8>, first: usize, channel: usize) -> u8 {
        let byte = |index: usize| frame.at(first + index);
        match self {
            Self::Bytes => byte(channel),
            Self::Reversed => byte(2 - channel),
            Self::Luma => luma([0, 1, 2].map(byte)),
            Self::Rgb565 => of_565([byte(0), byte(1)])[channel % 3],
            Self::Bgr565 => of_565([byte(0), byte(1)])[(2 - channel) % 3],
            Self::Luma565 => luma(of_565([byte(0), byte(1)])),
        }
    }
}

/// Red, green and blue of two bytes; the greatest numbers become 255.
const fn of_565([high, low]: [u8; 2]) -> [u8; 3] {
    let (red, green, blue) = (high >> 3, high << 3 & 0x38 | low >> 5, low & 0x1f);
    [red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2]
}

/// Luma of ITU-R 601 in 16-bit fixed point, rounded to nearest, as Pillow has it: 0.299, 0.587 and 0.114.
pub fn luma([red, green, blue]: [u8; 3]) -> u8 {
    ((u32::from(red) * 19_595 + u32::from(green) * 38_470 + u32::from(blue) * 7_471 + 0x8000) >> 16) as u8
}

/// A sum of weighted values as a value.
pub fn value(sum: i32) -> u8 {
    (sum >> FRACTION).clamp(0, 255) as u8
}

/// The bytes of memory for pictures of this width and so many channels: a row of the camera's picture and, where rows are resized first, a
/// ring of so many resized rows of so many columns. `None` where these are too many.
pub fn work_bytes(width: usize, channels: usize, ring: Option<[usize; 2]>) -> Option<usize> {
    let [rows, columns] = ring.unwrap_or_default();
    rows.checked_mul(columns)?.checked_add(width)?.checked_mul(channels)
}

impl<L: Table<i32>> Axis<L> {
    /// The input pixels of an output pixel, among so many.
    #[inline]
    fn place(self, index: usize, size: usize) -> Place {
        let number = |field: usize| usize::try_from(self.places.at(3 * index + field)).unwrap_or(0);
        let first = number(0).min(size);
        Place { first, count: number(1).min(size - first), weights: number(2) }
    }

    /// The value of an output pixel from those of its input pixels, in order.
    #[inline]
    fn sum(self, place: Place, inputs: impl Iterator<Item = u8>) -> u8 {
        let sum = inputs.zip(place.weights..).fold(HALF, |sum, (input, weight)| {
            sum.wrapping_add(self.weights.at(weight).wrapping_mul(i32::from(input)))
        });
        value(sum)
    }
}

/// The input pixels of an output pixel.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    count: usize,
    /// The index of the first weight.
    weights: usize,
}

impl<L: Table<i32>> Pixels<L> {
    /// Makes the picture: `store` gets the row, the column, the channel and the value. `work` has [`work_bytes`].
    pub fn compute(&self, frame: impl Table<u8>, work: &[Cell<u8>], mut store: impl FnMut(usize, usize, usize, u8)) {
        let Some((input, resized)) = work.split_at_checked(self.size[1] * self.channels) else { return };
        // The next row of the picture that no pass along rows has read.
        let mut next = 0;
        for row in 0..self.rows.count {
            let place = self.rows.place(row, self.size[0]);
            if self.is_columns_first {
                self.along_columns(frame, place, input);
                self.along_row(input, |column, channel, value| store(row, column, channel, value));
                continue;
            }
            for from in next.max(place.first)..place.first + place.count {
                let slot = self.slot(resized, from);
                self.read(frame, from, input);
                self.along_row(input, |column, channel, value| {
                    slot.get(column * self.channels + channel).into_iter().for_each(|cell| cell.set(value));
                });
            }
            next = next.max(place.first + place.count);
            for column in 0..self.columns.count {
                for channel in 0..self.channels {
                    let inputs = self.kept(resized, place, column * self.channels + channel);
                    store(row, column, channel, self.rows.sum(place, inputs));
                }
            }
        }
    }

    /// The channels of a row of the camera's picture.
    fn read(&self, frame: impl Table<u8>, row: usize, to: &[Cell<u8>]) {
        let mut start = row * self.size[1] * self.bytes;
        if self.format == PixelFormat::Bytes {
            to.iter().zip(start..).for_each(|(to, from)| to.set(frame.at(from)));
            return;
        }
        for pixel in to.chunks_exact(self.channels.max(1)) {
            pixel.iter().enumerate().for_each(|(channel, to)| to.set(self.format.channel(frame, start, channel)));
            start += self.bytes;
        }
    }

    /// The pass along columns of all columns of the camera's picture.
    fn along_columns(&self, frame: impl Table<u8>, place: Place, to: &[Cell<u8>]) {
        let row = self.size[1] * self.bytes;
        let mut start = place.first * row;
        for pixel in to.chunks_exact(self.channels.max(1)) {
            for (channel, to) in pixel.iter().enumerate() {
                let inputs = (0..place.count).map(|tap| self.format.channel(frame, start + tap * row, channel));
                to.set(self.rows.sum(place, inputs));
            }
            start += self.bytes;
        }
    }

    /// The pass along a row.
    #[inline]
    fn along_row(&self, input: &[Cell<u8>], mut store: impl FnMut(usize, usize, u8)) {
        for column in 0..self.columns.count {
            let place = self.columns.place(column, self.size[1]);
            let pixels = input.get(place.first * self.channels..).unwrap_or_default();
            for channel in 0..self.channels {
                let inputs = pixels.iter().skip(channel).step_by(self.channels.max(1)).take(place.count);
                store(column, channel, self.columns.sum(place, inputs.map(Cell::get)));
            }
        }
    }

    /// The place of a resized row of the picture, in a ring of the last rows.
    fn slot<'w>(&self, resized: &'w [Cell<u8>], row: usize) -> &'w [Cell<u8>] {
        let bytes = self.columns.count * self.channels;
        let start = row.checked_rem(self.kept).unwrap_or(0) * bytes;
        resized.get(start..start + bytes).unwrap_or_default()
    }

    /// The bytes at an index of the kept rows of an output row, in order.
    #[inline]
    fn kept<'w>(&self, resized: &'w [Cell<u8>], place: Place, index: usize) -> impl Iterator<Item = u8> + use<'w, L> {
        let (bytes, end) = (self.columns.count * self.channels, self.kept * self.columns.count * self.channels);
        let mut at = place.first.checked_rem(self.kept).unwrap_or(0) * bytes + index;
        (0..place.count).map(move |_| {
            let byte = resized.get(at).map_or(0, Cell::get);
            at += bytes;
            at -= if at >= end { end } else { 0 };
            byte
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_cameras() {
        let white = [0xff, 0xff];
        let of = |format: PixelFormat, frame: &[u8], channel| format.channel(frame, 0, channel);
        assert_eq!([0, 1, 2].map(|channel| of(PixelFormat::Rgb565, &white, channel)), [255; 3]);
        assert_eq!([0, 1, 2].map(|channel| of(PixelFormat::Rgb565, &[0xf8, 0x1f], channel)), [255, 0, 255]);
        assert_eq!([0, 1, 2].map(|channel| of(PixelFormat::Bgr565, &[0x07, 0xff], channel)), [255, 255, 0]);
        assert_eq!([0, 1, 2].map(|channel| of(PixelFormat::Reversed, &[1, 2, 3], channel)), [3, 2, 1]);
        assert_eq!(of(PixelFormat::Luma, &[255, 0, 0], 0), 76);
        assert_eq!(of(PixelFormat::Luma565, &white, 0), 255);
        assert_eq!(PixelFormat::Luma.channels(4), None);
    }
}
