//! The etbuild command.

fn main() {}
