//! What the build of firmware knows of all tensors of the program, so that kernels leave out what the program never needs. A tensor
//! that breaks a promise is refused where the tensor is made.

/// Whether the shape of every tensor is static, and the shape that the rule of the operator gives.
pub const STATIC_SHAPES: bool = cfg!(feature = "static-shapes");

/// Whether the elements of every tensor lie in row-major order.
pub const ROW_MAJOR: bool = cfg!(feature = "row-major");
