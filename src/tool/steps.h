// Steps that several tools share: paths, questions to the file server, failures, the environment of commands.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tool/paths.h"
#include "tool/registry.h"

namespace hutch::tool {

enum class Retry { kNo, kYes };

// The argument `field` as a path. An absent one is layout.base.
std::expected<Located, Envelope> locate(const Call& call, std::string_view field);

// What the caller named, for a message; an absent one is the directory that `locate` took instead.
std::string named(const Call& call, std::string_view field, const Located& located);

// As `locate`, of a directory that is there; for what is given as `cwd`.
std::expected<Located, Envelope> locate_directory(const Call& call, std::string_view field);

// "<what>: <the error>"; a sandbox that cannot, or is not up yet, is `unavailable`.
Envelope failed(std::string_view what, const Error& error, Retry retry);

// What the file server answers; another kind of answer than was asked for is an error.
template <class T>
Result<T> ask(Place& place, const wire::FileRequest& request) {
  wire::FileReply reply = TRY(place.file(request));
  if (T* answer = std::get_if<T>(&reply)) return std::move(*answer);
  if (auto* refused = std::get_if<wire::FileFailed>(&reply)) return fail(std::move(refused->error));
  return fail(Error{Code::kSystem, 0, "the file server answered something else than it was asked"});
}

// A file of the system of the sandbox, absolute.
bool is_there(Place& place, std::string_view path);

// PATH with the directories of Node's and Python's packages first.
std::vector<std::string> environment(const Layout& layout, std::string_view cwd);

// What reads a command line.
std::string shell_of(Place& place);

// One more command of this turn; a refusal when there may be none.
std::optional<Envelope> take_command(const Call& call);
// One more use of a service within the last minute; a refusal, worth another try later, where these are too many.
// `what` is what it says is exceeded: "Plugin registration".
std::optional<Envelope> take_use(const Call& call, const std::string& service, std::string_view what);
void end_command(const Call& call);

// Seconds: the argument `timeout`, else what is given here.
std::chrono::seconds timeout_of(const Call& call, std::chrono::seconds otherwise);

// Of a command that ended by itself: `result`. One that ran too long or was ended by request is a failure that
// carries the members of `result` beside its message.
Envelope ended(const CommandEnd& end, std::chrono::seconds timeout, Value::Object result);

// So many bytes for a person to read.
std::string size_text(std::uint64_t bytes);

}  // namespace hutch::tool
