//! The kernels that a method or a file calls.

use std::collections::BTreeMap;

use et_core::Dtypes;

use crate::KernelUse;

/// Kernels in order of first call.
#[derive(Default)]
pub struct Kernels {
    uses: Vec<KernelUse>,
    positions: BTreeMap<String, usize>,
}

impl Kernels {
    /// Records a call of `operator` that selects these dtypes.
    pub fn add(&mut self, operator: &str, selected: Dtypes) {
        let position = *self.positions.entry(operator.to_owned()).or_insert_with(|| {
            self.uses.push(KernelUse { operator: operator.to_owned(), dtypes: Dtypes::NONE });
            self.uses.len() - 1
        });
        if let Some(known) = self.uses.get_mut(position) {
            known.dtypes = Dtypes(known.dtypes.0 | selected.0);
        }
    }

    /// Records the calls of a method.
    pub fn add_all(&mut self, uses: &[KernelUse]) {
        uses.iter().for_each(|kernel| self.add(&kernel.operator, kernel.dtypes));
    }

    /// The kernels, each with the dtypes of all calls.
    pub fn into_uses(self) -> Vec<KernelUse> {
        self.uses
    }
}
