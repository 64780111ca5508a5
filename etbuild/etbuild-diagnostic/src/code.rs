//! The stable codes: one visible list, which is also the reference.

use serde::{Serialize, Serializer};

use crate::Failure;

/// What is known about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code itself.
    pub code: Code,
    /// How it is written, as in `ETB0107`; never reused for another meaning.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// One sentence.
    pub explanation: &'static str,
    /// What kind of failure it is.
    pub failure: Failure,
}

/// Makes the enum and the table from one list, in the order of the list.
macro_rules! codes {
    ($($id:ident $name:ident $failure:ident $title:literal $explanation:literal)*) => {
        /// A stable diagnostic code. The first two digits say which part of etbuild speaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = concat!(stringify!($id), ": ", $explanation)] $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const TABLE: &'static [CodeInfo] = &[$(CodeInfo {
                code: Self::$name,
                id: stringify!($id),
                title: $title,
                explanation: $explanation,
                failure: Failure::$failure,
            },)*];
        }
    };
}

codes! {
    // 01: the text and structure of a YAML file.
    ETB0101 YamlSyntax RecipeInvalid "not YAML" "The file is not valid YAML 1.2."
    ETB0102 FileTooLarge RecipeInvalid "file too large" "A recipe or target file is larger than 1 MiB."
    ETB0103 TooManyNodes RecipeInvalid "too many nodes" "After aliases are expanded, the file has more than 20 000 nodes."
    ETB0104 TooDeep RecipeInvalid "nested too deeply" "The file nests lists and maps more than 64 deep."
    ETB0105 TooManyAliases RecipeInvalid "too many aliases" "The file uses more than 100 YAML aliases."
    ETB0106 DuplicateKey RecipeInvalid "duplicate key" "A map has the same key twice."
    ETB0107 UnknownKey RecipeInvalid "unknown key" "A map has a key that has no meaning there."
    ETB0108 MissingKey RecipeInvalid "missing key" "A map lacks a key that it must have."
    ETB0109 WrongType RecipeInvalid "wrong type" "A value is not of the type that its key takes."
    ETB0110 BadValue RecipeInvalid "value not allowed" "A value has the right type and is not one of those allowed."
    ETB0111 ExtendsCycle RecipeInvalid "cycle in extends" "A file extends itself, directly or through others."
    ETB0112 UnknownVariable RecipeInvalid "unknown variable" "A `${name}` names no variable of `vars:`, or an unset `${env:NAME}`."
    ETB0113 BadSubstitution RecipeInvalid "bad substitution" "A `${...}` is not closed, is empty, refers to itself or cannot be part of a text."
    ETB0114 UnsupportedVersion RecipeInvalid "unsupported version" "The `etbuild:` key names a format that this etbuild does not read."
    ETB0115 NotText RecipeInvalid "not text" "A recipe or target file is not UTF-8."
    ETB0116 ExclusiveKeys RecipeInvalid "exactly one key" "A map must have exactly one key out of several."
    ETB0117 BadMatrix RecipeInvalid "bad matrix" "A `matrix:` is empty or expands to too many recipes."
    // 02: the meaning of a recipe or target.
    ETB0201 FileMissing RecipeInvalid "file missing" "A file that the recipe names does not exist."
    ETB0202 FileUnreadable RecipeInvalid "file unreadable" "A file that the recipe names cannot be read."
    ETB0203 UnknownTarget RecipeInvalid "unknown target" "No target has this name."
    ETB0204 UnknownEngine RecipeInvalid "unknown engine" "No engine has this name."
    ETB0205 DuplicateTarget RecipeInvalid "duplicate target" "Two target files have the same name."
    ETB0206 UnknownBank RecipeInvalid "unknown memory bank" "A target refers to a memory bank that it does not list."
    ETB0207 OptionUnavailable RecipeUnmet "option not available" "A documented option that this version cannot honour yet."
    ETB0208 TargetInconsistent RecipeInvalid "inconsistent target" "Two facts of a target contradict each other."
    ETB0209 CalibrationMissing RecipeInvalid "calibration data missing" "The scheme takes ranges of activations from calibration data, and the recipe names none."
    ETB0210 LayerUnmatched RecipeInvalid "no such layer" "An exception to a quantization scheme matches no layer of the model."
    ETB0211 CalibrationMismatch RecipeInvalid "calibration data does not fit" "The calibration data does not have the names, shapes or dtypes of the model's inputs."
    ETB0212 LabelsMismatch RecipeInvalid "labels do not fit" "Labelled data has no labels, or not a whole number for each case of the model."
    // 03: reading a model.
    ETB0301 ModelUnreadable StageFailed "model unreadable" "The model file cannot be read."
    ETB0302 ModelMalformed StageFailed "model malformed" "The model file is not what its format says."
    ETB0303 ModelVersion StageFailed "model version" "The model file has a format version that this etbuild does not read."
    ETB0304 ModelUnsupported RecipeUnmet "model feature not supported" "The model uses a feature that etbuild cannot import."
    ETB0305 ArchitectureUnknown RecipeUnmet "architecture unknown" "There is no description of the family of models that a checkpoint is of."
    ETB0306 ShardMissing StageFailed "shard missing" "A checkpoint lacks a file with tensors that its index names."
    ETB0307 TensorMismatch StageFailed "tensors do not fit" "A checkpoint lacks tensors that its configuration calls for, or has others, or of other shapes."
    ETB0308 ContextTooLong RecipeInvalid "context too long" "The recipe asks for a longer context than the model was made for."
    ETB0309 ExportFailed StageFailed "export failed" "The Python function that makes the model raised an exception, or what it returned cannot be exported."
    // 04: operators, passes, memory.
    ETB0401 OperatorUnavailable RecipeUnmet "operator not available" "No kernel or engine computes this operator."
    ETB0402 DtypeUnavailable RecipeUnmet "dtype not available" "The operator exists and not for this dtype."
    ETB0403 ArgumentUnsupported RecipeUnmet "argument not supported" "The operator exists and not with this argument."
    ETB0404 BankTooSmall RecipeUnmet "memory bank too small" "What must live in a memory bank does not fit into it."
    ETB0405 BudgetExceeded RecipeUnmet "budget exceeded" "The result is larger than the recipe's budget."
    ETB0406 ProgramInvalid StageFailed "invalid program" "A stage made a program that its verifier rejects."
    ETB0407 PlanInvalid StageFailed "invalid memory plan" "A memory plan breaks a rule of its verifier."
    ETB0408 SchemeUnavailable RecipeUnmet "quantization not available" "No quantizer offers this scheme for this model."
    ETB0409 EngineUnavailable RecipeUnmet "engine not available" "The engine exists and not on this target."
    ETB0410 OperatorNotUpstream RecipeUnmet "operator not in ExecuTorch" "The recipe asks for a program that ExecuTorch's runtime loads, and that runtime has neither this operator nor what it could be decomposed into."
    ETB0411 StateDiffers RecipeUnmet "shared state differs" "Methods of one program have state of the same name that has another type, shape or first value in one than in the other."
    // 05: tools, compiling, linking.
    ETB0501 ToolMissing StageFailed "tool missing" "A program that this step needs is not installed."
    ETB0502 ToolchainMissing StageFailed "Rust target missing" "No installed Rust toolchain can build for this target."
    ETB0503 CompileFailed StageFailed "compilation failed" "The generated project does not compile."
    ETB0504 LinkFailed StageFailed "linking failed" "The generated project does not link."
    ETB0505 TemplateInvalid StageFailed "template invalid" "A project template cannot be filled in."
    ETB0506 ImageInvalid StageFailed "image invalid" "A linked image cannot be converted to the form that the target takes."
    // 06: the store and the outputs.
    ETB0601 StoreUnavailable StageFailed "cache unavailable" "The cache folder cannot be read or written."
    ETB0602 StoreCorrupt StageFailed "cache corrupt" "A stored artifact does not have the digest it is stored under."
    ETB0603 DiskFull StageFailed "disk full" "There is no space left where etbuild writes."
    ETB0604 OutputUnwritable StageFailed "output not writable" "A result cannot be written to the output folder."
    ETB0605 LockedMismatch Locked "lock mismatch" "`--locked` was given and something differs from the lock file."
    ETB0606 NotReproducible NotReproducible "not reproducible" "A rebuild from the same inputs gave other bytes."
    ETB0607 RemoteLost RemoteLost "remote lost" "A remote cache is required and cannot be reached."
    ETB0608 LockMalformed RecipeInvalid "lock file malformed" "The lock file is not what its format says."
    ETB0609 BundleMismatch NotReproducible "bundle does not match" "A file of a bundle is not what its manifest or its provenance says."
    // 07: running and verifying.
    ETB0701 RunFailed RunFailed "run failed" "The program ended with an error on its device, emulator or host."
    ETB0702 AccuracyFailed RunFailed "accuracy failed" "The program's outputs differ from the reference by more than the tolerance."
    ETB0703 EmulatorMissing RunFailed "emulator missing" "The emulator that runs this target is not installed."
    ETB0704 RunTimedOut RunFailed "run timed out" "The program did not end within its time limit."
    ETB0705 DeviceMissing RunFailed "device missing" "No device of this kind is attached."
    ETB0706 InputsMismatch RecipeInvalid "inputs do not fit" "The named inputs do not have the names, shapes or dtypes of the model."
    ETB0707 ProgramFileMalformed RunFailed "program file malformed" "A program file cannot be loaded."
    ETB0708 NotVerified RunFailed "not verified" "A target could not be built or run on this machine."
    ETB0709 QuantizationLoss RunFailed "quantization loses too much" "A quantized layer is further from what it was than the recipe allows."
    ETB0710 AccuracyLost RunFailed "accuracy lost" "More right answers on labelled data are lost than the recipe allows."
    // 08: the command line, and etbuild itself.
    ETB0801 Usage Usage "usage" "The command line is wrong."
    ETB0802 BadOverride Usage "bad --set" "A `--set` is not of the form `key.key=value`."
    ETB0803 Internal StageFailed "internal error" "etbuild broke one of its own rules; please report it."
    ETB0804 Interrupted Interrupted "interrupted" "Ctrl-C, or another signal that ends programs, ended the command."
    ETB0805 FeatureMissing Usage "feature not built in" "This etbuild was compiled without a Cargo feature that the command needs."
}

impl Code {
    /// What is known about the code.
    pub fn info(self) -> &'static CodeInfo {
        &Self::TABLE[self as usize]
    }

    /// How it is written, as in `ETB0107`.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// What kind of failure it is.
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
    fn explanations_are_sentences() {
        assert!(Code::TABLE.iter().all(|row| row.explanation.ends_with('.')));
    }
}
