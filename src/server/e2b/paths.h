// Paths of the E2B-compatible API, and questions about them to the sandbox's own file server.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/agent/sandbox.h"
#include "tool/place.h"
#include "wire/files.h"

namespace hutch::server::e2b {

// Absolute, without "." and ".."; a relative one, and "~", begins at the home. What may be reached there is for the
// kernel to say: the file server is a process of the sandbox.
Result<std::string> absolute_path(std::string_view home, std::string_view path);
// The same of a path below /home/user, which is what E2B's clients call the home, in a sandbox whose home is `home`.
std::string at_home(std::string path, std::string_view home);
// What a client's path is in that sandbox, for that user: an OS user has its home where the machine has it.
Result<std::string> path_of_client(const service::AgentSandbox& agent, tool::User user, std::string_view path);
wire::FilePlace place_of(const std::string& absolute);
std::string last_name(const std::string& absolute);
std::string join_path(const std::string& directory, const std::string& relative);

template <class Reply, class Asked>
Result<Reply> ask(Asked& asked, const wire::FileRequest& request) {
  wire::FileReply reply = TRY(asked.file(request));
  if (auto* wanted = std::get_if<Reply>(&reply)) return std::move(*wanted);
  return fail(Error{Code::kSystem, 0, "the sandbox answered something else"});
}

}  // namespace hutch::server::e2b
