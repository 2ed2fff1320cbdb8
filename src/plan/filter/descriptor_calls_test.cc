// The table of calls that take a descriptor matches what the filter does.
#include "plan/filter/descriptor_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "plan/filter/bpf_evaluator_testing.h"
#include "plan/filter/seccomp.h"
#include "plan/filter/seccomp_table.h"

namespace hutch::plan {
namespace {

constexpr std::uint32_t kAuditX86 = 0xc000003e;
constexpr std::uint32_t kAuditArm64 = 0xc00000b7;
constexpr std::uint32_t kErrno = 0x00050000;
constexpr std::uint32_t kAllowed = 0x7fff0000;
constexpr std::uint32_t kHeld = 0x7fc00000;

class DescriptorCalls : public testing::TestWithParam<Architecture> {
 protected:
  // The second argument is O_WRONLY where the call opens something, so that the call is a change.
  std::uint32_t decided(const CallRule& rule, const DescriptorCall& call) const {
    const auto number = static_cast<std::int32_t>(rule.number(GetParam()));
    std::array<std::uint64_t, 6> arguments = {3, call.request.value_or(1), 1, 0, 0x1000, 0};
    const std::uint32_t audit = GetParam() == Architecture::kX86_64 ? kAuditX86 : kAuditArm64;
    return bpf::evaluate(program_, {number, audit, 0x401000, arguments}).action;
  }
  static const CallRule* rule_of(std::string_view name) {
    const auto found = std::ranges::find(call_rules(), name, &CallRule::name);
    return found == call_rules().end() ? nullptr : &*found;
  }
  const bpf::Program program_ = compile_seccomp(
      {.architecture = GetParam(), .af_unix = AfUnix::kSupervised, .file_changes = FileChanges::kNotify});
};

INSTANTIATE_TEST_SUITE_P(Architectures, DescriptorCalls, testing::Values(Architecture::kX86_64, Architecture::kAarch64),
                         [](const auto& tested) {
                           return tested.param == Architecture::kX86_64 ? "x86_64" : "aarch64";
                         });

TEST_P(DescriptorCalls, AreDecidedAsTheTableSays) {
  for (const DescriptorCall& call : descriptor_calls()) {
    const std::string label = cat({call.call, " ", call.variant});
    EXPECT_FALSE(call.reason.empty()) << label;
    const CallRule* rule = rule_of(call.call);
    const bool goes_on =
        call.treatment == DescriptorTreatment::kContent || call.treatment == DescriptorTreatment::kHarmless;
    // The filter allows calls that its table does not name.
    if (rule == nullptr) {
      EXPECT_TRUE(goes_on) << label;
      continue;
    }
    if (rule->number(GetParam()) == CallRule::kAbsent) continue;
    const std::uint32_t action = decided(*rule, call);
    if (goes_on) EXPECT_EQ(action, kAllowed) << label;
    if (call.treatment == DescriptorTreatment::kJudged) EXPECT_EQ(action, kHeld) << label;
    if (call.treatment == DescriptorTreatment::kRefused) {
      EXPECT_EQ(action & 0xffff0000, kErrno) << label;
      EXPECT_NE(action & 0xffff, 0u) << label;
    }
  }
}

// Only the supervisor changes a file's metadata: the kernel changes none for a descriptor by itself.
TEST_P(DescriptorCalls, HoldEveryChangeThatTakesADescriptor) {
  for (const CallRule& rule : call_rules()) {
    const bool changes = rule.name.starts_with('f') &&
                         (rule.otherwise == CallOutcome::kFileChange || rule.otherwise == CallOutcome::kOwnerChange ||
                          rule.otherwise == CallOutcome::kPastSupervisor);
    if (!changes) continue;
    EXPECT_TRUE(std::ranges::find(descriptor_calls(), rule.name, &DescriptorCall::call) != descriptor_calls().end())
        << rule.name;
  }
}

}  // namespace
}  // namespace hutch::plan
