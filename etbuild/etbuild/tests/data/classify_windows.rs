//! Compares the answers of a DLL with those of PyTorch: what a compiler of C makes of calls of `etbuild.h`, without a C library.
#![no_std]
#![no_main]

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null;

/// As `et_tensor` of the header.
#[repr(C)]
struct Tensor {
    kind: u8,
    rank: usize,
    shape: *const i64,
    data: *const c_void,
    bytes: usize,
}

/// The names are in the import library of the DLL.
unsafe extern "C" {
    fn et_module_load(
        program: *const c_char,
        data: *const *const c_char,
        count: usize,
        method: *const c_char,
        threads: usize,
    ) -> *mut c_void;
    fn et_module_set_input(module: *mut c_void, index: usize, tensor: *const Tensor) -> c_int;
    fn et_module_execute(module: *mut c_void) -> c_int;
    fn et_module_output(module: *mut c_void, index: usize, tensor: *mut Tensor) -> c_int;
    fn et_module_free(module: *mut c_void);
    fn et_error_message() -> *const c_char;
}

#[link(name = "kernel32", kind = "raw-dylib")]
unsafe extern "system" {
    fn ExitProcess(status: u32) -> !;
}

const FLOAT32: u8 = 6;
const IMAGE: usize = 64 * 4;
const CLASSES: usize = 10;

static IMAGES: &[u8] = include_bytes!("images");
static SCORES: &[u8] = include_bytes!("scores");

/// The status is 0, or the number of the first image, from 1, whose scores differ; 200 and more where a call fails.
fn compared() -> u32 {
    unsafe {
        if !et_module_load(c"nothing.pte".as_ptr(), null(), 0, null(), 1).is_null() || *et_error_message() == 0 {
            return 200;
        }
        let module = et_module_load(c"digits.pte".as_ptr(), null(), 0, null(), 2);
        if module.is_null() {
            return 201;
        }
        let shape = [1_i64, 1, 8, 8];
        for index in 0..IMAGES.len() / IMAGE {
            let data = IMAGES.as_ptr().add(index * IMAGE).cast();
            let image = Tensor { kind: FLOAT32, rank: 4, shape: shape.as_ptr(), data, bytes: IMAGE };
            let mut scores = Tensor { kind: 0, rank: 0, shape: null(), data: null(), bytes: 0 };
            if et_module_set_input(module, 0, &image) != 0 || et_module_execute(module) != 0 {
                return 202;
            }
            if et_module_output(module, 0, &mut scores) != 0 || scores.bytes != 4 * CLASSES {
                return 203;
            }
            for class in 0..CLASSES {
                let found = scores.data.cast::<f32>().add(class).read_unaligned();
                let wanted = SCORES.as_ptr().cast::<f32>().add(index * CLASSES + class).read_unaligned();
                let difference = found - wanted;
                if !(-1e-4..1e-4).contains(&difference) {
                    return index as u32 + 1;
                }
            }
        }
        et_module_free(module);
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn mainCRTStartup() -> ! {
    // The entry point of a process has the stack of a function that was called.
    unsafe { ExitProcess(compared()) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { ExitProcess(255) }
}
