//! The elementwise operations: a table of names, operands and expressions.
#![allow(unsafe_code)] // Streams are pointers, checked once for a program.

use et_simd::{Float, Simd, math};

use crate::rows::MOST_LANES;

/// The elements of an operand, or a broadcast constant.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    /// The first element.
    from: *const f32,
    /// 1, or 0 to repeat the first vector.
    step: usize,
}

impl Stream {
    /// Contiguous elements.
    #[inline(always)]
    pub(super) fn elements(from: *const f32) -> Self {
        Self { from, step: 1 }
    }

    /// A broadcast constant.
    #[inline(always)]
    pub(super) fn repeated(vector: &[f32; 16]) -> Self {
        Self { from: vector.as_ptr(), step: 0 }
    }

    /// Loads a vector of elements from `at` on.
    ///
    /// # Safety
    /// The stream has `at + LANES` elements.
    #[inline(always)]
    unsafe fn read<S: Simd>(self, isa: S, at: usize) -> S::F32 {
        // SAFETY: the caller guarantees the elements; a broadcast constant has 16, at least the lanes of any ISA.
        unsafe { isa.read(self.from.add(at * self.step)) }
    }

    /// Loads `count` elements from `at` on.
    ///
    /// # Safety
    /// The stream has `at + count` elements.
    #[inline(always)]
    unsafe fn read_part<S: Simd>(self, isa: S, at: usize, count: usize) -> S::F32 {
        // SAFETY: as above.
        unsafe { isa.read_part(self.from.add(at * self.step), count) }
    }
}

