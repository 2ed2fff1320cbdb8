// sandbox_search_files: ripgrep, run in the sandbox with its arguments as they are.
#include <fmt/format.h>

#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/files/matches.h"
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

constexpr std::chrono::seconds kSearchTimeout{60};
// The limit for one file: a larger one is not text, and a sparse file takes as long as a full one.
constexpr std::uint64_t kSearchedBytesMax = 1ULL << 30;
constexpr std::string_view kErrorPrefix = "rg: ";  // before each message, of ripgrep 14 and newer

std::vector<std::string> ripgrep(const Arguments& arguments, const std::string& path, std::int64_t most);
Result<CommandEnd> run_until_enough(const Call& call, Command command, Matches& matches);
Envelope matches_answer(const Call& call, const Located& located, const CommandEnd& end, const Matches& matches,
                        const std::string& what);
Envelope refused_by_ripgrep(std::string_view message, const std::string& what);
Envelope not_searched(std::string_view message, const std::string& what);

}  // namespace

Envelope search_files(const Call& call) {
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  Place& place = call.context.place;
  const std::string what = cat({"Failed to search `", named(call, "path", *located), "`"});
  // The kernel says first whether the path stays below its root: ripgrep would follow a link out of it.
  const Result<wire::FileStat> stat = ask<wire::FileStat>(place, wire::StatFile{located->place});
  if (!stat) return failed(what, stat.error(), Retry::kNo);
  if (stat->kind == wire::FileKind::kSymlink) {
    return final_failure(Kind::kExecutionError,
                         cat({what, ": it is a symbolic link; search `", printable(stat->target), "`"}));
  }
  if (stat->kind != wire::FileKind::kRegular && stat->kind != wire::FileKind::kDirectory) {
    return final_failure(Kind::kExecutionError, cat({what, ": it is neither a file nor a directory"}));
  }
  // ripgrep skips large files below a directory, but not a file that is its argument.
  if (stat->version.size > kSearchedBytesMax && stat->kind == wire::FileKind::kRegular) {
    return final_failure(Kind::kExecutionError, cat({what, ": it has more than 1 GiB; read a part of it instead"}));
  }
  const std::int64_t most = call.arguments.number("max_results").value_or(100);
  Matches matches(static_cast<std::size_t>(most));
  Command command{.arguments = ripgrep(call.arguments, located->absolute, most),
                  .cwd = place.layout().base,
                  .timeout = kSearchTimeout};
  const Result<CommandEnd> end = run_until_enough(call, std::move(command), matches);
  if (!end) return failed(what, end.error(), Retry::kYes);
  return matches_answer(call, *located, *end, matches, what);
}

namespace {

// No configuration file of the agent's (RIPGREP_CONFIG_PATH), no more of a file than could be shown.
std::vector<std::string> ripgrep(const Arguments& arguments, const std::string& path, std::int64_t most) {
  std::vector<std::string> out = {"rg",
                                  "--no-config",
                                  "--json",
                                  "--max-count",
                                  std::to_string(most + 1),
                                  "--max-filesize",
                                  std::to_string(kSearchedBytesMax)};
  if (arguments.is_set("case_insensitive")) out.emplace_back("--ignore-case");
  if (const std::int64_t lines = arguments.number("context_lines").value_or(0); lines > 0) {
    out.push_back(cat({"--context=", std::to_string(lines)}));
  }
  if (!arguments.text("include").empty()) out.push_back(cat({"--glob=", arguments.text("include")}));
  out.push_back(cat({"--regexp=", arguments.text("pattern")}));
  out.emplace_back("--");
  out.push_back(path);
  return out;
}

Result<CommandEnd> run_until_enough(const Call& call, Command command, Matches& matches) {
  std::stop_source stop;
  const std::stop_callback cancelled(call.context.stop, [&] { stop.request_stop(); });
  command.stop = stop.get_token();
  command.on_output = [&](Stream stream, std::string_view bytes) {
    if (stream == Stream::kOutput && matches.feed(bytes) == Matches::Enough::kYes) stop.request_stop();
  };
  return call.context.place.run(command);
}

// Exit codes of ripgrep: 0 found, 1 not found, 2 an error, which may be of one file among many: then it went on to its
// summary, which it never writes of a pattern that it cannot read.
Envelope matches_answer(const Call& call, const Located& located, const CommandEnd& end, const Matches& matches,
                        const std::string& what) {
  if (end.exit_code == 127 && matches.count() == 0) {
    return final_failure(Kind::kUnavailable,
                         "ripgrep (`rg`) is not installed in the sandbox. Install it there with `sandbox_install` "
                         "(package `ripgrep`), or on the machine where the sandbox shows the system of the host.");
  }
  std::string error = excerpt(end.error, kErrorCharacters);
  if (error.starts_with(kErrorPrefix)) error.erase(0, kErrorPrefix.size());
  if (end.exit_code == 2 && matches.count() == 0 && !end.killed) {
    if (!matches.searched()) return refused_by_ripgrep(error, what);
    if (error.starts_with(cat({located.absolute, ": "}))) return not_searched(error, what);
  }
  const Matches::Text text = matches.text(kOutputCharacters);
  const bool truncated = matches.truncated() || !text.whole;
  CommandEnd how;
  how.timed_out = end.timed_out;
  how.killed = end.killed && !truncated;  // else it was ended because there was enough
  Envelope envelope = ended(how, kSearchTimeout,
                            {{"pattern", call.arguments.text("pattern")},
                             {"path", located.absolute},
                             {"matches", text.text},
                             {"match_count", text.matches},
                             {"truncated", truncated}});
  if (truncated) envelope.warnings.emplace_back("There are more matches. Narrow `pattern`, `path` or `include`.");
  if (envelope.ok && end.exit_code == 2) envelope.warnings.push_back(cat({"Not all could be read: ", error}));
  return envelope;
}

Envelope refused_by_ripgrep(std::string_view message, const std::string& what) {
  if (message.starts_with("error parsing glob")) {
    return bad_argument("include", cat({"Argument `include` is not a glob that ripgrep reads: ", message}),
                        "a glob such as `*.py`");
  }
  if (message.find("regex") != std::string::npos) {
    return bad_argument("pattern",
                        cat({"Argument `pattern` is not a regular expression that ripgrep reads: ", message}),
                        "a regular expression; to find the text itself, escape . * + ? ( ) [ ] { } ^ $ | and \\");
  }
  return not_searched(message, what);
}

Envelope not_searched(std::string_view message, const std::string& what) {
  return final_failure(Kind::kExecutionError, cat({what, ": ", message}));
}

}  // namespace

}  // namespace hutch::tool
