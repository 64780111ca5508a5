//! Barriers: which dispatches wait for earlier dispatches.

use crate::placement::Place;
use crate::step::Step;

/// What comes before a dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// A barrier.
    pub barrier: bool,
    /// The objects whose memory another object may have used.
    pub renewed: Vec<usize>,
}

/// Which objects share bytes with which.
#[derive(Debug)]
pub struct Sharing(Vec<Vec<usize>>);

impl Sharing {
    /// The sharing of objects with these places; places of different classes are apart.
    pub fn of<C: PartialEq>(places: &[Option<(C, Place)>]) -> Self {
        let shares = |one: &Option<(C, Place)>, other: &Option<(C, Place)>| match (one, other) {
            (Some((class, place)), Some((other_class, other))) => class == other_class && place.overlaps(other),
            _ => false,
        };
        let others = |(index, place)| {
            let others = places.iter().enumerate();
            others
                .filter(|(other, other_place)| *other != index && shares(place, other_place))
                .map(|(other, _)| other)
                .collect()
        };
        Self(places.iter().enumerate().map(others).collect())
    }

    /// The objects that share bytes with an object.
    pub fn others(&self, object: usize) -> &[usize] {
        self.0.get(object).map_or(&[], Vec::as_slice)
    }
}

/// The accesses of kernels to an object: the dispatches of the last access and of the last write.
#[derive(Clone, Copy, Default)]
struct Last {
    access: Option<usize>,
    write: Option<usize>,
}

/// What comes before each dispatch: a barrier where the dispatch writes bytes that were accessed since the last barrier, or accesses
/// bytes that were written since. An object that shares bytes is renewed at its first use.
pub fn schedule(steps: &[Step], objects: usize, sharing: &Sharing) -> Vec<Before> {
    let (mut last, mut fence) = (vec![Last::default(); objects], 0);
    let mut schedule = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let at = |object: usize| last.get(object).copied().unwrap_or_default();
        let since = |dispatch: Option<usize>| dispatch.is_some_and(|dispatch| dispatch >= fence);
        let own = |(object, writes): &(usize, bool)| since(at(*object).write) || (*writes && since(at(*object).access));
        let shared = |(object, _): &(usize, bool)| sharing.others(*object).iter().any(|other| since(at(*other).access));
        let is_new = |object: usize| at(object).access.is_none() && !sharing.others(object).is_empty();
        let mut renewed: Vec<_> =
            step.bindings.iter().map(|(object, _)| *object).filter(|object| is_new(*object)).collect();
        renewed.sort_unstable();
        renewed.dedup();
        let barrier = index > 0 && step.bindings.iter().any(|binding| own(binding) || shared(binding));
        if barrier {
            fence = index;
        }
        for (object, writes) in &step.bindings {
            if let Some(last) = last.get_mut(*object) {
                last.access = Some(index);
                last.write = if *writes { Some(index) } else { last.write };
            }
        }
        schedule.push(Before { barrier, renewed });
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(bindings: &[(usize, bool)]) -> Step {
        Step { kernel: 0, module: 0, workgroups: [1; 3], bindings: bindings.to_vec() }
    }

    fn barriers(steps: &[Step], places: &[Option<((), Place)>]) -> Vec<bool> {
        schedule(steps, places.len(), &Sharing::of(places)).into_iter().map(|before| before.barrier).collect()
    }

    #[test]
    fn dependent_accesses_have_a_barrier() {
        let places = [None; 3];
        let (read, write) = (step(&[(0, false)]), step(&[(0, true)]));
        assert_eq!(barriers(&[step(&[(0, false)]), step(&[(0, false)])], &places), [false, false]);
        assert_eq!(barriers(&[step(&[(0, true)]), read], &places), [false, true]);
        assert_eq!(barriers(&[step(&[(0, false)]), write], &places), [false, true]);
        let chain = [step(&[(0, true)]), step(&[(1, true)]), step(&[(0, false), (2, true)]), step(&[(1, false)])];
        assert_eq!(barriers(&chain, &places), [false, false, true, false]);
    }

    #[test]
    fn an_object_in_the_memory_of_another_has_a_barrier_and_is_renewed() {
        let place = Place { allocation: 0, offset: 0, size: 16 };
        let places = [Some(((), place)), Some(((), place)), Some(((), Place { offset: 16, ..place }))];
        let steps = [step(&[(0, true)]), step(&[(2, true)]), step(&[(1, true)])];
        let schedule = schedule(&steps, 3, &Sharing::of(&places));
        assert_eq!(schedule[0], Before { barrier: false, renewed: vec![0] });
        assert_eq!(schedule[1], Before::default());
        assert_eq!(schedule[2], Before { barrier: true, renewed: vec![1] });
    }
}
