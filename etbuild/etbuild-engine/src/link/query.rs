//! The project becomes a binary.

use std::collections::BTreeMap;

use etbuild_diagnostic::Diagnostic;
use etbuild_link::{
    Built, LibraryUse, LinkError, Project, Region, SizeReport, Sources, StackUse, Workshop, android_archive,
    build_telling, c_model, dll_library, java_classes, process_package, uf2, web_package,
};
use etbuild_store::{BlobRef, KeyBuilder, Value};
use etbuild_target::Image;

use super::crates::Crates;
use super::select::link_failure;
use super::{BinarySource, Maker, ProjectInputs, Tools, facts, prebuilt, selected, worker};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::failure;
use crate::input::Db;
use crate::pipeline::Stage;
use crate::session::World;

/// The unit's binary, the image where the target takes an image, and the sizes. A hosted binary depends on the program's kernels
/// and the names of inputs only; a board's binary also carries arenas, the program file and the verification data.
#[salsa::tracked(returns(clone))]
pub fn linked(db: &dyn Db, source: BinarySource, maker: Maker) -> StageResult {
    let tools = match maker {
        Maker::Compiler(tools) => tools,
        Maker::Prebuilt(prebuilt) => return prebuilt::finished(db, &source, &prebuilt),
    };
    let emitted = source.emitted(db).map_err(|blocked: Blocked| blocked.downstream())?;
    let selected = selected(db, source.clone(), tools.clone()).map_err(|blocked: Blocked| blocked.downstream())?;
    let project = ProjectInputs::of(db, &source.link, &tools.target, &emitted, Stage::Link)?;
    let dependencies = selected.blob(ArtifactKind::Dependencies)?;
    let target = &source.link.target;
    let flash = target.memory().map(|memory| facts::region(&memory.code));
    let images = target.image().to_vec();
    action::run(db, &Link { project, dependencies, tools, images, flash })
}

/// Linking.
struct Link {
    project: ProjectInputs,
    /// The device crates with the digests of their sources.
    dependencies: BlobRef,
    tools: Tools,
    images: Vec<Image>,
    /// The bank that an image is written to.
    flash: Option<Region>,
}

impl Keyed for Link {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { project, dependencies, tools, images, flash } = self;
        let Tools { target, toolchain } = tools;
        let images = images.iter().map(|image| Value::from(format!("{image:?}")));
        let key = project
            .key(key)
            .input("dependencies", dependencies.digest)
            .fact("image", Value::List(images.collect()))
            .fact("flash", flash.as_ref().map(|flash| format!("{flash:?}")));
        target.key(key).tool("toolchain", toolchain.identity())
    }
}

impl Action for Link {
    const STAGE: Stage = Stage::Link;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (world, tools) = (db.world(), &self.tools);
        let sources = Sources::embedded().map_err(link_failure)?;
        let build = self.action_key().action().to_string();
        let project = Project::new(&self.project.with_data(db, &build)?, &sources).map_err(link_failure)?;
        let workshop = Workshop { folder: &world.scratch(), offline: world.is_offline(), slots: world.slots() };
        let mut crates = Crates::new(world, Crates::listed(world, &self.dependencies), &project);
        let told = &mut |compiled| crates.tell(compiled);
        let built = match worker::build(world, tools, &project, &workshop) {
            Some(built) => products.made_elsewhere(built),
            None => build_telling(world.system(), &tools.toolchain, &tools.target, &project, &workshop, told),
        };
        let built = built.map_err(|error| link_failure(self.project.blamed(error)))?;
        let library = built.library.as_ref().filter(|_| self.project.board.is_some());
        let library = library.map(|library| self.library_use(world, library)).transpose()?.flatten();
        self.put(&built, library.as_ref(), products)
    }
}

impl Link {
    /// What the library of a board takes.
    fn library_use(&self, world: &World, library: &[u8]) -> Result<Option<LibraryUse>, Vec<Diagnostic>> {
        let folder = tempfile::tempdir().map_err(|error| failure::internal(&error.to_string()))?;
        let Tools { target, toolchain } = &self.tools;
        LibraryUse::of(world.system(), toolchain, target, (&self.project.name, library), folder.path())
            .map_err(link_failure)
    }

