//! Every primitive matches Python on all cases of the primitive.

use et_ops::{PRIMITIVES, PrimitiveResult};

#[test]
fn primitives_pass_all_cases() {
    let (ran, failures) = et_conformance::run_primitives();
    assert!(ran >= 60, "{ran}");
    assert_eq!(failures, [""; 0]);
}

#[test]
fn every_primitive_that_gives_a_number_has_cases() {
    for primitive in PRIMITIVES {
        assert_eq!(primitive.cases.is_empty(), primitive.result == PrimitiveResult::Tensor, "{}", primitive.name());
    }
}
