// A process of mmdebstrap, whose output is unpacked like any other archive.
#include "service/image/build.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "host/machine/subordinate_ids.h"
#include "host/state_dirs.h"
#include "service/common/told_program.h"
#include "service/image/build_stop.h"
#include "service/image/recipe.h"
#include "service/image/unpacker.h"
#include "sys/event.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "sys/process/threads.h"

namespace hutch::service {

namespace {

constexpr const char* kMmdebstrap = "/usr/bin/mmdebstrap";
constexpr const char* kUnshare = "/usr/bin/unshare";
constexpr const char* kOneFile = "/etc/apt/sources.list";
constexpr const char* kMoreFiles = "/etc/apt/sources.list.d";
// mmdebstrap removes its own files after SIGTERM; hutch kills it when it takes longer.
constexpr std::chrono::milliseconds kCleanUpWait{20'000};

// What it says goes on while it writes; its last words are why it failed.
class Bootstrap {
 public:
  struct Settings {
    std::string name;
    std::vector<std::string> arguments;
    Signals signals;
    const plan::HostFacts& facts;
    TellImage tell;
    const BuildStop* stop = nullptr;
  };
  explicit Bootstrap(Settings settings) : settings_(std::move(settings)), words_(settings_.tell) {}
  ~Bootstrap() {
    (void)end();
    // The program goes on, and is to be interrupted as before.
    if (signals_) sys::unblock_signals(kEnding);
  }

  Result<UniqueFd> begin();
  Status end();

 private:
  Status make_scratch();
  Status remove_scratch(const std::string& path);
  void hear(const UniqueFd& from);
  void interrupt();
  void end_process();

  static constexpr std::initializer_list<int> kEnding = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

  const Settings settings_;
  std::string scratch_;
  UniqueFd signals_;
  std::atomic<bool> interrupted_ = false;
  std::optional<sys::Event> ending_;  // the program was told to end
  std::optional<std::chrono::steady_clock::time_point> kill_at_;  // the thread's
  sys::ChildProcess process_;
  std::optional<std::stop_callback<std::function<void()>>> stopping_;  // as long as process_ is the same
  std::thread hearing_;
  ToldWords words_;  // the thread's until it has ended
};

// Where they cannot be told apt goes out as the environment has it.
std::vector<std::string> machine_proxies() {
  static constexpr const char* kAptConfig = "/usr/bin/apt-config";
  if (!sys::exists(kAptConfig)) return {};
  std::string dump;
  const auto keep = [&](const std::string& line) { dump += cat({line, "\n"}); };
  const Status told = run_told(kAptConfig, {"apt-config", "dump"}, {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}, keep);
  return told ? proxies_of_apt(dump) : std::vector<std::string>();
}

// apt's own configuration holds before the environment (apt.conf(5)). It reaches the build in that form, so that
// nothing of it, a password above all, is left in the image.
std::vector<std::string> build_environment(const std::string& scratch) {
  std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "TMPDIR=" + scratch};
  for (const char* name : {"HOME", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}) {
    if (const auto value = sys::environment_variable(name)) environment.push_back(cat({name, "=", *value}));
  }
  set_proxies(environment, machine_proxies());
  return environment;
}

// Whatever this process's mask is.
Status open_to_pass(const std::string& directory) {
  const UniqueFd held = TRY(sys::open(directory, sys::Open::kReadDirectory));
  return sys::set_mode(held.get(), 0711);
}

std::optional<std::chrono::milliseconds> left_until(const std::optional<std::chrono::steady_clock::time_point>& until) {
  using std::chrono::milliseconds;
  if (!until || *until == std::chrono::steady_clock::time_point::max()) return std::nullopt;
  const auto left = std::chrono::ceil<milliseconds>(*until - std::chrono::steady_clock::now());
  return std::max(left, milliseconds(0));
}

// "NAME-PID" of a hutch that was killed.
bool is_left(std::string_view name) {
  const std::string_view number = name.substr(name.rfind('-') + 1);
  pid_t pid = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), pid);
  return read.ec == std::errc() && read.ptr == number.data() + number.size() && pid > 0 && sys::is_over(pid);
}

