// Shared steps of the tools.
#include "tool/steps.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"
#include "tool/excerpt.h"

namespace hutch::tool {

namespace {

constexpr std::string_view kSlashDot = "/.";
constexpr std::string_view kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Envelope ended_plainly(const CommandEnd& end, std::chrono::seconds timeout, Value::Object result);
Envelope path_refused(const Call& call, std::string_view field, std::string_view reason, std::string_view given);

}  // namespace

std::expected<Located, Envelope> locate(const Call& call, std::string_view field) {
  const Layout& layout = call.context.place.layout();
  const std::string& given = call.arguments.has(field) ? call.arguments.text(field) : layout.base;
  std::expected<Located, PathRefusal> located = locate_path(layout, given);
  if (!located) return std::unexpected(path_refused(call, field, located.error().text, given));
  // A longer one is none for the kernel, and for the file server a broken frame (wire/files.h).
  if (located->absolute.size() >= limits::kPathBytesMax - kSlashDot.size()) {
    return std::unexpected(path_refused(call, field, "path is too long", given));
  }
  return std::move(*located);
}

std::string named(const Call& call, std::string_view field, const Located& located) {
  return printable(call.arguments.has(field) ? call.arguments.text(field) : located.absolute);
}

std::expected<Located, Envelope> locate_directory(const Call& call, std::string_view field) {
  std::expected<Located, Envelope> located = locate(call, field);
  if (!located || !call.arguments.has(field)) return located;
  // With "/." it is the directory itself, also at the end of a symbolic link, and of anything else an error.
  const wire::FilePlace inside{located->place.root, cat({located->place.path, kSlashDot})};
  const Result<wire::FileStat> stat = ask<wire::FileStat>(call.context.place, wire::StatFile{inside});
  if (stat) return located;
  if (stat.error().code == Code::kTimeout) return std::unexpected(failed(field, stat.error(), Retry::kYes));
  return std::unexpected(path_refused(call, field,
                                      cat({"not a directory that can be entered: ", printable(stat.error().message)}),
                                      call.arguments.text(field)));
}

Envelope failed(std::string_view what, const Error& error, Retry retry) {
  const std::string message = cat({what, ": ", printable(error.message)});
  if (error.code == Code::kUnsupported) return final_failure(Kind::kUnavailable, message);
  if (error.code == Code::kTimeout) return failure(Kind::kUnavailable, message);
  return retry == Retry::kYes ? failure(Kind::kExecutionError, message) : final_failure(Kind::kExecutionError, message);
}

bool is_there(Place& place, std::string_view path) {
  return ask<wire::FileStat>(place, wire::StatFile{{"/", std::string(path.substr(1))}}).has_value();
}

std::vector<std::string> environment(const Layout& layout, std::string_view cwd) {
  const std::string_view path = layout.path.empty() ? kUsualPath : std::string_view(layout.path);
  return {cat({"VIRTUAL_ENV=", layout.home, "/.venv"}),
          cat({"PATH=", cwd, "/node_modules/.bin:", layout.home, "/.venv/bin:", path})};
}

std::string shell_of(Place& place) {
  if (!place.layout().shell.empty()) return place.layout().shell;
  return is_there(place, "/bin/bash") ? "/bin/bash" : "/bin/sh";
}

std::optional<Envelope> take_command(const Call& call) {
  CallContext& context = call.context;
  const std::size_t most = context.settings.commands_per_turn_max;
  const auto answer = context.limiters.commands.take(context.place.layout().agent, context.turn, most, context.now());
  if (answer == ExecLimiter::Answer::kTaken) return std::nullopt;
  return failure(Kind::kRejected, fmt::format("Per-turn command limit reached ({} commands). Wait until the next turn "
                                              "or chain steps inside one `sandbox_exec` call.",
                                              most));
}

std::optional<Envelope> take_use(const Call& call, const std::string& service, std::string_view what) {
  CallContext& context = call.context;
  const auto answer = context.limiters.rates.take(context.place.layout().agent, service, context.now());
  if (answer == RateLimiter::Answer::kTaken) return std::nullopt;
  Envelope refused = failure(Kind::kRejected, cat({what, " rate limit exceeded for this agent."}));
  refused.retryable = true;
  return refused;
}

void end_command(const Call& call) {
  CallContext& context = call.context;
  context.limiters.commands.ended(context.place.layout().agent, context.turn, context.now());
}

std::chrono::seconds timeout_of(const Call& call, std::chrono::seconds otherwise) {
  const std::optional<std::int64_t> given = call.arguments.number("timeout");
  return given ? std::chrono::seconds(*given) : otherwise;
}

Envelope ended(const CommandEnd& end, std::chrono::seconds timeout, Value::Object result) {
  Envelope envelope = ended_plainly(end, timeout, std::move(result));
  for (const std::string& refusal : end.refusals) envelope.warnings.push_back(printable(refusal));
  return envelope;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} MiB", bytes >> 20);
}

namespace {

Envelope ended_plainly(const CommandEnd& end, std::chrono::seconds timeout, Value::Object result) {
  if (end.timed_out) {
    Envelope envelope = failure(
        Kind::kTimeout,
        fmt::format("Timed out after {} s and was ended with every process it had started. What it printed until "
                    "then is in this answer. Give a larger `timeout` (at most 300), or use "
                    "`sandbox_exec_background`.",
                    timeout.count()));
    envelope.extra = std::move(result);
    return envelope;
  }
  if (end.killed) {
    Envelope envelope = final_failure(Kind::kExecutionError, "Ended by request before it was done.");
    envelope.extra = std::move(result);
    return envelope;
  }
  Envelope envelope = success(std::move(result));
  if (!end.remark.empty()) envelope.warnings.push_back(end.remark);
  return envelope;
}

Envelope path_refused(const Call& call, std::string_view field, std::string_view reason, std::string_view given) {
  return bad_argument(field, fmt::format("Argument `{}` rejected: {}. Got `{}`.", field, reason, printable(given)),
                      expected_path(call.context.place.layout()));
}

}  // namespace

}  // namespace hutch::tool
