//! The instructions of Arm's Thumb, to Armv8.1-M, that change the stack pointer or the flow of control (Arm DDI 0553).

use super::instruction::{Decoder, Flow, Instruction, Stack, Target, Write};

const SP: u32 = 13;
const LR: u32 = 14;
const PC: u32 = 15;

/// The state of a stretch of code.
#[derive(Default)]
pub struct Thumb {
    /// Instructions that an `it` makes conditional.
    conditional: u32,
}

impl Decoder for Thumb {
    fn decode(&mut self, address: u32, code: &[u8], read: &dyn Fn(u32) -> Option<u32>) -> Option<Instruction> {
        let first = half(code, 0)?;
        let is_conditional = self.conditional > 0;
        self.conditional = self.conditional.saturating_sub(1);
        let instruction = match first >> 11 {
            0b11101..=0b11111 => wide(address, [first, half(code, 2)?], read),
            _ => self.narrow(address, first, read),
        };
        Some(if is_conditional { conditional(instruction) } else { instruction })
    }

    fn of_callers(&self) -> u32 {
        1 << LR | 1 << 12 | self.arguments()
    }

    fn arguments(&self) -> u32 {
        0b1111
    }
}

/// The instruction where a condition says whether it is executed.
fn conditional(instruction: Instruction) -> Instruction {
    let flow = match instruction.flow {
        Flow::Jump(to) => Flow::Branch(to),
        Flow::JumpRegister(register, offset, _) => Flow::CallRegister(register, offset),
        Flow::Return | Flow::Stop => return Instruction::new(instruction.size),
        flow => flow,
    };
    let written = match instruction.write {
        Write::Nothing => 0,
        Write::Constant(to, _) | Write::Sum(to, ..) | Write::High(to, _) | Write::Rounded(to, _) => 1 << to,
        Write::Unknown(mask) => mask,
    };
    instruction.flow(flow).write(Write::Unknown(written))
}

impl Thumb {
    /// An instruction of 16 bits.
    fn narrow(&mut self, address: u32, code: u32, read: &dyn Fn(u32) -> Option<u32>) -> Instruction {
        let plain = Instruction::new(2);
        let (low, high) = (code >> 3 & 15, code & 7 | code >> 4 & 8);
        let (to, upper) = (code & 7, code >> 8 & 7);
        let jump = |target| plain.flow(Flow::JumpRegister(low, 0, target));
        match code {
            // lsls, lsrs of a register by a number: a pair of them rounds down
            0x0000..=0x0fff if to == code >> 3 & 7 => plain.write(Write::Rounded(to, 1 << (code >> 6 & 31))),
            0x0000..=0x1fff | 0x4000..=0x43ff => plain.clobbers(to),
            0x2000..=0x27ff => plain.write(Write::Constant(upper, code & 0xff)),
            // cmp
            0x2800..=0x2fff | 0x4500..=0x45ff => plain,
            0x3000..=0x3fff => plain.clobbers(upper),
            // add and mov of all registers
            0x4400..=0x44ff if high == SP => plain.stack(Stack::Adds(low, 1)),
            0x4600..=0x46ff if high == SP => plain.stack(Stack::Moves(low)),
            0x4600..=0x46ff if high == PC && low == LR => plain.flow(Flow::Return),
            0x4400..=0x44ff | 0x4600..=0x46ff if high == PC => jump(Target::Place),
            0x4600..=0x46ff => plain.write(Write::Sum(high, low, 0)),
            0x4400..=0x44ff => plain.clobbers(high),
            0x4700..=0x477f if low == LR => plain.flow(Flow::Return),
            0x4700..=0x477f => jump(Target::Function),
            0x4780..=0x47ff => plain.flow(Flow::CallRegister(low, 0)),
            0x4800..=0x4fff => literal(plain, upper, read(((address + 4) & !3) + (code & 0xff) * 4)),
            // str, with a register or a number as the offset, and to the stack
            0x5000..=0x51ff | 0x6000..=0x67ff => plain.stores(1 << to),
            0x9000..=0x97ff => plain.stores(1 << upper),
            // loads with a register or a number as the offset
            0x5600..=0x5fff | 0x6800..=0x6fff | 0x7800..=0x7fff | 0x8800..=0x8fff => plain.clobbers(to),
            0x9800..=0xafff => plain.clobbers(upper),
            0xb000..=0xb07f => plain.grows(-words(code & 0x7f)),
            0xb080..=0xb0ff => plain.grows(words(code & 0x7f)),
            0xb100..=0xbbff if code & 0x500 == 0x100 => {
                plain.flow(Flow::Branch(address + 4 + (code >> 3 & 0x40 | code >> 2 & 0x3e)))
            }
            0xb400..=0xb5ff => plain.grows(words((code & 0x1ff).count_ones())),
            // extensions and reversals of bytes
            0xb200..=0xb2ff | 0xba00..=0xbaff => plain.clobbers(to),
            0xbc00..=0xbcff => plain.grows(-words((code & 0xff).count_ones())).write(Write::Unknown(code & 0xff)),
            0xbd00..=0xbdff => plain.flow(Flow::Return),
            0xbf00..=0xbfff if code & 15 != 0 => {
                self.conditional = 4 - (code & 15).trailing_zeros();
                plain
            }
            0xc000..=0xc7ff => plain.clobbers(upper).stores(code & 0xff),
            0xc800..=0xcfff => plain.write(Write::Unknown(code & 0xff | 1 << upper)),
            0xd000..=0xddff => plain.flow(Flow::Branch(near(address, code, 8))),
            0xde00..=0xdeff => plain.flow(Flow::Stop),
            0xe000..=0xe7ff => plain.flow(Flow::Jump(near(address, code, 11))),
            _ => plain,
        }
    }
}

