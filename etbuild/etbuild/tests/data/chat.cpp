/* As chat.c, in C++: chat MODEL.pte TOOLS WEIGHTS ADAPTER OTHER_ADAPTER. */
#include <cstdio>
#include <iostream>
#include <string>

#include "etbuild.hpp"

static void put(std::string_view text) {
  for (char letter : text) {
    letter == '\n' ? std::cout << "\\n" : std::cout << letter;
  }
}

int main(int, char **arguments) {
  etbuild::Load load;
  load.data = {arguments[3], arguments[4]};
  etbuild::Language model(arguments[1], load);
  et_options usual = model.options();
  usual.max_new_tokens = 200;
  usual.temperature = 0;
  struct {
    std::string id, name, arguments;
  } kept;
  const auto show = [](std::string_view text) {
    put(text);
    return true;
  };
  const etbuild::Listener listener{show, show, [&](const et_call &call) {
                                     std::cout << '|' << call.name << call.arguments;
                                     kept = {call.id, call.name, call.arguments};
                                     return true;
                                   }};
  std::vector<etbuild::Turn> turns{{"user", {etbuild::text("Tell me a tale.")}}};

  et_options options = usual;
  options.tools = arguments[2];
  options.regex = R"(Ho <tool_call>\n\{"name": "tell", "arguments": \{"words": "fox", "count": 3\}\}\n</tool_call>)";
  std::cout << "written=";
  model.answer_parts(turns, options, listener);

  options.regex = nullptr;
  options.tool_choice = "required";
  options.temperature = 1;
  options.seed = 7;
  std::cout << "\nrequired=";
  model.answer_parts(turns, options, listener);

  const et_call made = {kept.id.c_str(), kept.name.c_str(), kept.arguments.c_str()};
  turns.push_back({"assistant", {etbuild::call(&made)}});
  turns.push_back({"tool", {etbuild::call(&made), etbuild::text("a fox")}});
  options = usual;
  options.tools = arguments[2];
  options.max_new_tokens = 20;
  std::cout << "\nanswer=";
  model.answer_parts(turns, options, listener);
  std::cout << "\nprompt=" << model.encode(turns, options).size();

  turns.resize(1);
  options = usual;
  options.max_new_tokens = 9;
  options.template_variables = "{\"enable_thinking\": true}";
  std::cout << "\nthoughts=";
  model.answer_parts(turns, options, listener);

  options = usual;
  const char *const stop[] = {"no such text", " a"};
  options.stop = stop;
  options.stop_count = 2;
  std::cout << "\nstopped=";
  const int end = model.continue_text("Once", options, show).ended;
  std::cout << '|' << end;

  const std::vector<std::uint32_t> encoded = model.encode("Once there was", false);
  std::cout << "\ndecoded=" << model.decode(encoded);

  options = usual;
  options.max_new_tokens = 3;
  const et_bias bias = {encoded[0], 100};
  options.logit_bias = &bias;
  options.logit_bias_count = 1;
  std::cout << "\nbiased=";
  model.continue_text("Once", options, show);

  options = usual;
  options.max_new_tokens = 9;
  model.use_adapter(arguments[5]);
  std::cout << "\nadapted=";
  model.continue_text("Once", options, show);
  model.use_adapter(arguments[4]);
  std::cout << "\nback=";
  model.continue_text("Once", options, show);

  options = usual;
  options.max_new_tokens = 3;
  options.top_logprobs = 2;
  const etbuild::Listener rated{{}, {}, {}, [](const et_likelihood &likelihood) {
                                  std::cout << '|';
                                  for (std::size_t index = 0; index <= likelihood.count; index++) {
                                    const et_alternative &one =
                                        index == 0 ? likelihood.picked : likelihood.alternatives[index - 1];
                                    char number[32];
                                    std::snprintf(number, sizeof number, "%.3f", static_cast<double>(one.logprob));
                                    put(index == 0 ? "" : "~");
                                    put({one.text, one.size});
                                    put(number);
                                  }
                                  return true;
                                }};
  std::cout << "\nlikely=";
  model.answer_parts(turns, options, rated);
  options.top_logprobs = 0;
  std::cout << "\nrated=";
  model.continue_parts({etbuild::text("Once")}, options, rated);

  std::string prompt;
  for (int word = 0; word < 40; word++) {
    prompt += "fox and ";
  }
  const std::string session = std::string(arguments[4]) + ".session", again = std::string(arguments[4]) + ".again";
  model.continue_text(prompt, options);
  model.save(session);
  model.continue_text("Once", options);
  model.restore(session);
  model.save(again);
  std::cout << "\nkept=";
  model.continue_text(prompt, options, show);
  model.use_adapter(arguments[5]);
  std::string foreign = ": none";
  try {
    model.restore(session);
  } catch (const etbuild::Error &error) {
    foreign = error.what();
  }
  std::cout << "\nforeign=" << foreign.substr(foreign.rfind(": ") + 2);
  model.use_adapter(arguments[4]);

  for (int word = 40; word < 150; word++) {
    prompt += "fox and ";
  }
  const et_answer ended = model.continue_text(prompt, usual, [](std::string_view) { return false; });
  std::cout << "\ncancelled=" << ended.ended << '|' << ended.new_tokens << '\n';
}