// mmdebstrap unpacks files of several users (mmdebstrap(1), --mode); its own error does not name what is missing.
Status check_bootstrap_ids(const plan::HostFacts& facts) {
  if (facts.uid == 0 || sys::exists("/usr/bin/fakechroot") || sys::exists("/usr/bin/proot")) return {};
  const host::IdFacts ids = TRY(host::probe_ids(facts.uid, facts.gid, facts.user));
  if (ids.lack.empty()) return {};
  return fail(Error::unsupported(cat({"mmdebstrap needs ids of other users, and ", ids.lack, "; ", ids.remedy,
                                      "; or hutch image import NAME FILE with an archive from elsewhere"})));
}

Result<UniqueFd> Bootstrap::begin() {
  if (!sys::exists(kMmdebstrap)) {
    return fail(
        Error::unsupported("mmdebstrap, which makes a system of packages, is missing; apt-get install "
                           "mmdebstrap, or hutch image import NAME FILE with an archive from elsewhere"));
  }
  TRY(check_bootstrap_ids(settings_.facts));
  TRY_CTX(make_scratch(), "make room to build in");
  ending_.emplace(TRY(sys::Event::make()));
  if (settings_.signals == Signals::kOwn) signals_ = TRY(sys::signal_descriptor(kEnding));
  // As root it mounts what its programs need: in a mount namespace of its own that goes with it, whatever ends it.
  std::vector<std::string> arguments = settings_.arguments;
  const bool alone = settings_.facts.uid == 0;
  if (alone) arguments.insert(arguments.begin(), {"unshare", "--mount", "--pid", "--fork", "--kill-child"});
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kRead));
  sys::Pipe archive = TRY(sys::pipe());
  sys::Pipe words = TRY(sys::pipe());
  process_ = TRY(sys::spawn(alone ? kUnshare : kMmdebstrap,
                            {.arguments = std::move(arguments),
                             .environment = build_environment(scratch_),
                             .install = {{nothing.get(), 0}, {archive.write.get(), 1}, {words.write.get(), 2}}}));
  hearing_ = TRY(sys::start_thread([this, from = std::move(words.read)] { hear(from); }));
  if (settings_.stop != nullptr) stopping_.emplace(settings_.stop->token, [this] { end_process(); });
  return std::move(archive.read);
}

