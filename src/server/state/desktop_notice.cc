// A process of notify-send, which has a few seconds.
#include "server/state/desktop_notice.h"

#include <poll.h>

#include <csignal>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::server {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kDesktopPatience{3};
constexpr std::chrono::seconds kNoticePause{5};  // an agent may make many
constexpr std::size_t kNoticeBytesMax = 200;

std::optional<std::string> notify_program() {
  for (const char* path : {"/usr/bin/notify-send", "/usr/local/bin/notify-send"}) {
    if (sys::is_executable_file(path)) return path;
  }
  return std::nullopt;
}

// Without one notify-send would start a bus of its own.
std::optional<std::string> session_bus() {
  if (auto own = sys::environment_variable("DBUS_SESSION_BUS_ADDRESS"); own && !own->empty()) return own;
  const std::string usual = cat({"/run/user/", std::to_string(sys::user_id()), "/bus"});
  return sys::exists(usual) ? std::optional(cat({"unix:path=", usual})) : std::nullopt;
}

// The specification of desktop notifications has a few elements of HTML in a body.
std::string without_markup(std::string_view text) {
  std::string plain;
  for (const char c : printable(text, kNoticeBytesMax)) {
    if (c == '<')
      plain += "&lt;";
    else if (c == '>')
      plain += "&gt;";
    else if (c == '&')
      plain += "&amp;";
    else
      plain += c;
  }
  return plain;
}

Status notify(const std::string& program, const std::string& bus, const NoticeText& text) {
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kRead));
  const UniqueFd away = TRY(sys::open("/dev/null", sys::Open::kWrite));
  std::vector<std::string> environment = {cat({"DBUS_SESSION_BUS_ADDRESS=", bus}), "PATH=/usr/bin:/bin",
                                          "LC_ALL=C.UTF-8",
                                          cat({"HOME=", sys::environment_variable("HOME").value_or("/")})};
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"}) {
    if (const auto value = sys::environment_variable(name)) environment.push_back(cat({name, "=", *value}));
  }
  sys::ChildProcess process =
      TRY(sys::spawn(program, {.arguments = {"notify-send", "--app-name=hutch", "--", text.summary, text.body},
                               .environment = std::move(environment),
                               .install = {{nothing.get(), 0}, {away.get(), 1}, {away.get(), 2}}}));
  pollfd ended{process.pidfd(), POLLIN, 0};
  if (TRY(sys::poll({&ended, 1}, kDesktopPatience)) == 0) TRY(process.signal(SIGKILL));
  TRY(process.wait());
  return {};
}

}  // namespace

NoticeText plugin_notice(const std::string& agent, const std::string& plugin) {
  const std::string id = printable(plugin, kNoticeBytesMax);
  return {.summary = cat({"hutch: agent ", printable(agent, kNoticeBytesMax), " made a plugin"}),
          .body = without_markup(
              cat({id, ". hutch plugin show ", id, " tells what it does; hutch plugin remove ", id, " removes it."}))};
}

std::string plugin_line(const std::string& agent, const std::string& plugin) {
  const std::string id = printable(plugin, kNoticeBytesMax);
  return cat({"agent ", printable(agent, kNoticeBytesMax), " made the plugin ", id, "; hutch plugin show ", id,
              " tells what it does, hutch plugin remove ", id, " removes it"});
}

bool DesktopNotice::take_turn() {
  const std::scoped_lock lock(mutex_);
  const auto now = steady_clock::now();
  if (now < next_) return false;
  next_ = now + kNoticePause;
  return true;
}

void DesktopNotice::plugin_made(const std::string& agent, const std::string& plugin) {
  const auto program = notify_program();
  const auto bus = session_bus();
  if (!program || !bus || !take_turn()) return;
  const auto work = [program = *program, bus = *bus, text = plugin_notice(agent, plugin)] {
    (void)notify(program, bus, text);
  };
  (void)workers_.try_run(work);
}

}  // namespace hutch::server
