//! Scalar types, shapes, tensors, values, errors and the kernel signature: what every device crate shares.
