//! No sharing: every item has bytes of its own.

use super::{Layout, PlanRequest, Planner};

/// Items one after the other. Useful to tell a planner's fault from a kernel's: nothing is ever overwritten.
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
