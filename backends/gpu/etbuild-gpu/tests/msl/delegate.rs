//! Delegates of blobs for Metal on a machine without Metal: one notes kernels, the other executes the compiled ones.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use et_core::{Args, Error, Result};
use et_gpu::{Binding, Blob, Dispatch, Kernel, Language, Object, Role};
use et_module::Engine;
use et_runtime::{Delegate, DelegateSetup};

/// The kernels of the loaded blobs, by their words.
static NOTED: Mutex<BTreeMap<Vec<u32>, usize>> = Mutex::new(BTreeMap::new());

/// The program that executes them.
static PROGRAM: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The last failure.
static PROBLEM: Mutex<Option<String>> = Mutex::new(None);

/// Notes the kernels of blobs, and refuses the blobs with [`NOTED_ONLY`].
pub static NOTING: &[Engine] = &[Engine { id: et_gpu::ID, make: |_| Box::new(Noting), problem }];

/// Executes the kernels of blobs on the CPU.
pub static EXECUTING: &[Engine] = &[Engine { id: et_gpu::ID, make: |_| Box::<Executing>::default(), problem }];

/// The failure of a blob whose kernels were noted.
pub const NOTED_ONLY: &str = "the kernels were noted";

/// The noted kernels, numbered in order.
pub fn noted() -> Vec<Vec<u32>> {
    let mut noted = NOTED.lock().unwrap();
    noted.values_mut().enumerate().for_each(|(number, place)| *place = number);
    noted.keys().cloned().collect()
}

/// States the program that executes the noted kernels.
pub fn execute_by(program: PathBuf) {
    *PROGRAM.lock().unwrap() = Some(program);
}

fn problem() -> Option<String> {
    PROBLEM.lock().unwrap().clone()
}

fn fail<T>(sentence: String) -> Result<T> {
    *PROBLEM.lock().unwrap() = Some(sentence);
    Err(Error::NotSupported)
}

/// The kernels of a blob: their words.
fn kernels(blob: &Blob<'_>) -> Vec<Vec<u32>> {
    let words: Vec<u32> = blob.words.bytes().iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let of = |Kernel { start, words: count, .. }| words[start as usize..][..count as usize].to_vec();
    blob.kernels.iter().map(|kernel| of(kernel.unwrap())).collect()
}

struct Noting;

impl<'a> Delegate<'a> for Noting {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let blob = Blob::read(setup.blob)?;
        assert_eq!(blob.header.language, Language::Msl);
        NOTED.lock().unwrap().extend(kernels(&blob).into_iter().map(|words| (words, 0)));
        fail(NOTED_ONLY.to_owned())
    }

    fn execute(&self, _arguments: &Args<'a, '_>) -> Result<()> {
        Err(Error::InvalidState)
    }
}

/// A blob's objects, dispatches with noted kernels, and bindings.
#[derive(Default)]
struct Executing {
    objects: RefCell<Vec<Object>>,
    dispatches: RefCell<Vec<Dispatch>>,
    bindings: RefCell<Vec<Binding>>,
}

impl<'a> Delegate<'a> for Executing {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let blob = Blob::read(setup.blob)?;
        let (kernels, noted) = (kernels(&blob), NOTED.lock().unwrap());
        *self.objects.borrow_mut() = blob.objects.iter().collect::<Result<_>>()?;
        *self.bindings.borrow_mut() = blob.bindings.iter().collect::<Result<_>>()?;
        let dispatches: Result<Vec<Dispatch>> = blob.dispatches.iter().collect();
        let with_number = |dispatch: Dispatch| {
            let number = noted.get(&kernels[dispatch.kernel as usize]).ok_or(Error::NotFound)?;
            Ok(Dispatch { kernel: *number as u32, ..dispatch })
        };
        *self.dispatches.borrow_mut() = dispatches?.into_iter().map(with_number).collect::<Result<_>>()?;
        Ok(())
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let mut rest = match executed(&self.request(arguments)?) {
            Ok(results) => results,
            Err(sentence) => return fail(sentence),
        };
        for object in self.objects.borrow().iter() {
            let others = rest.split_off(object.size as usize);
            if matches!(object.role, Role::Output | Role::State) {
                let target = arguments.tensor(object.argument as usize)?.bytes_mut()?;
                (0..target.len()).zip(rest).for_each(|(index, byte)| target.set(index, byte));
            }
            rest = others;
        }
        Ok(())
    }
}

impl Executing {
    /// The objects and the dispatches for the program.
    fn request(&self, arguments: &Args<'_, '_>) -> Result<Vec<u8>> {
        let (objects, dispatches, bindings) = (self.objects.borrow(), self.dispatches.borrow(), self.bindings.borrow());
        let mut request = Vec::new();
        let put = |request: &mut Vec<u8>, word: usize| request.extend((word as u32).to_le_bytes());
        put(&mut request, objects.len());
        for object in objects.iter() {
            put(&mut request, object.size as usize);
            // Elements that no kernel has written are NaN.
            let mut bytes = vec![0xff; object.size as usize];
            if matches!(object.role, Role::Input | Role::Weights | Role::State) {
                let tensor = arguments.tensor(object.argument as usize)?.bytes()?;
                bytes.iter_mut().zip(tensor.iter()).for_each(|(byte, element)| *byte = element);
            }
            request.extend(bytes);
        }
        put(&mut request, dispatches.len());
        for dispatch in dispatches.iter() {
            put(&mut request, dispatch.kernel as usize);
            dispatch.workgroups.iter().for_each(|count| put(&mut request, *count as usize));
            let bound = &bindings[dispatch.first_binding as usize..][..dispatch.bindings as usize];
            put(&mut request, bound.len());
            bound.iter().for_each(|binding| put(&mut request, binding.object as usize));
        }
        Ok(request)
    }
}

/// The objects behind the dispatches of a request.
fn executed(request: &[u8]) -> core::result::Result<Vec<u8>, String> {
    let program = PROGRAM.lock().unwrap().clone().unwrap();
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    // The program reads all before it writes.
    _ = child.stdin.take().unwrap().write_all(request);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}
