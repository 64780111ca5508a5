//! Prefixes that prompts share: a slot takes the KV cache of another one, and waits for one that is about to read the same tokens.

use serde_json::json;

use super::Scheduler;
use super::slot::Slot;

/// The fewest tokens that a slot takes from another one, or waits for: fewer are read in about the time of a turn.
const LEAST: usize = 8;

/// What happens to the KV cache of a slot before the slot has its turn.
enum Plan {
    /// Nothing.
    Turn,
    /// It waits until an older job has read the tokens that both prompts begin with.
    Wait,
    /// It takes tokens from a slot.
    Take { from: usize, count: usize },
}

impl Scheduler {
    /// Copies prefixes to slots that read prompts, and lets slots wait whose prefix another slot is about to read.
    pub(super) fn share(&self, slots: &mut [Slot]) {
        for index in 0..slots.len() {
            match plan(slots, index) {
                Plan::Turn => {}
                Plan::Wait => slots.iter_mut().skip(index).take(1).for_each(Slot::wait),
                Plan::Take { from, count } => {
                    let Ok([slot, donor]) = slots.get_disjoint_mut([index, from]) else { continue };
                    let begin = self.trace.begin();
                    if let Err(error) = slot.take_prefix(donor, count) {
                        slot.fail(self, &error);
                    }
                    self.trace.span(begin, index, "copy prefix", || json!({ "tokens": count, "slot": from }));
                }
            }
        }
    }
}

/// The plan of a slot.
fn plan(slots: &[Slot], index: usize) -> Plan {
    let Some((slot, (prompt, read))) = slots.get(index).and_then(|slot| Some((slot, slot.reading()?))) else {
        return Plan::Turn;
    };
    let is_other = |other: usize, donor: &Slot| other != index && donor.adapter() == slot.adapter();
    let others = || slots.iter().enumerate().filter(|(other, donor)| is_other(*other, donor));
    let older = others().filter(|(other, older)| (older.used(), *other) < (slot.used(), index));
    let coming = older.filter_map(|(_, older)| older.coming(prompt)).max().unwrap_or(0);
    let offered = others().map(|(other, donor)| (donor.offered(prompt), other)).max();
    let (count, from) = offered.unwrap_or_default();
    match () {
        () if coming >= count.max(read) + LEAST => Plan::Wait,
        () if count >= read + LEAST => Plan::Take { from, count },
        () => Plan::Turn,
    }
}
