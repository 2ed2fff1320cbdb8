// hutch-unpack: makes files of an archive, or removes them, in a process of its own that can do nothing else.
#include <string_view>

#include "base/text.h"
#include "base/unique_fd.h"
#include "sys/files/create.h"
#include "sys/io.h"
#include "sys/process/signals.h"
#include "unpack/confine.h"
#include "unpack/remove.h"
#include "unpack/unpack.h"

namespace {

// The archive, the stream to hutch, the target directory.
constexpr int kArchive = 0;
constexpr int kHost = 1;
constexpr int kTarget = 3;
constexpr int kOwnFailure = 125;

int usage() {
  (void)hutch::sys::write_all(2, "hutch-unpack: started by hutch; there is nothing to run by hand\n");
  return kOwnFailure;
}

// One byte says that the namespaces are there, one comes back when the ids are mapped.
hutch::Status wait_until_mapped() {
  using namespace hutch;
  TRY(sys::write_all(kHost, "U"));
  char answer = 0;
  const std::size_t size = TRY(sys::read_some(kHost, {&answer, 1}));
  return size == 1 && answer == 'M' ? Status() : fail(Error::invalid("hutch went away"));
}

hutch::Result<std::string> serve(std::string_view what, std::string_view owners) {
  using namespace hutch;
  TRY(sys::ignore_broken_pipe());
  UniqueFd target(kTarget);
  const UniqueFd root = TRY(unpack::confine(target.get(), wait_until_mapped));
  target.reset();
  if (what == "remove") {
    TRY(unpack::remove_everything());
    return std::string("removed");
  }
  const auto report = TRY(unpack::unpack_archive(kArchive, root.get(),
                                                 owners == "one" ? unpack::Owners::kOne : unpack::Owners::kAsArchived,
                                                 what == "layer" ? unpack::Over::kLayers : unpack::Over::kNothing, {}));
  TRY(sys::sync_file_system(root.get()));
  return cat({"unpacked ", std::to_string(report.entries), " ", std::to_string(report.bytes), " ",
              std::to_string(report.special), " ", std::to_string(report.privileged)});
}

}  // namespace

// hutch-unpack unpack|layer|remove many|one
int main(int argc, char** argv) {
  if (argc != 3 || hutch::sys::stream_kind(kHost) != hutch::sys::StreamKind::kSocket) return usage();
  const auto served = serve(argv[1], argv[2]);
  const std::string text = served ? *served : hutch::cat({"failed ", served.error().message});
  (void)hutch::sys::write_all(kHost, text);
  return served ? 0 : kOwnFailure;
}