/// An instruction of 32 bits.
fn wide(address: u32, [first, second]: [u32; 2], read: &dyn Fn(u32) -> Option<u32>) -> Instruction {
    let plain = Instruction::new(4);
    let (base, to, result) = (first & 15, second >> 12, second >> 8 & 15);
    let is_result_sp = result == SP;
    match first {
        // stmdb and ldmia with sp as the base, and a new value of sp
        0xe92d => plain.grows(words(second.count_ones())),
        0xe8bd if second >> 15 == 1 => plain.flow(Flow::Return),
        0xe8bd => plain.grows(-words(second.count_ones())).write(Write::Unknown(second)),
        // str and strd, ldr and ldrd of this kind
        0xf84d if second & 0xf00 == 0xd00 => plain.grows((second & 0xff).cast_signed()).stores(1 << to),
        0xf85d if second & 0xf00 == 0xb00 && to == PC => plain.flow(Flow::Return),
        0xf85d if second & 0xf00 == 0xb00 => plain.grows(-(second & 0xff).cast_signed()).clobbers(to),
        0xe96d => plain.grows(words(second & 0xff)).stores(1 << to | 1 << result),
        0xe8fd => plain.grows(-words(second & 0xff)).write(Write::Unknown(1 << to | 1 << result)),
        // vstmdb, vldmia
        0xed2d | 0xed6d => plain.grows(words(second & 0xff)),
        0xecbd | 0xecfd => plain.grows(-words(second & 0xff)),
        // tbb, tbh
        0xe8df if second & 0xffe0 == 0xf000 => plain.flow(Flow::Table(1 + (second >> 4 & 1))),
        0xe8d0..=0xe8de if second & 0xffe0 == 0xf000 => plain.flow(Flow::JumpRegister(base, 0, Target::Place)),
        // ldm, and other accesses to several registers
        0xe800..=0xe9ff => {
            let all = second & 0xffff | 1 << to | 1 << result;
            plain.write(Write::Unknown(all | 1 << base)).stores(all)
        }
        // sub and add of a number from sp
        0xf1ad | 0xf5ad if is_result_sp => plain.grows(expanded(first, second)),
        0xf10d | 0xf50d if is_result_sp => plain.grows(-expanded(first, second)),
        0xf2ad | 0xf6ad if is_result_sp => plain.grows(twelve(first, second)),
        0xf20d | 0xf60d if is_result_sp => plain.grows(-twelve(first, second)),
        // sub and add of a register
        0xebad if is_result_sp && second & 0x70f0 == 0 => plain.stack(Stack::Adds(second & 15, -1)),
        0xeb0d if is_result_sp && second & 0x70f0 == 0 => plain.stack(Stack::Adds(second & 15, 1)),
        // bfc of the lowest bits
        0xf36f if second & 0x70c0 == 0 => plain.write(Write::Rounded(result, 2 << (second & 31))),
        // movw, movt
        0xf240..=0xf24f | 0xf640..=0xf64f if second >> 15 == 0 => {
            plain.write(Write::Constant(result, sixteen(first, second)))
        }
        0xf2c0..=0xf2cf | 0xf6c0..=0xf6cf if second >> 15 == 0 => {
            plain.write(Write::High(result, sixteen(first, second)))
        }
        // ldr with pc as the base, or to pc
        0xf8df => match read(((address + 4) & !3) + (second & 0xfff)) {
            Some(value) if to == PC => plain.flow(Flow::Jump(value & !1)),
            value => literal(plain, to, value),
        },
        0xf850..=0xf85f | 0xf8d0..=0xf8de if to == PC => plain.flow(Flow::JumpRegister(base, 0, Target::Place)),
        0xf000..=0xf7ff if second >> 15 == 1 => plain.flow(branch(address, first, second)),
        // operations on registers and numbers
        0xea00..=0xebff | 0xf000..=0xf7ff | 0xfa00..=0xfb7f => plain.clobbers(result),
        // str
        0xf840..=0xf84f | 0xf8c0..=0xf8cf => plain.write(Write::Unknown(1 << base)).stores(1 << to),
        // loads and stores with a new base, long products, moves from the registers of vectors
        _ => plain.write(Write::Unknown(1 << to | 1 << result | 1 << base)),
    }
}

