//! Instructions with jumps to labels, also forward jumps.

use std::collections::BTreeMap;

use et_format::write::Instruction;

/// The instructions of a method under construction.
#[derive(Default)]
pub struct Line {
    instructions: Vec<Instruction>,
    labels: BTreeMap<i64, i32>,
    /// The position and the label of each jump.
    jumps: Vec<(usize, i64)>,
}

impl Line {
    /// Adds an instruction.
    pub fn push(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    /// Puts a label before the next instruction.
    pub fn place(&mut self, label: i64) {
        self.labels.insert(label, self.instructions.len() as i32);
    }

    /// Adds a jump that is taken when the condition is false.
    pub fn jump(&mut self, condition: i32, label: i64) {
        self.jumps.push((self.instructions.len(), label));
        self.instructions.push(Instruction::JumpFalseCall { condition, destination: 0 });
    }

    /// The instructions with resolved jumps; `None` where a label is missing.
    pub fn finish(mut self) -> Option<Vec<Instruction>> {
        for (position, label) in self.jumps {
            let target = *self.labels.get(&label)?;
            if let Instruction::JumpFalseCall { destination, .. } = self.instructions.get_mut(position)? {
                *destination = target;
            }
        }
        Some(self.instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_are_resolved_to_the_positions_of_labels() {
        let mut line = Line::default();
        line.jump(3, 1);
        line.push(Instruction::MoveCall { from: 0, to: 1 });
        line.place(1);
        let jump = Instruction::JumpFalseCall { condition: 3, destination: 2 };
        assert_eq!(line.finish(), Some(vec![jump, Instruction::MoveCall { from: 0, to: 1 }]));
    }

    #[test]
    fn a_jump_to_a_missing_label_is_an_error() {
        let mut line = Line::default();
        line.jump(0, 7);
        assert_eq!(line.finish(), None);
    }
}
