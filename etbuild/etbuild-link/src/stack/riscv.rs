//! The instructions of 32-bit RISC-V with compressed ones that change the stack pointer or the flow of control.

use super::instruction::{Decoder, Flow, Instruction, Stack, Target, Write};

const ZERO: u32 = 0;
const RA: u32 = 1;
const SP: u32 = 2;
/// `t0`, the link register of code that the compiler shares between functions.
const T0: u32 = 5;

/// The state of a stretch of code.
#[derive(Default)]
pub struct RiscV {
    /// Whether the instruction before put a constant into the stack pointer, whose lower bits follow.
    sets_stack: bool,
}

impl Decoder for RiscV {
    fn decode(&mut self, address: u32, code: &[u8], _: &dyn Fn(u32) -> Option<u32>) -> Option<Instruction> {
        let low = u32::from(u16::from_le_bytes([*code.first()?, *code.get(1)?]));
        if low & 3 != 3 {
            return Some(compressed(address, low));
        }
        let high = u32::from(u16::from_le_bytes([*code.get(2)?, *code.get(3)?]));
        let instruction = wide(address, high << 16 | low);
        let sets_stack = matches!(instruction.write, Write::Constant(SP, _));
        let is_rest = std::mem::replace(&mut self.sets_stack, sets_stack);
        Some(if is_rest { instruction.stack(Stack::Same) } else { instruction })
    }

    /// `ra`, `t0` to `t6`, `a0` to `a7`.
    fn of_callers(&self) -> u32 {
        0xf003_fce2
    }

    /// `a0` to `a7`.
    fn arguments(&self) -> u32 {
        0x0003_fc00
    }
}

fn wide(address: u32, code: u32) -> Instruction {
    let plain = Instruction::new(4);
    let (rd, rs1, rs2) = (code >> 7 & 31, code >> 15 & 31, code >> 20 & 31);
    let immediate = code.cast_signed() >> 20;
    match (code & 0x7f, code >> 12 & 7) {
        // auipc, lui
        (0x17, _) => plain.write(Write::Constant(rd, address.wrapping_add(code & !0xfff))),
        (0x37, _) => plain.write(Write::Constant(rd, code & !0xfff)),
        // addi, and andi, which rounds
        (0x13, 0 | 7) if rd == SP && rs1 == SP => plain.grows(-immediate),
        (0x13, 0) if rd == SP => plain.stack(Stack::Moves(rs1)),
        (0x13, 0) => plain.write(Write::Sum(rd, rs1, immediate)),
        // add, sub
        (0x33, 0) if rd == SP && rs1 == SP => plain.stack(Stack::Adds(rs2, 1 - (code >> 29 & 2).cast_signed())),
        // stores
        (0x23, _) => plain.stores(1 << rs2),
        (0x27, _) => plain,
        (0x63, _) => plain.flow(Flow::Branch(address.wrapping_add_signed(branch_offset(code)))),
        (0x6f, _) if rd == ZERO => plain.flow(Flow::Jump(address.wrapping_add_signed(jump_offset(code)))),
        (0x6f, _) => plain.flow(Flow::Call(address.wrapping_add_signed(jump_offset(code)))),
        (0x67, 0) => plain.flow(through(rd, rs1, immediate)),
        // mret
        (0x73, 0) if code == 0x3020_0073 => plain.flow(Flow::Return),
        _ => plain.clobbers(rd),
    }
}

fn compressed(address: u32, code: u32) -> Instruction {
    let plain = Instruction::new(2);
    let (rd, rs2) = (code >> 7 & 31, code >> 2 & 31);
    let six = signed(code >> 7 & 0x20 | code >> 2 & 0x1f, 6);
    match (code & 3, code >> 13) {
        (0, 0) if code == 0 => plain.flow(Flow::Stop),
        // c.addi4spn and loads; stores
        (0, 0..=3) => plain.clobbers(8 + (code >> 2 & 7)),
        (0, 6) => plain.stores(1 << (8 + (code >> 2 & 7))),
        (0, _) => plain,
        (1, 0) if rd == SP => plain.grows(-six),
        (1, 0) => plain.write(Write::Sum(rd, rd, six)),
        (1, 1) => plain.flow(Flow::Call(address.wrapping_add_signed(short_jump(code)))),
        (1, 2) => plain.write(Write::Constant(rd, six.cast_unsigned())),
        // c.addi16sp, c.lui
        (1, 3) if rd == SP => {
            let bits = code >> 3 & 0x200 | code >> 2 & 0x10 | code << 1 & 0x40 | code << 4 & 0x180 | code << 3 & 0x20;
            plain.grows(-signed(bits, 10))
        }
        (1, 3) => plain.write(Write::Constant(rd, (six << 12).cast_unsigned())),
        (1, 4) => plain.clobbers(8 + (code >> 7 & 7)),
        (1, 5) => plain.flow(Flow::Jump(address.wrapping_add_signed(short_jump(code)))),
        (1, _) => {
            let bits = code >> 4 & 0x100 | code >> 7 & 0x18 | code << 1 & 0xc0 | code >> 2 & 6 | code << 3 & 0x20;
            plain.flow(Flow::Branch(address.wrapping_add_signed(signed(bits, 9))))
        }
        // c.slli and loads; stores
        (_, 0..=3) => plain.clobbers(rd),
        (_, 6) => plain.stores(1 << rs2),
        (_, 5..) => plain,
        // c.jr, c.jalr; with a second register c.mv, c.add; with none c.ebreak
        (..) => match (code >> 12 & 1, rd, rs2) {
            (0, _, 0) => plain.flow(through(ZERO, rd, 0)),
            (_, 0, 0) => plain,
            (_, _, 0) => plain.flow(through(RA, rd, 0)),
            (0, SP, _) => plain.stack(Stack::Moves(rs2)),
            (_, SP, _) => plain.stack(Stack::Adds(rs2, 1)),
            (0, ..) => plain.write(Write::Sum(rd, rs2, 0)),
            _ => plain.clobbers(rd),
        },
    }
}

