// Firmware that runs a .tflite model twice with TensorFlow Lite Micro. Calls of semihosting around the second inference mark it for
// `count.c`; the outputs and the used bytes of the arena are written to the emulator's standard error.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "start.h"
#include "tensorflow/lite/schema/schema_generated.h"

extern "C" const uint8_t model_start[], input_start[], input_end[];

// The model and its input, as bytes.
__asm__(
    ".section .model,\"a\",%progbits\n.balign 16\n.global model_start\nmodel_start: .incbin \"" MODEL "\"\n.balign 4\n"
    ".section .verify,\"a\",%progbits\n.balign 4\n.global input_start\n.global input_end\n"
    "input_start: .incbin \"" MODEL ".in\"\ninput_end:\n.balign 4\n.text\n");

// The operators of a model, as bits.
enum : unsigned {
  OP_CONV_2D = 1, OP_DEPTHWISE_CONV_2D = 2, OP_FULLY_CONNECTED = 4, OP_SOFTMAX = 8, OP_AVERAGE_POOL_2D = 16, OP_ADD = 32, OP_RESHAPE = 64
};

static void write_hexadecimal(const uint8_t* bytes, size_t count) {
  for (size_t at = 0; at < count; ++at) {
    const char text[] = {"0123456789abcdef"[bytes[at] >> 4], "0123456789abcdef"[bytes[at] & 15], 0};
    write(text);
  }
  write("\n");
}

alignas(16) __attribute__((section(".arena"))) static uint8_t arena[ARENA];

// Static, and without destructors.
alignas(8) static uint8_t resolver_memory[sizeof(tflite::MicroMutableOpResolver<8>)];
alignas(8) static uint8_t interpreter_memory[sizeof(tflite::MicroInterpreter)];

#define CHECK(condition, code) \
  if (!(condition)) return code

template <typename Resolver>
static void add_operators(Resolver& resolver) {
  constexpr unsigned kOperators = OPERATORS;
  if constexpr (kOperators & OP_CONV_2D) resolver.AddConv2D(tflite::Register_CONV_2D_INT8());
  if constexpr (kOperators & OP_DEPTHWISE_CONV_2D) resolver.AddDepthwiseConv2D(tflite::Register_DEPTHWISE_CONV_2D_INT8());
  if constexpr (kOperators & OP_FULLY_CONNECTED) resolver.AddFullyConnected(tflite::Register_FULLY_CONNECTED_INT8());
  if constexpr (kOperators & OP_SOFTMAX) resolver.AddSoftmax(tflite::Register_SOFTMAX_INT8());
  if constexpr (kOperators & OP_AVERAGE_POOL_2D) resolver.AddAveragePool2D(tflite::Register_AVERAGE_POOL_2D_INT8());
  if constexpr (kOperators & OP_ADD) resolver.AddAdd(tflite::Register_ADD_INT8());
  if constexpr (kOperators & OP_RESHAPE) resolver.AddReshape();
}

int main() {
  auto& resolver = *new (resolver_memory) tflite::MicroMutableOpResolver<8>;
  add_operators(resolver);
  auto& interpreter = *new (interpreter_memory)
      tflite::MicroInterpreter(tflite::GetModel(model_start), resolver, arena, sizeof arena);
  CHECK(interpreter.AllocateTensors() == kTfLiteOk, 1);
  TfLiteTensor* input = interpreter.input(0);
  CHECK(input->bytes == static_cast<size_t>(input_end - input_start), 2);
  for (int time = 0; time < 2; ++time) {
    memcpy(input->data.int8, input_start, input->bytes);
    write("run\n");
    CHECK(interpreter.Invoke() == kTfLiteOk, 3);
    write("end\n");
  }
  const TfLiteTensor* output = interpreter.output(0);
  write("outputs ");
  write_hexadecimal(output->data.uint8, output->bytes);
  const uint32_t used = interpreter.arena_used_bytes();
  write("arena ");
  write_hexadecimal(reinterpret_cast<const uint8_t*>(&used), 4);
  return 0;
}
