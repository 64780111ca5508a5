/* Programs and language models that etbuild made, for C++17: objects that free what they hold, and exceptions.
 *
 * etbuild::Module and etbuild::Language call the functions of a library that the app is linked with. etbuild::Library loads a
 * shared library (`lib<name>.so`, `<name>.dll`) while the app runs, and gives objects of it: an app has as many as it likes.
 * etbuild.h says what the functions do.
 */
#ifndef ETBUILD_HPP
#define ETBUILD_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include "etbuild.h"

namespace etbuild {

/* Something went wrong: what() says what. */
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/* The type of elements, ET_FLOAT32 for `float`. */
template <class T>
struct ElementType;
template <> struct ElementType<std::uint8_t> { static constexpr std::uint8_t value = ET_UINT8; };
template <> struct ElementType<std::int8_t> { static constexpr std::uint8_t value = ET_INT8; };
template <> struct ElementType<std::int16_t> { static constexpr std::uint8_t value = ET_INT16; };
template <> struct ElementType<std::int32_t> { static constexpr std::uint8_t value = ET_INT32; };
template <> struct ElementType<std::int64_t> { static constexpr std::uint8_t value = ET_INT64; };
template <> struct ElementType<float> { static constexpr std::uint8_t value = ET_FLOAT32; };
template <> struct ElementType<double> { static constexpr std::uint8_t value = ET_FLOAT64; };
template <> struct ElementType<bool> { static constexpr std::uint8_t value = ET_BOOL; };

/* An output: elements in row-major order in memory of the module, until the next run. */
class Tensor {
 public:
  explicit Tensor(const et_tensor &tensor)
      : tensor_(tensor), shape_(tensor.shape, tensor.shape + tensor.rank) {}

  std::uint8_t type() const { return tensor_.type; }
  const std::vector<std::int64_t> &shape() const { return shape_; }
  const void *bytes() const { return tensor_.data; }
  std::size_t byte_size() const { return tensor_.bytes; }

  /* The elements. Throws Error for another type than that of the tensor. */
  template <class T>
  const T *data() const {
    if (type() != ElementType<T>::value) {
      throw Error("the tensor has elements of type " + std::to_string(type()));
    }
    return static_cast<const T *>(tensor_.data);
  }
  template <class T>
  std::vector<T> values() const {
    const T *first = data<T>();
    return {first, first + tensor_.bytes / sizeof(T)};
  }

