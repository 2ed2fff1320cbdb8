// Where an agent's directories are.
#include "service/agent/places.h"

#include "base/text.h"
#include "plan/setup/os_user.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::string_view kHomes = "/workspace/agents/";
constexpr std::string_view kShared = "/workspace/shared";
constexpr std::string_view kOutput = "/output";
// What programs that E2B's templates are made for take for granted.
constexpr std::string_view kE2bHome = "/home/user";
constexpr std::string_view kE2bUser = "user";

bool lies_in(const std::string& path, const std::string& directory) {
  return cat({path, "/"}).starts_with(directory == "/" ? directory : cat({directory, "/"}));
}

std::string os_user_of(const store::AgentRecord& record) {
  return record.os_user.empty() ? plan::os_user_name(record.name) : record.os_user;
}

}  // namespace

AgentDirectories agent_directories(const host::StateDirs& dirs, const store::AgentRecord& record) {
  const std::string& name = record.name;
  if (store::backend_kind(record) == BackendKind::kUser) {
    const std::string user = os_user_of(record);
    return {
        .home = plan::os_user_home(user), .shared = plan::os_user_shared(user), .output = plan::os_user_output(user)};
  }
  return {.home = cat({dirs.data, "/workspace/agents/", name}),
          .shared = cat({dirs.data, "/workspace/shared"}),
          .output = cat({dirs.data, "/output/", name})};
}

Status make_agent_directories(const AgentDirectories& directories) {
  for (const std::string& directory : {directories.home, directories.shared, directories.output}) {
    TRY_CTX(sys::make_private_directories(directory), "make the agent's directories");
  }
  return {};
}

AgentPlaces places_of(const store::AgentRecord& record, const AgentDirectories& directories, BackendKind backend) {
  AgentPlaces places;
  const bool own_paths = !policy::traits_of(backend).host_paths;
  tool::Layout& layout = places.layout;
  layout.agent = record.name;
  const bool as_e2b = own_paths && record.name.starts_with(store::kE2bAgentPrefix);
  const std::string own_home = as_e2b ? std::string(kE2bHome) : cat({kHomes, record.name});
  layout.home = own_paths ? own_home : directories.home;
  layout.shared = own_paths ? std::string(kShared) : directories.shared;
  layout.output = own_paths ? std::string(kOutput) : directories.output;
  layout.base = record.dir.empty() ? layout.home : record.dir;
  layout.roots = {layout.home, layout.shared, layout.output};
  if (!record.dir.empty()) layout.roots.insert(layout.roots.begin(), record.dir);

  Residence& residence = places.residence;
  residence.user = backend == BackendKind::kUser ? os_user_of(record)
                   : as_e2b                      ? std::string(kE2bUser)
                                                 : cat({"agent-", record.name});
  residence.agent = record.name;
  residence.home = layout.home;
  residence.cwd = record.dir.empty() ? layout.home : std::string();
  // With the host's own paths nothing is mounted, and yet these are what the policy's rules do not hide.
  residence.shares = {{.source = directories.home, .target = layout.home},
                      {.source = directories.shared, .target = layout.shared},
                      {.source = directories.output, .target = layout.output}};
  places.environment = {cat({"HOME=", layout.home}),          cat({"USER=", residence.user}),
                        cat({"LOGNAME=", residence.user}),    cat({"HUTCH_AGENT=", record.name}),
                        cat({"HUTCH_HOME=", layout.home}),    cat({"HUTCH_SHARED=", layout.shared}),
                        cat({"HUTCH_OUTPUT=", layout.output})};
  return places;
}

std::vector<WatchedPlace> watched_places(const store::AgentRecord& record, const AgentDirectories& directories,
                                         const tool::Layout& layout) {
  const std::string& work = record.dir.empty() ? directories.home : record.dir;
  std::vector<WatchedPlace> places = {{work, ""}};
  const WatchedPlace others[] = {{directories.home, cat({layout.home, "/"})},
                                 {directories.output, cat({layout.output, "/"})}};
  for (const WatchedPlace& other : others) {
    if (lies_in(other.on_host, work)) continue;
    // A place of work that is a directory of the home.
    if (lies_in(work, other.on_host)) places.clear();
    places.push_back(other);
  }
  return places;
}

}  // namespace hutch::service
