// Runs a program of the host's and tells what it says.
#include "service/common/told_program.h"

#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

constexpr std::size_t kLineBytesMax = 400;
constexpr std::size_t kLastLines = 8;

}  // namespace

void ToldWords::add(std::string_view bytes) {
  held_.append(bytes);
  for (std::size_t end = 0; (end = held_.find_first_of("\r\n")) != std::string::npos;) {
    take(std::string_view(held_).substr(0, end));
    held_.erase(0, end + 1);
  }
  if (held_.size() > limits::kControlLineBytesMax) held_.clear();
}

void ToldWords::end() { take(std::exchange(held_, {})); }

std::string ToldWords::last() const { return join(std::vector<std::string>(last_.begin(), last_.end()), "\n  "); }

// debootstrap's and mmdebstrap's own words begin so.
void ToldWords::take(std::string_view line) {
  if (line.starts_with("I: ")) line.remove_prefix(3);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  last_.push_back(printable(line, kLineBytesMax));
  if (last_.size() > kLastLines) last_.pop_front();
  tell_(last_.back());
}

Status run_told(const std::string& program, std::vector<std::string> arguments, std::vector<std::string> environment,
                const ToldWords::Tell& tell) {
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kRead));
  sys::Pipe words = TRY(sys::pipe());
  sys::ChildProcess process =
      TRY(sys::spawn(program, {.arguments = std::move(arguments),
                               .environment = std::move(environment),
                               .install = {{nothing.get(), 0}, {words.write.get(), 1}, {words.write.get(), 2}}}));
  words.write.reset();
  ToldWords said(tell);
  std::vector<char> buffer(4096);
  for (;;) {
    const std::size_t size = TRY(sys::read_some(words.read.get(), buffer));
    if (size == 0) break;
    said.add({buffer.data(), size});
  }
  said.end();
  const sys::WaitStatus ended = TRY(process.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail(Error{Code::kSystem, 0, cat({program.substr(program.rfind('/') + 1), " failed:\n  ", said.last()})});
}

}  // namespace hutch::service
