//! The operations: one list of names, operands and results.
#![allow(unsafe_code)] // Streams are pointers, checked once for a program.

use et_simd::{Float, Isa, math};

use super::block::Stream;

/// Makes the enumeration and the loops from the list.
macro_rules! operations {
    ($($(#[$documentation:meta])* $name:ident($($operand:ident),+) = |$isa:ident| $result:expr;)+) => {
        /// What an instruction computes of each element. Numbers are those of files: new operations go to the end.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Operation { $($(#[$documentation])* $name,)+ }

        impl Operation {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// How many operands it has.
            pub const fn operand_count(self) -> usize {
                match self { $(Self::$name => [$(stringify!($operand)),+].len(),)+ }
            }

            /// Computes `count` elements.
            ///
            /// # Safety
            /// The operands' streams and the target have as many elements.
            #[inline(always)]
            pub(super) unsafe fn compute<S: Isa>(self, isa: S, operands: [Stream; 3], to: *mut f32, count: usize) {
                match self {
                    $(Self::$name => {
                        let $isa = isa;
                        let whole = count - count % S::LANES;
                        let mut at = 0;
                        while at < whole {
                            let mut streams = operands.iter();
                            // SAFETY: a whole vector fits.
                            unsafe {
                                $(let $operand = streams.next().unwrap_unchecked().read(isa, at);)+
                                isa.write(to.add(at), $result);
                            }
                            at += S::LANES;
                        }
                        if at < count {
                            let (rest, mut streams) = (count - at, operands.iter());
                            // SAFETY: as many elements as are left fit.
                            unsafe {
                                $(let $operand = streams.next().unwrap_unchecked().read_part(isa, at, rest);)+
                                isa.write_part(to.add(at), rest, $result);
                            }
                        }
                    })+
                }
            }
        }
    };
}

operations! {
    /// `x`
    Copy(x) = |_isa| x;
    /// `x + y`
    Add(x, y) = |_isa| x + y;
    /// `x - y`
    Sub(x, y) = |_isa| x - y;
    /// `x * y`
    Mul(x, y) = |_isa| x * y;
    /// `x / y`
    Div(x, y) = |_isa| x / y;
    /// The lesser, NaN where one is.
    Min(x, y) = |_isa| x.min(y).select(x.is_equal(x), x);
    /// The greater, NaN where one is.
    Max(x, y) = |_isa| x.max(y).select(x.is_equal(x), x);
    /// `x * y + z`
    MulAdd(x, y, z) = |_isa| x.mul_add(y, z);
    /// `x`, at least `least` and at most `greatest`, NaN of NaN.
    Clamp(x, least, greatest) = |_isa| greatest.min(least.max(x));
    /// `yes` where `condition` is not 0, else `no`.
    Where(condition, yes, no) = |isa| no.select(condition.is_equal(isa.splat(0.0)), yes);
    /// 1 where `x < y`, else 0.
    Less(x, y) = |isa| isa.splat(1.0).select(x.is_less(y), isa.splat(0.0));
    /// 1 where `x == y`, else 0.
    Equal(x, y) = |isa| isa.splat(1.0).select(x.is_equal(y), isa.splat(0.0));
    /// `-x`
    Neg(x) = |_isa| x.neg();
    /// Without the sign.
    Abs(x) = |_isa| x.abs();
    /// `x` where it is above 0, else 0.
    Relu(x) = |isa| isa.splat(0.0).max(x);
    /// `x` where it is above 0, else `x * slope`.
    LeakyRelu(x, slope) = |isa| (x * slope).select(x.is_less(isa.splat(0.0)), x);
    /// `x` plus 3, between 0 and 6, divided by 6.
    Hardsigmoid(x) = |isa| {
        let shifted = isa.splat(0.0).max(x + isa.splat(3.0));
        isa.splat(6.0).min(shifted) * isa.splat(1.0 / 6.0)
    };
    /// `x` times its hard sigmoid.
    Hardswish(x) = |isa| {
        let shifted = isa.splat(0.0).max(x + isa.splat(3.0));
        x * (isa.splat(6.0).min(shifted) * isa.splat(1.0 / 6.0))
    };
    /// `1 / (1 + exp(-x))`
    Sigmoid(x) = |isa| math::sigmoid(isa, x);
    /// `x / (1 + exp(-x))`
    Silu(x) = |isa| x / (isa.splat(1.0) + math::exp(isa, x.neg()));
    /// `x` times the share of the normal distribution that is below it.
    Gelu(x) = |isa| math::gelu(isa, x);
    /// [`Operation::Gelu`], approximated by the hyperbolic tangent as PyTorch does.
    GeluTanh(x) = |isa| {
        const TWICE_ROOT_OF_TWO_BY_PI: f32 = core::f32::consts::FRAC_2_SQRT_PI * core::f32::consts::SQRT_2;
        let inner = (x * x).mul_add(isa.splat(0.044_715), isa.splat(1.0)) * x;
        x / (isa.splat(1.0) + math::exp(isa, inner * isa.splat(-TWICE_ROOT_OF_TWO_BY_PI)))
    };
    /// The hyperbolic tangent.
    Tanh(x) = |isa| math::tanh(isa, x);
    /// The error function.
    Erf(x) = |isa| math::erf(isa, x);
    /// `e` to `x`.
    Exp(x) = |isa| math::exp(isa, x);
    /// The square root.
    Sqrt(x) = |_isa| x.sqrt();
    /// `1 / sqrt(x)`
    Rsqrt(x) = |isa| isa.splat(1.0) / x.sqrt();
    /// `1 / x`
    Reciprocal(x) = |isa| isa.splat(1.0) / x;
    /// `x * x`
    Square(x) = |_isa| x * x;
    /// 1 where `x <= y`, else 0
    LessEqual(x, y) = |isa| {
        let equal = isa.splat(1.0).select(x.is_equal(y), isa.splat(0.0));
        isa.splat(1.0).select(x.is_less(y), equal)
    };
    /// 0 where `x = y`, else 1
    NotEqual(x, y) = |isa| isa.splat(0.0).select(x.is_equal(y), isa.splat(1.0));
}

impl Operation {
    /// The operation of a number, if it has one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
