//! Grids of affine transforms.

use etbuild_ir::TensorSpec;

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `affine_grid_generator(theta, size, align_corners)` of images and volumes: transformed positions from -1 to 1.
pub fn affine(editor: &mut Editor, call: &Call) -> Rewritten {
    let (matrices, output) = (call.value(0)?, call.output()?);
    let [_, inner @ .., dims] = &output.sizes[..] else { return Err(Reason::Arguments) };
    let spatial = inner.len();
    let columns = editor.spec(matrices).sizes.last().copied();
    if *dims as usize != spatial
        || columns != Some(dims + 1)
        || Dim::of(&output).iter().skip(1).any(|dim| dim.is_dynamic())
    {
        return Err(Reason::Arguments);
    }
    let positions = positions(inner, call.flag(2)?);
    let count = positions.len() / (spatial + 1);
    let count = i32::try_from(count).map_err(|_| Reason::Arguments)?;
    let spec = TensorSpec::contiguous(output.scalar_type, [count, dims + 1]);
    let positions = editor.numbers(spec, positions.into_iter())?;
    let turned = editor.transpose(matrices)?;
    let made = editor.product(positions, turned)?;
    let batch = editor.dims(matrices)[0];
    let shape: Vec<Dim> = std::iter::once(batch).chain(output.sizes[1..].iter().map(|size| Dim::from(*size))).collect();
    Ok(vec![editor.view_as(made, &shape)?])
}

/// For each point of a grid the position in each dimension, the last dimension first, and 1.
fn positions(sizes: &[i32], to_corners: bool) -> Vec<f64> {
    let at = |index: i32, size: i32| {
        let (index, size) = (f64::from(index), f64::from(size));
        match to_corners {
            true if size <= 1.0 => 0.0,
            true => 2.0 * index / (size - 1.0) - 1.0,
            false => (2.0 * index + 1.0) / size - 1.0,
        }
    };
    let count: i32 = sizes.iter().product();
    let mut all = Vec::new();
    for point in 0..count {
        let mut rest = point;
        for size in sizes.iter().rev() {
            all.push(at(rest % size, *size));
            rest /= size;
        }
        all.push(1.0);
    }
    all
}
