//! `budget:` against the built unit.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::SizeReport;
use etbuild_recipe::Budget;
use etbuild_target::Kind;
use etbuild_yaml::{ByteSize, Spanned};

/// One error for every exceeded limit. Flash and RAM are the memory banks of a board: a hosted target has none.
pub fn exceeded(budget: &Budget, kind: Kind, program_file: u64, sizes: &SizeReport) -> Vec<Diagnostic> {
    let file = ("the program file", &budget.file, program_file);
    let banks = [
        ("flash", &budget.flash, sizes.flash()),
        ("RAM", &budget.ram, sizes.ram()),
        ("peak RAM", &budget.peak_ram, sizes.ram()),
    ];
    let banks = banks.into_iter().filter(|_| kind == Kind::BareMetal);
    let limits = std::iter::once(file).chain(banks);
    limits.filter_map(|(what, limit, used)| over(what, limit.as_ref()?, used)).collect()
}

fn over(what: &str, limit: &Spanned<ByteSize>, used: u64) -> Option<Diagnostic> {
    let ByteSize(allowed) = limit.value;
    let message = format!("{what} takes {used} bytes, the budget is {allowed}");
    let diagnostic = || Diagnostic::error(Code::BudgetExceeded, message).at((*limit.span).clone());
    (used > allowed).then(|| diagnostic().help("raise the budget, or make the model smaller"))
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
        assert!(exceeded(&budget, Kind::BareMetal, 10, &sizes).is_empty());
        assert_eq!(exceeded(&budget, Kind::BareMetal, 11, &sizes).len(), 1);
    }

    #[test]
    fn flash_is_a_limit_of_boards() {
        let budget = Budget { flash: Some(Spanned::new(ByteSize(2), Span::file("r.yaml"))), ..Budget::default() };
        let sizes = SizeReport { text: 3, ..SizeReport::default() };
        assert_eq!(exceeded(&budget, Kind::BareMetal, 0, &sizes).len(), 1);
        assert!(exceeded(&budget, Kind::Hosted, 0, &sizes).is_empty());
    }
}
