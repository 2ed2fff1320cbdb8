// A program of the host's that takes its time: its words go on while it works, the last of them are why it failed.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::service {

// What a program prints: each line is told, made harmless to print and of bounded length, and the last are kept.
class ToldWords {
 public:
  using Tell = std::function<void(const std::string& line)>;
  explicit ToldWords(Tell tell) : tell_(std::move(tell)) {}

  void add(std::string_view bytes);
  void end();  // what came without an end of its line is one
  std::string last() const;

 private:
  void take(std::string_view line);

  Tell tell_;
  std::string held_;
  std::deque<std::string> last_;
};

// Runs it to its end with nothing to read; what it prints on both streams is told. An error names the program and its
// last lines.
Status run_told(const std::string& program, std::vector<std::string> arguments, std::vector<std::string> environment,
                const ToldWords::Tell& tell);

}  // namespace hutch::service
