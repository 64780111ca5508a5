//! The stable codes of diagnostics: the list of all codes, which is also the reference.

use serde::{Serialize, Serializer};

use crate::Failure;

/// The description of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code itself.
    pub code: Code,
    /// The text of the code, such as `ETB0107`; never reused for another meaning.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// A summary of the meaning, a sentence.
    pub summary: &'static str,
    /// The kind of failure, which decides the exit code.
    pub failure: Failure,
}

/// Makes the enum and the table from the list, in the order of the list.
macro_rules! codes {
    ($($id:ident $name:ident $failure:ident $title:literal $summary:literal)*) => {
        /// A stable diagnostic code. The first two digits name the part of etbuild.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = concat!(stringify!($id), ": ", $summary)] $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const TABLE: &'static [CodeInfo] = &[$(CodeInfo {
                code: Self::$name,
                id: stringify!($id),
                title: $title,
                summary: $summary,
                failure: Failure::$failure,
            },)*];
        }
    };
}

codes! {
    // 01: the text and structure of a YAML file.
    ETB0101 YamlSyntax RecipeInvalid "not YAML" "The file is not valid YAML 1.2."
    ETB0102 FileTooLarge RecipeInvalid "file too large" "A recipe or target file is larger than 1 MiB."
    ETB0103 TooManyNodes RecipeInvalid "too many nodes" "The file has more than 20 000 nodes after the expansion of aliases."
    ETB0104 TooDeep RecipeInvalid "nested too deeply" "The file nests lists and maps more than 64 deep."
    ETB0105 TooManyAliases RecipeInvalid "too many aliases" "The file uses more than 100 YAML aliases."
    ETB0106 DuplicateKey RecipeInvalid "duplicate key" "A map has the same key twice."
    ETB0107 UnknownKey RecipeInvalid "unknown key" "A map has an unknown key."
    ETB0108 MissingKey RecipeInvalid "missing key" "A map lacks a required key."
    ETB0109 WrongType RecipeInvalid "wrong type" "A value has another type than its key requires."
    ETB0110 BadValue RecipeInvalid "value not allowed" "A value has the right type and is not allowed."
    ETB0111 ExtendsCycle RecipeInvalid "cycle in extends" "A file extends itself, directly or through other files."
    ETB0112 UnknownVariable RecipeInvalid "unknown variable" "A `${name}` has no variable in `vars:`, or `${env:NAME}` is not set."
    ETB0113 BadSubstitution RecipeInvalid "bad substitution" "A `${...}` is not closed, is empty, refers to itself or cannot be part of a text."
    ETB0114 UnsupportedVersion RecipeInvalid "unsupported version" "The `etbuild:` key names a format that this etbuild does not read."
    ETB0115 NotText RecipeInvalid "not text" "A recipe or target file is not UTF-8."
    ETB0116 ExclusiveKeys RecipeInvalid "exactly one key" "A map must have exactly one of several keys."
    ETB0117 BadMatrix RecipeInvalid "bad matrix" "A `matrix:` is empty or expands to too many recipes."
    // 02: the meaning of a recipe or target.
    ETB0201 FileMissing RecipeInvalid "file missing" "A file that the recipe names does not exist."
    ETB0202 FileUnreadable RecipeInvalid "file unreadable" "A file that the recipe names cannot be read."
    ETB0203 UnknownTarget RecipeInvalid "unknown target" "No target has this name."
    ETB0204 UnknownEngine RecipeInvalid "unknown backend" "No backend has this name."
    ETB0205 DuplicateTarget RecipeInvalid "duplicate target" "Two target files have the same name."
    ETB0206 UnknownBank RecipeInvalid "unknown memory bank" "A target refers to a memory bank that it does not list."
    ETB0207 OptionUnavailable RecipeUnmet "option not available" "The option is not available for this model or target."
    ETB0208 TargetInconsistent RecipeInvalid "inconsistent target" "Two facts of a target contradict each other."
    ETB0209 CalibrationMissing RecipeInvalid "calibration data missing" "The quantization needs calibration data, and the recipe has none."
    ETB0210 LayerUnmatched RecipeInvalid "unknown layer" "An exception of a quantization scheme matches no layer of the model."
    ETB0211 CalibrationMismatch RecipeInvalid "calibration data mismatch" "The calibration data does not have the names, shapes or dtypes of the model's inputs."
    ETB0212 LabelsMismatch RecipeInvalid "labels mismatch" "Labelled data has no labels, or not an integer per case; or names of classes do not fit the output."
    ETB0213 OperatorCrate RecipeInvalid "crate of operators refused" "A crate of custom operators is incomplete, or does not fit the model."
    // 03: reading a model.
    ETB0301 ModelUnreadable StageFailed "model unreadable" "The model file cannot be read."
    ETB0302 ModelMalformed StageFailed "model malformed" "The model file does not follow its format."
    ETB0303 ModelVersion StageFailed "model version" "The model file has a format version that this etbuild does not read."
    ETB0304 ModelUnsupported RecipeUnmet "model feature not supported" "The model uses a feature that etbuild cannot import."
    ETB0305 ArchitectureUnknown RecipeUnmet "architecture unknown" "etbuild has no importer for the architecture of the checkpoint."
    ETB0306 ShardMissing StageFailed "shard missing" "A checkpoint lacks a safetensors file of its index."
    ETB0307 TensorMismatch StageFailed "tensors mismatch" "The tensors of a checkpoint or adapter do not match its configuration."
    ETB0308 ContextTooLong RecipeInvalid "context too long" "`export.context` exceeds the model's maximum context length."
    ETB0309 ExportFailed StageFailed "export failed" "The Python function of the model failed, or its model cannot be exported."
    ETB0310 ModelFormat RecipeInvalid "unsupported model format" "The file is a model of another tool, weights without a model, or no model."
    // 04: operators, passes, memory.
    ETB0401 OperatorUnavailable RecipeUnmet "operator not available" "No kernel and no backend supports this operator."
    ETB0402 DtypeUnavailable RecipeUnmet "dtype not available" "The operator is supported, and not for this dtype."
    ETB0403 ArgumentUnsupported RecipeUnmet "argument not supported" "The operator is supported, and not with this argument."
    ETB0404 BankTooSmall RecipeUnmet "memory bank too small" "The contents of a memory bank exceed its size."
    ETB0405 BudgetExceeded RecipeUnmet "budget exceeded" "The result exceeds a limit of `budget:`."
    ETB0406 ProgramInvalid StageFailed "invalid program" "A stage made a program that its verifier rejects."
    ETB0407 PlanInvalid StageFailed "invalid memory plan" "A memory plan breaks a rule of its verifier."
    ETB0408 SchemeUnavailable RecipeUnmet "quantization not available" "The quantization scheme is not available for this model."
    ETB0409 EngineUnavailable RecipeUnmet "backend not available" "The backend exists, and not on this target."
    ETB0410 OperatorNotUpstream RecipeUnmet "operator not in ExecuTorch" "`runtime: executorch` is set, and ExecuTorch's runtime has neither this operator nor a decomposition."
    ETB0411 StateDiffers RecipeUnmet "shared state differs" "Two methods have state of the same name with another type, shape or initial value."
    ETB0412 CompilerRefused RecipeUnmet "refused by a vendor's compiler" "A vendor's compiler refuses the partitions of a program as a whole."
    // 05: tools, compiling, linking.
    ETB0501 ToolMissing StageFailed "tool missing" "A required program is not installed."
    ETB0502 ToolchainMissing StageFailed "Rust target missing" "The Rust toolchain has no standard library for the target."
    ETB0503 CompileFailed StageFailed "compilation failed" "The generated project does not compile."
    ETB0504 LinkFailed StageFailed "linking failed" "The generated project does not link."
    ETB0505 TemplateInvalid StageFailed "template invalid" "A project template cannot be rendered."
    ETB0506 ImageInvalid StageFailed "image invalid" "A linked image cannot be converted to the target's image format."
    ETB0507 OperatorCompile RecipeInvalid "custom operator does not compile" "The kernel of a custom operator does not compile for the target."
    ETB0508 RuntimeUnavailable RecipeUnmet "prebuilt runtime not available" "`link: prebuilt` is set, and no prebuilt runtime fits the target and the recipe."
    // 06: the store and the outputs.
    ETB0601 StoreUnavailable StageFailed "cache unavailable" "The cache folder cannot be read or written."
    ETB0602 StoreCorrupt StageFailed "cache corrupt" "A stored artifact has another digest than its name."
    ETB0603 DiskFull StageFailed "disk full" "No space is left on the disk."
    ETB0604 OutputUnwritable StageFailed "output not writable" "A result cannot be written to the output folder."
    ETB0605 LockedMismatch Locked "lock mismatch" "`--locked` found a difference from the lock file."
    ETB0606 NotReproducible NotReproducible "not reproducible" "A rebuild from the same inputs gave other bytes."
    ETB0607 RemoteLost RemoteLost "remote lost" "A remote cache is required and cannot be reached."
    ETB0608 LockMalformed RecipeInvalid "lock file malformed" "The lock file does not follow its format."
    ETB0609 BundleMismatch NotReproducible "bundle mismatch" "A file of an output folder differs from its manifest or provenance."
    ETB0610 HubUnreachable RemoteLost "hub unreachable" "A model of the Hugging Face Hub is not downloaded, and the download failed or is off."
    ETB0611 HubRefused RecipeUnmet "hub refused" "The Hugging Face Hub has no such model, or does not give it to this user."
    ETB0612 UpdateMalformed StageFailed "update malformed" "The file is no update or bundle, or a damaged one."
    ETB0613 UpdateBaseDiffers StageFailed "update of another version" "The deployed files are not those that the update was made from."
    ETB0614 UpdateSignature StageFailed "update not signed" "An update or bundle has no signature, or one of another key."
    ETB0615 NoEarlierVersion StageFailed "no earlier version" "The version before the last update is not kept, or is damaged."
    ETB0616 BundleWithoutTarget StageFailed "bundle without target" "The bundle has no version for this machine, or for the chip or target that was named."
    // 07: running and verifying.
    ETB0701 RunFailed RunFailed "run failed" "The program ended with an error on its device, emulator or host."
    ETB0702 AccuracyFailed RunFailed "accuracy failed" "The program's outputs differ from the reference by more than the tolerance."
    ETB0703 EmulatorMissing RunFailed "emulator missing" "The emulator that runs this target is not installed."
    ETB0704 RunTimedOut RunFailed "run timed out" "The program did not end within its time limit."
    ETB0705 DeviceMissing RunFailed "device missing" "No device of this target is attached."
    ETB0706 InputsMismatch RecipeInvalid "inputs mismatch" "The inputs do not have the names, shapes or dtypes of the model."
    ETB0707 ProgramFileMalformed RunFailed "program file malformed" "A program file cannot be loaded."
    ETB0708 NotVerified RunFailed "not verified" "A target could not be built or run on this machine."
    ETB0709 QuantizationLoss RunFailed "quantization error too large" "The SQNR of a quantized layer is below the limit of the recipe."
    ETB0710 AccuracyLost RunFailed "accuracy lost" "The loss of accuracy on labelled data exceeds the limit of the recipe."
    ETB0711 DeviceRefused RunFailed "device refused" "A device is there and does not let etbuild in."
    ETB0712 RecordingMismatch RunFailed "recording mismatch" "A recording of operators is damaged, or is of another program."
    // 08: the command line, and etbuild itself.
    ETB0801 Usage Usage "usage" "The command line is wrong."
    ETB0802 BadOverride Usage "bad --set" "A `--set` is not of the form `key.key=value`."
    ETB0803 Internal StageFailed "internal error" "etbuild violated an internal invariant; please report the message."
    ETB0804 Interrupted Interrupted "interrupted" "Ctrl-C or another terminating signal ended the command."
    ETB0805 FeatureMissing Usage "feature not built in" "A required Cargo feature is not compiled into this etbuild."
}

impl Code {
    /// The description of the code.
    pub fn info(self) -> &'static CodeInfo {
        &Self::TABLE[self as usize]
    }

    /// The text of the code, such as `ETB0107`.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// The kind of failure.
    pub fn failure(self) -> Failure {
        self.info().failure
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.id())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_four_digits_and_strictly_ascending() {
        assert!(Code::TABLE.is_sorted_by(|left, right| left.id < right.id));
        assert!(Code::TABLE.iter().all(|info| info.id.len() == 7 && info.id.starts_with("ETB0")));
    }

    #[test]
    fn every_code_finds_its_own_row() {
        assert!(Code::TABLE.iter().all(|row| row.code.info() == row));
    }

    #[test]
    fn summaries_are_sentences() {
        assert!(Code::TABLE.iter().all(|row| row.summary.ends_with('.')));
    }
}
