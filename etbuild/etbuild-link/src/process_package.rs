//! The files beside the library of a process: headers for C and C++, and the packages of CMake and pkg-config.

use serde::Serialize;

use crate::embedded::{LIBRARY, embedded_file, header};
use crate::render::fill_in_with;
use crate::symbol::symbol;
use crate::{CompileTarget, LibraryForm, LinkError};

/// The headers, which are those of the crate of the interface.
const HEADERS: [&str; 2] = ["etbuild.h", "etbuild.hpp"];

#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    symbol: String,
    version: &'static str,
    /// The library that links into a program, if that is none of Windows or Android.
    archive: Option<String>,
    /// The library that a process loads, if any.
    shared: Option<String>,
    /// The import library of Windows.
    import: Option<String>,
}

impl<'a> Variables<'a> {
    fn of(name: &'a str, target: &CompileTarget) -> Self {
        let form = LibraryForm::of(target);
        let linked = form.linked_name(name);
        let (archive, import) = match form {
            LibraryForm::Dll => (None, Some(linked)),
            // The archive is for the compiler of the NDK, which apps link with the shared library.
            _ if target.is_android() => (None, None),
            _ => (Some(linked), None),
        };
        let version = env!("CARGO_PKG_VERSION");
        Self { name, symbol: symbol(name), version, archive, shared: form.loaded_name(name), import }
    }
}

/// The templates of the packages of a model, and the names of the files.
fn packages(name: &str, target: &CompileTarget) -> Vec<(&'static str, String)> {
    let mut packages = vec![("process.cmake.tera", cmake_name(name))];
    if !(target.is_android() || target.is_windows() || target.is_apple()) {
        packages.push(("library.pc.tera", format!("{name}.pc")));
    }
    packages
}

/// The file of CMake's package of a model: CMake finds a name in lower case, however `find_package` is asked.
pub fn cmake_name(name: &str) -> String {
    format!("{}-config.cmake", name.to_ascii_lowercase())
}

/// The names of the files, in order.
pub fn process_package_names(name: &str, target: &CompileTarget) -> Vec<String> {
    let packages = packages(name, target).into_iter().map(|(_, file)| file);
    HEADERS.iter().map(ToString::to_string).chain(packages).collect()
}

/// The files of the model `name`, in order.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn process_package(name: &str, target: &CompileTarget) -> Result<Vec<Vec<u8>>, LinkError> {
    let headers = HEADERS.iter().map(|file| header(file).map(<[u8]>::to_vec));
    let variables = Variables::of(name, target);
    let package = |(template, _)| fill_in_with(embedded_file(LIBRARY, template)?, &variables);
    headers.chain(packages(name, target).into_iter().map(package)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Linker;

    fn target(triple: &str) -> CompileTarget {
        CompileTarget {
            triple: triple.into(),
            cpu: None,
            features: Vec::new(),
            linker: Linker::System,
            crt_static: false,
        }
    }

    fn texts(triple: &str) -> Vec<(String, String)> {
        let target = target(triple);
        let texts = process_package("tiny-net", &target).unwrap();
        let names = process_package_names("tiny-net", &target);
        assert_eq!(names.len(), texts.len());
        names.into_iter().zip(texts.into_iter().map(|text| String::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn targets_of_cmake_name_the_files_that_there_are() {
        let cmake =
            |triple: &str| texts(triple).into_iter().find(|(name, _)| name == "tiny-net-config.cmake").unwrap().1;
        let linux = cmake("x86_64-unknown-linux-gnu");
        let kinds = [
            "add_library(tiny_net STATIC IMPORTED)",
            "/libtiny-net.a\"",
            "add_library(tiny_net_shared SHARED",
            "/libtiny-net.so\"",
        ];
        assert!(kinds.iter().all(|part| linux.contains(part)), "{linux}");
        let android = cmake("aarch64-linux-android");
        assert!(android.contains("add_library(tiny_net SHARED IMPORTED)") && !android.contains("STATIC"), "{android}");
        let windows = cmake("x86_64-pc-windows-gnullvm");
        assert!(
            windows.contains("add_library(tiny_net SHARED IMPORTED)") && windows.contains("/tiny-net.lib\""),
            "{windows}"
        );
    }

    #[test]
    fn archives_alone_have_a_package_of_pkg_config() {
        let names = |triple: &str| texts(triple).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(
            names("aarch64-unknown-linux-musl"),
            ["etbuild.h", "etbuild.hpp", "tiny-net-config.cmake", "tiny-net.pc"]
        );
        assert_eq!(names("aarch64-linux-android"), ["etbuild.h", "etbuild.hpp", "tiny-net-config.cmake"]);
        let linux = target("x86_64-unknown-linux-gnu");
        assert_eq!(process_package_names("TinyNet", &linux)[2..], ["tinynet-config.cmake", "TinyNet.pc"]);
    }
}
