// sandbox_run_script: a script by its interpreter, from a file that is removed afterwards, or from one that is there.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/random_name.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

constexpr std::chrono::seconds kTimeoutDefault{60};
constexpr std::uint64_t kShebangBytes = 256;  // BINPRM_BUF_SIZE

struct Language {
  std::string_view name;
  std::string_view program;
  std::string_view extension;
};
constexpr std::array<Language, 4> kLanguages = {
    {{"python", "python3", "py"}, {"bash", "bash", "sh"}, {"node", "node", "js"}, {"sh", "sh", "sh"}}};

struct Interpreter {
  std::string language{};
  std::vector<std::string> arguments{};
  std::string extension{};
};

// A script to run: a file of the agent's, or a text.
struct Script {
  std::optional<Located> file;
  std::string start;  // of its text: all, or the first bytes
};

std::expected<Script, Envelope> find_script(const Call& call);
std::expected<Interpreter, Envelope> find_interpreter(const Call& call, const Script& script);
std::optional<Interpreter> interpreter_of_shebang(std::string_view text);
std::optional<Interpreter> interpreter_of_extension(std::string_view path);
const Language* known_language(std::string_view program);
Interpreter interpreter_of(const Language& language);
Result<Located> write_script(Place& place, const std::string& text, const std::string& extension);
Envelope run(const Call& call, const Located& cwd, const Interpreter& interpreter, const std::string& file);

}  // namespace

Envelope run_script(const Call& call) {
  const std::expected<Script, Envelope> script = find_script(call);
  if (!script) return script.error();
  const std::expected<Interpreter, Envelope> interpreter = find_interpreter(call, *script);
  if (!interpreter) return interpreter.error();
  const std::expected<Located, Envelope> cwd = locate_directory(call, "cwd");
  if (!cwd) return cwd.error();
  if (std::optional<Envelope> refused = take_command(call)) return std::move(*refused);
  if (script->file) return run(call, *cwd, *interpreter, script->file->absolute);
  Place& place = call.context.place;
  const Result<Located> file = write_script(place, script->start, interpreter->extension);
  if (!file) return failed("Failed to write the script", file.error(), Retry::kYes);
  Envelope envelope = run(call, *cwd, *interpreter, file->absolute);
  const Result<wire::FileRemoved> removed = ask<wire::FileRemoved>(place, wire::RemoveFile{file->place});
  if (!removed) envelope.warnings.push_back(cat({"Its temporary file `", file->absolute, "` could not be removed."}));
  return envelope;
}

namespace {

std::expected<Script, Envelope> find_script(const Call& call) {
  const Arguments& arguments = call.arguments;
  if (arguments.has("script") == arguments.has("path")) {
    const bool both = arguments.has("script");
    return std::unexpected(bad_argument(
        "script",
        both ? "Give either `script` or `path`, not both." : "Missing required argument `script` (or `path`).",
        "the text of a script, or in `path` the file of one"));
  }
  if (arguments.has("script")) return Script{std::nullopt, arguments.text("script")};
  std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return std::unexpected(std::move(located).error());
  const wire::ReadFile request{located->place, 0, kShebangBytes};
  Result<wire::FileContent> content = ask<wire::FileContent>(call.context.place, request);
  if (!content) {
    const std::string what = cat({"Failed to read `", printable(arguments.text("path")), "`"});
    return std::unexpected(failed(what, content.error(), Retry::kNo));
  }
  return Script{std::move(*located), std::move(content->bytes)};
}

std::expected<Interpreter, Envelope> find_interpreter(const Call& call, const Script& script) {
  const std::string& named = call.arguments.text("language");
  if (!named.empty()) {
    for (const Language& language : kLanguages) {
      if (language.name == named) return interpreter_of(language);
    }
  }
  if (std::optional<Interpreter> found = interpreter_of_shebang(script.start)) return std::move(*found);
  if (script.file) {
    std::optional<Interpreter> found = interpreter_of_extension(script.file->absolute);
    // A .sh file is for bash where there is one.
    const bool bash = found && found->language == "bash";
    if (bash && shell_of(call.context.place) == "/bin/sh") return interpreter_of(*known_language("sh"));
    if (found) return std::move(*found);
  }
  return std::unexpected(bad_argument(
      "language", "Argument `language` is missing, and neither a `#!` line nor a file's extension says what it is.",
      "one of python, node, bash, sh; or a script that begins with `#!`"));
}

// As the kernel reads it (execve(2)): a program and at most one argument, which may hold spaces.
std::optional<Interpreter> interpreter_of_shebang(std::string_view text) {
  if (!text.starts_with("#!")) return std::nullopt;
  std::string_view line = text.substr(2, std::min(text.find('\n'), kShebangBytes) - 2);
  const auto trim = [](std::string_view part) {
    const std::size_t start = part.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) return std::string_view();
    return part.substr(start, part.find_last_not_of(" \t\r") - start + 1);
  };
  line = trim(line);
  if (line.empty() || line.find('\0') != std::string_view::npos) return std::nullopt;
  const std::size_t space = line.find_first_of(" \t");
  const std::string_view program = line.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? std::string_view() : trim(line.substr(space));
  Interpreter found{.arguments = {std::string(program)}};
  if (!rest.empty()) found.arguments.emplace_back(rest);
  std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == "env") {
    name = {};
    for (const std::string_view word : split(rest, ' ')) {
      if (!name.empty() || word.empty() || word.starts_with('-') || word.find('=') != std::string_view::npos) continue;
      name = word.substr(word.rfind('/') + 1);
    }
  }
  const Language* language = known_language(name);
  found.language = language != nullptr ? language->name : name;
  if (language != nullptr) found.extension = language->extension;
  return found;
}

