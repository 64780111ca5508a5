//! The token rows of a tensor, in the order of the text.

use et_core::{Args, Error, Result, ScalarType, Tensor};

/// The largest token position.
const LARGEST: i64 = i32::MAX as i64;

/// Which rows of a tensor hold tokens, and the token position of the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The position of row 0.
    pub start: usize,
    /// The index of the last row that holds a token.
    pub last: usize,
}

impl Span {
    /// Reads two arguments of a single element each: the token position of the first row, and the index of the last of
    /// `rows` rows that holds a token.
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

/// The position of row 0, and how many of `rows` rows hold tokens: none for a last row of -1.
pub fn read_some(args: &Args<'_, '_>, positions: [usize; 2], rows: usize) -> Result<(usize, usize)> {
    let [start, last] = positions.map(|position| element(&args.tensor(position)?));
    let (start, last) = (start?, last?);
    let fits = (0..=LARGEST).contains(&start) && (-1..=LARGEST).contains(&last) && last < rows as i64;
    if fits { Ok((start as usize, (last + 1) as usize)) } else { Err(Error::InvalidArgument) }
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
