//! The package for Swift: an XCFramework with a static library for each platform of Apple, and sources of Swift over the C interface.
//!
//! The sources are compiled with the app. Source of the layout: what `xcodebuild -create-xcframework` writes, and
//! <https://developer.apple.com/documentation/xcode/distributing-binary-frameworks-as-swift-packages>.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

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

/// The functions of a library that Swift calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwiftApi {
    /// Programs of tensors.
    Program,
    /// Language models.
    Language,
}

impl SwiftApi {
    /// The folder of the sources besides the common ones.
    const fn folder(self) -> &'static str {
        match self {
            Self::Program => "Program/",
            Self::Language => "Language/",
        }
    }
}

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

/// The files of the package of the model `name`, by their paths below its folder: `libraries` are the static libraries of platforms.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn swift_package<'a>(
    name: &str,
    api: SwiftApi,
    needs: &AppleNeeds,
    libraries: &BTreeMap<ApplePlatform, &'a [u8]>,
) -> Result<BTreeMap<String, Cow<'a, [u8]>>, LinkError> {
    let (framework, library) = (format!("{name}.xcframework"), LibraryForm::Static.linked_name(name));
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
    files.extend(sources(api).map(|(file, bytes)| (format!("Sources/Etbuild/{file}"), bytes.into())));
    Ok(files)
}

/// The sources of Swift by their names.
fn sources(api: SwiftApi) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    SWIFT.iter().flat_map(|folder| folder.files).filter_map(move |file| {
        let name = ["Common/", api.folder()].into_iter().find_map(|folder| file.path.strip_prefix(folder))?;
        Some((name, file.bytes))
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

    fn package(api: SwiftApi, triples: &[&str]) -> BTreeMap<String, String> {
        package_with(api, &AppleNeeds::default(), triples)
    }

    fn package_with(api: SwiftApi, needs: &AppleNeeds, triples: &[&str]) -> BTreeMap<String, String> {
        let libraries = triples.iter().map(|triple| (platform(triple).unwrap(), triple.as_bytes())).collect();
        let files = swift_package("tiny-net", api, needs, &libraries).unwrap();
        files.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes.into_owned()).unwrap())).collect()
    }

    #[test]
    fn a_framework_has_a_library_and_headers_for_each_platform() {
        let files = package(SwiftApi::Program, &["aarch64-apple-ios", "aarch64-apple-darwin", "aarch64-apple-ios-sim"]);
        let framework = "tiny-net.xcframework";
        for (identifier, triple) in [
            ("ios-arm64", "aarch64-apple-ios"),
            ("macos-arm64", "aarch64-apple-darwin"),
            ("ios-arm64-simulator", "aarch64-apple-ios-sim"),
        ] {
            assert_eq!(files[&format!("{framework}/{identifier}/libtiny-net.a")], triple);
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
    fn sources_call_functions_that_the_library_has() {
        let calls = |api, name: &str| {
            let files = package(api, &["aarch64-apple-ios"]);
            files.iter().any(|(path, text)| path.starts_with("Sources/Etbuild/") && text.contains(name))
        };
        assert!(calls(SwiftApi::Program, "et_module_") && !calls(SwiftApi::Program, "et_language_"));
        assert!(calls(SwiftApi::Language, "et_language_") && !calls(SwiftApi::Language, "et_module_"));
    }

    #[test]
    fn a_package_links_the_frameworks_that_its_libraries_need() {
        let manifest = |needs: &AppleNeeds| {
            package_with(SwiftApi::Program, needs, &["aarch64-apple-ios"]).remove("Package.swift").unwrap()
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
