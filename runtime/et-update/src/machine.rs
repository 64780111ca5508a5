//! The machine that a binary runs on, and the target of a bundle that fits best.

use std::cmp::Reverse;

use et_simd::Isa;

use crate::{Entry, Error, Manifest};

/// What decides between targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor and the operating system, such as `x86_64-linux`.
    pub platform: String,
    /// The chip, as the operating system names chips.
    pub chip: Option<String>,
    /// The instruction sets, by the names of target files.
    pub instruction_sets: Vec<String>,
}

impl Machine {
    /// This machine: Android's property `ro.soc.model`, on Linux the name of the driver `soc`, and the instruction sets of the processor.
    pub fn here() -> Self {
        let platform = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        Self { platform, chip: chip(), instruction_sets: instruction_sets() }
    }

    /// Whether the machine runs a version, whatever chip people name.
    fn runs(&self, entry: &Entry) -> bool {
        entry.platform == self.platform
            && entry
                .chip
                .as_ref()
                .is_none_or(|chip| self.chip.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(chip)))
    }

    fn has(&self, set: &str) -> bool {
        self.instruction_sets.iter().any(|own| own == set)
    }

    /// The order of versions: those for the very chip first, then by instruction sets in use, then by instruction sets that would lie idle.
    fn rank(&self, entry: &Entry) -> (bool, usize, Reverse<usize>) {
        let used = entry.instruction_sets.iter().filter(|set| self.has(set)).count();
        (entry.chip.is_some(), used, Reverse(entry.instruction_sets.len() - used))
    }

    fn words(&self) -> String {
        let chip = self.chip.as_deref().unwrap_or("of no known name");
        format!("this machine ({}, chip {chip}, instruction sets: {})", self.platform, self.instruction_sets.join(" "))
    }
}

/// The target that fits `machine` best, with the reason. `name` is a chip or a target that the user names.
///
/// # Errors
/// [`Error::NoTarget`] with the chips and targets of the bundle.
pub fn choose<'a>(manifest: &'a Manifest, machine: &Machine, name: Option<&str>) -> Result<(&'a Entry, String), Error> {
    let is_named = |entry: &&Entry| {
        let is = |own: &str| name.is_some_and(|name| own.eq_ignore_ascii_case(name));
        entry.platform == machine.platform && (is(&entry.target) || entry.chip.as_deref().is_some_and(is))
    };
    let fits = |entry: &&Entry| if name.is_some() { is_named(entry) } else { machine.runs(entry) };
    // The first of equals by name wins.
    let best = manifest.entries.iter().filter(fits).rev().max_by_key(|entry| machine.rank(entry));
    best.map(|entry| (entry, reason(entry, machine, name))).ok_or_else(|| Error::NoTarget {
        wanted: name.map_or_else(|| machine.words(), |name| format!("{name} on {}", machine.platform)),
        known: manifest.entries.iter().map(described).collect::<Vec<_>>().join(", "),
    })
}

fn reason(entry: &Entry, machine: &Machine, name: Option<&str>) -> String {
    let used: Vec<&str> = entry.instruction_sets.iter().map(String::as_str).filter(|set| machine.has(set)).collect();
    match (name, &entry.chip) {
        (Some(name), _) => format!("`{name}` was asked for"),
        (None, Some(chip)) => format!("this machine has the chip {chip}"),
        (None, None) if used.is_empty() => format!("this machine is {}", machine.platform),
        (None, None) => format!("this machine is {} with {}", machine.platform, used.join(" ")),
    }
}

fn described(entry: &Entry) -> String {
    match &entry.chip {
        Some(chip) => format!("{} ({}, {chip})", entry.target, entry.platform),
        None => format!("{} ({})", entry.target, entry.platform),
    }
}

fn instruction_sets() -> Vec<String> {
    let available = Isa::ALL.into_iter().filter(|isa| *isa != Isa::Portable && isa.is_available());
    // Target files have `dotprod` for `neon-dotprod`, and `avx512vnni` for `avx512-vnni`.
    available.map(|isa| isa.name().trim_start_matches("neon-").replace('-', "")).collect()
}

#[cfg(target_os = "android")]
fn chip() -> Option<String> {
    let read = std::process::Command::new("getprop").arg("ro.soc.model").output().ok()?;
    name(&String::from_utf8_lossy(&read.stdout))
}

#[cfg(not(target_os = "android"))]
fn chip() -> Option<String> {
    std::fs::read_to_string("/sys/devices/soc0/machine").ok().and_then(|text| name(&text))
}

fn name(text: &str) -> Option<String> {
    Some(text.trim()).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntryFile, Version};

    fn entry(target: &str, platform: &str, chip: Option<&str>, sets: &[&str]) -> Entry {
        let version = Version { size: 0, digest: blake3::hash(b"") };
        let file = EntryFile { name: "m.pte".into(), executable: false, version, pieces: Vec::new() };
        Entry {
            target: target.to_owned(),
            platform: platform.to_owned(),
            chip: chip.map(str::to_owned),
            instruction_sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            files: vec![file],
        }
    }

    fn manifest() -> Manifest {
        let (android, linux) = ("aarch64-android", "x86_64-linux");
        let entries = vec![
            entry("any-phone", android, None, &["neon"]),
            entry("linux-avx2", linux, None, &["avx2"]),
            entry("linux-avx512", linux, None, &["avx2", "avx512"]),
            entry("s24", android, Some("SM8650"), &["neon"]),
            entry("s25", android, Some("SM8750"), &["neon"]),
        ];
        Manifest { name: "m".into(), pieces: Vec::new(), entries }
    }

    fn machine(platform: &str, chip: Option<&str>, instruction_sets: &[&str]) -> Machine {
        let instruction_sets = instruction_sets.iter().map(|set| (*set).to_owned()).collect();
        Machine { platform: platform.to_owned(), chip: chip.map(str::to_owned), instruction_sets }
    }

    fn chosen(machine: &Machine, name: Option<&str>) -> String {
        choose(&manifest(), machine, name).unwrap().0.target.clone()
    }

    #[test]
    fn a_phone_takes_the_version_of_its_chip_or_one_for_any_chip() {
        let phone = |chip| machine("aarch64-android", chip, &["neon"]);
        assert_eq!(chosen(&phone(Some("SM8650")), None), "s24");
        assert_eq!(chosen(&phone(Some("SM8750")), None), "s25");
        assert_eq!(chosen(&phone(Some("Tensor G4")), None), "any-phone");
        assert_eq!(chosen(&phone(None), None), "any-phone");
        assert_eq!(chosen(&phone(None), Some("sm8750")), "s25");
    }

    #[test]
    fn a_processor_takes_the_version_for_most_of_its_instruction_sets() {
        let computer = |sets| machine("x86_64-linux", None, sets);
        assert_eq!(chosen(&computer(&["avx2", "avx512"]), None), "linux-avx512");
        assert_eq!(chosen(&computer(&["avx2"]), None), "linux-avx2");
        assert_eq!(chosen(&computer(&["avx2", "avx512"]), Some("linux-avx2")), "linux-avx2");
    }

    #[test]
    fn a_machine_without_a_version_gets_the_list_of_chips() {
        let error = |machine: &Machine, name| choose(&manifest(), machine, name).unwrap_err().to_string();
        let windows = error(&machine("x86_64-windows", None, &[]), None);
        assert!(windows.contains("s24 (aarch64-android, SM8650)") && windows.contains("linux-avx2"), "{windows}");
        assert!(error(&machine("x86_64-linux", None, &[]), Some("SM8750")).contains("SM8750 on x86_64-linux"));
    }
}