void Bootstrap::hear(const UniqueFd& from) {
  std::vector<char> buffer(4096);
  for (;;) {
    std::array<pollfd, 3> wait = {
        {{from.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {kill_at_ ? -1 : ending_->fd(), POLLIN, 0}}};
    if (!sys::poll(wait, left_until(kill_at_))) break;
    if (wait[1].revents != 0) interrupt();
    if (wait[2].revents != 0) kill_at_ = std::chrono::steady_clock::now() + kCleanUpWait;
    if (kill_at_ && std::chrono::steady_clock::now() >= *kill_at_) {
      (void)process_.signal(SIGKILL);
      kill_at_ = std::chrono::steady_clock::time_point::max();
    }
    if (wait[0].revents == 0) continue;
    const auto size = sys::read_some(from.get(), buffer);
    if (!size || *size == 0) break;
    words_.add({buffer.data(), *size});
  }
  words_.end();
}

void Bootstrap::interrupt() {
  for (auto next = sys::next_signal(signals_.get()); next && *next;) next = sys::next_signal(signals_.get());
  end_process();
}

// One that runs as another's process cleans up by itself; whoever does not wait for that ends it.
void Bootstrap::end_process() {
  const bool at_once = interrupted_.exchange(true) || settings_.facts.uid == 0;
  (void)process_.signal(at_once ? SIGKILL : SIGTERM);
  ending_->signal();
}

// Not below /tmp, which is memory on many machines, nor below hutch's own directory, where a build of an ordinary
// user's, whose processes have other ids, may not go. Others could have made it first: it is ours, or it is none.
Status Bootstrap::make_scratch() {
  const std::string top = cat({"/var/tmp/hutch-build-", std::to_string(settings_.facts.uid)});
  const auto made = sys::make_directory(sys::kCwd, top, 0711);
  if (!made && made.error().sys_errno != EEXIST) return made;
  const auto status = TRY(sys::status_of(top));
  const bool ours = status && status->kind == sys::EntryKind::kDirectory && status->uid == settings_.facts.uid;
  if (!ours) return fail(Error{Code::kConflict, 0, cat({top, " is no directory of yours; remove it"})});
  TRY(open_to_pass(top));
  for (const sys::DirectoryEntry& left : TRY(sys::list_directory(top, sys::Listing::kAll))) {
    if (is_left(left.name)) TRY(remove_scratch(cat({top, "/", left.name})));
  }
  scratch_ = cat({top, "/", settings_.name, "-", std::to_string(sys::own_pid())});
  TRY(remove_scratch(scratch_));
  TRY(sys::make_directory(sys::kCwd, scratch_, 0711));
  return open_to_pass(scratch_);
}

Status Bootstrap::remove_scratch(const std::string& path) {
  if (settings_.facts.uid == 0) return sys::remove_tree(path);
  const host::IdFacts ids = TRY(host::probe_ids(settings_.facts.uid, settings_.facts.gid, settings_.facts.user));
  return remove_files(path, ids.map);
}

// It ends by itself where nobody reads what it writes (SIGPIPE), and cleans up.
Status Bootstrap::end() {
  if (!process_) return {};
  if (hearing_.joinable()) hearing_.join();
  // Nobody may signal a process that was reaped.
  stopping_.reset();
  const auto ended = process_.wait();
  process_ = sys::ChildProcess();
  const Status removed = remove_scratch(scratch_);
  if (interrupted_) return fail(Error{Code::kSystem, 0, "it was interrupted, and nothing is left of it"});
  if (!removed) settings_.tell(removed.error().message);
  if (!ended) return fail(ended.error());
  if (ended->exited() && ended->exit_code() == 0) return {};
  return fail(Error{Code::kSystem, 0, cat({"mmdebstrap failed:\n  ", words_.last()})});
}

Result<std::vector<SourcesFile>> sources_of_machine() {
  std::vector<SourcesFile> files;
  const auto add = [&](const std::string& path) -> Status {
    std::string text = TRY(sys::regular_file_text(path, limits::kJsonBytesMax));
    files.push_back({path, std::move(text)});
    return {};
  };
  if (sys::exists(kOneFile)) TRY(add(kOneFile));
  const auto entries = sys::list_directory(kMoreFiles, sys::Listing::kAll);
  if (!entries) return files;
  for (const sys::DirectoryEntry& entry : *entries) {
    if (!entry.name.ends_with(".list") && !entry.name.ends_with(".sources")) continue;
    TRY(add(cat({kMoreFiles, "/", entry.name})));
  }
  return files;
}

// os-release(5).
std::string codename_of(std::string_view release) {
  static constexpr std::string_view kName = "VERSION_CODENAME=";
  for (std::string_view line : split(release, '\n')) {
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
    const bool plain = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    return plain ? std::string(line) : std::string();
  }
  return {};
}

Result<std::vector<std::string>> build_arguments(const ImageRecipe& recipe) {
  const auto release = sys::regular_file_text("/etc/os-release", limits::kJsonBytesMax);
  const std::string codename = release ? codename_of(*release) : std::string();
  const auto sources = codename.empty() ? std::vector<std::string>() : own_sources(TRY(sources_of_machine()), codename);
  if (!sources.empty()) return mmdebstrap_arguments(recipe, codename, sources);
  return fail(Error::unsupported(cat(
      {"this machine's package sources (", kOneFile, ", ", kMoreFiles,
       ") name no Debian or Ubuntu release of its own to build from; hutch image import NAME FILE takes an archive"})));
}

enum class Asked { kByName, kByNeed };  // kByNeed: one that somebody else makes meanwhile will do

Result<store::ImageManifest> build(const ImageRecipe& recipe, Asked asked, Bootstrap::Settings settings) {
  const std::string name = settings.name;
  settings.arguments = TRY(build_arguments(recipe));
  const plan::HostFacts& facts = settings.facts;
  const TellImage tell = settings.tell;
  const BuildStop* stop = settings.stop;
  Bootstrap bootstrap(std::move(settings));
  const IfThere if_there = asked == Asked::kByName ? IfThere::kError : IfThere::kTaken;
  const ArchiveSource source{[&] { return bootstrap.begin(); }, [&] { return bootstrap.end(); }};
  auto made = make_image(name, source, if_there, facts, tell, stop);
  if (made || made.error().code == Code::kConflict) return made;
  return fail(std::move(made).error().with_context("build " + name));
}

Result<bool> has_image(const std::string& name, const plan::HostFacts& facts) {
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  return TRY(store::ImageStore(dirs.data).find(name)).has_value();
}

}  // namespace