/// A load of a constant into a register.
const fn literal(instruction: Instruction, register: u32, value: Option<u32>) -> Instruction {
    match value {
        Some(value) => instruction.write(Write::Constant(register, value)),
        None => instruction.clobbers(register),
    }
}

/// The flow of an instruction in the range of wide branches.
fn branch(address: u32, first: u32, second: u32) -> Flow {
    let sign = first >> 10 & 1;
    let [j1, j2] = [second >> 13 & 1, second >> 11 & 1];
    let far = |sign: u32| {
        let bits =
            sign << 24 | (j1 ^ sign ^ 1) << 23 | (j2 ^ sign ^ 1) << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;
        (address + 4).wrapping_add(extended(bits, 25))
    };
    match second & 0xd000 {
        0xd000 => Flow::Call(far(sign)),
        0x9000 => Flow::Jump(far(sign)),
        0x8000 if first >> 6 & 15 < 14 => {
            let bits = sign << 20 | j2 << 19 | j1 << 18 | (first & 0x3f) << 12 | (second & 0x7ff) << 1;
            Flow::Branch((address + 4).wrapping_add(extended(bits, 21)))
        }
        // udf
        0x8000 if first & 0xfff0 == 0xf7f0 && second & 0xf000 == 0xa000 => Flow::Stop,
        _ => Flow::Next,
    }
}

/// The target of a narrow branch, whose offset in half-words has `bits` bits.
fn near(address: u32, code: u32, bits: u32) -> u32 {
    let offset = (code & ((1 << bits) - 1)) << 1;
    (address + 4).wrapping_add(extended(offset, bits + 1))
}

/// A number of `bits` bits with its sign in all bits.
const fn extended(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)).cast_signed() >> (32 - bits)).cast_unsigned()
}

/// The number of `i:imm3:imm8`, as Thumb expands it.
fn expanded(first: u32, second: u32) -> i32 {
    let bits = twelve(first, second).cast_unsigned();
    let byte = bits & 0xff;
    let value = match bits >> 8 {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte * 0x0101_0101,
        _ => (0x80 | byte & 0x7f).rotate_right(bits >> 7),
    };
    value.cast_signed()
}

/// The number of `i:imm3:imm8`.
fn twelve(first: u32, second: u32) -> i32 {
    (first << 1 & 0x800 | second >> 4 & 0x700 | second & 0xff).cast_signed()
}

/// The number of `imm4:i:imm3:imm8`.
fn sixteen(first: u32, second: u32) -> u32 {
    (first & 15) << 12 | twelve(first, second).cast_unsigned()
}

const fn words(count: u32) -> i32 {
    (count * 4).cast_signed()
}

fn half(code: &[u8], at: usize) -> Option<u32> {
    let bytes = code.get(at..at + 2)?;
    Some(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
}

#[cfg(test)]
mod tests;
