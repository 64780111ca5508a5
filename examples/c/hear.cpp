// Transcribes speech: hear MODEL.pte SOUND.wav [LANGUAGE]. With `-` for the file, samples come from the standard input: 16 bits,
// little-endian, one channel, 16 kHz.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "etbuild.h"

namespace {

using Bytes = std::vector<char>;
using Language = std::unique_ptr<et_language, decltype(&et_language_free)>;

Bytes contents(std::istream &input) { return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()}; }

std::vector<float> samples(const Bytes &bytes) {
  std::vector<float> samples;
  for (std::size_t index = 0; index + 1 < bytes.size(); index += 2) {
    const auto low = static_cast<std::uint8_t>(bytes[index]);
    const auto high = static_cast<std::uint8_t>(bytes[index + 1]);
    samples.push_back(static_cast<std::int16_t>(low | high << 8) / 32768.0F);
  }
  return samples;
}

bool show(void *, const et_segment *segment) {
  std::printf("[%.2f %.2f] %.*s\n", segment->start, segment->end, static_cast<int>(segment->size), segment->text);
  return std::fflush(stdout) == 0;
}

int transcribe(et_language *language, const et_part &sound, const char *code) {
  et_options options;
  et_speech speech{};
  et_transcript transcript;
  speech.language = code;
  speech.timestamps = true;
  if (et_language_options(language, &options) != 0) {
    return 8;
  }
  options.max_new_tokens = 50;
  if (et_language_transcribe(language, &sound, &speech, &options, show, nullptr, &transcript) != 0) {
    return 8;
  }
  std::fprintf(stderr, "%s, %.2f seconds\n", transcript.language, transcript.seconds);
  return 0;
}

int run(const char *program, const std::string &path, const char *code) {
  const Language language(et_language_load(program, nullptr, 0, 1, false), et_language_free);
  if (!language) {
    return 8;
  }
  et_part sound{};
  if (path == "-") {
    const std::vector<float> numbers = samples(contents(std::cin));
    sound.kind = ET_SAMPLES;
    sound.data = numbers.data();
    sound.size = numbers.size();
    sound.rate = 16000;
    return transcribe(language.get(), sound, code);
  }
  std::ifstream file(path, std::ios::binary);
  const Bytes bytes = contents(file);
  sound.kind = ET_SOUND;
  sound.data = bytes.data();
  sound.size = bytes.size();
  return transcribe(language.get(), sound, code);
}

}  // namespace

int main(int count, char **arguments) {
  if (count < 3 || count > 4) {
    std::fprintf(stderr, "usage: %s MODEL.pte SOUND.wav|- [LANGUAGE]\n", arguments[0]);
    return 2;
  }
  const int status = run(arguments[1], arguments[2], count > 3 ? arguments[3] : nullptr);
  if (status != 0) {
    std::fprintf(stderr, "%s\n", et_error_message());
  }
  return status;
}
