//! The prefix of a crate says where its code may run.

use crate::workspace::Package;

/// Every device crate that depends on a host crate, and every folder with another name than its crate.
pub fn breaches(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(|package| host_on_device(package).into_iter().chain(misnamed(package))).collect()
}

fn host_on_device(package: &Package) -> Vec<String> {
    if !package.name.starts_with("et-") {
        return Vec::new();
    }
    let host = package.dependencies.iter().filter(|dependency| dependency.name.starts_with("etbuild"));
    host.map(|host| format!("{} may run on a device and depends on {}", package.name, host.name)).collect()
}

fn misnamed(package: &Package) -> Option<String> {
    let folder = package.folder.file_name()?.to_string_lossy();
    (folder != package.name).then(|| format!("{}: the crate is called {}", package.folder.display(), package.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[test]
    fn a_device_crate_on_a_host_crate_is_a_breach() {
        let dependency = Dependency { name: "etbuild-ir".into(), ours: true, linked: true };
        let package = Package {
            name: "et-x".into(),
            folder: "runtime/et-x".into(),
            dependencies: vec![dependency],
            ..Package::default()
        };
        assert_eq!(breaches(&[package]).len(), 1);
    }

    #[test]
    fn a_folder_is_named_as_its_crate() {
        let package = Package { name: "et-x".into(), folder: "runtime/x".into(), ..Package::default() };
        assert_eq!(breaches(&[package]), ["runtime/x: the crate is called et-x"]);
    }
}
