//! The operator catalogue: one file per operator with its schema, rules, portable kernel and cases.
