//! Instructions that the GNU assembler made.

use super::*;

const ADDRESS: u32 = 0x1000;

/// The instruction of half-words at [`ADDRESS`]. Every word of the image is 0x2000.
fn decoded(halves: &[u16]) -> Instruction {
    let code: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    let found = Thumb::default().decode(ADDRESS, &code, &|_| Some(0x2000)).unwrap();
    assert_eq!(found.size as usize, code.len(), "{halves:x?}");
    found
}

#[test]
fn the_stack_changes_as_the_manual_says() {
    let cases: &[(&[u16], i32)] = &[
        (&[0xb5f0], 20),          // push {r4-r7, lr}
        (&[0xbc10], -4),          // pop {r4}
        (&[0xb090], 64),          // sub sp, #64
        (&[0xb010], -64),         // add sp, #64
        (&[0xe92d, 0x0f00], 16),  // push.w {r8-r11}
        (&[0xe8bd, 0x0f00], -16), // pop.w {r8-r11}
        (&[0xf5ad, 0x7d25], 660), // sub.w sp, sp, #660
        (&[0xf50d, 0x7d25], -660),
        (&[0xf6ad, 0x7dff], 4095), // subw sp, sp, #4095
        (&[0xf84d, 0xed04], 4),    // str lr, [sp, #-4]!
        (&[0xe96d, 0x4504], 16),   // strd r4, r5, [sp, #-16]!
        (&[0xed2d, 0x8b04], 16),   // vpush {d8, d9}
        (&[0xecbd, 0x8b02], -8),   // vpop {d8}
    ];
    for (code, change) in cases {
        assert_eq!(decoded(code).stack, Stack::Changes(*change), "{code:x?}");
    }
    assert_eq!(decoded(&[0xebad, 0x0d0c]).stack, Stack::Adds(12, -1)); // sub.w sp, sp, r12
    assert_eq!(decoded(&[0x44bd]).stack, Stack::Adds(7, 1)); // add sp, r7
    assert_eq!(decoded(&[0x46a5]).stack, Stack::Moves(4)); // mov sp, r4
}

#[test]
fn the_flow_changes_as_the_manual_says() {
    let cases: &[(&[u16], Flow)] = &[
        (&[0xbdf0], Flow::Return),         // pop {r4-r7, pc}
        (&[0xe8bd, 0x8010], Flow::Return), // pop.w {r4, pc}
        (&[0xf85d, 0xfb04], Flow::Return), // ldr pc, [sp], #4
        (&[0x4770], Flow::Return),         // bx lr
        (&[0x4718], Flow::JumpRegister(3, 0, Target::Function)),
        (&[0x47a8], Flow::CallRegister(5, 0)),
        (&[0x4687], Flow::JumpRegister(0, 0, Target::Place)), // mov pc, r0
        (&[0xe8df, 0xf001], Flow::Table(1)),
        (&[0xe8df, 0xf015], Flow::Table(2)),
        (&[0xde00], Flow::Stop),
        (&[0xe002], Flow::Jump(ADDRESS + 8)),
        (&[0xd0fc], Flow::Branch(ADDRESS - 4)),
        (&[0xb118], Flow::Branch(ADDRESS + 10)), // cbz
        (&[0xf000, 0xf81e], Flow::Call(ADDRESS + 64)),
        (&[0xf7ff, 0xbfde], Flow::Jump(ADDRESS - 64)),
        (&[0xf040, 0x807e], Flow::Branch(ADDRESS + 256)),
        (&[0xf8df, 0xf004], Flow::Jump(0x2000)), // ldr pc, [pc, #4]
        (&[0xf00f, 0xc007], Flow::Next),         // le lr, -8
        (&[0xbeab], Flow::Next),                 // bkpt
    ];
    for (code, flow) in cases {
        assert_eq!(decoded(code).flow, *flow, "{code:x?}");
    }
}

#[test]
fn registers_are_known_or_lost() {
    let cases: &[(&[u16], Write)] = &[
        (&[0xf241, 0x2734], Write::Constant(7, 0x1234)), // movw r7
        (&[0xf2c5, 0x6778], Write::High(7, 0x5678)),     // movt r7
        (&[0x4d05], Write::Constant(5, 0x2000)),         // ldr r5, [pc, #20]
        (&[0xf8df, 0x9014], Write::Constant(9, 0x2000)), // ldr.w r9, [pc, #20]
        (&[0xf36f, 0x0403], Write::Rounded(4, 16)),      // bfc r4, #0, #4
        (&[0x0924], Write::Rounded(4, 16)),              // lsrs r4, r4, #4
        (&[0x4689], Write::Sum(9, 1, 0)),                // mov r9, r1
        (&[0x2801], Write::Nothing),                     // cmp r0, #1
        (&[0x1c63], Write::Unknown(1 << 3)),             // adds r3, r4, #1
        (&[0x6884], Write::Unknown(1 << 4)),             // ldr r4, [r0, #8]
        (&[0xc806], Write::Unknown(0b111)),              // ldmia r0!, {r1, r2}
    ];
    for (code, write) in cases {
        assert_eq!(decoded(code).write, *write, "{code:x?}");
    }
    for (code, register) in [([0xf8d0, 0x9008], 9), ([0xfb82, 0x0103], 1)] {
        assert!(matches!(decoded(&code).write, Write::Unknown(mask) if mask >> register & 1 == 1), "{code:x?}");
    }
}

#[test]
fn a_condition_may_not_hold() {
    let mut thumb = Thumb::default();
    let mut next = |half: u16| thumb.decode(ADDRESS, &half.to_le_bytes(), &|_| None).unwrap();
    // itt eq; popeq {r4, pc}; moveq r0, #1; pop {r4, pc}
    assert_eq!(next(0xbf04), Instruction::new(2));
    assert_eq!(next(0xbd10), Instruction::new(2));
    assert_eq!(next(0x2001).write, Write::Unknown(1));
    assert_eq!(next(0xbd10).flow, Flow::Return);
}