 private:
  et_tensor tensor_;
  std::vector<std::int64_t> shape_;
};

/* How a program is loaded. */
struct Load {
  std::string method{};            /* the binary's own where it is empty */
  std::vector<std::string> data{}; /* files with weights that the program keeps outside itself */
  std::size_t threads = 0;         /* 1 to 256; 0: the physical cores, at most 16 */
  bool lookup = false;             /* of a language model: guess tokens from the text before */
};

/* The functions of the library that the app is linked with. */
struct Linked {
#define ETBUILD_FUNCTION(name) \
  auto name() const { return &::et_##name; }
#define ETBUILD_FUNCTIONS                                                                                              \
  ETBUILD_FUNCTION(error_message)                                                                                      \
  ETBUILD_FUNCTION(module_load)                                                                                        \
  ETBUILD_FUNCTION(module_load_bytes)                                                                                  \
  ETBUILD_FUNCTION(module_free)                                                                                        \
  ETBUILD_FUNCTION(module_input_count)                                                                                 \
  ETBUILD_FUNCTION(module_input_name)                                                                                  \
  ETBUILD_FUNCTION(module_set_input)                                                                                   \
  ETBUILD_FUNCTION(module_execute)                                                                                     \
  ETBUILD_FUNCTION(module_output_count)                                                                                \
  ETBUILD_FUNCTION(module_output)                                                                                      \
  ETBUILD_FUNCTION(language_load)                                                                                      \
  ETBUILD_FUNCTION(language_load_bytes)                                                                                \
  ETBUILD_FUNCTION(language_free)                                                                                      \
  ETBUILD_FUNCTION(language_options)                                                                                   \
  ETBUILD_FUNCTION(language_context)                                                                                   \
  ETBUILD_FUNCTION(language_continue)                                                                                  \
  ETBUILD_FUNCTION(language_continue_tokens)                                                                           \
  ETBUILD_FUNCTION(language_continue_parts)                                                                            \
  ETBUILD_FUNCTION(language_answer_parts)                                                                              \
  ETBUILD_FUNCTION(language_answer)                                                                                    \
  ETBUILD_FUNCTION(language_encode)                                                                                    \
  ETBUILD_FUNCTION(language_encode_turns)                                                                              \
  ETBUILD_FUNCTION(language_decode)                                                                                    \
  ETBUILD_FUNCTION(language_use_adapter)                                                                               \
  ETBUILD_FUNCTION(language_save)                                                                                      \
  ETBUILD_FUNCTION(language_restore)                                                                                   \
  ETBUILD_FUNCTION(language_transcribe)
  ETBUILD_FUNCTIONS
#undef ETBUILD_FUNCTION
};

/* The functions of a library that the app loaded. The library stays in the process: its threads may outlive the last object. */
class Loaded {
 public:
  explicit Loaded(const std::string &path) : handle_(open(path)) {}

#define ETBUILD_FUNCTION(name) \
  auto name() const { return reinterpret_cast<decltype(&::et_##name)>(find("et_" #name)); }
  ETBUILD_FUNCTIONS
#undef ETBUILD_FUNCTION
#undef ETBUILD_FUNCTIONS

 private:
#ifdef _WIN32
  static void *open(const std::string &path) {
    std::wstring wide(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, nullptr, 0)), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, wide.data(), static_cast<int>(wide.size()));
    HMODULE handle = LoadLibraryW(wide.c_str());
    if (handle == nullptr) {
      throw Error(path + ": not loaded, error " + std::to_string(GetLastError()));
    }
    return static_cast<void *>(handle);
  }
  void *symbol(const char *name) const {
    return reinterpret_cast<void *>(GetProcAddress(static_cast<HMODULE>(handle_), name));
  }
#else
  /* Local names: functions of equal names in several libraries do not meet. */
  static void *open(const std::string &path) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      throw Error(dlerror());
    }
    return handle;
  }
  void *symbol(const char *name) const { return dlsym(handle_, name); }
#endif
  void *find(const char *name) const {
    void *found = symbol(name);
    if (found == nullptr) {
      throw Error(std::string("the library has no function `") + name + "`");
    }
    return found;
  }

  void *handle_;
};

namespace detail {

template <class Functions>
[[noreturn]] void fail(const Functions &functions) {
  throw Error(functions.error_message()());
}

template <class Functions>
void check(const Functions &functions, int status) {
  if (status != 0) {
    fail(functions);
  }
}

inline std::vector<const char *> pointers(const std::vector<std::string> &texts) {
  std::vector<const char *> made;
  for (const std::string &text : texts) {
    made.push_back(text.c_str());
  }
  return made;
}

/* Calls functions of the app for a library: an exception waits until the library has returned. */
struct Waiting {
  std::exception_ptr thrown{};

  template <class See, class... Arguments>
  bool call(const See &see, Arguments &&...arguments) {
    if (thrown) {
      return false;
    }
    try {
      return !see || see(std::forward<Arguments>(arguments)...);
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
  void rethrow() const {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  }
};

/* The function, or the functions, of the app that a library calls. */
template <class Listener>
struct Heard : Waiting {
  explicit Heard(const Listener &listener) : listener(listener) {}
  const Listener &listener;
};

}  // namespace detail

/* A method of a program. One thread at a time uses an object. */
template <class Functions>
class BasicModule {
 public:
  /* Loads a program file. Throws Error, as all functions do. */
  explicit BasicModule(const std::string &program, const Load &load = {}, const Functions &functions = {})
      : BasicModule(functions, functions.module_load()(program.c_str(), detail::pointers(load.data).data(),
                                                       load.data.size(), method(load), load.threads)) {}
  /* Loads the bytes of a program file, which are copied. */
  static BasicModule from_bytes(const void *program, std::size_t size, const Load &load = {},
                                const Functions &functions = {}) {
    return BasicModule(functions, functions.module_load_bytes()(program, size, detail::pointers(load.data).data(),
                                                                load.data.size(), method(load), load.threads));
  }

  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (std::size_t index = 0; index < functions_.module_input_count()(module_.get()); ++index) {
      names.emplace_back(functions_.module_input_name()(module_.get(), index));
    }
    return names;
  }

