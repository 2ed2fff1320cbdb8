// What a machine is given while it starts.
#include "backend/vm/machine_devices.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "backend/vm/jail.h"
#include "base/json.h"
#include "base/text.h"
#include "sys/files/journal.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::backend::vm {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds kWait{180};

// A socket that it was given by that name.
json socket_named(const std::string& name) {
  return {{"type", "socket"}, {"data", {{"addr", {{"type", "fd"}, {"data", {{"str", name}}}}}, {"server", false}}}};
}

// Memory is shared with whoever made it, and is not a part of what is saved.
Status ignore_memory(Monitor& qemu) {
  const json ignored = {{"capability", "x-ignore-shared"}, {"state", true}};
  const json capabilities = {{"capabilities", json::array({ignored})}};
  TRY(qemu.ask("migrate-set-capabilities", capabilities.dump()));
  return {};
}

// Until `command` says that its "status" is `wanted`; that it is `failed` is an error.
Status await_status(Monitor& qemu, const std::string& command, const std::string& wanted, const std::string& failed) {
  const auto until = std::chrono::steady_clock::now() + kWait;
  for (;;) {
    const std::string said = TRY(qemu.ask(command));
    const json state = parse_json(said);
    const json status = state.is_object() ? state.value("status", json()) : json();
    if (status == wanted) return {};
    if (status == failed) return fail({Code::kSystem, 0, cat({"QEMU: ", command, ": ", printable(said)})});
    if (std::chrono::steady_clock::now() >= until) {
      return fail({Code::kTimeout, 0, cat({"QEMU: ", command, ": not ", wanted, " in time"})});
    }
    TRY(sys::pause_briefly());
  }
}

}  // namespace

Status go_on_from(Monitor& qemu, int state) {
  TRY(ignore_memory(qemu));
  TRY(qemu.give("state", state));
  TRY(qemu.ask("migrate-incoming", R"({"uri": "fd:state"})"));
  return await_status(qemu, "query-status", "running", "internal-error");
}

Status begin(Monitor& qemu) {
  TRY(qemu.ask("cont"));
  return {};
}

Status tell_start(int machine, wire::MachineStart start) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  start.clock_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  start.entropy = TRY(sys::random_hex(wire::kEntropyBytes / 2));
  return sys::write_all(machine, wire::encode_machine_start(start));
}

Status connect_guest(Monitor& qemu, int guest) {
  TRY(qemu.give("guest", guest));
  const json change = {{"id", "hutch"}, {"backend", socket_named("guest")}};
  TRY(qemu.ask("chardev-change", change.dump()));
  return {};
}

Status leave_guest(Monitor& qemu) {
  TRY(qemu.ask("chardev-change", R"({"id": "hutch", "backend": {"type": "null", "data": {}}})"));
  return {};
}

Status plug_files(Monitor& qemu, int file_server) {
  TRY(qemu.give("files", file_server));
  const json socket = {{"id", "files"}, {"backend", socket_named("files")}};
  TRY(qemu.ask("chardev-add", socket.dump()));
  const json device = {{"driver", "vhost-user-fs-pci"}, {"chardev", "files"}, {"tag", "hutch"}, {"bus", port_name(0)}};
  TRY(qemu.ask("device_add", device.dump()));
  return {};
}

Status plug_card(Monitor& qemu) {
  // Addresses of QEMU's own choice (plan::kAddressOfMachine); no ROM, which only starts by network need.
  TRY(qemu.ask("netdev_add", R"({"type": "user", "id": "net", "ipv6": false})"));
  const json device = {{"driver", "virtio-net-pci"}, {"netdev", "net"}, {"romfile", ""}, {"bus", port_name(1)}};
  TRY(qemu.ask("device_add", device.dump()));
  return {};
}

Status save_state(Monitor& qemu, int state) {
  TRY(ignore_memory(qemu));
  // Not stopped first: whoever goes on from there would be stopped as well.
  const json fast = {{"max-bandwidth", 1ULL << 40}};
  TRY(qemu.ask("migrate-set-parameters", fast.dump()));
  TRY(qemu.give("state", state));
  TRY(qemu.ask("migrate", R"({"uri": "fd:state"})"));
  return await_status(qemu, "query-migrate", "completed", "failed");
}

}  // namespace hutch::backend::vm
