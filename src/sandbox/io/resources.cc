// What a sandbox uses of the machine. proc_pid_smaps(5), proc_pid_stat(5), proc_meminfo(5).
#include "sandbox/io/resources.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.h"
#include "sys/files/disk.h"
#include "sys/files/files.h"
#include "sys/process/process.h"

namespace hutch::sandbox {

namespace {

using std::chrono::microseconds;

constexpr std::size_t kProcBytesMax = 1 << 16;
constexpr std::size_t kProcessesMax = 16'384;  // a sandbox that forks all the time does not hold up who looks
constexpr microseconds kTick{10'000};          // of proc_pid_stat(5): USER_HZ is 100 on every Linux that runs this
constexpr microseconds kLookMin{50'000};       // ticks are too coarse for less

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  const std::size_t first = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + first, text.data() + text.size(), number);
  return number;
}

// A line "Name:   123 kB".
std::optional<std::uint64_t> kilobytes(const std::string& path, std::string_view name) {
  const auto text = sys::read_file(path, kProcBytesMax);
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n')) {
    if (line.starts_with(name)) return number_in(line.substr(name.size())) << 10;
  }
  return std::nullopt;
}

// Its share of what it has in common with others, where we may see that.
std::uint64_t memory_of(const std::string& process) {
  if (const auto share = kilobytes(process + "/smaps_rollup", "Pss:")) return *share;
  return kilobytes(process + "/status", "VmRSS:").value_or(0);
}

// With that of the children it has waited for.
microseconds cpu_of(const std::string& process) {
  const auto text = sys::read_file(process + "/stat", kProcBytesMax);
  // The state follows the name, which may hold any character.
  const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return microseconds(0);
  const std::vector<std::string_view> fields = split(std::string_view(*text).substr(name_end), ' ');
  static constexpr std::size_t kUserTime = 12;  // utime, stime, cutime, cstime follow one another
  if (fields.size() < kUserTime + 4) return microseconds(0);
  std::uint64_t ticks = 0;
  for (std::size_t i = 0; i < 4; ++i) ticks += number_in(fields[kUserTime + i]);
  return kTick * static_cast<std::int64_t>(ticks);
}

// Its number in each namespace, from the namespace of /proc inwards (proc_pid_status(5), NSpid).
std::vector<std::uint64_t> numbers_of_process(pid_t process) {
  static constexpr std::string_view kNumbers = "NSpid:\t";
  const auto text = sys::read_file(cat({"/proc/", std::to_string(process), "/status"}), kProcBytesMax);
  std::vector<std::uint64_t> numbers;
  for (const std::string_view line : split(text ? std::string_view(*text) : std::string_view(), '\n')) {
    if (!line.starts_with(kNumbers)) continue;
    for (const std::string_view one : split(line.substr(kNumbers.size()), '\t')) numbers.push_back(number_in(one));
  }
  return numbers;
}

// As the kernel has it; empty where it has ended. The name may hold any character (proc_pid_stat(5)).
std::string name_of_process(pid_t process) {
  if (sys::is_over(process)) return {};
  const auto text = sys::read_file(cat({"/proc/", std::to_string(process), "/comm"}), kProcBytesMax);
  return text ? *text : std::string();
}

}  // namespace

Usage usage_below(pid_t first) {
  Usage usage;
  std::vector<pid_t> processes = {first};
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::string process = cat({"/proc/", std::to_string(processes[i])});
    usage.memory_bytes += memory_of(process);
    usage.cpu += cpu_of(process);
    if (processes.size() >= kProcessesMax) continue;
    for (const pid_t child : sys::children_of(processes[i])) processes.push_back(child);
  }
  return usage;
}

std::vector<ProcessStart> processes_below(pid_t first) {
  static constexpr std::size_t kStartTime = 20;  // behind the name
  std::vector<ProcessStart> found;
  std::vector<pid_t> processes = {first};
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto text = sys::read_file(cat({"/proc/", std::to_string(processes[i]), "/stat"}), kProcBytesMax);
    const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
    const auto fields = name_end == std::string::npos ? std::vector<std::string_view>()
                                                      : split(std::string_view(*text).substr(name_end), ' ');
    // A process that has ended since it was listed may have left a child, which its parent lists by now.
    found.push_back({processes[i], fields.size() > kStartTime ? number_in(fields[kStartTime]) : 0});
    if (processes.size() >= kProcessesMax) continue;
    for (const pid_t child : sys::children_of(processes[i])) processes.push_back(child);
  }
  return found;
}

std::optional<ProcessStart> process_numbered(pid_t first, std::uint32_t number) {
  // A process in a nested namespace has more numbers.
  const std::size_t depth = numbers_of_process(first).size();
  for (const ProcessStart& one : processes_below(first)) {
    const std::vector<std::uint64_t> numbers = numbers_of_process(one.process);
    if (one.started != 0 && depth != 0 && numbers.size() == depth && numbers.back() == number) return one;
  }
  return std::nullopt;
}

bool runs_anything(pid_t first, pid_t guest) {
  const std::string holders[] = {name_of_process(first), name_of_process(guest)};
  std::vector<pid_t> processes = {first};
  for (std::size_t i = 0; i < processes.size() && i < kProcessesMax; ++i) {
    const std::string name = name_of_process(processes[i]);
    if (!name.empty() && std::ranges::find(holders, name) == std::end(holders)) return true;
    for (const pid_t child : sys::children_of(processes[i])) processes.push_back(child);
  }
  return false;
}

double CpuMeter::percent(microseconds used, Clock::time_point now) {
  const auto passed = std::chrono::duration_cast<microseconds>(now - at_);
  if (passed < kLookMin) return last_;
  // A process that ended and was not waited for yet takes its time along for a moment.
  const microseconds more = std::max(used - used_, microseconds(0));
  last_ = 100.0 * static_cast<double>(more.count()) / static_cast<double>(passed.count());
  at_ = now;
  used_ = used;
  return last_;
}

Resources allowed_of(const plan::ResourceLimits& limits) {
  Resources resources;
  resources.memory_bytes = limits.memory_bytes;
  if (resources.memory_bytes == 0) resources.memory_bytes = kilobytes("/proc/meminfo", "MemTotal:").value_or(0);
  const double processors = std::max(1U, std::thread::hardware_concurrency());
  const double share = static_cast<double>(limits.cpu_millis) / 1000.0;
  resources.cpu_cores = limits.cpu_millis == 0 ? processors : std::min(share, processors);
  return resources;
}

Resources resources_of(const Usage& usage, const plan::ResourceLimits& limits, const std::string& disk,
                       CpuMeter& meter) {
  Resources resources = allowed_of(limits);
  resources.memory_used_bytes = usage.memory_bytes;
  resources.cpu_percent = meter.percent(usage.cpu, CpuMeter::Clock::now());
  resources.disk_used_bytes = sys::tree_bytes(disk).value_or(0);
  resources.disk_bytes = resources.disk_used_bytes + sys::bytes_available(disk).value_or(0);
  return resources;
}

}  // namespace hutch::sandbox
