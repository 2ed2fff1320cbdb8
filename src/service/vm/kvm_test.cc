// The tests of what accelerates virtual machines.
#include "service/vm/kvm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using backend::vm::Accelerator;
using testing::HasSubstr;
using testing::Not;

KvmFacts usable() {
  return {.device = KvmFacts::Device::kOpen,
          .refusal = "",
          .user = "vera",
          .group = "kvm",
          .opens_to_group = true,
          .basis = {"6.1.0", "qemu-look", "660 0 108", "cpu"}};
}
KvmProof proof() { return {true, "a Linux ran in 1.2 s", usable().basis}; }

TEST(Kvm, IsTakenWhereALinuxHasRun) {
  const Acceleration chosen = accelerate(usable(), proof());
  EXPECT_EQ(chosen.accelerator, Accelerator::kKvm);
  EXPECT_EQ(chosen.words, "KVM: a Linux ran in 1.2 s");
  EXPECT_FALSE(wants_proof(usable(), proof()));
}

TEST(Kvm, ProvesNothingByBeingThere) {
  const Acceleration untried = accelerate(usable(), std::nullopt);
  EXPECT_EQ(untried.accelerator, Accelerator::kTcg);
  EXPECT_THAT(untried.words, HasSubstr("never tried"));
  EXPECT_THAT(untried.words, HasSubstr("15 times"));
  EXPECT_TRUE(wants_proof(usable(), std::nullopt));
  KvmProof failed = proof();
  failed.works = false;
  failed.reason = "it stood still";
  EXPECT_EQ(accelerate(usable(), failed).accelerator, Accelerator::kTcg);
  EXPECT_THAT(accelerate(usable(), failed).words, HasSubstr("it stood still"));
  EXPECT_FALSE(wants_proof(usable(), failed)) << "it would not work the next time either";
}

TEST(Kvm, IsTriedAnewWithAnythingElse) {
  for (std::string KvmBasis::* part : {&KvmBasis::kernel, &KvmBasis::qemu, &KvmBasis::device, &KvmBasis::processor}) {
    for (const bool works : {true, false}) {
      KvmProof old = proof();
      old.works = works;
      KvmFacts now = usable();
      now.basis.*part += "x";
      EXPECT_TRUE(wants_proof(now, old));
      EXPECT_EQ(accelerate(now, old).accelerator, Accelerator::kTcg);
      EXPECT_THAT(accelerate(now, old).words, HasSubstr("hutch vm restart"));
    }
  }
}

TEST(Kvm, IsNotTakenFromWhoMayNotOpenIt) {
  KvmFacts facts = usable();
  facts.device = KvmFacts::Device::kClosed;
  facts.refusal = "Permission denied";
  EXPECT_FALSE(wants_proof(facts, std::nullopt));
  const Acceleration chosen = accelerate(facts, proof());
  EXPECT_EQ(chosen.accelerator, Accelerator::kTcg);
  EXPECT_THAT(chosen.words, HasSubstr("sudo usermod -aG kvm vera"));
  facts.opens_to_group = false;
  const std::string words = accelerate(facts, proof()).words;
  EXPECT_THAT(words, Not(HasSubstr("usermod"))) << "to be in the group would not help";
  EXPECT_THAT(words, HasSubstr("Permission denied"));
  facts.device = KvmFacts::Device::kAbsent;
  EXPECT_FALSE(wants_proof(facts, std::nullopt));
  EXPECT_THAT(accelerate(facts, proof()).words, HasSubstr("no /dev/kvm"));
  EXPECT_EQ(accelerate(facts, proof()).accelerator, Accelerator::kTcg);
}

TEST(Kvm, ReadsWhatWasKept) {
  const auto read = read_kvm_proof(kvm_proof_json(proof()));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->works);
  EXPECT_EQ(read->reason, proof().reason);
  EXPECT_EQ(read->basis, proof().basis);
  for (const char* none :
       {"", "{}", "[]", "not json", R"({"works": true, "reason": "x"})", R"({"works": 1, "reason": "x", "with": {}})",
        R"({"works": true, "reason": "x", "with": {"kernel": "k", "qemu": 1}})"}) {
    EXPECT_FALSE(read_kvm_proof(none)) << none;
  }
}

}  // namespace
}  // namespace hutch::service
