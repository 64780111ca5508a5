//! The artifacts of stages.

use std::sync::Arc;

use etbuild_store::{BlobRef, Digest};

/// The content of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtifactKind {
    /// A model file, unchanged.
    Source,
    /// The files that an export read, as JSON.
    Reads,
    /// A program as text.
    Program,
    /// The elements of a constant.
    Constant,
    /// The constants that are parts of the model file, with the positions in the file.
    Slices,
    /// The loss of quantization, as JSON.
    Losses,
    /// The constants that are moments of activations, as JSON.
    Moments,
    /// The qparams of activations.
    Ranges,
    /// Where every node of a program runs, as JSON.
    Partition,
    /// The reports of backends on the partitions.
    Engines,
    /// The partitions that become one blob each, as JSON.
    Groups,
    /// A program file.
    ProgramFile,
    /// The constants that a program file keeps outside itself.
    DataFile,
    /// The constants of an adapter.
    AdapterFile,
    /// Facts about a program file that the link needs, as JSON.
    Interface,
    /// The generated project's dependencies, as JSON.
    Dependencies,
    /// The linked binary.
    Binary,
    /// The static library with a C interface, or the import library of a DLL.
    Library,
    /// The shared library with the same interface.
    SharedLibrary,
    /// The shared library as a package for Java: an AAR for Android, classes otherwise.
    JavaPackage,
    /// The header file of the library of a board.
    Header,
    /// The package for CMake of the library of a board.
    Cmake,
    /// A text file of the package for JavaScript, for processes or for firmware, in the order of the package's names.
    Package,
    /// The binary in the form that a boot ROM takes.
    Image,
    /// A size report, as JSON.
    Sizes,
    /// The space of a binary by module, as JSON.
    Code,
    /// The stack of firmware, as JSON.
    Stack,
    /// What the library of a board takes, as JSON.
    LibraryUse,
    /// Outputs of a run, as safetensors.
    Outputs,
    /// What the inferences on a board took, as JSON.
    Effort,
}

impl ArtifactKind {
    const NAMES: [(Self, &'static str); 30] = [
        (Self::Source, "source"),
        (Self::Reads, "reads"),
        (Self::Program, "program"),
        (Self::Constant, "constant"),
        (Self::Slices, "slices"),
        (Self::Losses, "losses"),
        (Self::Moments, "moments"),
        (Self::Ranges, "ranges"),
        (Self::Partition, "partition"),
        (Self::Engines, "engines"),
        (Self::Groups, "groups"),
        (Self::ProgramFile, "program-file"),
        (Self::DataFile, "data-file"),
        (Self::AdapterFile, "adapter-file"),
        (Self::Interface, "interface"),
        (Self::Dependencies, "dependencies"),
        (Self::Binary, "binary"),
        (Self::Library, "library"),
        (Self::SharedLibrary, "shared-library"),
        (Self::JavaPackage, "java-package"),
        (Self::Header, "header"),
        (Self::Cmake, "cmake"),
        (Self::Package, "package"),
        (Self::Image, "image"),
        (Self::Sizes, "sizes"),
        (Self::Code, "code"),
        (Self::Stack, "stack"),
        (Self::LibraryUse, "library-use"),
        (Self::Outputs, "outputs"),
        (Self::Effort, "effort"),
    ];

    /// The name in the record of a stage.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// An artifact whose bytes are in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArtifactRef {
    /// The digest of the bytes.
    pub digest: Digest,
    /// Their number.
    pub size: u64,
    /// The content.
    pub kind: ArtifactKind,
}

impl ArtifactRef {
    /// The blob that holds the bytes.
    pub fn blob(&self) -> BlobRef {
        BlobRef { digest: self.digest, size: self.size }
    }
}

/// The artifacts that one run of a stage made, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts(Arc<[ArtifactRef]>);

impl Artifacts {
    /// These artifacts.
    pub fn new(artifacts: impl Into<Arc<[ArtifactRef]>>) -> Self {
        Self(artifacts.into())
    }

    /// The first artifact of a kind.
    pub fn get(&self, kind: ArtifactKind) -> Option<ArtifactRef> {
        self.0.iter().copied().find(|artifact| artifact.kind == kind)
    }

    /// All artifacts.
    pub fn iter(&self) -> impl Iterator<Item = &ArtifactRef> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_kind() {
        for (kind, name) in ArtifactKind::NAMES {
            assert_eq!((ArtifactKind::from_name(name), kind.name()), (Some(kind), name));
        }
    }
}
