// Starts the process that reads objects of git.
#include "sandbox/run/git_objects.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/channel.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::sandbox {

Result<GitObjectsProcess> GitObjectsProcess::start(const std::string& guest_program, const std::string& repository) {
  static constexpr int kObjectsFd = 3;
  const UniqueFd directory = TRY(sys::open_exact(cat({repository, "/objects"})));
  auto [ours, its] = TRY(sys::socket_pair());
  const std::vector<std::pair<int, int>> install = {{its.get(), 0}, {directory.get(), kObjectsFd}};
  sys::ChildProcess process = TRY(sys::spawn(
      guest_program, {.arguments = {"hutch-guest", "--git-objects"}, .environment = {}, .install = install}));
  return GitObjectsProcess{std::move(process), wire::GitObjectStream(std::move(ours))};
}

}  // namespace hutch::sandbox