Result<store::ImageManifest> build_image(const BuildRequest& request, const plan::HostFacts& facts,
                                         const TellImage& tell) {
  const std::string name = TRY(store::image_name(request.name.empty() ? kDefaultImage : request.name));
  if (!request.recipe && name != kDefaultImage) {
    return fail(Error::invalid(cat({"image ", name, ": of what? --recipe FILE names its packages; without one it is ",
                                    kDefaultImage, " that is built"})));
  }
  std::string text(default_recipe());
  if (request.recipe) text = TRY_CTX(sys::regular_file_text(*request.recipe, limits::kJsonBytesMax), "--recipe");
  const ImageRecipe recipe = TRY_CTX(parse_recipe(text), request.recipe ? printable(*request.recipe) : "the recipe");
  auto made = TRY(build(recipe, Asked::kByName, {name, {}, Signals::kOwn, facts, tell}));
  tell(cat({"Image \"", name, "\" built successfully"}));
  return made;
}

Status build_default_archive(Signals signals, const plan::HostFacts& facts, const TellImage& tell,
                             const std::function<Status(int archive)>& use, const BuildStop* stop) {
  const std::string name(kDefaultImage);
  tell(cat({"Image \"", name, "\" not found, building..."}));
  const ImageRecipe recipe = TRY(parse_recipe(default_recipe()));
  Bootstrap bootstrap({name, TRY(build_arguments(recipe)), signals, facts, tell, stop});
  UniqueFd archive = TRY_CTX(bootstrap.begin(), "build " + name);
  Status used = use(archive.get());
  archive.reset();
  // Why what it wrote is not what it should be is for it to say.
  TRY_CTX(bootstrap.end(), "build " + name);
  TRY(used);
  tell(cat({"Image \"", name, "\" built successfully"}));
  return {};
}

Status ensure_image(const std::string& typed, Signals signals, const plan::HostFacts& facts, const TellImage& tell,
                    const BuildStop* stop) {
  const std::string name = TRY(store::image_name(typed));
  if (name != kDefaultImage || TRY(has_image(name, facts))) return {};
  tell(cat({"Image \"", name, "\" not found, building..."}));
  const ImageRecipe recipe = TRY(parse_recipe(default_recipe()));
  TRY(build(recipe, Asked::kByNeed, {name, {}, signals, facts, tell, stop}));
  tell(cat({"Image \"", name, "\" built successfully"}));
  return {};
}

}  // namespace hutch::service
