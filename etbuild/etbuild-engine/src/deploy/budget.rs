//! `budget:`, before the link by what the program takes at least, and after the link by what the unit takes.

use std::cmp::Reverse;

use et_core::ScalarType;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Program, Value, ValueKind};
use etbuild_link::SizeReport;
use etbuild_recipe::Budget;
use etbuild_target::Kind;
use etbuild_yaml::{ByteSize, Spanned};

use crate::memory::in_int8;

/// The number of weights that an error names.
const NAMED: usize = 3;

/// How well the sizes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Of the program alone, before its kernels are linked.
    AtLeast,
    /// Of the linked unit.
    Exactly,
}

/// A limit of `budget:` that a unit exceeds.
pub struct Exceeded {
    what: &'static str,
    limit: Spanned<ByteSize>,
    used: u64,
    known: Known,
    /// Whether weights count.
    has_weights: bool,
}

/// Every exceeded limit. Flash and RAM are the memory banks of a board: a hosted target has none.
pub fn exceeded(budget: &Budget, kind: Kind, program_file: u64, sizes: &SizeReport, known: Known) -> Vec<Exceeded> {
    let file = ("the program file", &budget.file, program_file, Known::Exactly, true);
    let banks = [
        ("flash", &budget.flash, sizes.flash(), known, true),
        ("RAM", &budget.ram, sizes.ram(), known, false),
        ("peak RAM", &budget.peak_ram, sizes.ram(), known, false),
    ];
    let banks = banks.into_iter().filter(|_| kind == Kind::BareMetal);
    let over = |(what, limit, used, known, has_weights): (_, &Option<Spanned<ByteSize>>, _, _, _)| {
        let limit = limit.clone().filter(|limit| used > limit.value.0)?;
        Some(Exceeded { what, limit, used, known, has_weights })
    };
    std::iter::once(file).chain(banks).filter_map(over).collect()
}

impl Exceeded {
    /// The error, with the largest weights where they count.
    pub fn error(&self, weights: &Weights) -> Diagnostic {
        let Self { what, limit, used, known, has_weights } = self;
        let at_least = if *known == Known::AtLeast { "at least " } else { "" };
        let message = format!("{what} takes {at_least}{used} bytes, the budget is {}", limit.value.0);
        let diagnostic = Diagnostic::error(Code::BudgetExceeded, message).at((*limit.span).clone());
        let (diagnostic, saved) = match has_weights {
            true => (weights.noted(diagnostic), weights.saved_by_int8()),
            false => (diagnostic, 0),
        };
        let smaller = in_int8(*used, saved).unwrap_or_else(|| "make the model smaller".to_owned());
        diagnostic.help(format!("raise the budget, or {smaller}"))
    }
}

/// The weights of a program.
pub struct Weights {
    /// Names and bytes, the largest first.
    largest: Vec<(String, u64)>,
    /// The bytes of those in `float32`.
    float: u64,
}

impl Weights {
    /// The weights of all methods.
    pub fn of(program: &Program) -> Self {
        let constants =
            program.methods.values().flat_map(|graph| graph.values_with_ids()).filter_map(|(_, value)| weight(value));
        let (mut largest, mut float) = (Vec::new(), 0);
        for (value, bytes) in constants {
            float += if value.spec.scalar_type == ScalarType::Float { bytes } else { 0 };
            largest.push((value.name.clone(), bytes));
        }
        largest.sort_by_key(|(name, bytes)| (Reverse(*bytes), name.clone()));
        largest.truncate(NAMED);
        Self { largest, float }
    }

    /// The bytes that int8 weights save.
    pub const fn saved_by_int8(&self) -> u64 {
        self.float - self.float / 4
    }

    /// Names the largest weights in an error.
    pub fn noted(&self, error: Diagnostic) -> Diagnostic {
        let notes = self.largest.iter().map(|(name, bytes)| format!("`{name}` takes {bytes} bytes"));
        notes.fold(error, Diagnostic::note)
    }
}

fn weight(value: &Value) -> Option<(&Value, u64)> {
    matches!(value.kind, ValueKind::Constant { .. }).then(|| (value, value.spec.nbytes() as u64))
}

#[cfg(test)]
mod tests {
    use etbuild_diagnostic::Span;

    use super::*;

    #[test]
    fn only_what_is_over_its_limit_is_reported() {
        let limit = |bytes| Some(Spanned::new(ByteSize(bytes), Span::file("r.yaml")));
        let budget = Budget { file: limit(10), flash: limit(3), ram: None, peak_ram: None };
        let sizes = SizeReport { text: 3, ..SizeReport::default() };
        let exceeded = |bytes| exceeded(&budget, Kind::BareMetal, bytes, &sizes, Known::Exactly);
        assert!(exceeded(10).is_empty());
        assert_eq!(exceeded(11).len(), 1);
    }

    #[test]
    fn flash_is_a_limit_of_boards() {
        let budget = Budget { flash: Some(Spanned::new(ByteSize(2), Span::file("r.yaml"))), ..Budget::default() };
        let sizes = SizeReport { text: 3, ..SizeReport::default() };
        let exceeded = |kind| exceeded(&budget, kind, 0, &sizes, Known::AtLeast);
        let found = exceeded(Kind::BareMetal).remove(0).error(&Weights::of(&Program::default()));
        assert!(found.message.contains("at least 3 bytes"), "{found:?}");
        assert!(exceeded(Kind::Hosted).is_empty());
    }
}