  /* Copies elements into an input. */
  void set_input(std::size_t index, const et_tensor &tensor) {
    detail::check(functions_, functions_.module_set_input()(module_.get(), index, &tensor));
  }
  template <class T>
  void set_input(std::size_t index, const T *elements, const std::vector<std::int64_t> &shape) {
    std::size_t count = 1;
    for (std::int64_t size : shape) {
      count *= static_cast<std::size_t>(size);
    }
    set_input(index, {ElementType<T>::value, shape.size(), shape.data(), elements, count * sizeof(T)});
  }

  /* Runs the method; earlier outputs are gone. */
  std::vector<Tensor> run() {
    detail::check(functions_, execute_(module_.get()));
    std::vector<Tensor> outputs;
    for (std::size_t index = 0; index < functions_.module_output_count()(module_.get()); ++index) {
      et_tensor tensor;
      detail::check(functions_, functions_.module_output()(module_.get(), index, &tensor));
      outputs.emplace_back(tensor);
    }
    return outputs;
  }

 private:
  BasicModule(const Functions &functions, et_module *module)
      : functions_(functions), execute_(functions.module_execute()), module_(module, functions.module_free()) {
    if (!module_) {
      detail::fail(functions_);
    }
  }

  static const char *method(const Load &load) { return load.method.empty() ? nullptr : load.method.c_str(); }

  Functions functions_;
  decltype(&::et_module_execute) execute_;
  std::unique_ptr<et_module, decltype(&::et_module_free)> module_;
};

/* What somebody says in a conversation. */
struct Message {
  std::string role; /* "system", "user", "assistant" or "tool" */
  std::string content;
};

/* What somebody says, in parts: texts, pictures, sounds and calls of tools. */
struct Turn {
  std::string role;
  std::vector<et_part> parts;
};

/* Parts of prompts and of messages. The bytes and the call belong to the caller. */
inline et_part text(const char *text) { return {ET_TEXT, text, 0, 0, 0, 0}; }
inline et_part picture(const void *file, std::size_t size) { return {ET_PICTURE, file, size, 0, 0, 0}; }
inline et_part pixels(const std::uint8_t *rgb, std::size_t width, std::size_t height) {
  return {ET_PIXELS, rgb, 3 * width * height, width, height, 0};
}
inline et_part sound(const void *file, std::size_t size) { return {ET_SOUND, file, size, 0, 0, 0}; }
inline et_part samples(const float *samples, std::size_t count, std::uint32_t rate) {
  return {ET_SAMPLES, samples, count, 0, 0, rate};
}

inline et_part call(const et_call *call) { return {ET_CALL, call, 0, 0, 0, 0}; }

/* Sees the text of each token; an empty text between the chunks of a long prompt asks whether to go on. False ends the answer; an exception ends it and goes on to the caller. */
using See = std::function<bool(std::string_view)>;
/* Sees each token. */
using SeeToken = std::function<bool(std::uint32_t)>;
/* Sees a call of a tool, whose texts are there until the function returns. */
using SeeCall = std::function<bool(const et_call &)>;
/* Sees how probable a new token is. */
using SeeLikelihood = std::function<bool(const et_likelihood &)>;
/* Sees each segment of a transcript. */
using SeeSegment = std::function<bool(const et_segment &)>;

/* Whom an answer is told: its text, what the model thinks before, calls of the tools in the options, and how probable each token is. */
struct Listener {
  See text{};
  See thoughts{};
  SeeCall call{};
  SeeLikelihood likely{};
};

/* A language model and the text that it has read. One thread at a time uses an object. */
template <class Functions>
class BasicLanguage {
 public:
  explicit BasicLanguage(const std::string &program, const Load &load = {}, const Functions &functions = {})
      : BasicLanguage(functions, functions.language_load()(program.c_str(), detail::pointers(load.data).data(),
                                                           load.data.size(), load.threads, load.lookup)) {}
  static BasicLanguage from_bytes(const void *program, std::size_t size, const Load &load = {},
                                  const Functions &functions = {}) {
    return BasicLanguage(functions, functions.language_load_bytes()(program, size, detail::pointers(load.data).data(),
                                                                    load.data.size(), load.threads, load.lookup));
  }

  /* What the model's makers say about how tokens are picked. */
  et_options options() const {
    et_options options;
    detail::check(functions_, functions_.language_options()(language_.get(), &options));
    return options;
  }
  /* The most tokens of a text; 0 where nobody knows. */
  std::size_t context() const { return functions_.language_context()(language_.get()); }

