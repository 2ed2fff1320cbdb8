// A process of hutch-unpack: its ids are mapped from here, the archive goes through a pipe, a line says how it went.
#include "service/image/unpacker.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <vector>

#include "backend/id_mapping.h"
#include "base/sha256.h"
#include "base/text.h"
#include "service/common/programs.h"
#include "sys/channel.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"

namespace hutch::service {

namespace {

constexpr std::size_t kReportBytesMax = 64 << 10;

struct Started {
  sys::ChildProcess process;
  UniqueFd stream;
  UniqueFd archive;  // what is written here it reads
};

Result<Unpacked> unpack_as(const std::string& what, int archive, const std::string& directory, const plan::IdMap& ids);
Result<Started> start(const std::string& what, const std::string& directory, const plan::IdMap& ids);
Result<std::string> feed(int archive, const UniqueFd& to);
Result<std::string> report_of(Started& started);
Result<Unpacked> parse_report(std::string_view report);

}  // namespace

Result<Unpacked> unpack(int archive, const std::string& directory, const plan::IdMap& ids) {
  return unpack_as("unpack", archive, directory, ids);
}

Result<Unpacked> unpack_layer(int archive, const std::string& directory, const plan::IdMap& ids) {
  return unpack_as("layer", archive, directory, ids);
}

Status remove_files(const std::string& directory, const plan::IdMap& ids) {
  if (!TRY(sys::status_of(directory))) return {};
  Started started = TRY(start("remove", directory, ids));
  started.archive.reset();
  TRY(report_of(started));
  return sys::remove_directory(directory);
}

namespace {

Result<Unpacked> unpack_as(const std::string& what, int archive, const std::string& directory, const plan::IdMap& ids) {
  Started started = TRY(start(what, directory, ids));
  auto digest = feed(archive, started.archive);
  started.archive.reset();
  // Why it stopped reading is its own to say.
  const bool stopped = !digest && digest.error().sys_errno == EPIPE;
  if (!digest && !stopped) return fail(std::move(digest).error());
  const std::string report = TRY(report_of(started));
  if (stopped) return fail(Error{Code::kSystem, 0, "hutch-unpack ended before the archive did"});
  Unpacked unpacked = TRY(parse_report(report));
  unpacked.digest = cat({"sha256:", *digest});
  return unpacked;
}

Result<Started> start(const std::string& what, const std::string& directory, const plan::IdMap& ids) {
  // An unpacker that ended must be an error of the next write, not this program's end.
  TRY(sys::ignore_broken_pipe());
  const std::string program = TRY(unpack_program());
  const UniqueFd target = TRY(sys::open_exact(directory));
  sys::Pipe archive = TRY(sys::pipe());
  auto [own, its] = TRY(sys::socket_pair());
  const plan::IdMap map = plan::map_for_files(ids);
  const std::string owners = map.kind == plan::IdMap::Kind::kMany ? "many" : "one";
  Started started{TRY(sys::spawn(program, {.arguments = {"hutch-unpack", what, owners},
                                           .environment = {},
                                           .install = {{archive.read.get(), 0}, {its.get(), 1}, {target.get(), 3}}})),
                  std::move(own), std::move(archive.write)};
  its.reset();
  archive.read.reset();
  char ready = 0;
  const std::size_t size = TRY(sys::read_some(started.stream.get(), {&ready, 1}));
  if (size != 1 || ready != 'U') {
    const std::string rest = TRY(sys::read_to_end(started.stream.get(), kReportBytesMax));
    return fail(Error{Code::kSystem, 0, cat({"hutch-unpack: ", printable(std::string(size, ready) + rest, 4096)})});
  }
  TRY_CTX(backend::map_ids_of(started.process.pid(), map), "map the image's users");
  TRY(sys::write_all(started.stream.get(), "M"));
  return started;
}

Result<std::string> feed(int archive, const UniqueFd& to) {
  Sha256 sum;
  std::vector<char> buffer(256 << 10);
  for (;;) {
    const std::size_t size = TRY_CTX(sys::read_some(archive, buffer), "read the archive");
    if (size == 0) return sum.finish();
    const std::string_view bytes(buffer.data(), size);
    sum.add(bytes);
    TRY(sys::write_all(to.get(), bytes));
  }
}

// What it says is a hostile archive's to influence: it is shown, and numbers are taken from it.
Result<std::string> report_of(Started& started) {
  std::string report = TRY(sys::read_to_end(started.stream.get(), kReportBytesMax));
  const sys::WaitStatus ended = TRY(started.process.wait());
  static constexpr std::string_view kFailed = "failed ";
  if (report.starts_with(kFailed)) {
    return fail(Error::invalid(printable(std::string_view(report).substr(kFailed.size()), 4096)));
  }
  if (ended.exited() && ended.exit_code() == 0) return report;
  return fail(Error{Code::kSystem, 0,
                    cat({"hutch-unpack was ended by signal ", std::to_string(ended.signal()), " and said nothing"})});
}

Result<Unpacked> parse_report(std::string_view report) {
  const std::vector<std::string_view> words = split(report, ' ');
  Unpacked unpacked;
  const std::array numbers = {&unpacked.entries, &unpacked.bytes, &unpacked.special, &unpacked.privileged};
  bool right = words.size() == numbers.size() + 1 && words[0] == "unpacked";
  for (std::size_t i = 0; right && i < numbers.size(); ++i) {
    const std::string_view word = words[i + 1];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *numbers[i]);
    right = error == std::errc() && end == word.data() + word.size();
  }
  return right ? Result<Unpacked>(unpacked) : fail(Error::invalid("hutch-unpack says what it cannot say"));
}

}  // namespace

}  // namespace hutch::service
