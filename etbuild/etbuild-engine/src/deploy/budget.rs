//! `budget:` against the built unit.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::SizeReport;
use etbuild_recipe::Budget;
use etbuild_yaml::{ByteSize, Spanned};

/// One error for every exceeded limit. A hosted target has no flash and no RAM to count.
pub fn exceeded(budget: &Budget, program_file: u64, sizes: &SizeReport) -> Vec<Diagnostic> {
    let limits = [
        ("the program file", &budget.file, program_file),
        ("flash", &budget.flash, sizes.flash()),
        ("RAM", &budget.ram, sizes.ram()),
        ("peak RAM", &budget.peak_ram, sizes.ram()),
    ];
    limits.into_iter().filter_map(|(what, limit, used)| over(what, limit.as_ref()?, used)).collect()
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
        assert!(exceeded(&budget, 10, &sizes).is_empty());
        assert_eq!(exceeded(&budget, 11, &sizes).len(), 1);
    }
}
