// hutch network and hutch service.
#include "service/machine_setup.h"

#include <array>
#include <optional>

#include "base/decimal.h"
#include "base/text.h"
#include "host/account.h"
#include "host/people.h"
#include "plan/acl.h"
#include "sys/acl.h"
#include "sys/files.h"
#include "sys/host_info.h"
#include "sys/identity.h"
#include "sys/netlink.h"
#include "sys/process.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

constexpr std::size_t kFileMax = 1 << 16;

// Whoever connects has names resolved, and more, by a process that no rule for a user is about.
constexpr std::array kResolvers = {"/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket",
                                   "/run/dbus/system_bus_socket", "/run/avahi-daemon/socket"};

plan::Systemd systemd_here() {
  return sys::exists("/run/systemd/system") ? plan::Systemd::kHere : plan::Systemd::kAbsent;
}

Result<std::string> own_program() {
  std::string own = TRY(sys::own_program());
  TRY_CTX(host::check_is_roots(own), "root would run hutch later");
  return own;
}

// A socket is made anew with its service, and then open again: the unit runs this after it.
Status set_list(const std::string& socket, const std::vector<std::uint32_t>& closed_to,
                const std::vector<std::uint32_t>& known) {
  const std::size_t slash = socket.rfind('/');
  const auto status = TRY(sys::status_of(socket));
  if (!status || status->kind != sys::EntryKind::kOther) return {};
  const UniqueFd directory = TRY(sys::open(socket.substr(0, slash), sys::Open::kPath));
  const std::string name = socket.substr(slash + 1);
  const std::string attribute = TRY(sys::acl_attribute(directory.get(), name, sys::AclKind::kAccess));
  const plan::Acl before = attribute.empty() ? plan::acl_of_mode(status->mode) : TRY(plan::parse_acl(attribute));
  plan::Acl after = plan::without_users(before, known);
  for (const std::uint32_t user : closed_to) after = plan::with_user(std::move(after), user, 0);
  if (after == before) return {};
  return sys::set_acl_attribute(directory.get(), name, sys::AclKind::kAccess, plan::encode_acl(after));
}

// What runs as that user already could be the daemon from its first moment on.
Status check_is_at_rest(const host::OsUser& user) {
  for (const sys::DirectoryEntry& entry : TRY(sys::list_directory("/proc", sys::Listing::kAll))) {
    if (!decimal_of(entry.name)) continue;
    const auto status = sys::status_of(cat({"/proc/", entry.name}));
    if (!status || !*status || (*status)->uid != user.uid) continue;
    return fail({Code::kConflict, 0,
                 cat({"process ", entry.name, " runs as ", user.name,
                      ", and would have all that is the daemon's: end what runs as that user first"})});
  }
  return {};
}

}  // namespace

Result<std::vector<plan::SetupStep>> network_init_plan(const std::vector<std::uint16_t>& ports) {
  return plan::network_init_steps(TRY(own_program()), ports, systemd_here());
}

Result<std::vector<plan::SetupStep>> network_deinit_plan() {
  return plan::network_deinit_steps(TRY(own_program()), systemd_here());
}

Result<std::vector<plan::SetupStep>> network_again_plan() {
  std::vector<plan::SetupStep> steps;
  if (sys::exists(std::string(plan::kNetworkFile))) steps.push_back(plan::apply_network_step(TRY(own_program())));
  return steps;
}

Status apply_network() {
  if (sys::user_id() != 0) {
    return fail(Error{.code = Code::kPermissionDenied, .message = "this takes root: sudo hutch network apply"});
  }
  const std::string file(plan::kNetworkFile);
  std::vector<std::uint32_t> users;
  for (const host::OsUser& user : TRY(host::agents_users())) users.push_back(user.uid);
  std::vector<std::uint32_t> denied;
  std::vector<std::uint16_t> ports;
  if (sys::exists(file)) {
    TRY(host::check_is_roots(file));
    const std::string text = TRY(sys::read_file(file, kFileMax));
    ports = TRY(plan::read_network_file(text));
    denied = users;
  }
  TRY(sys::deny_users(denied, ports));
  for (const char* socket : kResolvers) TRY_CTX(set_list(socket, denied, users), socket);
  return {};
}

Result<std::vector<plan::SetupStep>> service_init_plan(const std::string& user) {
  if (systemd_here() == plan::Systemd::kAbsent) {
    return fail(Error::unsupported(cat({"this machine has no systemd: sudo -u ", user, " hutch serve"})));
  }
  const auto known = TRY(host::find_os_user(user));
  if (!known) return fail(Error::not_found(cat({"there is no OS user ", user, " yet: sudo hutch init"})));
  TRY(check_is_at_rest(*known));
  return plan::service_init_steps(user, TRY(own_program()));
}

Result<std::vector<plan::SetupStep>> service_deinit_plan(const std::string& user) {
  return plan::service_deinit_steps(user);
}

}  // namespace hutch::service
