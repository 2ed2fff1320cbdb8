// hutch-guest: applies a plan, then is the init of the sandbox. One thread, no decisions of its own. By the name
// hutch-host it is a command of the sandbox, which speaks to the host's bridge.
#include <algorithm>
#include <string_view>
#include <vector>

#include "guest/calls/access.h"
#include "guest/calls/widen.h"
#include "guest/git/reader.h"
#include "guest/guest.h"
#include "guest/machine/host_client.h"
#include "guest/machine/host_command.h"
#include "guest/machine/machine.h"
#include "guest/setup/network.h"
#include "guest/setup/probe.h"
#include "sys/io.h"
#include "sys/machine.h"
#include "sys/process/process.h"

namespace {

// Descriptor 0 is the stream to the host.
constexpr int kStream = 0;
// With --git-objects: the directory of the store.
constexpr int kObjects = 3;

int usage() {
  (void)hutch::sys::write_all(2, "hutch-guest: started by hutch; there is nothing to run by hand\n");
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  // The kernel's first program, by the name that it has for it.
  if (hutch::sys::own_pid() == 1 && std::string_view(argv[0]) == "/init") hutch::guest::serve_machine();
  if (argc > 0 && hutch::guest::is_host_program(argv[0])) {
    return hutch::guest::serve_host_command({argv + 1, argv + argc});
  }
  if (argc == 2 && std::string_view(argv[1]) == "--probe") return hutch::guest::probe();
  if (argc == 2 && std::string_view(argv[1]) == "--flush") {
    hutch::sys::flush_disks();
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--container") return hutch::guest::serve_container();
  if (hutch::sys::stream_kind(kStream) != hutch::sys::StreamKind::kSocket) return usage();
  if (argc >= 2 && std::string_view(argv[1]) == "--network") {
    return hutch::guest::serve_network(hutch::UniqueFd(kStream), {argv + 2, argv + argc});
  }
  if (argc == 2 && std::string_view(argv[1]) == "--relay") return hutch::guest::serve_relay();
  if (argc == 2 && std::string_view(argv[1]) == "--git-objects") {
    return hutch::guest::serve_git_objects(kStream, kObjects) ? 0 : 1;
  }
  if (argc >= 2 && std::string_view(argv[1]) == "--access") {
    const std::vector<std::string_view> with{argv + 2, argv + argc};
    const bool turns = std::ranges::find(with, "--turns") != with.end();
    const bool commits = std::ranges::find(with, "--commits") != with.end();
    const bool roots = std::ranges::find(with, "--roots") != with.end();
    return hutch::guest::serve_access(hutch::UniqueFd(kStream),
                                      turns ? hutch::guest::TakesTurns::kYes : hutch::guest::TakesTurns::kNo,
                                      commits ? hutch::guest::KnowsCommits::kYes : hutch::guest::KnowsCommits::kNo,
                                      roots ? hutch::guest::HasRoots::kYes : hutch::guest::HasRoots::kNo);
  }
  if (argc == 2 && std::string_view(argv[1]) == "--widen") return hutch::guest::widen(hutch::UniqueFd(kStream));
  const auto entrance = hutch::guest::entrance_of({argv + 1, argv + argc});
  return entrance ? hutch::guest::serve(hutch::UniqueFd(kStream), *entrance) : usage();
}
