//! The method that reads the patches of a picture of any size.

use et_core::ScalarType;
use et_llm::Error;
use et_module::{Module, TensorView};

use super::METHOD;
use crate::Patches;
use crate::table::{Corner, corners};

/// The loaded method.
pub struct PatchMethod {
    module: Module,
    patches: Patches,
    /// The side of the square of an image token in patches.
    square: usize,
    inputs: Inputs,
}

/// The positions of the inputs.
struct Inputs {
    patches: usize,
    rows: usize,
    columns: usize,
    last: usize,
    picture: usize,
    /// Where layers have windows.
    windows: Option<usize>,
    /// Where position embeddings are interpolated: the rows of the table, and their shares.
    table: Option<[usize; 2]>,
    /// Where tokens are behind rows: the tokens.
    breaks: Option<usize>,
}

impl PatchMethod {
    /// The method of a loaded module; `side` is the side of the square of an image token in pixels.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for a missing input.
    pub fn new(module: Module, patches: Patches, side: usize) -> Result<Self, Error> {
        let names = module.stored_input_names().unwrap_or_default();
        let optional = |name: &str| names.iter().position(|found| found == name);
        let place = |name: &str| {
            let missing = || Error::NotALanguageModel(format!("`{METHOD}` has no input `{name}`"));
            optional(name).ok_or_else(missing)
        };
        let inputs = Inputs {
            patches: place("patches")?,
            rows: place("rows")?,
            columns: place("columns")?,
            last: place("last")?,
            picture: place("picture")?,
            windows: optional("windows"),
            table: (patches.table > 0).then(|| Ok::<_, Error>([place("corners")?, place("shares")?])).transpose()?,
            breaks: patches.breaks.is_some().then(|| place("breaks")).transpose()?,
        };
        Ok(Self { module, patches, square: side / patches.patch.max(1), inputs })
    }

    /// The embeddings of the image tokens, row by row, of a picture of so many rows and columns of image tokens.
    ///
    /// # Errors
    /// Errors of the program.
    pub fn encode(&mut self, numbers: &[f32], grid: [usize; 2]) -> Result<Vec<u8>, Error> {
        let Self { patches, square, .. } = *self;
        let (order, width) = (patches.order(grid), grid[1] * square * patches.patch);
        let places: Vec<[usize; 2]> = Patches::places(&order, square).collect();
        let elements = places.iter().flat_map(|place| patches.numbers(numbers, width, *place));
        let bytes: Vec<u8> = elements.flat_map(f32::to_le_bytes).collect();
        let (count, each) = (places.len(), square * square);
        let shape = vec![1, count, bytes.len() / size_of::<f32>() / count.max(1)];
        let view = TensorView { scalar_type: ScalarType::Float, shape, bytes: &bytes };
        self.module.set_input(self.inputs.patches, &view)?;
        self.set(self.inputs.rows, places.iter().map(|[row, _]| *row))?;
        self.set(self.inputs.columns, places.iter().map(|[_, column]| *column))?;
        self.set(self.inputs.picture, std::iter::repeat_n(count, count))?;
        self.set(self.inputs.last, std::iter::once(count.saturating_sub(1)))?;
        if let Some(windows) = self.inputs.windows {
            self.set(windows, order.ends.iter().flat_map(|end| std::iter::repeat_n(end * each, each)))?;
        }
        if let Some(inputs) = self.inputs.table {
            let sizes = grid.map(|length| length * square);
            self.set_table(inputs, places.iter().map(|place| corners(patches.table, *place, sizes)))?;
        }
        if let (Some(input), Some(tokens)) = (self.inputs.breaks, patches.breaks) {
            let bytes: Vec<u8> = tokens.iter().flat_map(|token| i64::from(*token).to_le_bytes()).collect();
            let view = TensorView { scalar_type: ScalarType::Long, shape: vec![1, tokens.len()], bytes: &bytes };
            self.module.set_input(input, &view)?;
        }
        self.module.execute()?;
        let last = self.module.output_count()?.saturating_sub(1);
        let embeddings = in_rows(&self.module.output(last)?.bytes, &order.squares, grid[1]);
        if self.inputs.breaks.is_none() {
            return Ok(embeddings);
        }
        // The output ahead of the embeddings.
        let breaks = self.module.output(last.saturating_sub(1))?.bytes;
        Ok(with_breaks(&embeddings, grid[0], &breaks))
    }

    /// Takes the weights out of memory, until the next picture.
    pub fn release_weights(&self) {
        self.module.release_weights();
    }

    /// Sets the rows of the table around each patch, and their shares.
    fn set_table(&mut self, [rows, shares]: [usize; 2], all: impl Iterator<Item = [Corner; 4]>) -> Result<(), Error> {
        let all: Vec<[Corner; 4]> = all.collect();
        let ordered = || (0..4).flat_map(|corner| all.iter().filter_map(move |corners| corners.get(corner)));
        let bytes: Vec<u8> = ordered().flat_map(|corner| (corner.row as i64).to_le_bytes()).collect();
        let view = TensorView { scalar_type: ScalarType::Long, shape: vec![4, all.len()], bytes: &bytes };
        self.module.set_input(rows, &view)?;
        let bytes: Vec<u8> = ordered().flat_map(|corner| corner.share.to_le_bytes()).collect();
        let view = TensorView { scalar_type: ScalarType::Float, shape: vec![4, all.len(), 1], bytes: &bytes };
        Ok(self.module.set_input(shares, &view)?)
    }

    fn set(&mut self, input: usize, numbers: impl Iterator<Item = usize>) -> Result<(), Error> {
        let bytes: Vec<u8> = numbers.flat_map(|number| (number as i64).to_le_bytes()).collect();
        let view =
            TensorView { scalar_type: ScalarType::Long, shape: vec![bytes.len() / size_of::<i64>()], bytes: &bytes };
        Ok(self.module.set_input(input, &view)?)
    }
}

/// Embeddings of so many rows of image tokens, with the embedding of a token behind each row, of which the second of `breaks` is behind the last.
fn with_breaks(embeddings: &[u8], rows: usize, breaks: &[u8]) -> Vec<u8> {
    let (behind, last) = breaks.split_at(breaks.len() / 2);
    let all = embeddings.chunks((embeddings.len() / rows.max(1)).max(1)).enumerate();
    all.flat_map(|(index, row)| [row, if index + 1 == rows { last } else { behind }].concat()).collect()
}

/// Embeddings in the order of squares, row by row.
fn in_rows(bytes: &[u8], squares: &[[usize; 2]], columns: usize) -> Vec<u8> {
    let size = bytes.len() / squares.len().max(1);
    let mut ordered: Vec<(usize, &[u8])> =
        squares.iter().map(|[row, column]| row * columns + column).zip(bytes.chunks(size.max(1))).collect();
    ordered.sort_unstable_by_key(|(place, _)| *place);
    ordered.into_iter().flat_map(|(_, embedding)| embedding).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_behind_each_row_and_another_one_behind_the_last() {
        assert_eq!(
            with_breaks(&[1, 2, 3, 4, 5, 6, 7, 8], 2, &[20, 21, 30, 31]),
            [1, 2, 3, 4, 20, 21, 5, 6, 7, 8, 30, 31]
        );
        assert_eq!(with_breaks(&[1, 2], 1, &[20, 30]), [1, 2, 30]);
    }
}