/// Generates the enumeration and the loops from the table.
macro_rules! operations {
    ($($(#[$documentation:meta])* $name:ident($($operand:ident),+) = |$isa:ident| $result:expr;)+) => {
        /// An elementwise operation. Discriminants are stored in files: append new operations at the end.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Operation { $($(#[$documentation])* $name,)+ }

        impl Operation {
            /// Every operation, in the order of the discriminants.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The number of operands.
            pub const fn operand_count(self) -> usize {
                match self { $(Self::$name => [$(stringify!($operand)),+].len(),)+ }
            }

            /// Computes `count` elements.
            ///
            /// # Safety
            /// Streams and target have `count` elements.
            #[inline(always)]
            pub(super) unsafe fn compute<S: Simd>(self, isa: S, operands: [Stream; 3], to: *mut f32, count: usize) {
                let whole = count - count % S::LANES;
                let mut vectors = Vectors { streams: operands, to, count: whole };
                let mut buffers = [[0.0; MOST_LANES]; 4];
                loop {
                    match self {
                        $(Self::$name => {
                            let $isa = isa;
                            let mut at = 0;
                            while at < vectors.count {
                                let mut streams = vectors.streams.iter();
                                // SAFETY: the loop condition leaves room for a full vector.
                                unsafe {
                                    $(let $operand = streams.next().unwrap_unchecked().read(isa, at);)+
                                    isa.write(vectors.to.add(at), $result);
                                }
                                at += S::LANES;
                            }
                        })+
                    }
                    let rest = count - whole;
                    if rest == 0 {
                        return;
                    }
                    if vectors.to != to {
                        // SAFETY: the remaining elements of the target exist, and the buffer has a vector.
                        return unsafe { isa.write_part(to.add(whole), rest, isa.read(vectors.to)) };
                    }
                    // SAFETY: the operands have the remaining elements.
                    vectors = unsafe { Vectors::rest(isa, operands, whole, rest, &mut buffers) };
                }
            }
        }
    };
}

/// Full vectors of elements: the operands, the target, and a number of elements that is a multiple of a vector.
struct Vectors {
    streams: [Stream; 3],
    to: *mut f32,
    count: usize,
}

impl Vectors {
    /// The last `rest` elements, less than a vector, in buffers of a vector: the loop of an operation computes them too, so that
    /// each operation is compiled once.
    ///
    /// # Safety
    /// The streams have `rest` elements from `at` on.
    #[inline(always)]
    unsafe fn rest<S: Simd>(
        isa: S,
        streams: [Stream; 3],
        at: usize,
        rest: usize,
        [buffers @ .., result]: &mut [[f32; MOST_LANES]; 4],
    ) -> Self {
        let mut streams = streams;
        for (stream, buffer) in streams.iter_mut().zip(buffers) {
            // SAFETY: the caller guarantees the elements, and a buffer has a vector of any ISA.
            unsafe { isa.write(buffer.as_mut_ptr(), stream.read_part(isa, at, rest)) };
            *stream = Stream::elements(buffer.as_ptr());
        }
        Self { streams, to: result.as_mut_ptr(), count: S::LANES }
    }
}

operations! {
    /// `x`
    #[default]
    Copy(x) = |_isa| x;
    /// `x + y`
    Add(x, y) = |_isa| x + y;
    /// `x - y`
    Sub(x, y) = |_isa| x - y;
    /// `x * y`
    Mul(x, y) = |_isa| x * y;
    /// `x / y`
    Div(x, y) = |_isa| x / y;
    /// The minimum; NaN if either operand is NaN.
    Min(x, y) = |_isa| x.min(y).select(x.is_equal(x), x);
    /// The maximum; NaN if either operand is NaN.
    Max(x, y) = |_isa| x.max(y).select(x.is_equal(x), x);
    /// `x * y + z`
    MulAdd(x, y, z) = |_isa| x.mul_add(y, z);
    /// `clamp(x, least, greatest)`; NaN for NaN.
    Clamp(x, least, greatest) = |_isa| greatest.min(least.max(x));
    /// `yes` if `condition` is not 0, otherwise `no`.
    Where(condition, yes, no) = |isa| no.select(condition.is_equal(isa.splat(0.0)), yes);
    /// 1 if `x < y`, otherwise 0.
    Less(x, y) = |isa| isa.splat(1.0).select(x.is_less(y), isa.splat(0.0));
    /// 1 if `x == y`, otherwise 0.
    Equal(x, y) = |isa| isa.splat(1.0).select(x.is_equal(y), isa.splat(0.0));
    /// `-x`
    Neg(x) = |_isa| x.neg();
    /// The absolute value.
    Abs(x) = |_isa| x.abs();
    /// ReLU.
    Relu(x) = |isa| isa.splat(0.0).max(x);
    /// Leaky ReLU: `x` above 0, otherwise `x * slope`.
    LeakyRelu(x, slope) = |isa| (x * slope).select(x.is_less(isa.splat(0.0)), x);
    /// Hard sigmoid: `clamp(x + 3, 0, 6) / 6`.
    Hardsigmoid(x) = |isa| math::hard_sigmoid(isa, x);
    /// Hard swish: `x * clamp(x + 3, 0, 6) / 6`.
    Hardswish(x) = |isa| x * math::hard_sigmoid(isa, x);
    /// `1 / (1 + exp(-x))`
    Sigmoid(x) = |isa| math::sigmoid(isa, x);
    /// `x / (1 + exp(-x))`
    Silu(x) = |isa| math::silu(isa, x);
    /// GELU: `x * (1 + erf(x / sqrt(2))) / 2`.
    Gelu(x) = |isa| math::gelu(isa, x);
    /// [`Operation::Gelu`] in PyTorch's tanh approximation.
    GeluTanh(x) = |isa| math::gelu_tanh(isa, x);
    /// The hyperbolic tangent.
    Tanh(x) = |isa| math::tanh(isa, x);
    /// The error function.
    Erf(x) = |isa| math::erf(isa, x);
    /// `exp(x)`
    Exp(x) = |isa| math::exp(isa, x);
    /// The square root.
    Sqrt(x) = |_isa| x.sqrt();
    /// `1 / sqrt(x)`
    Rsqrt(x) = |isa| isa.splat(1.0) / x.sqrt();
    /// `1 / x`
    Reciprocal(x) = |isa| isa.splat(1.0) / x;
    /// `x * x`
    Square(x) = |_isa| x * x;
    /// 1 if `x <= y`, otherwise 0
    LessEqual(x, y) = |isa| {
        let equal = isa.splat(1.0).select(x.is_equal(y), isa.splat(0.0));
        isa.splat(1.0).select(x.is_less(y), equal)
    };
    /// 0 if `x = y`, otherwise 1
    NotEqual(x, y) = |isa| isa.splat(0.0).select(x.is_equal(y), isa.splat(1.0));
}

impl Operation {
    /// The operation with the discriminant, if defined.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