/// The flow of `jalr rd, immediate(rs1)`.
const fn through(rd: u32, rs1: u32, immediate: i32) -> Flow {
    match (rd, rs1) {
        (ZERO, RA | T0) => Flow::Return,
        (ZERO, _) => Flow::JumpRegister(rs1, immediate, Target::Either),
        _ => Flow::CallRegister(rs1, immediate),
    }
}

fn branch_offset(code: u32) -> i32 {
    signed(code >> 19 & 0x1000 | code << 4 & 0x800 | code >> 20 & 0x7e0 | code >> 7 & 0x1e, 13)
}

fn jump_offset(code: u32) -> i32 {
    signed(code >> 11 & 0x10_0000 | code & 0xf_f000 | code >> 9 & 0x800 | code >> 20 & 0x7fe, 21)
}

fn short_jump(code: u32) -> i32 {
    let high = code >> 1 & 0x800 | code << 2 & 0x400 | code >> 1 & 0x300 | code << 1 & 0x80;
    signed(high | code >> 1 & 0x40 | code << 3 & 0x20 | code >> 7 & 0x10 | code >> 2 & 0xe, 12)
}

/// A number of `bits` bits in two's complement.
const fn signed(value: u32, bits: u32) -> i32 {
    (value << (32 - bits)).cast_signed() >> (32 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: u32 = 0x1000;

    /// The instruction at [`ADDRESS`].
    fn decoded(code: u32) -> Instruction {
        let size = if code & 3 == 3 { 4 } else { 2 };
        let found = RiscV::default().decode(ADDRESS, &code.to_le_bytes()[..size as usize], &|_| None).unwrap();
        assert_eq!(found.size, size, "{code:x}");
        found
    }

    #[test]
    fn the_stack_changes_as_the_manual_says() {
        let cases = [
            (0x7141, 496),        // c.addi16sp sp, -496
            (0x0141, -16),        // c.addi sp, 16
            (0x7f01_0113, -2032), // addi sp, sp, 2032
            (0xff01_7113, 16),    // andi sp, sp, -16
        ];
        for (code, change) in cases {
            assert_eq!(decoded(code).stack, Stack::Changes(change), "{code:x}");
        }
        assert_eq!(decoded(0x4051_0133).stack, Stack::Adds(5, -1)); // sub sp, sp, t0
        assert_eq!(decoded(0x911a).stack, Stack::Adds(6, 1)); // c.add sp, t1
        assert_eq!(decoded(0x8122).stack, Stack::Moves(8)); // c.mv sp, s0
    }

    #[test]
    fn a_new_stack_is_no_change() {
        let mut decoder = RiscV::default();
        // auipc sp, 1; addi sp, sp, -1264; addi sp, sp, -16
        let mut next = |code: u32| decoder.decode(ADDRESS, &code.to_le_bytes(), &|_| None).unwrap().stack;
        assert_eq!(
            [next(0x1117), next(0xb101_0113), next(0xff01_0113)],
            [Stack::Same, Stack::Same, Stack::Changes(16)]
        );
    }

    #[test]
    fn the_flow_changes_as_the_manual_says() {
        let cases = [
            (0x16c0_80e7, Flow::CallRegister(1, 364)),
            (0x0083_0067, Flow::JumpRegister(6, 8, Target::Either)),
            (0x0200_00ef, Flow::Call(ADDRESS + 32)),
            (0xbfc5, Flow::Jump(ADDRESS - 16)),          // c.j
            (0x0000_106f, Flow::Jump(ADDRESS + 0x1000)), // jal zero
            (0x04b5_0063, Flow::Branch(ADDRESS + 64)),   // beq
            (0xf575, Flow::Branch(ADDRESS - 20)),        // c.bnez
            (0x8082, Flow::Return),
            (0x8282, Flow::Return), // c.jr t0
            (0x8702, Flow::JumpRegister(14, 0, Target::Either)),
            (0x9602, Flow::CallRegister(12, 0)),
            (0x9002, Flow::Next), // c.ebreak
            (0x3020_0073, Flow::Return),
            (0x0000, Flow::Stop),
        ];
        for (code, flow) in cases {
            assert_eq!(decoded(code).flow, flow, "{code:x}");
        }
    }

    #[test]
    fn registers_are_known_or_lost() {
        let cases = [
            (0x6285, Write::Constant(5, 0x1000)),                // c.lui t0, 1
            (0x8902_8293, Write::Sum(5, 5, -1904)),              // addi t0, t0, -1904
            (0x0000_1097, Write::Constant(1, ADDRESS + 0x1000)), // auipc ra, 1
            (0x557d, Write::Constant(10, u32::MAX)),             // c.li a0, -1
            (0x842e, Write::Sum(8, 11, 0)),                      // c.mv s0, a1
            (0x41c8, Write::Unknown(1 << 10)),                   // c.lw a0, 4(a1)
            (0x44b2, Write::Unknown(1 << 9)),                    // c.lwsp s1, 12(sp)
            (0x02c5_8533, Write::Unknown(1 << 10)),              // mul a0, a1, a2
            (0xc626, Write::Nothing),                            // c.swsp s1, 12(sp)
            (0xc1c8, Write::Nothing),                            // c.sw a0, 4(a1)
        ];
        for (code, write) in cases {
            assert_eq!(decoded(code).write, write, "{code:x}");
        }
    }
}
