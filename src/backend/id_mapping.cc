// Writing the maps of another process's user namespace.
#include "backend/id_mapping.h"

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::backend {

namespace {

Status write_maps(pid_t process, const plan::IdMap& map);
Status run_mapper(const std::string& name, pid_t process, const std::vector<plan::IdExtent>& extents);

}  // namespace

Status map_ids_of(pid_t process, const plan::IdMap& map) {
  if (sys::user_id() == 0 || map.kind != plan::IdMap::Kind::kMany) return write_maps(process, map);
  TRY(run_mapper("newuidmap", process, map.users));
  return run_mapper("newgidmap", process, map.groups);
}

namespace {

Status write_maps(pid_t process, const plan::IdMap& map) {
  const std::string directory = cat({"/proc/", std::to_string(process)});
  if (map.kind != plan::IdMap::Kind::kMany) TRY(sys::write_file(directory + "/setgroups", "deny"));
  TRY(sys::write_file(directory + "/uid_map", plan::map_text(map.users)));
  return sys::write_file(directory + "/gid_map", plan::map_text(map.groups));
}

Status run_mapper(const std::string& name, pid_t process, const std::vector<plan::IdExtent>& extents) {
  const std::string program = host::find_system_program(name);
  if (program.empty()) return fail(Error::unsupported(cat({name, " is not installed; apt-get install uidmap"})));
  std::vector<std::string> arguments = {name, std::to_string(process)};
  for (const plan::IdExtent& extent : extents) {
    for (const std::uint32_t number : {extent.inside, extent.outside, extent.count}) {
      arguments.push_back(std::to_string(number));
    }
  }
  static constexpr std::size_t kComplaintBytesMax = 64 << 10;
  sys::Pipe complaints = TRY(sys::pipe());
  auto child =
      TRY(sys::spawn(program, {.arguments = arguments, .environment = {}, .install = {{complaints.write.get(), 2}}}));
  complaints.write.reset();
  const std::string said = TRY(sys::read_to_end(complaints.read.get(), kComplaintBytesMax));
  const sys::WaitStatus ended = TRY(child.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail(Error{Code::kPermissionDenied, 0, cat({name, ": ", printable(said)})});
}

}  // namespace

}  // namespace hutch::backend
