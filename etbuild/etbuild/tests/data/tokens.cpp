// Continues tokens: tokens FILE. What follows the first tokens of a text is what followed them in the text; an exception of the function reaches
// the caller.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include "etbuild.hpp"

namespace {

std::vector<std::uint32_t> continued(etbuild::Language &model, const std::vector<std::uint32_t> &tokens, std::size_t count) {
  et_options options = model.options();
  options.max_new_tokens = count;
  options.temperature = 0;
  std::vector<std::uint32_t> made;
  const et_answer answer = model.continue_tokens(tokens, options, [&](std::uint32_t token) {
    made.push_back(token);
    return true;
  });
  if (answer.new_tokens != made.size()) {
    throw std::runtime_error("the answer has another number of tokens");
  }
  return made;
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 2) return 2;
  try {
    etbuild::Language model(arguments[1]);
    // Once there was a fox
    const std::vector<std::uint32_t> prompt = {0, 469, 468, 296, 264, 529};
    const auto whole = continued(model, prompt, 12);
    if (whole.size() != 12) {
      throw std::runtime_error("the story is too short");
    }
    auto longer = prompt;
    longer.insert(longer.end(), whole.begin(), whole.begin() + 5);
    const auto rest = continued(model, longer, 7);
    const bool agrees = std::vector<std::uint32_t>(whole.begin() + 5, whole.end()) == rest;
    std::puts(agrees ? "equal" : "not equal");
    model.continue_tokens(prompt, model.options(), [](std::uint32_t) -> bool { throw std::runtime_error("enough"); });
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
  return 0;
}
