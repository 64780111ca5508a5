//! Chips by name.

/// A chip with an NPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soc {
    /// The vendor's name.
    pub name: &'static str,
    /// The vendor's number.
    pub number: u32,
    /// The version of the NPU's instruction set.
    pub arch: u32,
}

/// The known chips, from the vendor's public reference.
pub const SOCS: &[Soc] = &[
    Soc { name: "SM8350", number: 30, arch: 68 },
    Soc { name: "SM8450", number: 36, arch: 69 },
    Soc { name: "SM8550", number: 43, arch: 73 },
    Soc { name: "SM8650", number: 57, arch: 75 },
    Soc { name: "SM8750", number: 69, arch: 79 },
    Soc { name: "SM8850", number: 87, arch: 81 },
];

/// The chip of this name.
pub fn soc(name: &str) -> Option<&'static Soc> {
    SOCS.iter().find(|soc| soc.name == name)
}
