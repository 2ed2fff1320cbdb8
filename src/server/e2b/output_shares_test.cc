// The tests of how much unread output is kept for one key.
#include "server/e2b/output_shares.h"

#include <gtest/gtest.h>

namespace hutch::server {
namespace {

class Keeper : public KeepsOutput {
 public:
  Keeper(OutputShares& shares, const std::string& key) : member_(shares.join(key, *this)) {}
  Kept kept() const override { return {bytes_, bytes_ - wanted_}; }
  void drop(std::uint64_t bytes) override { bytes_ -= std::min(bytes, bytes_ - wanted_); }

  void keep(std::uint64_t bytes, std::uint64_t wanted = 0) {
    bytes_ = bytes;
    wanted_ = wanted;
    member_->changed();
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t wanted_ = 0;
  std::unique_ptr<OutputShares::Member> member_;
};

TEST(OutputShares, TheLargestGivesWay) {
  OutputShares shares(100);
  Keeper a(shares, "mal");
  Keeper b(shares, "mal");
  Keeper other(shares, "bob");
  a.keep(80);
  other.keep(100);
  b.keep(30);
  EXPECT_EQ(a.bytes(), 70U) << "not whoever writes";
  EXPECT_EQ(b.bytes(), 30U);
  EXPECT_EQ(other.bytes(), 100U) << "nobody pays for another key";
  b.keep(90);
  EXPECT_EQ(b.bytes(), 30U);
  a.keep(0);
  b.keep(95);
  EXPECT_EQ(b.bytes(), 95U) << "what was read is room again";
}

TEST(OutputShares, WhatSomebodyReadsIsNotDropped) {
  OutputShares shares(100);
  Keeper read(shares, "mal");
  Keeper unread(shares, "mal");
  unread.keep(50);
  read.keep(90, 90);
  EXPECT_EQ(read.bytes(), 90U);
  EXPECT_EQ(unread.bytes(), 10U);
  read.keep(120, 110);
  EXPECT_EQ(read.bytes(), 110U);
  EXPECT_EQ(unread.bytes(), 0U);
}

TEST(OutputShares, WhoeverGoesGivesItBack) {
  OutputShares shares(100);
  Keeper stays(shares, "mal");
  {
    Keeper goes(shares, "mal");
    goes.keep(60);
    stays.keep(40);
  }
  stays.keep(100);
  EXPECT_EQ(stays.bytes(), 100U);
}

TEST(OutputShares, MembersMayOutliveThem) {
  std::unique_ptr<Keeper> left;
  {
    OutputShares shares(1);
    left = std::make_unique<Keeper>(shares, "");
  }
  left->keep(5);
  EXPECT_EQ(left->bytes(), 1U);
}

}  // namespace
}  // namespace hutch::server
