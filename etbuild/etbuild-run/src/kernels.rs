//! Where the portable kernels of a program come from.

use et_core::Kernel;
use et_module::Kernels;

/// The portable kernels that a program is loaded with.
#[derive(Clone, Copy, Debug)]
pub enum KernelSource {
    /// The kernels of all operators.
    #[cfg(feature = "catalogue")]
    Catalogue,
    /// These operators, each with a kernel, as the feature `build` makes the table from a program.
    Table(&'static [(&'static str, Kernel)]),
}

impl KernelSource {
    pub(crate) const fn kernels(self) -> Kernels<'static> {
        match self {
            #[cfg(feature = "catalogue")]
            Self::Catalogue => Kernels::Lookup(&find_kernel),
            Self::Table(table) => Kernels::Selected(table),
        }
    }
}

/// The portable kernel of an operator, by name and overload: `aten::add` and `out`.
#[cfg(feature = "catalogue")]
fn find_kernel(name: &str, overload: &str) -> Option<Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

/// The names of the operators with a portable kernel, such as `aten::add.out`.
#[cfg(feature = "catalogue")]
pub fn operators() -> Vec<&'static str> {
    let primitives = et_ops::PRIMITIVES.iter().map(|primitive| primitive.name());
    et_ops::OPERATORS.iter().map(|operator| operator.name()).chain(primitives).collect()
}
