// A plugin of QEMU 7 to 9 that counts the instructions between calls of semihosting, and finds the deepest use of the stack between them.
//
//     qemu-system-arm ... -plugin libcount.so,low=0x38000000,high=0x38400000 -d plugin -D counts.txt
//
// For every call it writes `call INSTRUCTIONS LOWEST`: the instructions since the last call, and the lowest address between `low` and
// `high` that an instruction wrote to since then. With `profile=on` it also writes `at ADDRESS EXECUTIONS` for each instruction.

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The parts of QEMU's interface that the plugin uses (qemu-plugin.h of version 1).
typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0, WRITES = 2 };
typedef void (*translated_t)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*executed_t)(unsigned, void *);
typedef void (*accessed_t)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated_t);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed_t, int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed_t, int, int, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_outs(const char *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

typedef struct {
  uint64_t count, address;
  bool is_call;
} instruction_t;

#define SLOTS (1u << 20)
static instruction_t *known[SLOTS];
static uint64_t since, low, high, lowest = UINT64_MAX;
static bool profile;

static void executed(unsigned cpu, void *data) {
  instruction_t *instruction = data;
  (void)cpu;
  ++since;
  ++instruction->count;
  if (instruction->is_call) {
    char text[80];
    snprintf(text, sizeof text, "call %" PRIu64 " %" PRIx64 "\n", since, lowest);
    qemu_plugin_outs(text);
    since = 0;
    lowest = UINT64_MAX;
  }
}

static void written(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
  (void)cpu, (void)info, (void)data;
  if (address >= low && address < high && address < lowest) lowest = address;
}

// The counter of an address: instructions are two-byte aligned, in less than 2 MiB of flash.
static instruction_t *counter(uint64_t address) {
  instruction_t **slot = &known[(address >> 1) % SLOTS];
  if (!*slot) {
    *slot = calloc(1, sizeof **slot);
    (*slot)->address = address;
  }
  return *slot;
}

// `bkpt 0xab` of Arm; `ebreak` of RISC-V.
static bool is_call(const struct qemu_plugin_insn *instruction) {
  uint32_t word = 0;
  size_t size = qemu_plugin_insn_size(instruction);
  memcpy(&word, qemu_plugin_insn_data(instruction), size < 4 ? size : 4);
  return (size == 2 && word == 0xbeab) || (size == 4 && word == 0x00100073);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t index = 0; index < qemu_plugin_tb_n_insns(block); ++index) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
    instruction_t *data = counter(qemu_plugin_insn_vaddr(instruction));
    data->is_call = is_call(instruction);
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, NO_REGISTERS, data);
    qemu_plugin_register_vcpu_mem_cb(instruction, written, NO_REGISTERS, WRITES, NULL);
  }
}

static void finished(qemu_plugin_id_t id, void *data) {
  (void)id, (void)data;
  for (size_t slot = 0; profile && slot < SLOTS; ++slot) {
    char text[80];
    if (!known[slot]) continue;
    snprintf(text, sizeof text, "at %" PRIx64 " %" PRIu64 "\n", known[slot]->address, known[slot]->count);
    qemu_plugin_outs(text);
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count, char **arguments) {
  (void)info;
  for (int index = 0; index < count; ++index) {
    if (!strncmp(arguments[index], "low=", 4)) low = strtoull(arguments[index] + 4, NULL, 0);
    if (!strncmp(arguments[index], "high=", 5)) high = strtoull(arguments[index] + 5, NULL, 0);
    if (!strcmp(arguments[index], "profile=on")) profile = true;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
