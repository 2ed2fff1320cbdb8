// Runs a program of the host's and tells what it says.
#include "service/told_program.h"

#include <deque>
#include <string_view>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files.h"
#include "sys/io.h"
#include "sys/process.h"

namespace hutch::service {

namespace {

constexpr std::size_t kLineBytesMax = 400;
constexpr std::size_t kLastLines = 8;

class Words {
 public:
  explicit Words(const std::function<void(const std::string&)>& tell) : tell_(tell) {}

  void add(std::string_view bytes) {
    held_.append(bytes);
    for (std::size_t end = 0; (end = held_.find_first_of("\r\n")) != std::string::npos;) {
      take(std::string_view(held_).substr(0, end));
      held_.erase(0, end + 1);
    }
    if (held_.size() > limits::kControlLineBytesMax) held_.clear();
  }

  std::string last() {
    take(held_);
    return join(std::vector<std::string>(last_.begin(), last_.end()), "\n  ");
  }

 private:
  void take(std::string_view line) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    last_.push_back(printable(line, kLineBytesMax));
    if (last_.size() > kLastLines) last_.pop_front();
    tell_(last_.back());
  }

  const std::function<void(const std::string&)>& tell_;
  std::string held_;
  std::deque<std::string> last_;
};

}  // namespace

Status run_told(const std::string& program, std::vector<std::string> arguments, std::vector<std::string> environment,
                const std::function<void(const std::string& line)>& tell) {
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kRead));
  sys::Pipe words = TRY(sys::pipe());
  sys::ChildProcess process =
      TRY(sys::spawn(program, {.arguments = std::move(arguments),
                               .environment = std::move(environment),
                               .install = {{nothing.get(), 0}, {words.write.get(), 1}, {words.write.get(), 2}}}));
  words.write.reset();
  Words said(tell);
  std::vector<char> buffer(4096);
  for (;;) {
    const std::size_t size = TRY(sys::read_some(words.read.get(), buffer));
    if (size == 0) break;
    said.add({buffer.data(), size});
  }
  const std::string last = said.last();
  const sys::WaitStatus ended = TRY(process.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail(Error{Code::kSystem, 0, cat({program.substr(program.rfind('/') + 1), " failed:\n  ", last})});
}

}  // namespace hutch::service
