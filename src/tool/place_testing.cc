// The tests' place: processes by posix_spawn(3), files by the C++ library, containment by canonical paths.
#include "tool/place_testing.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/limits.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace hutch::tool {

namespace {

namespace fs = std::filesystem;

void keep(Kept& kept, std::string_view bytes);
Result<CommandEnd> run_process(const Command& command, std::atomic<pid_t>& group);
Result<pid_t> start(const Command& command, int output, int error);
// What the file server's decoder holds to its limits.
std::vector<std::string> paths_of(const wire::FileRequest& request);
Result<wire::FileStat> stat_of(const std::string& path);
Result<std::string> read_all(const std::string& path, std::uint64_t offset, std::uint64_t bytes_max);
Status write_all(const std::string& path, std::string_view bytes, int flags);

// The requests, each on the path that `resolve` gave.
class Files {
 public:
  explicit Files(std::string system_root) : system_root_(std::move(system_root)) {}

  Result<wire::FileReply> operator()(const wire::StatFile& request) const;
  Result<wire::FileReply> operator()(const wire::ReadFile& request) const;
  Result<wire::FileReply> operator()(const wire::WriteFile& request) const;
  Result<wire::FileReply> operator()(const wire::ListDirectory& request) const;
  Result<wire::FileReply> operator()(const wire::FindFiles& request) const;
  Result<wire::FileReply> operator()(const wire::RemoveFile& request) const;
  Result<wire::FileReply> operator()(const wire::MoveFile& request) const;
  Result<wire::FileReply> operator()(const wire::MakeDirectory& request) const;
  // Of no tool.
  Result<wire::FileReply> operator()(const wire::BeginUpload&) const { return no_upload(); }
  Result<wire::FileReply> operator()(const wire::AppendUpload&) const { return no_upload(); }
  Result<wire::FileReply> operator()(const wire::EndUpload&) const { return no_upload(); }
  Result<wire::FileReply> operator()(const wire::BeginTree&) const { return no_upload(); }
  Result<wire::FileReply> operator()(const wire::AddToTree&) const { return no_upload(); }
  Result<wire::FileReply> operator()(const wire::EndTree&) const { return no_upload(); }

 private:
  static Result<wire::FileReply> no_upload() { return fail(Error::invalid("a tool that uploads")); }
  enum class Last { kFollow, kKeep };
  Result<std::string> resolve(const wire::FilePlace& place, Last last) const;

  std::string system_root_;
};

}  // namespace

struct TestPlace::Background {
  std::string id;
  Command command;
  std::atomic<pid_t> group = 0;
  std::mutex mutex;
  std::condition_variable changed;
  Kept output;
  Kept error;
  std::optional<CommandEnd> end;
  std::jthread thread;
};

