// The filesystem service of the E2B-compatible API: any path that the sandbox itself may use.
#include <poll.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/directory_watch.h"
#include "server/e2b_paths.h"
#include "server/e2b_view.h"
#include "store/record.h"
#include "sys/io.h"

namespace hutch::server::e2b {

namespace {

using http::BodyType;
using http::Route;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLookEvery{100};
constexpr int kLookShare = 20;  // looks take at most so much of the time: one part of this many
constexpr std::int64_t kDepthMax = 64;

std::string_view type_of(wire::FileKind kind) {
  switch (kind) {
    case wire::FileKind::kRegular: return "FILE_TYPE_FILE";
    case wire::FileKind::kDirectory: return "FILE_TYPE_DIRECTORY";
    case wire::FileKind::kSymlink: return "FILE_TYPE_SYMLINK";
    case wire::FileKind::kOther: break;
  }
  return "FILE_TYPE_UNSPECIFIED";
}

std::string permissions_of(const wire::FileStat& stat) {
  std::string text(1, stat.kind == wire::FileKind::kDirectory ? 'd'
                      : stat.kind == wire::FileKind::kSymlink ? 'L'
                                                              : '-');
  static constexpr std::string_view kLetters = "rwxrwxrwx";
  for (std::size_t i = 0; i < kLetters.size(); ++i) text += (stat.mode >> (8 - i) & 1) != 0 ? kLetters[i] : '-';
  return text;
}

// Numbers of 64 bits are texts in the JSON of Protocol Buffers.
Value::Object entry_of(const std::string& path, const wire::FileStat& stat) {
  const auto modified = std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds(stat.modified_ns));
  Value::Object entry{{"name", last_name(path)},
                      {"type", type_of(stat.kind)},
                      {"path", path},
                      {"size", std::to_string(stat.version.size)},
                      {"mode", stat.mode},
                      {"permissions", permissions_of(stat)},
                      {"modifiedTime", time_text(modified.count())}};
  if (stat.kind == wire::FileKind::kSymlink) entry["symlinkTarget"] = stat.target;
  return entry;
}

Result<std::string> path_in(const Inside& inside, const Value::Object& message, std::string_view name) {
  const std::string path = TRY(Message(message).text(name));
  return absolute_path(inside.agent->layout().home, path);
}

Result<Value::Object> told(const Inside& inside, const std::string& path) {
  const auto stat = TRY(ask<wire::FileStat>(*inside.agent, wire::StatFile{place_of(path)}));
  return Value::Object{{"entry", entry_of(path, stat)}};
}

Result<Value::Object> stat(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  return told(inside, path);
}

Result<Value::Object> list(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  const std::int64_t depth = std::max<std::int64_t>(1, TRY(Message(message).number("depth")));
  if (depth > kDepthMax) return fail(Error::invalid("depth is at most 64"));
  const wire::ListDirectory request{place_of(path), static_cast<std::uint32_t>(depth), wire::kFileEntriesMax};
  const auto listed = TRY(ask<wire::FileEntries>(*inside.agent, request));
  if (listed.found > listed.entries.size()) {
    return fail(Error::invalid(cat({"more than ", std::to_string(wire::kFileEntriesMax),
                                    " entries: list a directory below it, or with a smaller depth"})));
  }
  Value::List entries;
  for (const wire::FileEntry& entry : listed.entries)
    entries.emplace_back(entry_of(join_path(path, entry.path), entry.stat));
  return Value::Object{{"entries", std::move(entries)}};
}

Result<Value::Object> make_directory(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  const auto there = ask<wire::FileStat>(*inside.agent, wire::StatFile{place_of(path)});
  if (there && there->kind == wire::FileKind::kDirectory) {
    return fail(Error{Code::kConflict, EEXIST, cat({"directory already exists: ", printable(path)})});
  }
  if (there && there->kind != wire::FileKind::kSymlink) {
    return fail(Error::invalid(cat({"path already exists but it is not a directory: ", printable(path)})));
  }
  TRY(inside.agent->file(wire::MakeDirectory{place_of(path)}));
  return told(inside, path);
}

Result<Value::Object> move(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string from = TRY(path_in(inside, message, "source"));
  const std::string to = TRY(path_in(inside, message, "destination"));
  const auto moved = TRY(ask<wire::FileMoved>(*inside.agent, wire::MoveFile{place_of(from), place_of(to)}));
  return told(inside, join_path("/", moved.destination.path));
}

// What is not there is no error, as rm -rf has it.
Result<Value::Object> remove(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  TRY(ask<wire::FileRemoved>(*inside.agent, wire::RemoveFile{place_of(path), wire::RemoveFile::Tree::kRemove}));
  return Value::Object();
}

// --- watching ---

DirectoryWatch::Ask asker(const Inside& inside) {
  return [agent = inside.agent](const wire::FileRequest& request) { return agent->file(request); };
}

Result<DirectoryWatch> begin_watch(const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  const auto stat = TRY(ask<wire::FileStat>(*inside.agent, wire::StatFile{place_of(path)}));
  if (stat.kind == wire::FileKind::kRegular || stat.kind == wire::FileKind::kOther) {
    return fail(Error::invalid(cat({"path ", printable(path), " is not a directory"})));
  }
  const auto depth =
      TRY(Message(message).truth("recursive")) ? DirectoryWatch::Depth::kTree : DirectoryWatch::Depth::kDirectory;
  return DirectoryWatch::begin(asker(inside), place_of(path), depth);
}

std::string_view type_of(FileChange change) {
  switch (change) {
    case FileChange::kCreated: return "EVENT_TYPE_CREATE";
    case FileChange::kWritten: return "EVENT_TYPE_WRITE";
    case FileChange::kRemoved: return "EVENT_TYPE_REMOVE";
    case FileChange::kRenamed: return "EVENT_TYPE_RENAME";
    case FileChange::kMode: return "EVENT_TYPE_CHMOD";
  }
  return "";
}

Value::Object event_of(const WatchEvent& event) { return {{"name", event.name}, {"type", type_of(event.change)}}; }

// Looks again and again, until the client goes. A directory that takes long to look at is looked at less often.
Status watch(Exchange& exchange, const Inside& inside, const Value::Object& message) {
  DirectoryWatch watch = TRY(begin_watch(inside, message));
  const milliseconds keepalive = keepalive_of(exchange.request());
  TRY(begin_stream(exchange));
  TRY(send_message(exchange, {{"start", Value::Object()}}));
  auto said = Clock::now();
  milliseconds pause = kLookEvery;
  for (;;) {
    pollfd client{exchange.connection().fd(), exchange.connection().gone_events(), 0};
    TRY(sys::poll({&client, 1}, pause));
    if (client.revents != 0) return fail(Error::invalid("the client has gone"));
    if (inside.sandbox->record().paused) continue;
    const auto began = Clock::now();
    const auto events = TRY(watch.look(asker(inside)));
    pause = std::max(kLookEvery, std::chrono::duration_cast<milliseconds>(Clock::now() - began) * kLookShare);
    for (const WatchEvent& event : events) TRY(send_message(exchange, {{"filesystem", event_of(event)}}));
    if (!events.empty()) said = Clock::now();
    if (Clock::now() - said < keepalive) continue;
    TRY(send_message(exchange, {{"keepalive", Value::Object()}}));
    said = Clock::now();
  }
}

Result<Value::Object> create_watcher(Exchange&, const Inside& inside, const Value::Object& message) {
  DirectoryWatch watch = TRY(begin_watch(inside, message));
  return Value::Object{{"watcherId", TRY(inside.sandbox->add_watcher(std::move(watch)))}};
}

Result<Value::Object> watcher_events(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string id = TRY(Message(message).text("watcherId"));
  const auto watcher = TRY(inside.sandbox->watcher(id));
  const std::scoped_lock lock(watcher->mutex);
  Value::List events;
  for (const WatchEvent& event : TRY(watcher->watch.look(asker(inside)))) events.emplace_back(event_of(event));
  return Value::Object{{"events", std::move(events)}};
}

Result<Value::Object> remove_watcher(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string id = TRY(Message(message).text("watcherId"));
  TRY(inside.sandbox->remove_watcher(id));
  return Value::Object();
}

constexpr std::array kRoutes = {
    Route{"POST", "/filesystem.Filesystem/Stat", BodyType::kBytes, call<stat>, shows_token},
    Route{"POST", "/filesystem.Filesystem/ListDir", BodyType::kBytes, call<list>, shows_token},
    Route{"POST", "/filesystem.Filesystem/MakeDir", BodyType::kBytes, call<make_directory>, shows_token},
    Route{"POST", "/filesystem.Filesystem/Move", BodyType::kBytes, call<move>, shows_token},
    Route{"POST", "/filesystem.Filesystem/Remove", BodyType::kBytes, call<remove>, shows_token},
    Route{"POST", "/filesystem.Filesystem/WatchDir", BodyType::kBytes, streamed<watch>, shows_token},
    Route{"POST", "/filesystem.Filesystem/CreateWatcher", BodyType::kBytes, call<create_watcher>, shows_token},
    Route{"POST", "/filesystem.Filesystem/GetWatcherEvents", BodyType::kBytes, call<watcher_events>, shows_token},
    Route{"POST", "/filesystem.Filesystem/RemoveWatcher", BodyType::kBytes, call<remove_watcher>, shows_token},
};

}  // namespace

}  // namespace hutch::server::e2b

namespace hutch::server::http {

std::span<const Route> e2b_file_routes() { return e2b::kRoutes; }

}  // namespace hutch::server::http
