// Routes of an agent's files: bytes as they are, held to the same places as its tools are.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/e2b/paths.h"
#include "server/http/routes.h"
#include "server/http/upload.h"
#include "store/record.h"
#include "tool/paths.h"

namespace hutch::server::http {

namespace {

std::string_view kind_name(wire::FileKind kind) {
  switch (kind) {
    case wire::FileKind::kRegular: return "file";
    case wire::FileKind::kDirectory: return "directory";
    case wire::FileKind::kSymlink: return "symlink";
    case wire::FileKind::kOther: return "other";
  }
  return "";
}

std::string modified_text(std::int64_t nanoseconds) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(nanoseconds));
  return store::format_time(std::chrono::sys_time<std::chrono::milliseconds>(since));
}

Value::Object stat_object(const wire::FileStat& stat) {
  Value::Object object{{"kind", kind_name(stat.kind)},
                       {"size", stat.version.size},
                       {"mode", stat.mode},
                       {"modified", modified_text(stat.modified_ns)}};
  if (stat.kind == wire::FileKind::kSymlink) object["target"] = stat.target;
  return object;
}

// A session's client is its user: it may go wherever the sandbox does, whose own file server it asks.
Result<tool::Located> locate_anywhere(Exchange& exchange, const service::AgentSandbox& agent) {
  const std::string path = exchange.query("path");
  if (path.empty()) return fail(Error::invalid("path is missing"));
  std::string absolute = TRY(e2b::absolute_path(agent.layout().base, path));
  return tool::Located{e2b::place_of(absolute), std::move(absolute)};
}

Result<tool::Located> locate(Exchange& exchange, const service::AgentSandbox& agent) {
  if (exchange.is_of_session()) return locate_anywhere(exchange, agent);
  auto located = tool::locate_path(agent.layout(), exchange.query("path"));
  if (located) return std::move(*located);
  const bool outside = located.error().reason == tool::PathReason::kOutsideRoots;
  return fail(Error{outside ? Code::kPermissionDenied : Code::kInvalidArgument, 0,
                    cat({located.error().text, "; ", tool::expected_path(agent.layout())})});
}

Handled directory_answer(service::AgentSandbox& agent, const tool::Located& located) {
  const auto listed =
      TRY(ask_files<wire::FileEntries>(agent, wire::ListDirectory{located.place, 1, wire::kFileEntriesMax}));
  Value::List entries;
  for (const wire::FileEntry& entry : listed.entries) {
    Value::Object object = stat_object(entry.stat);
    object["name"] = entry.path;
    entries.emplace_back(std::move(object));
  }
  return value_answer(
      200, Value::Object{{"path", located.absolute}, {"entries", std::move(entries)}, {"total", listed.found}});
}

// In pieces, since a file may be larger than anybody wants to hold.
Handled get_file(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  const tool::Located located = TRY(locate(exchange, *agent));
  const auto stat = TRY(ask_files<wire::FileStat>(*agent, wire::StatFile{located.place}));
  if (TRY(exchange.query_flag("stat"))) {
    Value::Object object = stat_object(stat);
    object["path"] = located.absolute;
    return value_answer(200, std::move(object));
  }
  if (stat.kind == wire::FileKind::kDirectory) return directory_answer(*agent, located);
  auto piece = ask_files<wire::FileContent>(*agent, wire::ReadFile{located.place, 0, wire::kFileChunkBytes});
  if (!piece && stat.kind == wire::FileKind::kSymlink) {
    // A link to a directory: the listing of what it names, if it is one.
    auto listed = directory_answer(*agent, located);
    if (listed) return listed;
  }
  if (!piece) return fail(piece.error());
  Answer head{.type = "application/octet-stream"};
  if (piece->bytes.size() >= piece->stat.version.size) {
    head.body = std::move(piece->bytes);
    return head;
  }
  TRY(exchange.begin(head));
  // As long as it was when it was first looked at, and of that file alone: another one under its name ends the stream
  // as one that broke off.
  const wire::FileVersion version = piece->stat.version;
  std::uint64_t offset = 0;
  for (;;) {
    TRY(exchange.connection().send_piece(piece->bytes));
    offset += piece->bytes.size();
    if (offset >= version.size) return Streamed{};
    const std::uint64_t most = std::min<std::uint64_t>(version.size - offset, wire::kFileChunkBytes);
    piece = ask_files<wire::FileContent>(*agent, wire::ReadFile{located.place, offset, most});
    if (!piece) return fail(piece.error());
    if (piece->stat.version.inode != version.inode || piece->bytes.empty()) {
      return fail(Error{Code::kConflict, 0, "the file was changed while it was read"});
    }
  }
}

Handled put_file(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  const tool::Located located = TRY(locate(exchange, *agent));
  if (TRY(exchange.query_flag("directory"))) {
    TRY(agent->file(wire::MakeDirectory{located.place}));
    return value_answer(201, Value::Object{{"path", located.absolute}});
  }
  const std::int64_t bits = TRY(exchange.query_number("mode", -1));
  if (bits > 07777) return fail(Error::invalid("mode is out of range"));
  const auto mode = bits < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(bits));
  BodyBytes body(exchange);
  const auto files = [&agent](const wire::FileRequest& request) { return agent->file(request); };
  auto written = TRY(write_pieces(files, located.place, mode, [&body](std::size_t most) { return body.next(most); }));
  if (auto* refusal = std::get_if<Refusal>(&written)) return answer_of(*refusal);
  const auto& file = std::get<wire::FileWritten>(written);
  Value::Object object = stat_object(file.stat);
  object["path"] = located.absolute;
  object["created"] = file.created;
  return value_answer(file.created ? 201 : 200, std::move(object));
}

Handled delete_file(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  const tool::Located located = TRY(locate(exchange, *agent));
  const bool tree = TRY(exchange.query_flag("recursive"));
  const auto removed = TRY(ask_files<wire::FileRemoved>(
      *agent,
      wire::RemoveFile{located.place, tree ? wire::RemoveFile::Tree::kRemove : wire::RemoveFile::Tree::kRefuse}));
  if (removed.entries == 0) return fail(Error::not_found(cat({printable(located.absolute), ": not there"})));
  return value_answer(200, Value::Object{{"path", located.absolute}, {"removed", removed.entries}});
}

constexpr std::array kFileRoutes = {
    Route{"GET", "/v1/agents/{name}/files", BodyType::kNone, get_file},
    Route{"PUT", "/v1/agents/{name}/files", BodyType::kStream, put_file},
    Route{"DELETE", "/v1/agents/{name}/files", BodyType::kNone, delete_file},
    Route{"GET", "/v1/sessions/{session}/files", BodyType::kNone, get_file},
    Route{"PUT", "/v1/sessions/{session}/files", BodyType::kStream, put_file},
    Route{"DELETE", "/v1/sessions/{session}/files", BodyType::kNone, delete_file},
};

}  // namespace

std::span<const Route> file_routes() { return kFileRoutes; }

}  // namespace hutch::server::http
