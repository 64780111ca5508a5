//! The package for Swift: an XCFramework with a static library for each platform of Apple, and sources of Swift over the C interface.
//!
//! The sources are compiled with the app. Source of the layout: what `xcodebuild -create-xcframework` writes, and
//! <https://developer.apple.com/documentation/xcode/distributing-binary-frameworks-as-swift-packages>.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use object::read::archive::ArchiveFile;
use serde::Serialize;

use crate::embedded::{SWIFT, embedded_file, header};
use crate::render::fill_in_with;
use crate::{CompileTarget, LibraryForm, LinkError};

/// The module of the C interface. A folder of this name keeps the module map apart from those of other frameworks, since Xcode copies the headers
/// of all frameworks to one folder.
const C_MODULE: &str = "CEtbuild";
const HEADER: &str = "etbuild.h";
const MODULE_MAP: &str = "module.modulemap";

/// A platform of Apple, as XCFrameworks name platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ApplePlatform {
    identifier: &'static str,
    architecture: &'static str,
    system: &'static str,
    variant: Option<&'static str>,
}

/// The platforms of triples.
const PLATFORMS: [(&str, ApplePlatform); 3] = [
    ("aarch64-apple-darwin", ApplePlatform::arm64("macos-arm64", "macos", None)),
    ("aarch64-apple-ios", ApplePlatform::arm64("ios-arm64", "ios", None)),
    ("aarch64-apple-ios-sim", ApplePlatform::arm64("ios-arm64-simulator", "ios", Some("simulator"))),
];

impl ApplePlatform {
    const fn arm64(identifier: &'static str, system: &'static str, variant: Option<&'static str>) -> Self {
        Self { identifier, architecture: "arm64", system, variant }
    }

    /// The platform of a target; `None` for other systems.
    pub fn of(target: &CompileTarget) -> Option<Self> {
        PLATFORMS.into_iter().find(|(triple, _)| target.triple == *triple).map(|(_, platform)| platform)
    }
}

/// The folders of sources, each with a function that the folder's sources call: libraries have functions for what their models can do.
const SOURCES: [(&str, &str); 5] = [
    ("Common/", "et_error_message"),
    ("Program/", "et_module_load"),
    ("Language/", "et_language_load"),
    ("Speech/", "et_language_transcribe"),
    ("Updates/", "et_update_apply"),
];

#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    framework: &'a str,
    library: &'a str,
    platforms: Vec<&'a ApplePlatform>,
    frameworks: &'a BTreeSet<&'static str>,
    ios: String,
    macos: String,
}

/// What the libraries of a package need of the systems beside the C library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppleNeeds {
    /// The frameworks by name.
    pub frameworks: BTreeSet<&'static str>,
    /// The first versions of iOS and macOS; `None` for those that the Swift sources need.
    pub systems: Option<[&'static str; 2]>,
}

impl AppleNeeds {
    /// The first versions of iOS and macOS, as Swift states them.
    fn systems(&self) -> [String; 2] {
        let stated = self.systems.map(|systems| systems.map(|version| format!("{version:?}")));
        stated.unwrap_or_else(|| [".v13", ".v10_15"].map(str::to_owned))
    }
}

/// The files of the package of the model `name`, by their paths below its folder: `libraries` are the static libraries of platforms, with the same
/// functions.
///
/// # Errors
/// [`LinkError::Link`] for a library that is no archive with a list of symbols, and [`LinkError::Template`], which a test excludes.
pub fn swift_package<'a>(
    name: &str,
    needs: &AppleNeeds,
    libraries: &BTreeMap<ApplePlatform, &'a [u8]>,
) -> Result<BTreeMap<String, Cow<'a, [u8]>>, LinkError> {
    let ([framework, sources], library) = (swift_folders(name), LibraryForm::Static.linked_name(name));
    let platforms = libraries.keys().collect();
    let ([ios, macos], frameworks) = (needs.systems(), &needs.frameworks);
    let variables = Variables { name, framework: &framework, library: &library, platforms, frameworks, ios, macos };
    let mut files = BTreeMap::from([
        ("Package.swift".to_owned(), fill_in_with(embedded_file(SWIFT, "Package.swift.tera")?, &variables)?.into()),
        (format!("{framework}/Info.plist"), fill_in_with(embedded_file(SWIFT, "Info.plist.tera")?, &variables)?.into()),
    ]);
    let (header, module) = (header(HEADER)?, embedded_file(SWIFT, MODULE_MAP)?);
    for (platform, bytes) in libraries {
        let folder = format!("{framework}/{}", platform.identifier);
        files.insert(format!("{folder}/{library}"), Cow::Borrowed(*bytes));
        files.insert(format!("{folder}/Headers/{C_MODULE}/{HEADER}"), header.into());
        files.insert(format!("{folder}/Headers/{C_MODULE}/{MODULE_MAP}"), module.into());
    }
    let functions = libraries.values().next().map(|library| functions(library)).transpose()?.unwrap_or_default();
    files.extend(sources_over(&functions).map(|(file, bytes)| (format!("{sources}/{file}"), bytes.into())));
    Ok(files)
}

/// The folders of the package of the model `name` that hold files of [`swift_package`] alone: the framework, and the sources.
pub fn swift_folders(name: &str) -> [String; 2] {
    [format!("{name}.xcframework"), "Sources/Etbuild".to_owned()]
}

/// The functions of a library for C.
fn functions(library: &[u8]) -> Result<BTreeSet<&str>, LinkError> {
    let symbols = ArchiveFile::parse(library).and_then(|archive| archive.symbols());
    let malformed = |error: object::Error| LinkError::Link(error.to_string());
    let mut names = BTreeSet::new();
    let missing = || LinkError::Link("the library has no list of symbols".to_owned());
    for symbol in symbols.map_err(malformed)?.ok_or_else(missing)? {
        // Apple's compilers begin names with an underscore.
        let name = std::str::from_utf8(symbol.map_err(malformed)?.name()).unwrap_or_default();
        names.extend(name.strip_prefix('_').filter(|name| name.starts_with("et_")));
    }
    Ok(names)
}

