// What a person sends to hutch-helper, which is root, and its answers; and the judgement of what was asked.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "helper/judge.h"
#include "plan/trust.h"
#include "wire/helper.h"

namespace {

// Whatever is asked, root mounts what it always mounts, and the ids are those that were found.
void judge(const hutch::wire::HelperStart& asked) {
  const hutch::host::OsUser user{.name = "user", .uid = 990, .groups = {991}, .home = "/"};
  const auto plan = hutch::helper::plan_for(asked, user,
                                            {.is_directory = [](std::string_view) { return true; },
                                             .stores = {{"/etc/store", hutch::plan::kBundleFile, {1, 2}}}});
  if (!plan) return;
  if (plan->uid != 990 || plan->gid != 991 || !plan->groups.empty()) std::abort();
  for (const hutch::plan::MountStep& step : plan->mounts) {
    const bool is_file = step.kind == hutch::plan::MountKind::kFile;
    if (is_file && !step.target.starts_with("/tmp/.hutch/")) std::abort();
    if (step.kind == hutch::plan::MountKind::kCover && step.target != "/etc/store") std::abort();
    if (step.kind == hutch::plan::MountKind::kBind || step.kind == hutch::plan::MountKind::kSymlink) std::abort();
  }
}

}  // namespace

// The first byte chooses the direction; what is decoded must come out the same when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + hutch::wire::kFrameHeaderBytes) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto header = hutch::wire::decode_header(bytes.substr(0, hutch::wire::kFrameHeaderBytes));
  if (!header) return 0;
  const std::string_view body = bytes.substr(hutch::wire::kFrameHeaderBytes);
  if (data[0] % 2 == 0) {
    const auto message = hutch::wire::decode_to_helper(*header, body);
    if (!message) return 0;
    if (hutch::wire::encode(*message).substr(hutch::wire::kFrameHeaderBytes) != body) std::abort();
    if (const auto* asked = std::get_if<hutch::wire::HelperStart>(&*message)) judge(*asked);
  } else {
    const auto message = hutch::wire::decode_from_helper(*header, body);
    if (message && hutch::wire::encode(*message).substr(hutch::wire::kFrameHeaderBytes) != body) std::abort();
  }
  return 0;
}