std::optional<Interpreter> interpreter_of_extension(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kExtensions = {{{"py", "python"},
                                                                                                {"js", "node"},
                                                                                                {"mjs", "node"},
                                                                                                {"cjs", "node"},
                                                                                                {"bash", "bash"},
                                                                                                {"sh", "bash"},
                                                                                                {"dash", "sh"}}};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (const auto& [extension, language_name] : kExtensions) {
    if (name.substr(dot + 1) != extension) continue;
    for (const Language& language : kLanguages) {
      if (language.name == language_name) return interpreter_of(language);
    }
  }
  return std::nullopt;
}

// "python3.11" and "nodejs" are what they begin with.
const Language* known_language(std::string_view program) {
  if (program.starts_with("python")) return &kLanguages[0];
  if (program == "nodejs") return &kLanguages[2];
  const auto at = std::ranges::find(kLanguages, program, &Language::program);
  return at == kLanguages.end() ? nullptr : &*at;
}

Interpreter interpreter_of(const Language& language) {
  return {std::string(language.name), {std::string(language.program)}, std::string(language.extension)};
}

Result<Located> write_script(Place& place, const std::string& text, const std::string& extension) {
  const std::string& home = place.layout().home;
  std::string name = cat({".tmp/script_", random_name(), extension.empty() ? "" : ".", extension});
  Located file{{home, name}, cat({home, "/", name})};
  TRY(ask<wire::FileWritten>(place, wire::WriteFile{file.place, text, 0700, {}}));
  return file;
}

Envelope run(const Call& call, const Located& cwd, const Interpreter& interpreter, const std::string& file) {
  CallContext& context = call.context;
  const std::chrono::seconds timeout = timeout_of(call, kTimeoutDefault);
  Command command{.arguments = interpreter.arguments,
                  .cwd = cwd.absolute,
                  .environment = environment(context.place.layout(), cwd.absolute),
                  .timeout = timeout,
                  .on_output = context.on_output,
                  .stop = context.stop};
  command.arguments.push_back(file);
  const Result<CommandEnd> end = context.place.run(command);
  end_command(call);
  if (!end) return failed("Failed to run the script", end.error(), Retry::kYes);
  const std::string output = excerpt(end->output, kOutputCharacters);
  const std::string error = excerpt(end->error, kErrorCharacters);
  Envelope envelope = ended(*end, timeout,
                            {{"stdout", output},
                             {"stderr", error},
                             {"combined", excerpt(output + error, kCombinedCharacters)},
                             {"exit_code", end->exit_code},
                             {"language", interpreter.language},
                             {"cwd", cwd.absolute}});
  if (end->exit_code == 127 && output.empty()) {
    envelope.warnings.push_back(
        cat({"Exit code 127: `", printable(interpreter.arguments.front()), "` may not be installed in the sandbox."}));
  }
  return envelope;
}

}  // namespace

}  // namespace hutch::tool
