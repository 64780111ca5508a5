//! Rows of a tensor that are tokens of a text, one after another.

use et_core::{Args, Error, Result, ScalarType, Tensor};

/// The largest position: that of a text of two thousand million tokens.
const LARGEST: i64 = i32::MAX as i64;

/// Which rows of a tensor are tokens, and where in the text they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The position of row 0.
    pub start: usize,
    /// The last row that is a token.
    pub last: usize,
}

impl Span {
    /// Reads the position of the first row and the last of `rows` rows that is a token, which are arguments of one element.
    pub fn read(args: &Args<'_, '_>, [start, last]: [usize; 2], rows: usize) -> Result<Self> {
        let [start, last] = [element(&args.tensor(start)?)?, element(&args.tensor(last)?)?];
        let fits = (0..=LARGEST).contains(&start) && (0..=LARGEST).contains(&last) && (last as usize) < rows;
        if fits { Ok(Self { start: start as usize, last: last as usize }) } else { Err(Error::InvalidArgument) }
    }

    /// The position behind the last token.
    pub const fn end(self) -> usize {
        self.start + self.last + 1
    }
}

/// Whether the arguments at these positions can hold the ends of a span.
pub fn check(args: &Args<'_, '_>, positions: [usize; 2]) -> Result<()> {
    for position in positions {
        let tensor = args.tensor(position)?;
        if tensor.scalar_type() != ScalarType::Long {
            return Err(Error::InvalidType);
        }
        if tensor.numel() != 1 {
            return Err(Error::InvalidArgument);
        }
    }
    Ok(())
}

fn element(tensor: &Tensor<'_>) -> Result<i64> {
    if tensor.numel() != 1 {
        return Err(Error::InvalidArgument);
    }
    Ok(tensor.input::<i64>()?.get(0))
}
