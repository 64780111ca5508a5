//! Sliding windows by constant indices: `unfold`, `im2col`, `col2im`.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `unfold(self, dimension, size, step)`: the dimension counts windows; the elements of a window are the last
/// dimension.
pub fn unfold(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let rank = editor.spec(input).rank();
    if rank == 0 {
        return Ok(vec![editor.view_as(input, &[1.into()])?]);
    }
    let dim = call.dim(1, rank)?;
    let (size, step) = (call.int(2)?, call.int(3)?);
    let count = Dim::of(&output).get(dim).ok_or(Reason::Arguments)?.fixed()?;
    let positions: Vec<i64> =
        (0..i64::from(count)).flat_map(|window| (0..size).map(move |offset| window * step + offset)).collect();
    let selected = editor.select_many(input, dim, &positions)?;
    let mut apart = editor.dims(input);
    *apart.get_mut(dim).ok_or(Reason::Arguments)? = count.into();
    apart.insert(dim + 1, i32::try_from(size).map_err(|_| Reason::Arguments)?.into());
    let apart = editor.view_as(selected, &apart)?;
    let mut dims: Vec<usize> = (0..=rank).collect();
    let moved = dims.remove(dim + 1);
    dims.push(moved);
    Ok(vec![editor.permute(apart, &dims)?])
}

/// A spatial dimension of `im2col` and `col2im`.
struct Axis {
    size: i64,
    kernel: i64,
    dilation: i64,
    padding: i64,
    stride: i64,
}

impl Axis {
    fn windows(&self) -> i64 {
        (self.size + 2 * self.padding - self.dilation * (self.kernel - 1) - 1).div_euclid(self.stride.max(1)) + 1
    }

    /// Positions in the padded dimension: for the first kernel element the positions of all windows, then for the
    /// second element.
    fn positions(&self) -> Vec<i64> {
        let at = |element: i64| (0..self.windows()).map(move |window| window * self.stride + element * self.dilation);
        (0..self.kernel).flat_map(at).collect()
    }
}

/// The parameters of both dimensions, from the argument at `first`: kernel, dilation, padding, stride.
fn axes(call: &Call, first: usize, sizes: [i32; 2]) -> Result<[Axis; 2], Reason> {
    let setting = |index: usize, axis: usize| match call.ints(first + index)? {
        [one] => Ok(*one),
        all => all.get(axis).copied().ok_or(Reason::Arguments),
    };
    let axis = |axis: usize| {
        Ok::<_, Reason>(Axis {
            size: i64::from(sizes[axis]),
            kernel: setting(0, axis)?,
            dilation: setting(1, axis)?,
            padding: setting(2, axis)?,
            stride: setting(3, axis)?,
        })
    };
    Ok([axis(0)?, axis(1)?])
}

fn narrow(sizes: &[i64]) -> Result<Vec<i32>, Reason> {
    sizes.iter().map(|size| i32::try_from(*size).map_err(|_| Reason::Arguments)).collect()
}

/// `im2col(self, kernel_size, dilation, padding, stride)` of a batch of images.
pub fn columns(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let [batch, channels, height, width] = editor.dims(input)[..] else {
        return Err(Reason::Unsupported("an image without a batch dimension"));
    };
    let [rows, columns] = axes(call, 1, [height.fixed()?, width.fixed()?])?;
    let padded = pad(editor, input, &rows, &columns)?;
    let selected = editor.select_many(padded, 2, &rows.positions())?;
    let selected = editor.select_many(selected, 3, &columns.positions())?;
    let inner = narrow(&[rows.kernel, rows.windows(), columns.kernel, columns.windows()])?;
    let apart: Vec<Dim> = [batch, channels].into_iter().chain(inner.into_iter().map(Dim::from)).collect();
    let apart = editor.view_as(selected, &apart)?;
    let ordered = editor.permute(apart, &[0, 1, 2, 4, 3, 5])?;
    let windows = narrow(&[rows.kernel * columns.kernel, rows.windows() * columns.windows()])?;
    let [kernel, windows] = windows[..] else { return Err(Reason::Arguments) };
    Ok(vec![editor.view_as(ordered, &[batch, Dim::product(&[channels, kernel.into()]), windows.into()])?])
}

fn pad(editor: &mut Editor, input: ValueId, rows: &Axis, columns: &Axis) -> Result<ValueId, Reason> {
    if (rows.padding, columns.padding) == (0, 0) {
        return Ok(input);
    }
    let area = narrow(&[rows.size + 2 * rows.padding, columns.size + 2 * columns.padding])?;
    let outer = editor.dims(input).into_iter().take(2);
    let dims: Vec<Dim> = outer.chain(area.into_iter().map(Dim::from)).collect();
    let output = Dim::spec(editor.spec(input).scalar_type, &dims);
    let pads = Argument::Ints(vec![columns.padding, columns.padding, rows.padding, rows.padding]);
    editor.call("constant_pad_nd.default", vec![Argument::Value(input), pads, Argument::Int(0)], output)
}

/// `col2im(self, output_size, kernel_size, dilation, padding, stride)`: sums overlapping elements.
pub fn image(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let [batch, channels, height, width] = output.sizes[..] else {
        return Err(Reason::Unsupported("an image without a batch dimension"));
    };
    let [rows, columns] = axes(call, 2, [height, width])?;
    let padded = narrow(&[rows.size + 2 * rows.padding, columns.size + 2 * columns.padding])?;
    let positions = scattered(&rows, &columns, i64::from(padded[1]));
    let count = i32::try_from(positions.len()).map_err(|_| Reason::Arguments)?;
    let source = editor.view(input, &[batch, channels, count])?;
    let index = editor.integers(&positions)?;
    let index = editor.expand(index, &[batch, channels, count])?;
    let flat = TensorSpec::contiguous(output.scalar_type, [batch, channels, padded[0] * padded[1]]);
    let zeros = editor.full(Argument::Int(0), flat)?;
    let arguments = vec![Argument::Value(index), Argument::Value(source)];
    let rest = std::iter::once(Argument::Int(2)).chain(arguments).collect();
    let added = editor.map("scatter_add.default", zeros, rest)?;
    let mut whole = editor.view(added, &[batch, channels, padded[0], padded[1]])?;
    for (dim, axis) in [(2, &rows), (3, &columns)] {
        if axis.padding > 0 {
            whole = editor.slice(whole, dim, axis.padding, axis.padding + axis.size)?;
        }
    }
    Ok(vec![whole])
}

/// The position of each element of the columns in a padded image of this width.
fn scattered(rows: &Axis, columns: &Axis, width: i64) -> Vec<i64> {
    let mut positions = Vec::new();
    for (row, column) in (0..rows.kernel).flat_map(|row| (0..columns.kernel).map(move |column| (row, column))) {
        for window in 0..rows.windows() {
            let line = window * rows.stride + row * rows.dilation;
            let at = |window: i64| line * width + window * columns.stride + column * columns.dilation;
            positions.extend((0..columns.windows()).map(at));
        }
    }
    positions
}
