//! How many tensors a kernel binds.

use core::cmp::Reverse;

use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Node, ValueId};

use super::Builder;
use crate::kernel::Kernel;

/// What the kernel of a product reads beside its epilogue, at most: query, key, value and mask.
const PRODUCT_READS: usize = 4;

impl Builder<'_> {
    /// Stores operands of a node, those of the most reads first, until a kernel may read all that the node reads.
    pub fn limit_reads(&mut self, node: &Node) -> Result<(), Refusal> {
        if self.profile.most_reads() == usize::MAX {
            return Ok(());
        }
        let mut operands = Vec::new();
        let computed: Vec<ValueId> = node.uses().filter(|id| !self.is_constant(*id)).collect();
        for id in computed {
            // A rule may ignore an operand that the GPU does not compute.
            let Ok(expr) = self.value(id) else { continue };
            let (reads, products) = self.reads(expr);
            operands.push((reads + PRODUCT_READS * products.len(), id));
        }
        operands.sort_by_key(|(reads, _)| Reverse(*reads));
        let mut all: usize = operands.iter().map(|(reads, _)| reads).sum();
        for (reads, id) in operands {
            if reads > 1 && all > self.profile.most_reads() {
                self.stored(id)?;
                all -= reads - 1;
            }
        }
        Ok(())
    }

    /// Adds a kernel, which reads no more tensors than the GPU binds.
    pub fn add_kernel(&mut self, kernel: Kernel) -> Result<(), Refusal> {
        let most = self.profile.most_reads();
        if kernel.reads.len() > most || !self.profile.binds_twice() && kernel.reads.contains(&kernel.output) {
            return Err(Refusal::new(RefusalKind::Shape, format!("a kernel reads more than {most} other tensors")));
        }
        self.kernels.push(kernel);
        Ok(())
    }
}