  /* Continue a text, or answer in a conversation. */
  et_answer continue_text(const std::string &prompt, const et_options &options, const See &see = {}) {
    return watched(see, [&](et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_continue()(language_.get(), prompt.c_str(), &options, token, seen, answer);
    });
  }
  et_answer continue_tokens(const std::vector<std::uint32_t> &tokens, const et_options &options,
                            const SeeToken &see = {}) {
    return watched(see, show_token, [&](et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_continue_tokens()(language_.get(), tokens.data(), tokens.size(), &options, token, seen,
                                                   answer);
    });
  }
  et_answer answer(const std::vector<Message> &messages, const et_options &options, const See &see = {}) {
    std::vector<et_message> said;
    for (const Message &message : messages) {
      said.push_back({message.role.c_str(), message.content.c_str()});
    }
    return watched(see, [&](et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_answer()(language_.get(), said.data(), said.size(), &options, token, seen, answer);
    });
  }

  /* With calls of tools, and with pictures and sounds for models that read pictures or hear. */
  et_answer continue_parts(const std::vector<et_part> &parts, const et_options &options, const See &see = {}) {
    return watched(see, [&](et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_continue_parts()(language_.get(), parts.data(), parts.size(), &options, token, seen,
                                                  answer);
    });
  }
  et_answer answer_parts(const std::vector<Turn> &turns, const et_options &options, const See &see = {}) {
    const std::vector<et_turn> said = pointers(turns);
    return watched(see, [&](et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_answer_parts()(language_.get(), said.data(), said.size(), &options, token, seen,
                                                answer);
    });
  }
  /* With text, thoughts, calls of tools and probabilities apart. */
  et_answer continue_parts(const std::vector<et_part> &parts, const et_options &options, const Listener &listener) {
    return listened(options, listener, [&](const et_options *chosen, et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_continue_parts()(language_.get(), parts.data(), parts.size(), chosen, token, seen,
                                                  answer);
    });
  }
  et_answer answer_parts(const std::vector<Turn> &turns, const et_options &options, const Listener &listener) {
    const std::vector<et_turn> said = pointers(turns);
    return listened(options, listener, [&](const et_options *chosen, et_token_function token, void *seen, et_answer *answer) {
      return functions_.language_answer_parts()(language_.get(), said.data(), said.size(), chosen, token, seen, answer);
    });
  }

  /* The tokens of a text, and of a conversation up to the start of the answer; the text of tokens. */
  std::vector<std::uint32_t> encode(const std::string &text, bool begins = true) {
    return all<std::uint32_t>([&](std::uint32_t *tokens, std::size_t capacity, std::size_t *count) {
      return functions_.language_encode()(language_.get(), text.c_str(), begins, tokens, capacity, count);
    });
  }
  std::vector<std::uint32_t> encode(const std::vector<Turn> &turns, const et_options &options) {
    const std::vector<et_turn> said = pointers(turns);
    return all<std::uint32_t>([&](std::uint32_t *tokens, std::size_t capacity, std::size_t *count) {
      return functions_.language_encode_turns()(language_.get(), said.data(), said.size(), &options, tokens, capacity,
                                                count);
    });
  }
  std::string decode(const std::vector<std::uint32_t> &tokens) {
    const std::vector<char> text = all<char>([&](char *bytes, std::size_t capacity, std::size_t *size) {
      return functions_.language_decode()(language_.get(), tokens.data(), tokens.size(), bytes, capacity, size);
    });
    return {text.begin(), text.end()};
  }

  /* Puts an adapter in the place of the one before: a file `<name>.adapter.ptd`. The next text is read from its beginning. */
  void use_adapter(const std::string &path) {
    detail::check(functions_, functions_.language_use_adapter()(language_.get(), path.c_str()));
  }

  /* Writes the text that the model has read, with its KV cache, to a file, and goes on behind the text of such a file. */
  void save(const std::string &path) {
    detail::check(functions_, functions_.language_save()(language_.get(), path.c_str()));
  }
  void restore(const std::string &path) {
    detail::check(functions_, functions_.language_restore()(language_.get(), path.c_str()));
  }

