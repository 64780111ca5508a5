//! The kernels that a method or a file calls.

use std::collections::BTreeMap;

use et_core::Dtypes;

use crate::KernelUse;

/// Kernels in the order of their first call.
#[derive(Default)]
pub struct Kernels {
    uses: Vec<KernelUse>,
    positions: BTreeMap<String, usize>,
}

impl Kernels {
    /// Notes a call of `operator` that selects these types.
    pub fn add(&mut self, operator: &str, selected: Dtypes) {
        let position = *self.positions.entry(operator.to_owned()).or_insert_with(|| {
            self.uses.push(KernelUse { operator: operator.to_owned(), dtypes: Dtypes::NONE });
            self.uses.len() - 1
        });
        if let Some(known) = self.uses.get_mut(position) {
            known.dtypes = Dtypes(known.dtypes.0 | selected.0);
        }
    }

    /// Notes the calls of a method.
    pub fn add_all(&mut self, uses: &[KernelUse]) {
        uses.iter().for_each(|kernel| self.add(&kernel.operator, kernel.dtypes));
    }

    /// The kernels with the types of all their calls.
    pub fn into_uses(self) -> Vec<KernelUse> {
        self.uses
    }
}
