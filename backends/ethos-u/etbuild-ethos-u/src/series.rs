//! The series of Ethos-U: the cost of tables differs.

/// A series of NPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Ethos-U55.
    U55,
    /// Ethos-U65.
    U65,
    /// Ethos-U85.
    U85,
}

impl Series {
    /// The series of an NPU such as `u55-128`.
    pub fn of(accelerator: &str) -> Option<Self> {
        match accelerator.split('-').next() {
            Some("u55") => Some(Self::U55),
            Some("u65") => Some(Self::U65),
            Some("u85") => Some(Self::U85),
            _ => None,
        }
    }
}
