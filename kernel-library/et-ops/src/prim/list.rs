//! The list of primitives, and lookup by name.

use super::{arithmetic, compare, copy_index, integer, logic, quotient, size, view};
use crate::Primitive;

/// Every primitive, sorted by name.
pub static PRIMITIVES: &[&Primitive] = &[
    &size::LOCAL_SCALAR_DENSE,
    &size::SYM_NUMEL,
    &size::SYM_SIZE,
    &arithmetic::ADD,
    &integer::CEIL,
    &compare::EQ,
    &copy_index::ET_COPY_INDEX,
    &view::ET_VIEW,
    &quotient::FLOORDIV,
    &quotient::FLOORDIV_INT,
    &compare::GE,
    &compare::GT,
    &compare::LE,
    &compare::LT,
    &quotient::MOD,
    &quotient::MOD_INT,
    &arithmetic::MUL,
    &arithmetic::NEG,
    &integer::ROUND,
    &arithmetic::SUB,
    &integer::SYM_FLOAT,
    &integer::SYM_INT,
    &logic::SYM_ITE,
    &arithmetic::SYM_MAX,
    &arithmetic::SYM_MIN,
    &logic::SYM_NOT,
    &quotient::TRUEDIV,
    &integer::TRUNC,
];

/// Looks up a primitive by name, such as `executorch_prim::add.Scalar`.
pub fn find_primitive(name: &str) -> Option<&'static Primitive> {
    PRIMITIVES.iter().copied().find(|primitive| primitive.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_are_unique() {
        assert!(PRIMITIVES.is_sorted_by(|left, right| left.name() < right.name()));
    }
}
