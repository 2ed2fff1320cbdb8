// The filesystem service of the E2B-compatible API: any path that the sandbox itself may use.
#include <poll.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/e2b/costs.h"
#include "server/e2b/directory_watch.h"
#include "server/e2b/paths.h"
#include "server/e2b_api/e2b_view.h"
#include "store/record.h"
#include "sys/io.h"

namespace hutch::server::e2b {

namespace {

using http::BodyType;
using http::Route;
using std::chrono::milliseconds;
using WatchClock = std::chrono::steady_clock;

constexpr milliseconds kLookEvery{100};
constexpr int kLookShare = 20;  // looks take at most so much of the time: one part of this many
constexpr std::int64_t kDepthMax = 64;
constexpr std::uint64_t kWatcherBytes = 4096;

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
Value::Object entry_value(const std::string& path, const wire::FileStat& stat) {
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
  return path_of_client(*inside.agent, inside.user, path);
}

Result<Value::Object> told(const Inside& inside, const std::string& path) {
  const auto stat = TRY(ask<wire::FileStat>(inside, wire::StatFile{place_of(path)}));
  return Value::Object{{"entry", entry_value(path, stat)}};
}

Result<Reply> stat(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  return Reply(TRY(told(inside, path)));
}

Result<Reply> list_directory(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  const std::int64_t depth = std::max<std::int64_t>(1, TRY(Message(message).number("depth")));
  if (depth > kDepthMax) return fail(Error::invalid("depth is at most 64"));
  const wire::ListDirectory request{place_of(path), static_cast<std::uint32_t>(depth), wire::kFileEntriesMax};
  TRY(hold_more(inside.held, kListingBytes));
  const auto listed = TRY(ask<wire::FileEntries>(inside, request));
  TRY(check_whole(listed, "list a directory below it, or with a smaller depth"));
  inside.held->shrink(cost_of(listed));
  // An entry is told with its name, its path, and what was asked for before it.
  const std::uint64_t text_bytes = 4 * cost_of(listed) + 2 * path.size() * listed.entries.size();
  TRY(hold_more(inside.held, std::min<std::uint64_t>(text_bytes, 2 * kReplyBytesMax)));
  ListReply entries("entries");
  for (const wire::FileEntry& entry : listed.entries) {
    TRY(entries.add(entry_value(join_path(path, entry.path), entry.stat)));
  }
  return std::move(entries).finish();
}

Result<Reply> make_directory(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  const auto there = ask<wire::FileStat>(inside, wire::StatFile{place_of(path)});
  if (there && there->kind == wire::FileKind::kDirectory) {
    return fail(Error{Code::kConflict, EEXIST, cat({"directory already exists: ", printable(path)})});
  }
  if (there && there->kind != wire::FileKind::kSymlink) {
    return fail(Error::invalid(cat({"path already exists but it is not a directory: ", printable(path)})));
  }
  TRY(inside.file(wire::MakeDirectory{place_of(path)}));
  return Reply(TRY(told(inside, path)));
}

Result<Reply> move(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string from = TRY(path_in(inside, message, "source"));
  const std::string to = TRY(path_in(inside, message, "destination"));
  const auto moved = TRY(ask<wire::FileMoved>(inside, wire::MoveFile{place_of(from), place_of(to)}));
  return Reply(TRY(told(inside, join_path("/", moved.destination.path))));
}

// What is not there is no error, as rm -rf has it.
Result<Reply> remove_entry(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  TRY(ask<wire::FileRemoved>(inside, wire::RemoveFile{place_of(path), wire::RemoveFile::Tree::kRemove}));
  return Value::Object();
}

// --- watching ---

DirectoryWatch::Ask asker(const Inside& inside) {
  return [agent = inside.agent, user = inside.user](const wire::FileRequest& request) {
    return user == tool::User::kRoot ? agent->file_of_root(request) : agent->file(request);
  };
}

// With memory held for what it sees, which is more or less at each look.
struct Watching {
  DirectoryWatch watch;
  Held held;
};

Result<std::vector<WatchEvent>> look(const Inside& inside, DirectoryWatch& watch, KeyMemory::Held& held) {
  TRY(hold_more(inside.held, kListingBytes));
  auto events = TRY(watch.look(asker(inside)));
  TRY(held.resize(kWatcherBytes + watch.bytes_kept(), KeyMemory::Clock::now()));
  return events;
}

Result<Watching> begin_watch(Exchange& exchange, const Inside& inside, const Value::Object& message) {
  const std::string path = TRY(path_in(inside, message, "path"));
  const auto stat = TRY(ask<wire::FileStat>(inside, wire::StatFile{place_of(path)}));
  if (stat.kind == wire::FileKind::kRegular || stat.kind == wire::FileKind::kOther) {
    return fail(Error::invalid(cat({"path ", printable(path), " is not a directory"})));
  }
  const auto depth =
      TRY(Message(message).truth("recursive")) ? DirectoryWatch::Depth::kTree : DirectoryWatch::Depth::kDirectory;
  TRY(hold_more(inside.held, kListingBytes));
  Watching watching{TRY(DirectoryWatch::begin(asker(inside), place_of(path), depth)), {}};
  const std::uint64_t bytes = kWatcherBytes + watching.watch.bytes_kept();
  watching.held = TRY(exchange.shared().e2b->kept().hold(inside.key, bytes, KeyMemory::Clock::now()));
  return watching;
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

Value::Object watch_event_value(const WatchEvent& event) {
  return {{"name", event.name}, {"type", type_of(event.change)}};
}

// Looks again and again, until the client goes. A directory that takes long to look at is looked at less often.
Status go_on_watching(Exchange& exchange, const Inside& inside, Watching& watching) {
  const milliseconds keepalive = keepalive_of(exchange.request());
  TRY(begin_stream(exchange));
  TRY(send_message(exchange, {{"start", Value::Object()}}));
  auto said = WatchClock::now();
  milliseconds pause = kLookEvery;
  for (;;) {
    pollfd client{exchange.connection().fd(), exchange.connection().gone_events(), 0};
    TRY(sys::poll({&client, 1}, pause));
    if (client.revents != 0) return fail(Error::invalid("the client has gone"));
    if (inside.sandbox->record().paused) continue;
    const auto began = WatchClock::now();
    const auto events = TRY(look(inside, watching.watch, *watching.held));
    pause = std::max(kLookEvery, std::chrono::duration_cast<milliseconds>(WatchClock::now() - began) * kLookShare);
    for (const WatchEvent& event : events) TRY(send_message(exchange, {{"filesystem", watch_event_value(event)}}));
    inside.held->shrink(0);
    if (!events.empty()) said = WatchClock::now();
    if (WatchClock::now() - said < keepalive) continue;
    TRY(send_message(exchange, {{"keepalive", Value::Object()}}));
    said = WatchClock::now();
  }
}

Result<Going> watch(Exchange& exchange, const Inside& inside, const Value::Object& message) {
  const auto watching = std::make_shared<Watching>(TRY(begin_watch(exchange, inside, message)));
  return [&exchange, &inside, watching] { return go_on_watching(exchange, inside, *watching); };
}

Result<Reply> create_watcher(Exchange& exchange, const Inside& inside, const Value::Object& message) {
  Watching watching = TRY(begin_watch(exchange, inside, message));
  std::string id = TRY(inside.sandbox->add_watcher(std::move(watching.watch), std::move(watching.held)));
  return Value::Object{{"watcherId", std::move(id)}};
}

Result<Reply> watcher_events(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string id = TRY(Message(message).text("watcherId"));
  const auto watcher = TRY(inside.sandbox->watcher(id));
  const std::scoped_lock lock(watcher->mutex);
  ListReply events("events");
  for (const WatchEvent& event : TRY(look(inside, watcher->watch, *watcher->held)))
    TRY(events.add(watch_event_value(event)));
  return std::move(events).finish();
}

Result<Reply> remove_watcher(Exchange&, const Inside& inside, const Value::Object& message) {
  const std::string id = TRY(Message(message).text("watcherId"));
  TRY(inside.sandbox->remove_watcher(id));
  return Value::Object();
}

constexpr std::array kE2bFileRoutes = {
    Route{"POST", "/filesystem.Filesystem/Stat", BodyType::kStream, call<stat>, shows_token},
    Route{"POST", "/filesystem.Filesystem/ListDir", BodyType::kStream, call<list_directory>, shows_token},
    Route{"POST", "/filesystem.Filesystem/MakeDir", BodyType::kStream, call<make_directory>, shows_token},
    Route{"POST", "/filesystem.Filesystem/Move", BodyType::kStream, call<move>, shows_token},
    Route{"POST", "/filesystem.Filesystem/Remove", BodyType::kStream, call<remove_entry>, shows_token},
    Route{"POST", "/filesystem.Filesystem/WatchDir", BodyType::kStream, streamed<watch>, shows_token},
    Route{"POST", "/filesystem.Filesystem/CreateWatcher", BodyType::kStream, call<create_watcher>, shows_token},
    Route{"POST", "/filesystem.Filesystem/GetWatcherEvents", BodyType::kStream, call<watcher_events>, shows_token},
    Route{"POST", "/filesystem.Filesystem/RemoveWatcher", BodyType::kStream, call<remove_watcher>, shows_token},
};

}  // namespace

}  // namespace hutch::server::e2b

namespace hutch::server::http {

std::span<const Route> e2b_file_routes() { return e2b::kE2bFileRoutes; }

}  // namespace hutch::server::http
