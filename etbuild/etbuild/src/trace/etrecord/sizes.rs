//! The sizes of tensors of the exported graph.

use etbuild_ir::TensorSpec;

/// The largest sizes.
pub fn shape(spec: &TensorSpec) -> Vec<usize> {
    spec.sizes.iter().map(|size| *size as usize).collect()
}

/// Whether sizes are those of a tensor, which may be dynamic.
pub fn fits(sizes: &[usize], spec: &TensorSpec) -> bool {
    let bounds = spec.least.iter().zip(&spec.sizes);
    let is_within = |(size, (least, most)): (&usize, (&i32, &i32))| (*least..=*most).contains(&(*size as i32));
    sizes.len() == spec.sizes.len() && sizes.iter().zip(bounds).all(is_within)
}
