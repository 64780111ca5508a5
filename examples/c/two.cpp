// Two models in one process: two FOLDER_OF_DIGITS FOLDER_OF_TINY_LLAMA < image. Says the digit of an image, and a story about it.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "etbuild.hpp"

namespace {

// The file of a shared library.
std::string library(const std::string &folder, const std::string &name) {
#ifdef _WIN32
  return folder + "\\" + name + ".dll";
#else
  return folder + "/lib" + name + ".so";
#endif
}

// The digit of an image of 8 times 8 numbers.
std::ptrdiff_t classify(const etbuild::Library &digits, const std::string &program) {
  std::vector<float> image(64);
  std::cin.read(reinterpret_cast<char *>(image.data()), 64 * sizeof(float));
  auto module = digits.module(program);
  module.set_input(0, image.data(), {1, 1, 8, 8});
  const auto scores = module.run().at(0).values<float>();
  return std::distance(scores.begin(), std::max_element(scores.begin(), scores.end()));
}

void tell(const etbuild::Library &stories, const std::string &program) {
  auto model = stories.language(program);
  et_options options = model.options();
  options.max_new_tokens = 32;
  model.continue_text("Once there was a fox", options, [](std::string_view text) {
    std::cout << text << std::flush;
    return true;
  });
  std::cout << std::endl;
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s FOLDER_OF_DIGITS FOLDER_OF_TINY_LLAMA < image\n", arguments[0]);
    return 2;
  }
  const std::string digits = arguments[1], stories = arguments[2];
  try {
    const etbuild::Library first(library(digits, "digits")), second(library(stories, "tiny-llama"));
    std::cout << classify(first, digits + "/digits.pte") << std::endl;
    tell(second, stories + "/tiny-llama.pte");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 8;
  }
  return 0;
}
