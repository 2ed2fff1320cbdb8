// Appending to the spool, turning it over, reading it.
#include "store/spool.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"

namespace hutch::store {

namespace {

constexpr std::size_t kRunIdBytes = 6;
constexpr std::size_t kChunkBytes = 1 << 16;

std::string current_of(const std::string& directory) { return directory + "/spool.jsonl"; }
std::string previous_of(const std::string& directory) { return directory + "/spool.1.jsonl"; }

Status read_file(const std::string& path, SpoolContents& contents);
void take_lines(std::string& bytes, SpoolContents& contents);
void take_line(std::string_view line, SpoolContents& contents);

}  // namespace

Result<SpoolWriter> SpoolWriter::open(const std::string& directory, std::uint64_t bytes_max) {
  TRY(sys::make_private_directories(directory));
  UniqueFd file = TRY(sys::open_journal(current_of(directory)));
  return SpoolWriter(directory, std::move(file), bytes_max);
}

Status SpoolWriter::append(const Record& record) {
  std::string line = format_record(record) + "\n";
  const sys::JournalStatus status = TRY(sys::journal_status(file_.get()));
  // A line that a full disk cut off stays the only one that is lost.
  if (status.size > 0 && TRY(sys::read_at(file_.get(), status.size - 1, 1)) != "\n") line.insert(0, "\n");
  if (status.size > 0 && status.size + line.size() > bytes_max_) TRY_CTX(rotate(), "turn the record over");
  TRY_CTX(sys::append(file_.get(), line), current_of(directory_));
  return {};
}

// The lock lies on the full file itself. Who gets it later than another finds that the name means a new file already.
// A writer that opened the full file before and appends after this loses nothing: readers read both.
Status SpoolWriter::rotate() {
  const std::string current = current_of(directory_);
  TRY(sys::lock_journal(file_.get()));
  const sys::JournalStatus mine = TRY(sys::journal_status(file_.get()));
  const Result<sys::JournalStatus> named = sys::journal_status(current);
  if (named && named->is_same_file(mine)) TRY(sys::rename_file(current, previous_of(directory_)));
  file_ = TRY(sys::open_journal(current));
  return {};
}

SpoolWriter::SpoolWriter(std::string directory, UniqueFd file, std::uint64_t bytes_max)
    : directory_(std::move(directory)), file_(std::move(file)), bytes_max_(bytes_max) {}

Result<std::string> new_run_id() { return sys::random_hex(kRunIdBytes); }

Time now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

Result<SpoolContents> read_spool(const std::string& directory) {
  SpoolContents contents;
  TRY(read_file(previous_of(directory), contents));
  TRY(read_file(current_of(directory), contents));
  return contents;
}

// What is in the file now is not news.
SpoolFollower::SpoolFollower(std::string directory) : directory_(std::move(directory)) {
  if (!open_current() || !file_) return;
  if (const Result<sys::JournalStatus> status = sys::journal_status(file_.get())) offset_ = status->size;
}

Result<SpoolContents> SpoolFollower::next() {
  SpoolContents contents;
  if (!file_) TRY(open_current());
  if (!file_) return contents;
  TRY(drain(contents));
  const Result<sys::JournalStatus> named = sys::journal_status(current_of(directory_));
  const sys::JournalStatus mine = TRY(sys::journal_status(file_.get()));
  if (!named || named->is_same_file(mine)) return contents;
  // Turned over: what came to the old file between the two looks first, then the new one from its beginning.
  TRY(drain(contents));
  file_.reset();
  torn_.clear();
  offset_ = 0;
  TRY(open_current());
  if (file_) TRY(drain(contents));
  return contents;
}

// No file yet is no error: nothing ran here so far.
Status SpoolFollower::open_current() {
  Result<UniqueFd> file = sys::open_journal_to_read(current_of(directory_));
  if (!file && file.error().code == Code::kNotFound) return {};
  if (!file) return fail(file.error());
  file_ = std::move(*file);
  return {};
}

Status SpoolFollower::drain(SpoolContents& contents) {
  for (;;) {
    const std::string bytes = TRY(sys::read_at(file_.get(), offset_, kChunkBytes));
    if (bytes.empty()) return {};
    offset_ += bytes.size();
    torn_ += bytes;
    take_lines(torn_, contents);
  }
}

namespace {

Status read_file(const std::string& path, SpoolContents& contents) {
  const Result<UniqueFd> file = sys::open_journal_to_read(path);
  if (!file && file.error().code == Code::kNotFound) return {};
  if (!file) return fail(file.error());
  std::string rest;
  for (std::uint64_t offset = 0;;) {
    const std::string bytes = TRY_CTX(sys::read_at(file->get(), offset, kChunkBytes), path);
    if (bytes.empty()) break;
    offset += bytes.size();
    rest += bytes;
    take_lines(rest, contents);
  }
  if (!rest.empty()) ++contents.damaged_lines;  // no line end: the disk was full, or the machine went down
  return {};
}

// Takes the whole lines from the front of `bytes`. A line that grows beyond every record is given up at once, so that a
// file without line ends cannot fill the memory; what is left of it then counts as a line of its own.
void take_lines(std::string& bytes, SpoolContents& contents) {
  std::size_t at = 0;
  for (std::size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n', at)) {
    take_line(std::string_view(bytes).substr(at, end - at), contents);
    at = end + 1;
  }
  bytes.erase(0, at);
  if (bytes.size() > kRecordBytesMax) {
    ++contents.damaged_lines;
    bytes.clear();
  }
}

// An empty line is no loss: a writer that sees another's line half done, at the border of a page, puts one between.
void take_line(std::string_view line, SpoolContents& contents) {
  if (line.empty()) return;
  Result<Record> record = parse_record(line);
  if (record) {
    contents.records.push_back(std::move(*record));
  } else {
    ++contents.damaged_lines;
  }
}

}  // namespace

}  // namespace hutch::store
