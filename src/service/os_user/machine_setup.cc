// hutch network and hutch service.
#include "service/os_user/machine_setup.h"

#include <array>
#include <optional>

#include "base/decimal.h"
#include "base/text.h"
#include "host/machine/account.h"
#include "host/machine/people.h"
#include "plan/setup/acl.h"
#include "plan/setup/os_user_numbers.h"
#include "service/os_user/init.h"
#include "sys/files/acl.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/net/netlink.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

constexpr std::size_t kFileMax = 1 << 16;
constexpr std::size_t kGuestAccountsMax = 16 << 20;

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

constexpr std::string_view kWhyAtRest = "and would have all that is the daemon's: end what runs as that user first";

Result<plan::ServiceFacts> service_facts(const std::string& user, const std::string& person) {
  const auto known = TRY(host::find_os_user(user));
  plan::ServiceFacts facts{.user = user, .number = known ? known->uid : 0, .person = person};
  facts.hutch = TRY(own_program());
  facts.systemd = systemd_here();
  facts.has_unit = sys::exists(plan::service_unit_file(user));
  facts.has_files = sys::exists(plan::daemon_files(user));
  return facts;
}

// What a sandbox may have written, a daemon would take for its own.
Status check_files_are_closed(const plan::ServiceFacts& facts) {
  const bool is_daemon = facts.has_unit || sys::exists(plan::daemon_marker(facts.number));
  const std::string directory = plan::daemon_files(facts.user);
  const auto files = TRY(sys::status_of(directory));
  if (is_daemon || !files || files->uid == 0) return {};
  return fail({Code::kConflict, 0,
               cat({directory,
                    " was open to sandboxes, and would be the daemon's own: look at what is in it, and "
                    "remove it, or close it by sudo hutch service deinit"})});
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
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kGuestAccountsMax));
  const auto given = TRY(given_numbers());
  for (const std::uint32_t left : plan::numbers_left(given, passwd)) users.push_back(left);
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

Result<std::vector<plan::SetupStep>> service_init_plan(const std::string& user, const std::string& person) {
  const auto known = TRY(host::find_os_user(user));
  if (!known) return fail(Error::not_found(cat({"there is no OS user ", user, " yet: sudo hutch init"})));
  TRY(host::check_is_no_person(*known));
  const plan::ServiceFacts facts = TRY(service_facts(user, person));
  TRY(check_files_are_closed(facts));
  TRY(host::check_is_at_rest(*known, kWhyAtRest));
  return plan::service_init_steps(facts);
}

Result<std::vector<plan::SetupStep>> service_deinit_plan(const std::string& user, const std::string& person) {
  return plan::service_deinit_steps(TRY(service_facts(user, person)));
}

Status check_service_user(const std::string& user) {
  if (sys::user_id() != 0) {
    return fail(Error{.code = Code::kPermissionDenied, .message = "this takes root: sudo hutch service check"});
  }
  const auto known = TRY(host::find_os_user(user));
  if (!known) return fail(Error::not_found(cat({"there is no OS user ", user})));
  return host::check_is_at_rest(*known, kWhyAtRest);
}

Result<std::string> service_start(const std::string& user) {
  return plan::service_command(TRY(service_facts(user, {})));
}

}  // namespace hutch::service
