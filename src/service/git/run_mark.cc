// The mark of each run while it continues.
#include "service/git/run_mark.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"

namespace hutch::service {

namespace {

constexpr int kMarkAttempts = 4;
// Of a mark that is read: above what all writable directories and repositories of a run take.
constexpr std::size_t kMarkBytesMax = std::size_t{64} << 20;
// Of what a run has found: beyond it files are left out, and count as what the run may have made.
constexpr std::size_t kFoundBytesMax = std::size_t{512} << 10;

// The first line is "+", or "-" for a run that rests, or "!" for a run whose mark could not be written to its end (a
// disk that is full): one byte is written at once, over the one before, after or before all others. There is one line
// for each: "s NANOSECONDS", "w DIRECTORY", "." after the last directory, "r REPOSITORY", "f STATE PATH", "part" where
// such lines are left out, "t PATH" and "e PATH" for what the run changes and ends, "i DEVICE INODE BIRTH PATH" for the
// repositories of these, "tells" and "hides" for whether it says each of them, and "looked" once it has looked; empty
// lines say nothing. A concurrent reader may see only the first part.
constexpr std::string_view kRuns = "+\n";
constexpr std::string_view kRests = "-\n";
constexpr std::string_view kLacks = "!\n";
constexpr std::string_view kSince = "s ";
constexpr std::string_view kWritten = "w ";
constexpr std::string_view kWrittenEnd = ".";
constexpr std::string_view kRepository = "r ";
constexpr std::string_view kFound = "f ";
constexpr std::string_view kTouched = "t ";
constexpr std::string_view kEnded = "e ";
constexpr std::string_view kPlace = "i ";
constexpr std::string_view kTells = "tells";
constexpr std::string_view kHides = "hides";
constexpr std::string_view kPart = "part";
constexpr std::string_view kLooked = "looked";

bool is_one_line(std::string_view path) { return !path.contains('\n'); }

// No path has a zero byte.
std::string as_line(std::string path) {
  std::ranges::replace(path, '\n', '\0');
  return path;
}

std::string from_line(std::string_view line) {
  std::string path(line);
  std::ranges::replace(path, '\0', '\n');
  return path;
}

struct Mark {
  std::string path;
  std::int64_t since_ns = 0;
};

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

std::vector<Mark> marks_in(const std::string& directory) {
  std::vector<Mark> marks;
  const auto listing = sys::open_listing(directory);
  const auto names = listing ? sys::names_in(listing->get(), directory) : Result<std::vector<sys::TreeEntry>>();
  if (!listing || !names) return marks;
  for (const sys::TreeEntry& entry : *names) {
    const auto since_ns = number_of(entry.name);
    if (since_ns) marks.push_back({cat({directory, "/", entry.name}), *since_ns});
  }
  return marks;
}

void read_place(std::string_view line, OtherRun& run) {
  std::array<std::int64_t, 3> numbers{};
  for (std::int64_t& number : numbers) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const auto read = number_of(line.substr(0, space));
    if (!read || space == line.size()) return;
    number = *read;
    line.remove_prefix(space + 1);
  }
  const auto [device, inode, born_ns] = numbers;
  run.places.insert_or_assign(from_line(line), plan::RepositoryIdentity{static_cast<std::uint64_t>(device),
                                                                        static_cast<std::uint64_t>(inode), born_ns});
}

OtherRun read_mark_file(const Mark& mark) {
  const auto text = sys::regular_file_text(mark.path, kMarkBytesMax);
  return read_run_mark(mark.since_ns, text ? std::string_view(*text) : std::string_view());
}

// Call this only with the file's lock held. If the run ended just now, trying to lock has made a new empty file.
bool had_started(const OtherRun& run) { return run.has_looked && !run.written.empty() && !run.rests; }

std::int64_t mark_time_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch() - kClockStep;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

bool has_state(const FoundStates& found, const std::string& path, std::string_view state) {
  const auto before = found.find(path);
  if (before == found.end()) return false;
  const auto states = split(before->second, ',');
  return std::ranges::find(states, state) != states.end();
}

bool OtherRun::may_have_made(const std::string& path, std::string_view state, std::int64_t changed_ns) const {
  const auto holds = [&](const std::string& root) { return is_within(path, root); };
  if (!written.empty() && std::ranges::none_of(written, holds)) return false;
  if (changed_ns < since_ns) return false;
  return !has_state(found, path, state);
}

std::string since_text(std::int64_t since_ns) { return cat({kSince, std::to_string(since_ns), "\n"}); }

std::string written_text(const std::vector<std::string>& written) {
  std::string text;
  if (std::ranges::all_of(written, is_one_line)) {
    for (const std::string& directory : written) text += cat({kWritten, directory, "\n"});
    if (!written.empty()) text += cat({kWrittenEnd, "\n"});
  }
  return text;
}

std::string repositories_text(const std::vector<std::string>& repositories) {
  std::string text;
  for (const std::string& one : repositories) text += cat({kRepository, as_line(one), "\n"});
  return text;
}

std::string found_text(const FoundStates& found) {
  std::string text;
  bool is_all = true;
  for (const auto& [path, state] : found) {
    const std::string line = cat({kFound, state, " ", as_line(path), "\n"});
    const bool fits = text.size() + line.size() <= kFoundBytesMax;
    is_all = is_all && fits;
    if (fits) text += line;
  }
  return cat({text, is_all ? std::string() : cat({kPart, "\n"}), kLooked, "\n"});
}

OtherRun read_run_mark(std::int64_t since_ns, std::string_view text) {
  OtherRun run;
  run.since_ns = since_ns;
  if (text.size() > kMarkBytesMax) return run;
  std::vector<std::string> written;
  run.rests = text.starts_with(kRests);
  const bool lacks = text.starts_with(kLacks);
  text = text.substr(0, text.rfind('\n') + 1);
  for (std::string_view line : split(text, '\n')) {
    if (line.starts_with(kSince)) run.since_ns = number_of(line.substr(kSince.size())).value_or(run.since_ns);
    if (line.starts_with(kWritten)) written.emplace_back(line.substr(kWritten.size()));
    if (line == kWrittenEnd) std::ranges::move(std::exchange(written, {}), std::back_inserter(run.written));
    if (line.starts_with(kRepository)) run.repositories.push_back(from_line(line.substr(kRepository.size())));
    if (line.starts_with(kTouched)) run.touched.insert(from_line(line.substr(kTouched.size())));
    if (line.starts_with(kEnded)) run.touched.erase(from_line(line.substr(kEnded.size())));
    if (line.starts_with(kPlace)) read_place(line.substr(kPlace.size()), run);
    if (line == kTells || line == kHides) run.tells_touched = line == kTells;
    if (line == kPart) run.found_all = false;
    if (line == kLooked) run.has_looked = true;
    if (!line.starts_with(kFound)) continue;
    line.remove_prefix(kFound.size());
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view state = line.substr(0, space);
    std::string& before = run.found[from_line(line.substr(space + 1))];
    const bool is_first = before.empty() || before == kNoState || state == kNoState;
    before = is_first ? std::string(state) : cat({before, ",", state});
  }
  run.tells_touched = run.tells_touched && !lacks;
  run.found_all = run.found_all && !lacks;
  return run;
}

// The name is the start time. A process that looks for ended runs may hold the lock of a file for a moment.
RunMark::RunMark(std::string directory, std::vector<std::string> written) : directory_(std::move(directory)) {
  if (!sys::make_private_directories(directory_)) return;
  for (int attempt = 0; attempt < kMarkAttempts; ++attempt) {
    const std::int64_t now = mark_time_ns();
    std::string path = cat({directory_, "/", std::to_string(now)});
    auto held = sys::try_lock_file(path);
    if (!held || !*held) continue;
    path_ = std::move(path);
    held_ = std::move(**held);
    begin(written, now);
    return;
  }
}

// A reader that comes in between sees a part, which counts as a run that may write anything.
void RunMark::begin(const std::vector<std::string>& written, std::int64_t now_ns) {
  const std::uint64_t before = std::exchange(size_, kRuns.size());
  lacks_ = says_part_ = false;
  since_ns_ = now_ns;
  std::string text = cat({since_text(now_ns), written_text(written)});
  const std::uint64_t size = size_ + text.size();
  // Empty lines over what was there: to cut it off first would be a change of the file more.
  if (size < before) text.append(before - size, '\n');
  add(text);
  if (size_ == kRuns.size()) (void)sys::set_size(held_.get(), size_);  // without its lines, none of before hold
  size_ = std::min(size_, size);
  (void)sys::write_at(held_.get(), 0, lacks_ ? kLacks : kRuns);
}

RunMark::~RunMark() {
  if (!path_.empty() && !outlives_) (void)sys::unlink_at(sys::kCwd, path_);
}

void RunMark::rest() {
  if (!path_.empty()) (void)sys::write_at(held_.get(), 0, kRests);
}

void RunMark::again(std::vector<std::string> written) {
  if (path_.empty()) return;
  begin(written, mark_time_ns());
}

void RunMark::add(const std::string& text) {
  if (path_.empty() || text.empty()) return;
  // Nobody would read a longer one.
  if (size_ + text.size() <= kMarkBytesMax && sys::write_at(held_.get(), size_, text)) {
    size_ += text.size();
  } else {
    lacks_ = true;
    (void)sys::write_at(held_.get(), 0, kLacks);
  }
}

// A path with a line break cannot be written; then the mark says "/", which means any directory.
void RunMark::may_write(const std::vector<std::string>& directories) {
  const std::string text = written_text(directories);
  add(text.empty() ? written_text({"/"}) : text);
}

void RunMark::works_in(const std::vector<std::string>& repositories) { add(repositories_text(repositories)); }

void RunMark::found(const FoundStates& states) { add(found_text(states)); }

void RunMark::touches(const std::string& path) { add(cat({kTouched, as_line(path), "\n"})); }

void RunMark::ended(const std::string& path) { add(cat({kEnded, as_line(path), "\n"})); }

void RunMark::lies_at(const std::string& directory, const plan::RepositoryIdentity& identity) {
  add(cat({kPlace, std::to_string(identity.device), " ", std::to_string(identity.inode), " ",
           std::to_string(identity.born_ns), " ", as_line(directory), "\n"}));
}

bool RunMark::is_beside_another(const std::vector<std::string>& written) const {
  const auto meets = [&](const std::string& root) {
    return std::ranges::any_of(written,
                               [&](const std::string& own) { return is_within(root, own) || is_within(own, root); });
  };
  return std::ranges::any_of(marks_in(directory_), [&](const Mark& mark) {
    if (mark.path == path_) return false;
    const OtherRun other = read_mark_file(mark);
    return other.written.empty() || std::ranges::any_of(other.written, meets);
  });
}

void RunMark::tells_touched(Tells tells) { add(cat({tells == Tells::kAll ? kTells : kHides, "\n"})); }

// A sandbox can make more for ever.
void RunMark::found_more_than_it_says() {
  if (!std::exchange(says_part_, true)) add(cat({kPart, "\n"}));
}

std::vector<OtherRun> RunMark::others() const {
  std::vector<OtherRun> runs = all_others();
  std::erase_if(runs, [](const OtherRun& run) { return run.rests; });
  return runs;
}

std::vector<OtherRun> RunMark::others_meanwhile() const {
  std::vector<OtherRun> runs = all_others();
  std::erase_if(runs, [&](const OtherRun& run) { return run.rests && run.since_ns < since_ns_; });
  return runs;
}

std::vector<OtherRun> RunMark::all_others() const {
  std::vector<OtherRun> runs;
  for (const Mark& mark : marks_in(directory_)) {
    if (mark.path == path_) continue;
    const auto held = sys::try_lock_file(mark.path);
    if (!held) continue;
    OtherRun run = read_mark_file(mark);
    if (!*held) {
      runs.push_back(std::move(run));
    } else if (!had_started(run)) {
      (void)sys::unlink_at(sys::kCwd, mark.path);
    }
  }
  return runs;
}

std::vector<RunMark::CutOff> RunMark::cut_off(const std::string& directory) {
  std::vector<CutOff> runs;
  for (const Mark& mark : marks_in(directory)) {
    auto held = sys::try_lock_file(mark.path);
    if (!held || !*held) continue;
    OtherRun run = read_mark_file(mark);
    if (had_started(run)) {
      runs.push_back({std::move(run), mark.path, std::move(**held)});
    } else {
      (void)sys::unlink_at(sys::kCwd, mark.path);
    }
  }
  return runs;
}

}  // namespace hutch::service
