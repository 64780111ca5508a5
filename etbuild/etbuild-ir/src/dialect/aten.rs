//! The dialect of captured programs.

use crate::{Dialect, Program, Violation};

/// Any operator, in its functional form: nothing is written in place.
#[derive(Clone, Copy, Debug)]
pub enum Aten {}

impl Dialect for Aten {
    const NAME: &'static str = "aten";

    fn violations(program: &Program) -> Vec<Violation> {
        let in_place = |name: &str| name.ends_with('_') && !name.starts_with("__");
        super::operators(program, |operator| {
            in_place(operator.name()).then(|| "the operator writes in place; it must be made functional".to_owned())
        })
    }
}
