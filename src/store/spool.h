// The spool: where `hutch run`, which opens no database, appends its records and where readers find them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/record.h"

namespace hutch::store {

// At this size the file becomes spool.1.jsonl, in the place of the one before it: at most twice as much is kept.
inline constexpr std::uint64_t kSpoolBytesMax = 8ULL << 20;

// Appends to the spool in one directory. Several processes may do so at once; each record is one write(2).
class SpoolWriter {
 public:
  // Makes the directory, mode 0700, where it is absent.
  static Result<SpoolWriter> open(const std::string& directory, std::uint64_t bytes_max = kSpoolBytesMax);

  Status append(const Record& record);

 private:
  SpoolWriter(std::string directory, UniqueFd file, std::uint64_t bytes_max);
  Status rotate();

  std::string directory_;
  UniqueFd file_;
  std::uint64_t bytes_max_ = 0;
};

// An id for a new run.
Result<std::string> new_run_id();

Time now();

struct SpoolContents {
  std::vector<Record> records;     // in the order of writing
  std::size_t damaged_lines = 0;   // lines that are no record: torn by a full disk or written by something else
};

// Everything there is; nothing where there is no spool.
Result<SpoolContents> read_spool(const std::string& directory);

// What is appended from now on, for `hutch log --follow`. Goes on in the new file when the old one is full.
class SpoolFollower {
 public:
  explicit SpoolFollower(std::string directory);

  // The records since the last call; those of the first call are the ones since construction.
  Result<SpoolContents> next();

 private:
  Status open_current();
  Status drain(SpoolContents& contents);

  std::string directory_;
  UniqueFd file_;
  std::uint64_t offset_ = 0;
  std::string torn_;  // the beginning of a line whose end was not there yet
};

}  // namespace hutch::store