TestPlace::TestPlace() {
  std::string pattern = (fs::temp_directory_path() / "hutch-tool-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  directory_ = fs::canonical(pattern).string();
  layout_.agent = "alice";
  layout_.home = path("agents/alice");
  layout_.shared = path("shared");
  layout_.output = path("output");
  layout_.base = layout_.home;
  layout_.roots = {layout_.home, layout_.shared, layout_.output};
  layout_.path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
  for (const std::string& root : layout_.roots) fs::create_directories(root);
}

TestPlace::~TestPlace() {
  for (auto& [id, process] : background_) {
    if (const pid_t group = process->group; group > 0) ::kill(-group, SIGKILL);
  }
  background_.clear();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string TestPlace::path(std::string_view relative) const { return cat({directory_, "/", relative}); }
std::string TestPlace::home(std::string_view relative) const { return cat({layout_.home, "/", relative}); }

void TestPlace::put(const std::string& absolute, std::string_view content) {
  fs::create_directories(fs::path(absolute).parent_path());
  EXPECT_TRUE(write_all(absolute, content, O_WRONLY | O_CREAT | O_TRUNC));
}

std::string TestPlace::get(const std::string& absolute) const {
  return read_all(absolute, 0, std::uint64_t{1} << 32).value_or("(no such file)");
}

Result<CommandEnd> TestPlace::run(const Command& command) {
  commands.push_back(command);
  if (scripted_run) {
    if (std::optional<Result<CommandEnd>> answer = scripted_run(command)) return std::move(*answer);
  }
  std::atomic<pid_t> group = 0;
  return run_process(command, group);
}

Result<std::string> TestPlace::spawn(const Command& command) {
  commands.push_back(command);
  auto process = std::make_unique<Background>();
  Background* own = process.get();
  own->id = std::to_string(background_.size() + 1);
  own->command = command;
  own->command.on_output = [own, keeps = keeps_log_files](Stream stream, std::string_view bytes) {
    const std::lock_guard lock(own->mutex);
    keep(stream == Stream::kOutput ? own->output : own->error, bytes);
    if (!keeps) return;
    EXPECT_TRUE(write_all(own->command.log_file, bytes, O_WRONLY | O_CREAT | O_APPEND));
  };
  if (!keeps_log_files) own->command.log_file.clear();
  own->thread = std::jthread([own] {
    const Result<CommandEnd> end = run_process(own->command, own->group);
    const std::lock_guard lock(own->mutex);
    own->end = end.value_or(CommandEnd{});
    own->changed.notify_all();
  });
  const std::string id = own->id;
  background_.emplace(id, std::move(process));
  return id;
}

Result<ProcessState> TestPlace::poll(const std::string& id) { return wait(id, std::chrono::milliseconds(0)); }

Result<ProcessState> TestPlace::wait(const std::string& id, std::chrono::milliseconds at_most) {
  const auto at = background_.find(id);
  if (at == background_.end()) return fail(Error::not_found("no such process"));
  Background& process = *at->second;
  std::unique_lock lock(process.mutex);
  process.changed.wait_for(lock, at_most, [&] { return process.end.has_value(); });
  return ProcessState{.id = id,
                      .arguments = process.command.arguments,
                      .running = !process.end,
                      .end = process.end,
                      .output = process.output,
                      .error = process.error,
                      .log_file = process.command.log_file};
}

Result<bool> TestPlace::kill(const std::string& id, int number) {
  const ProcessState state = TRY(poll(id));
  if (!state.running) return false;
  Background& process = *background_.at(id);
  for (int i = 0; i < 45'000 && process.group == 0; ++i) std::this_thread::yield();
  return ::kill(-process.group, number) == 0;
}

Result<wire::FileReply> TestPlace::file(const wire::FileRequest& request) {
  for (const std::string& path : paths_of(request)) EXPECT_LE(path.size(), limits::kPathBytesMax);
  if (scripted_file) {
    if (std::optional<Result<wire::FileReply>> answer = scripted_file(request)) return std::move(*answer);
  }
  return std::visit(Files(system_root), request);
}

Value::Object Caller::call(std::string_view tool, const Value::Object& arguments) {
  CallContext context{.place = place_, .settings = settings, .limiters = limiters, .turn = turn, .stop = stop};
  if (!real_time) context.now = [this] { return time; };
  context.on_output = [this](Stream, std::string_view bytes) { progress += bytes; };
  const Envelope envelope = call_tool(tool, json_text(Value(arguments)), context);
  const Result<Value> read = parse_value(json_text(envelope), std::size_t{1} << 30);
  EXPECT_TRUE(read) << json_text(envelope);
  const Value::Object* object = read ? read->get<Value::Object>() : nullptr;
  return object == nullptr ? Value::Object{} : *object;
}

Value::Object Caller::result(std::string_view tool, const Value::Object& arguments) {
  const Value::Object envelope = call(tool, arguments);
  const auto at = envelope.find("result");
  const Value::Object* result = at == envelope.end() ? nullptr : at->second.get<Value::Object>();
  EXPECT_NE(result, nullptr) << json_text(Value(envelope));
  return result == nullptr ? Value::Object{} : *result;
}

std::string text_of(const Value::Object& object, std::string_view name) {
  const auto at = object.find(name);
  if (at == object.end()) return "(absent)";
  const std::string* text = at->second.get<std::string>();
  return text == nullptr ? json_text(at->second) : *text;
}

std::int64_t number_of(const Value::Object& object, std::string_view name) {
  const auto at = object.find(name);
  const std::int64_t* number = at == object.end() ? nullptr : at->second.get<std::int64_t>();
  return number == nullptr ? -1 : *number;
}

bool truth_of(const Value::Object& object, std::string_view name) {
  const auto at = object.find(name);
  EXPECT_TRUE(at != object.end() && at->second.get<bool>()) << name;
  const bool* truth = at == object.end() ? nullptr : at->second.get<bool>();
  return truth != nullptr && *truth;
}

namespace {

void keep(Kept& kept, std::string_view bytes) {
  const std::size_t room = std::min(bytes.size(), limits::kOutputHeadBytes - kept.head.size());
  kept.head += bytes.substr(0, room);
  kept.tail += bytes.substr(room);
  if (kept.tail.size() <= limits::kOutputTailBytes) return;
  const std::size_t over = kept.tail.size() - limits::kOutputTailBytes;
  kept.tail.erase(0, over);
  kept.omitted_bytes += over;
}

Result<CommandEnd> run_process(const Command& command, std::atomic<pid_t>& group) {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& pair : pipes) {
    if (::pipe2(pair.data(), O_CLOEXEC) != 0) return fail(Error::from_errno("pipe2()"));
  }
  std::array<UniqueFd, 2> ends = {UniqueFd(pipes[0][0]), UniqueFd(pipes[1][0])};
  const pid_t pid = TRY(start(command, pipes[0][1], pipes[1][1]));
  group = pid;
  ::close(pipes[0][1]);
  ::close(pipes[1][1]);
  CommandEnd end;
  const TimePoint deadline = std::chrono::steady_clock::now() + command.timeout;
  std::array<char, 65536> buffer{};
  while (ends[0] || ends[1]) {
    std::array<pollfd, 2> waits = {pollfd{ends[0].get(), POLLIN, 0}, pollfd{ends[1].get(), POLLIN, 0}};
    ::poll(waits.data(), waits.size(), 20);
    const bool late = command.timeout.count() > 0 && std::chrono::steady_clock::now() > deadline;
    if (late || command.stop.stop_requested()) {
      (late ? end.timed_out : end.killed) = true;
      ::kill(-pid, SIGKILL);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (waits[i].revents == 0) continue;
      const ssize_t bytes = ::read(ends[i].get(), buffer.data(), buffer.size());
      if (bytes <= 0) {
        ends[i].reset();
        continue;
      }
      const std::string_view part(buffer.data(), static_cast<std::size_t>(bytes));
      keep(i == 0 ? end.output : end.error, part);
      if (command.on_output) command.on_output(i == 0 ? Stream::kOutput : Stream::kError, part);
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::kill(-pid, SIGKILL);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_code = end.timed_out ? 124 : end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

// env(1) looks the program up in the command's own PATH, and ends with 127 when there is none.
Result<pid_t> start(const Command& command, int output, int error) {
  std::vector<std::string> arguments = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin"};
  arguments.insert(arguments.end(), command.environment.begin(), command.environment.end());
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::string empty_input = "/dev/null";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, command.cwd.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, empty_input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, command.error == ErrorStream::kIntoOutput ? output : error, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return fail(Error::from_errno("posix_spawn()", failed));
  return pid;
}

Result<std::string> Files::resolve(const wire::FilePlace& place, Last last) const {
  const std::string root = place.root == "/" ? system_root_ : place.root;
  const fs::path whole = fs::path(root) / place.path;
  std::error_code error;
  fs::path real = last == Last::kFollow ? fs::weakly_canonical(whole, error)
                                        : fs::weakly_canonical(whole.parent_path(), error) / whole.filename();
  if (error) return fail(Error::from_errno(cat({"open(", place.path, ")"}), error.value()));
  if (place.path == ".") real = root;
  const bool below = is_within(real.string(), root);
  if (!below) return fail(Error{Code::kPermissionDenied, EXDEV, cat({"open(", place.path, "): leads out"})});
  return real.string();
}

Result<wire::FileReply> Files::operator()(const wire::StatFile& request) const {
  // "x/." is the directory behind x.
  if (request.place.path.ends_with("/.")) {
    const std::string directory = TRY(resolve(request.place, Last::kFollow));
    if (!fs::is_directory(directory)) return fail(Error::from_errno(cat({"open(", request.place.path, ")"}), ENOTDIR));
    return TRY(stat_of(directory));
  }
  const std::string path = TRY(resolve(request.place, Last::kKeep));
  return TRY(stat_of(path));
}

Result<wire::FileReply> Files::operator()(const wire::ReadFile& request) const {
  const std::string path = TRY(resolve(request.place, Last::kFollow));
  const wire::FileStat stat = TRY(stat_of(path));
  if (stat.kind != wire::FileKind::kRegular) return fail(Error::invalid("not a regular file"));
  return wire::FileContent{TRY(read_all(path, request.offset, request.bytes_max)), stat};
}

Result<wire::FileReply> Files::operator()(const wire::WriteFile& request) const {
  const std::string path = TRY(resolve(request.place, Last::kFollow));
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const Result<wire::FileStat> before = stat_of(path);
  if (request.expected && (!before || before->version != *request.expected)) {
    return fail(Error{Code::kConflict, 0, "written meanwhile"});
  }
  const std::string part = path + ".part";
  TRY(write_all(part, request.content, O_WRONLY | O_CREAT | O_TRUNC));
  ::chmod(part.c_str(), request.mode.value_or(before ? before->mode : 0644));
  if (::rename(part.c_str(), path.c_str()) != 0) {
    const Error failed = Error::from_errno(cat({"rename(", request.place.path, ")"}));
    ::unlink(part.c_str());
    return fail(failed);
  }
  return wire::FileWritten{TRY(stat_of(path)), !before};
}

Result<wire::FileReply> Files::operator()(const wire::ListDirectory& request) const {
  const std::string path = TRY(resolve(request.place, Last::kFollow));
  std::error_code error;
  fs::recursive_directory_iterator walk(path, error);
  if (error) return fail(Error::from_errno(cat({"opendir(", request.place.path, ")"}), error.value()));
  wire::FileEntries out;
  for (; walk != fs::recursive_directory_iterator(); ++walk) {
    if (static_cast<std::uint32_t>(walk.depth()) + 1 >= request.depth_max) walk.disable_recursion_pending();
    if (++out.found > request.entries_max) continue;
    const std::string entry = walk->path().string();
    out.entries.push_back({entry.substr(path.size() + 1), TRY(stat_of(entry))});
  }
  return out;
}

Result<wire::FileReply> Files::operator()(const wire::FindFiles& request) const {
  const std::string path = TRY(resolve(request.place, Last::kFollow));
  std::error_code error;
  fs::recursive_directory_iterator walk(path, error);
  if (error) return fail(Error::from_errno(cat({"opendir(", request.place.path, ")"}), error.value()));
  wire::FileEntries out;
  for (; walk != fs::recursive_directory_iterator(); ++walk) {
    const std::string entry = walk->path().string();
    const std::string name = walk->path().filename().string();
    if (!walk->is_regular_file() || ::fnmatch(request.pattern.c_str(), name.c_str(), 0) != 0) continue;
    if (++out.found > request.entries_max) continue;
    out.entries.push_back({entry.substr(path.size() + 1), TRY(stat_of(entry))});
  }
  return out;
}

Result<wire::FileReply> Files::operator()(const wire::RemoveFile& request) const {
  const std::string path = TRY(resolve(request.place, Last::kKeep));
  const Result<wire::FileStat> stat = stat_of(path);
  if (!stat) return wire::FileRemoved{};
  if (stat->kind == wire::FileKind::kDirectory && request.tree == wire::RemoveFile::Tree::kRefuse) {
    return fail(Error::from_errno(cat({"unlink(", request.place.path, ")"}), EISDIR));
  }
  return wire::FileRemoved{fs::remove_all(path)};
}

Result<wire::FileReply> Files::operator()(const wire::MoveFile& request) const {
  const std::string source = TRY(resolve(request.source, Last::kKeep));
  wire::FilePlace now = request.destination;
  const std::string asked = TRY(resolve(now, Last::kKeep));
  const Result<wire::FileStat> there = stat_of(asked);
  if (there && there->kind == wire::FileKind::kDirectory) {
    now.path = (fs::path(now.path) / fs::path(source).filename()).lexically_normal().string();
  }
  const std::string destination = TRY(resolve(now, Last::kKeep));
  std::error_code error;
  fs::create_directories(fs::path(destination).parent_path(), error);
  if (::rename(source.c_str(), destination.c_str()) != 0) return fail(Error::from_errno("rename()"));
  return wire::FileMoved{now};
}

Result<wire::FileReply> Files::operator()(const wire::MakeDirectory& request) const {
  fs::create_directories(TRY(resolve(request.place, Last::kFollow)));
  return wire::FileDone{};
}

std::vector<std::string> paths_of(const wire::FileRequest& request) {
  return std::visit(
      [](const auto& one) -> std::vector<std::string> {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, wire::MoveFile>) {
          return {one.source.path, one.destination.path};
        } else if constexpr (std::is_same_v<T, wire::FindFiles>) {
          return {one.place.path, one.pattern};
        } else if constexpr (requires { one.place; }) {
          return {one.place.path};
        } else {
          return {};
        }
      },
      request);
}

Result<wire::FileStat> stat_of(const std::string& path) {
  struct stat raw{};
  if (::lstat(path.c_str(), &raw) != 0) {
    Error error = Error::from_errno(cat({"stat(", fs::path(path).filename().string(), ")"}));
    if (error.sys_errno == ENOENT) error.code = Code::kNotFound;
    return fail(std::move(error));
  }
  wire::FileStat out;
  out.kind = S_ISREG(raw.st_mode)   ? wire::FileKind::kRegular
             : S_ISDIR(raw.st_mode) ? wire::FileKind::kDirectory
             : S_ISLNK(raw.st_mode) ? wire::FileKind::kSymlink
                                    : wire::FileKind::kOther;
  out.mode = raw.st_mode & 07777;
  out.modified_ns = raw.st_mtim.tv_sec * 1'000'000'000 + raw.st_mtim.tv_nsec;
  out.version = {raw.st_ino, static_cast<std::uint64_t>(raw.st_size),
                 raw.st_ctim.tv_sec * 1'000'000'000 + raw.st_ctim.tv_nsec};
  std::error_code error;
  if (out.kind == wire::FileKind::kSymlink) out.target = fs::read_symlink(path, error).string();
  return out;
}

Result<std::string> read_all(const std::string& path, std::uint64_t offset, std::uint64_t bytes_max) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(Error::from_errno(cat({"open(", path, ")"})));
  std::string out;
  std::array<char, 65536> buffer{};
  while (out.size() < bytes_max) {
    const std::size_t want = std::min<std::uint64_t>(buffer.size(), bytes_max - out.size());
    const ssize_t bytes = ::pread(fd.get(), buffer.data(), want, static_cast<off_t>(offset + out.size()));
    if (bytes < 0) return fail(Error::from_errno(cat({"read(", path, ")"})));
    if (bytes == 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  return out;
}

Status write_all(const std::string& path, std::string_view bytes, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd) return fail(Error::from_errno(cat({"open(", path, ")"})));
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0) return fail(Error::from_errno(cat({"write(", path, ")"})));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

}  // namespace hutch::tool
