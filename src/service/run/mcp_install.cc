// Reads, has it edited, writes whole.
#include "service/run/mcp_install.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "host/paths/paths.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

struct ClientFile {
  const McpClient* client = nullptr;
  McpChange change;
};

Result<ClientFile> look_at_client(const McpInstallRequest& request, const plan::HostFacts& facts,
                                  const std::vector<std::string>& environment);
Result<std::optional<std::string>> file_text(const std::string& file);
Result<std::string> program_for(const std::vector<std::string>& environment);
std::optional<std::string> variable_in(const std::vector<std::string>& environment, std::string_view name);
Status write_exact(const McpChange& change);
Status changed_meanwhile(const McpChange& change);
Status make_directories(const std::string& file, unsigned mode);

}  // namespace

Result<McpChange> plan_mcp_install(const McpInstallRequest& request, const plan::HostFacts& facts,
                                   const std::vector<std::string>& environment) {
  ClientFile place = TRY(look_at_client(request, facts, environment));
  const McpClient& client = *place.client;
  if (client.start == McpClient::Start::kAnywhere && request.agent.empty()) {
    return fail(Error::invalid(cat({client.about,
                                    " does not start its servers in a project's directory, so that hutch "
                                    "cannot know whose tools are meant: --agent NAME says it"})));
  }
  const McpEntry entry{TRY(program_for(environment)), request.agent};
  place.change.after = TRY_CTX(with_mcp_entry(client, place.change.before, entry), printable(place.change.file));
  place.change.entry = TRY(shown_mcp_entry(client, place.change.after));
  return std::move(place.change);
}

Result<McpChange> plan_mcp_remove(const McpInstallRequest& request, const plan::HostFacts& facts,
                                  const std::vector<std::string>& environment) {
  ClientFile place = TRY(look_at_client(request, facts, environment));
  place.change.after = TRY_CTX(without_mcp_entry(*place.client, place.change.before), printable(place.change.file));
  return std::move(place.change);
}

Status apply_mcp_change(const McpChange& change) {
  if (change.before == change.after) return {};
  const Status written = write_exact(change);
  const bool is_led_away = !written && (written.error().sys_errno == ELOOP || written.error().sys_errno == ENOTDIR);
  return is_led_away ? changed_meanwhile(change) : written;
}

Result<std::vector<McpClientRow>> list_mcp_clients(const plan::HostFacts& facts,
                                                   const std::vector<std::string>& environment) {
  using enum McpClientRow::State;
  std::vector<McpClientRow> rows;
  for (const McpClient& client : mcp_clients()) {
    McpClientRow row{std::string(client.name), std::string(client.about), "", kNoFile};
    const auto variable = [&](std::string_view name) { return variable_in(environment, name); };
    row.file = TRY(mcp_file_of(client, McpScope::kUser, facts.home, facts.cwd, variable));
    const auto text = file_text(row.file);
    if (!text) {
      row.state = kUnreadable;
    } else if (*text) {
      const auto there = has_mcp_entry(client, **text);
      row.state = !there ? kUnreadable : *there ? kWith : kWithout;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

Result<ClientFile> look_at_client(const McpInstallRequest& request, const plan::HostFacts& facts,
                                  const std::vector<std::string>& environment) {
  ClientFile place;
  place.client = find_mcp_client(request.client);
  if (place.client == nullptr)
    return fail(Error::not_found(cat({"no client \"", printable(request.client, 64), "\""})));
  const auto variable = [&](std::string_view name) { return variable_in(environment, name); };
  const std::string named = TRY(mcp_file_of(*place.client, request.scope, facts.home, facts.cwd, variable));
  // Many keep their settings elsewhere, behind links. In a project a sandbox may have made one.
  const auto resolved = TRY(host::canonical_path(named));
  const auto project = TRY(host::canonical_path(facts.cwd));
  if (request.scope == McpScope::kProject && !is_within(resolved.path, project.path)) {
    return fail(Error::invalid(cat({printable(named), " leads out of the project by a symbolic link, to ",
                                    printable(resolved.path), "; remove the link, or leave --project out"})));
  }
  place.change.client = request.client;
  place.change.file = resolved.path;
  const auto text = TRY(file_text(resolved.path));
  place.change.there = text.has_value();
  place.change.before = text.value_or("");
  return place;
}

Result<std::optional<std::string>> file_text(const std::string& file) {
  auto text = sys::regular_file_text(file, limits::kFrameBytesMax);
  if (text) return std::optional(std::move(*text));
  if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return std::optional<std::string>();
  return fail(std::move(text).error());
}

// The plain name stays true when another version is installed; by the whole path a client finds it that has another
// PATH.
Result<std::string> program_for(const std::vector<std::string>& environment) {
  std::string own = TRY(sys::own_program());
  const std::string path = variable_in(environment, "PATH").value_or("");
  for (const std::string_view directory : split(path, ':')) {
    if (!directory.starts_with('/')) continue;
    const auto found = host::canonical_path(cat({directory, "/hutch"}));
    if (!found || found->type == plan::FileType::kAbsent) continue;
    return found->path == own ? std::string("hutch") : own;
  }
  return own;
}

std::optional<std::string> variable_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// By the directory itself: whoever works in the project may have put a link in its way since that was planned.
Status write_exact(const McpChange& change) {
  const std::size_t slash = change.file.rfind('/');
  const std::string name = change.file.substr(slash + 1);
  if (!change.there) TRY(make_directories(change.file, 0777));
  const UniqueFd directory = TRY(sys::open_exact(slash == 0 ? "/" : change.file.substr(0, slash)));
  const std::string file = cat({"/proc/self/fd/", std::to_string(directory.get()), "/", name});
  const auto now = TRY_CTX(file_text(file), printable(change.file));
  if (now.has_value() != change.there || now.value_or("") != change.before) return changed_meanwhile(change);
  // A project's file is for whoever works on it; replace_file() keeps the mode.
  if (!change.there) TRY(sys::make_file(directory.get(), name, 0666));
  return sys::replace_file(file, change.after);
}

Status changed_meanwhile(const McpChange& change) {
  return fail(Error{Code::kConflict, 0,
                    cat({printable(change.file), " was changed meanwhile, and is left as it is; try again"})});
}

// Each in the one above it, through no link.
Status make_directories(const std::string& file, unsigned mode) {
  for (std::size_t above = 0, slash = file.find('/', 1); slash != std::string::npos;
       above = slash, slash = file.find('/', slash + 1)) {
    const UniqueFd parent = TRY(sys::open_exact(above == 0 ? "/" : file.substr(0, above)));
    const Status made = sys::make_directory(parent.get(), file.substr(above + 1, slash - above - 1), mode);
    if (!made && made.error().sys_errno != EEXIST) return made;
  }
  return {};
}

}  // namespace

}  // namespace hutch::service
