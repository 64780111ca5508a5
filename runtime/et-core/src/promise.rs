//! What the build of firmware knows of all tensors of the program, so that kernels leave out what the program never needs. A dynamic
//! tensor, or one of another order, is refused where the tensor is made. Accesses outside of a tensor stop the program as ever.

/// Whether the shape of every tensor is static. The build has computed the shapes of outputs by the rules of the operators.
pub const STATIC_SHAPES: bool = cfg!(feature = "static-shapes");

/// Whether the elements of every tensor lie in row-major order.
pub const ROW_MAJOR: bool = cfg!(feature = "row-major");