    fn put(
        &self,
        built: &Built,
        library_use: Option<&LibraryUse>,
        products: &mut Products<'_>,
    ) -> Result<(), Vec<Diagnostic>> {
        let sizes = match &built.binary {
            Some(binary) => self.put_binary(binary, products)?,
            // What an app takes of a library is known when the app is linked.
            None => SizeReport::default(),
        };
        if let Some(shared) = &built.shared {
            products.put(ArtifactKind::SharedLibrary, shared);
        }
        if let (true, Some(dll)) = (self.project.has_dll(), &built.shared) {
            self.put_dll(dll, products)?;
        } else if let Some(library) = &built.library {
            products.put(ArtifactKind::Library, library);
            self.put_interface(&sizes, library_use, products)?;
        }
        if let (true, Some(shared)) = (self.project.is_for_java(), &built.shared) {
            self.put_java(shared, products)?;
        }
        products.put(ArtifactKind::Code, &failure::json(&built.code)?);
        if let Some(stack) = &built.stack {
            Self::check_stack(stack, &sizes)?;
            products.put(ArtifactKind::Stack, &failure::json(stack)?);
        }
        if let Some(data) = &self.project.web {
            let package = web_package(&self.project.without_data()?, data).map_err(link_failure)?;
            package.iter().for_each(|file| products.put(ArtifactKind::Package, file));
        }
        Ok(())
    }

    /// The binary with the image and the sizes.
    fn put_binary(&self, binary: &[u8], products: &mut Products<'_>) -> Result<SizeReport, Vec<Diagnostic>> {
        products.put(ArtifactKind::Binary, binary);
        for image in &self.images {
            if let (Image::Uf2(format), Some(flash)) = (image, &self.flash) {
                let packed = uf2::write(binary, format.family, flash).map_err(link_failure)?;
                products.put(ArtifactKind::Image, &packed);
            }
        }
        let sizes = SizeReport::of(binary).map_err(link_failure)?;
        let text = serde_json::to_vec_pretty(&sizes).map_err(|error| failure::internal(&error.to_string()))?;
        products.put(ArtifactKind::Sizes, &text);
        Ok(sizes)
    }

    /// Refuses a stack that calls can leave.
    fn check_stack(stack: &StackUse, sizes: &SizeReport) -> Result<(), Vec<Diagnostic>> {
        let Some(bound) = stack.bound().filter(|bound| u64::from(bound.bytes) > sizes.stack) else { return Ok(()) };
        let calls = bound.calls.iter().map(|frame| format!("`{}`", frame.function)).collect();
        Err(link_failure(LinkError::StackTooSmall { need: bound.bytes.into(), kept: sizes.stack, calls }))
    }

    /// The package for Java.
    fn put_java(&self, shared: &[u8], products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let package = match self.tools.target.android_abi() {
            Some(abi) => android_archive(&self.project.name, &BTreeMap::from([(abi, shared)])),
            None => java_classes().map(<[u8]>::to_vec),
        };
        products.put(ArtifactKind::JavaPackage, &package.map_err(link_failure)?);
        Ok(())
    }

    /// The import library of a DLL, and the files beside the DLL.
    fn put_dll(&self, dll: &[u8], products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let name = &self.project.name;
        products.put(ArtifactKind::Library, &dll_library(name, dll).map_err(link_failure)?);
        self.put_process_package(products)
    }

    /// The files beside the library of a process.
    fn put_process_package(&self, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let package = process_package(&self.project.name, &self.tools.target).map_err(link_failure)?;
        package.iter().for_each(|file| products.put(ArtifactKind::Package, file));
        Ok(())
    }

    /// The files beside a library: those of all processes, and for a board a header with the sizes of the model.
    fn put_interface(
        &self,
        sizes: &SizeReport,
        library_use: Option<&LibraryUse>,
        products: &mut Products<'_>,
    ) -> Result<(), Vec<Diagnostic>> {
        if self.project.board.is_none() {
            return self.put_process_package(products);
        }
        let facts = self.project.without_data()?;
        let stack = library_use.and_then(|library| library.stack.bound()).map(|bound| bound.bytes);
        let interface = c_model(&facts, &self.tools.target, sizes.arena, stack).map_err(link_failure)?;
        products.put(ArtifactKind::Header, &interface.header);
        products.put(ArtifactKind::Cmake, &interface.cmake);
        if let Some(library) = library_use {
            products.put(ArtifactKind::LibraryUse, &failure::json(library)?);
        }
        interface.package.iter().for_each(|file| products.put(ArtifactKind::Package, file));
        Ok(())
    }
}
