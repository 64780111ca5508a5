//! Types and shapes of all outputs follow from arguments without elements.

#[test]
fn every_rule_describes_the_outputs_of_every_case() {
    assert_eq!(et_conformance::check_rules(), []);
}
