//! Chips by name.

/// A chip with an NPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soc {
    /// The vendor's name.
    pub name: &'static str,
    /// The vendor's number.
    pub number: u32,
    /// The number of the oldest chip that has the same operations: a graph that its compiler takes, those of the others take too.
    pub oldest: u32,
}

/// The known chips, from the vendor's public reference.
pub const SOCS: &[Soc] = &[
    Soc { name: "SM8350", number: 30, oldest: 30 },
    Soc { name: "SM8450", number: 36, oldest: 36 },
    Soc { name: "SM8550", number: 43, oldest: 43 },
    Soc { name: "SM8650", number: 57, oldest: 43 },
    Soc { name: "SM8750", number: 69, oldest: 43 },
    Soc { name: "SM8850", number: 87, oldest: 43 },
];

/// The chip of this name.
pub fn soc(name: &str) -> Option<&'static Soc> {
    SOCS.iter().find(|soc| soc.name == name)
}
