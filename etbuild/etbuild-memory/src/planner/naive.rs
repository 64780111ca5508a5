//! No sharing: items are side by side.

use super::{Layout, PlanRequest, Planner};

/// Places items side by side, so that no value is ever overwritten. Separates faults of a planner from faults of
/// kernels.
#[derive(Clone, Copy, Debug)]
pub struct Naive;

impl Planner for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn plan(&self, request: &PlanRequest) -> Layout {
        let mut end = 0;
        let place = |item: &super::Item| {
            let offset = request.align(end);
            request.fits(offset, item.size).then(|| {
                end = offset + item.size;
                offset
            })
        };
        let offsets = request.items.iter().map(place).collect();
        request.layout(offsets)
    }
}