/// The sources of Swift over these functions, by their names.
fn sources_over(functions: &BTreeSet<&str>) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    SWIFT.iter().flat_map(|folder| folder.files).filter_map(|file| {
        let (folder, function) = SOURCES.iter().find(|(folder, _)| file.path.starts_with(folder))?;
        functions.contains(function).then(|| (&file.path[folder.len()..], file.bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Linker;

    fn platform(triple: &str) -> Option<ApplePlatform> {
        let (triple, linker) = (triple.to_owned(), Linker::None);
        ApplePlatform::of(&CompileTarget { triple, cpu: None, features: Vec::new(), linker, crt_static: false })
    }

    fn package(functions: &[&str], triples: &[&str]) -> BTreeMap<String, String> {
        package_with(functions, &AppleNeeds::default(), triples)
    }

    fn package_with(functions: &[&str], needs: &AppleNeeds, triples: &[&str]) -> BTreeMap<String, String> {
        let library = library(functions);
        let libraries = triples.iter().map(|triple| (platform(triple).unwrap(), &*library)).collect();
        let files = swift_package("tiny-net", needs, &libraries).unwrap();
        files.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes.into_owned()).unwrap())).collect()
    }

    /// An archive whose list of symbols has the functions.
    fn library(functions: &[&str]) -> Vec<u8> {
        let names: Vec<u8> = functions.iter().flat_map(|name| format!("_{name}\0").into_bytes()).collect();
        let count = u32::try_from(functions.len()).unwrap();
        let mut list = [count.to_be_bytes().to_vec(), vec![0; 4 * functions.len()], names].concat();
        list.resize(list.len().next_multiple_of(2), 0);
        let header = format!("!<arch>\n{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "/", 0, 0, 0, 0, list.len());
        [header.into_bytes(), list].concat()
    }

    #[test]
    fn a_framework_has_a_library_and_headers_for_each_platform() {
        let files =
            package(&["et_module_load"], &["aarch64-apple-ios", "aarch64-apple-darwin", "aarch64-apple-ios-sim"]);
        let framework = "tiny-net.xcframework";
        for identifier in ["ios-arm64", "macos-arm64", "ios-arm64-simulator"] {
            assert!(files[&format!("{framework}/{identifier}/libtiny-net.a")].starts_with("!<arch>"));
            let headers = format!("{framework}/{identifier}/Headers/CEtbuild");
            assert!(files[&format!("{headers}/etbuild.h")].contains("et_module_execute"));
            assert!(files[&format!("{headers}/module.modulemap")].contains("module CEtbuild"));
        }
        let list = &files[&format!("{framework}/Info.plist")];
        assert_eq!(list.matches("<string>libtiny-net.a</string>").count(), 6, "{list}");
        assert_eq!(list.matches("<string>simulator</string>").count(), 1, "{list}");
        assert!(files["Package.swift"].contains("path: \"tiny-net.xcframework\""));
    }

    #[test]
    fn sources_are_those_over_functions_of_the_library() {
        let sources = |functions: &[&str]| {
            let files = package(functions, &["aarch64-apple-ios"]);
            let names = files.keys().filter_map(|path| path.strip_prefix("Sources/Etbuild/"));
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(sources(&["et_error_message"]), ["EtbuildError.swift"]);
        let program = ["et_error_message", "et_module_load", "et_update_apply"];
        assert_eq!(sources(&program), ["EtbuildError.swift", "Module.swift", "Tensor.swift", "Updates.swift"]);
        let language = ["et_error_message", "et_language_load"];
        let wanted = [
            "EtbuildError.swift",
            "LanguageModel.swift",
            "Options.swift",
            "Parts.swift",
            "Pieces.swift",
            "Speech.swift",
        ];
        assert_eq!(sources(&language), wanted[..5]);
        assert_eq!(sources(&[&language[..], &["et_language_transcribe"]].concat()), wanted);
    }

    #[test]
    fn a_damaged_library_is_an_error() {
        for bytes in [&b"!<arch>\nnot"[..], b"!<arch>\n"] {
            let library = [(platform("aarch64-apple-ios").unwrap(), bytes)].into();
            assert!(swift_package("tiny-net", &AppleNeeds::default(), &library).is_err());
        }
    }

    #[test]
    fn a_package_links_the_frameworks_that_its_libraries_need() {
        let manifest = |needs: &AppleNeeds| {
            package_with(&["et_module_load"], needs, &["aarch64-apple-ios"]).remove("Package.swift").unwrap()
        };
        let plain = manifest(&AppleNeeds::default());
        assert!(plain.contains("[.iOS(.v13), .macOS(.v10_15)]") && !plain.contains("linkerSettings"), "{plain}");
        let frameworks = BTreeSet::from(["Foundation", "Metal"]);
        let gpu = manifest(&AppleNeeds { frameworks, systems: Some(["14.0", "11.0"]) });
        assert!(gpu.contains("[.iOS(\"14.0\"), .macOS(\"11.0\")]"), "{gpu}");
        let settings =
            "linkerSettings: [.linkedFramework(\"Foundation\"), .linkedFramework(\"Metal\"), .linkedLibrary(\"objc\")]";
        assert!(gpu.contains(settings), "{gpu}");
    }

    #[test]
    fn other_systems_have_no_platform() {
        assert_eq!(platform("aarch64-unknown-linux-gnu"), None);
    }
}
