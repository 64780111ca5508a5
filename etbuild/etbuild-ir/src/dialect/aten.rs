//! The dialect of captured programs.

use crate::{Dialect, Program, Violation};

/// Any operator, in functional form: no node writes in place.
#[derive(Clone, Copy, Debug)]
pub enum Aten {}

impl Dialect for Aten {
    const NAME: &'static str = "aten";

    fn violations(program: &Program) -> Vec<Violation> {
        let in_place = |name: &str| name.ends_with('_') && !name.starts_with("__");
        super::operators(program, |operator| {
            in_place(operator.name())
                .then(|| "the operator writes in place; functionalize the program first".to_owned())
        })
    }
}