  et_transcript transcribe(const et_part &recording, const et_speech &speech, const et_options &options,
                           const SeeSegment &see = {}) {
    detail::Heard<SeeSegment> seen{see};
    const auto segment = [](void *context, const et_segment *found) {
      auto *heard = static_cast<detail::Heard<SeeSegment> *>(context);
      return heard->call(heard->listener, *found);
    };
    et_transcript transcript;
    const int status =
        functions_.language_transcribe()(language_.get(), &recording, &speech, &options, segment, &seen, &transcript);
    seen.rethrow();
    detail::check(functions_, status);
    return transcript;
  }

 private:
  BasicLanguage(const Functions &functions, et_language *language)
      : functions_(functions), language_(language, functions.language_free()) {
    if (!language_) {
      detail::fail(functions_);
    }
  }

  static std::vector<et_turn> pointers(const std::vector<Turn> &turns) {
    std::vector<et_turn> said;
    for (const Turn &turn : turns) {
      said.push_back({turn.role.c_str(), turn.parts.data(), turn.parts.size()});
    }
    return said;
  }

  /* All elements that a function writes. */
  template <class T, class Write>
  std::vector<T> all(const Write &write) {
    /* A second call would tokenize a text again. */
    std::vector<T> elements(4096);
    std::size_t count = 0;
    detail::check(functions_, write(elements.data(), elements.size(), &count));
    const bool fits = count <= elements.size();
    elements.resize(count);
    if (!fits) {
      detail::check(functions_, write(elements.data(), count, &count));
    }
    return elements;
  }

  static bool show_text(void *context, std::uint32_t, const char *text, std::size_t size) {
    auto *seen = static_cast<detail::Heard<See> *>(context);
    return seen->call(seen->listener, std::string_view(text, size));
  }
  /* Text that is left at the end comes with no token. */
  static bool show_token(void *context, std::uint32_t token, const char *, std::size_t) {
    auto *seen = static_cast<detail::Heard<SeeToken> *>(context);
    return token == UINT32_MAX || seen->call(seen->listener, token);
  }

  template <class Ask>
  et_answer listened(et_options options, const Listener &listener, const Ask &ask) {
    options.think = [](void *context, const char *text, std::size_t size) {
      auto *seen = static_cast<detail::Heard<Listener> *>(context);
      return seen->call(seen->listener.thoughts, std::string_view(text, size));
    };
    options.call = [](void *context, const et_call *call) {
      auto *seen = static_cast<detail::Heard<Listener> *>(context);
      return seen->call(seen->listener.call, *call);
    };
    if (listener.likely) {
      options.likely = [](void *context, const et_likelihood *likelihood) {
        auto *seen = static_cast<detail::Heard<Listener> *>(context);
        return seen->call(seen->listener.likely, *likelihood);
      };
    }
    const auto text = [](void *context, std::uint32_t, const char *text, std::size_t size) {
      auto *seen = static_cast<detail::Heard<Listener> *>(context);
      return seen->call(seen->listener.text, std::string_view(text, size));
    };
    detail::Heard<Listener> seen{listener};
    et_answer answer;
    const int status = ask(&options, text, &seen, &answer);
    seen.rethrow();
    detail::check(functions_, status);
    return answer;
  }

  template <class Ask>
  et_answer watched(const See &see, const Ask &ask) {
    return watched(see, show_text, ask);
  }
  template <class Shown, class Ask>
  et_answer watched(const Shown &see, et_token_function token, const Ask &ask) {
    detail::Heard<Shown> seen{see};
    et_answer answer;
    const int status = ask(token, &seen, &answer);
    seen.rethrow();
    detail::check(functions_, status);
    return answer;
  }

  Functions functions_;
  std::unique_ptr<et_language, decltype(&::et_language_free)> language_;
};

/* Of the library that the app is linked with. */
using Module = BasicModule<Linked>;
using Language = BasicLanguage<Linked>;

/* A shared library, loaded while the app runs. */
class Library {
 public:
  /* `path` is UTF-8. Throws Error where the library cannot be loaded. */
  explicit Library(const std::string &path) : functions_(path) {}

  BasicModule<Loaded> module(const std::string &program, const Load &load = {}) const {
    return BasicModule<Loaded>(program, load, functions_);
  }
  BasicLanguage<Loaded> language(const std::string &program, const Load &load = {}) const {
    return BasicLanguage<Loaded>(program, load, functions_);
  }

 private:
  Loaded functions_;
};

}  // namespace etbuild

#endif
