// What is not written, or told of, by its name alone: data, which the supervisor gets with the plan.
#pragma once

#include <string>
#include <vector>

namespace hutch::plan {

// A pattern of absolute paths (policy/glob.h): what matches, and all below it, is not written.
struct NameRule {
  std::string pattern;
  std::string rule;  // as a person reads it
  std::string except;  // a pattern of what is allowed nevertheless; empty: of nothing
  std::vector<std::string> lifted;  // absolute paths that, with all below them, are excepted as well
  enum class Asking { kNever, kMayBe } asking = Asking::kNever;  // kMayBe: an answer opens a path of it
  bool operator==(const NameRule&) const = default;
};

// Where names that programs obey have a meaning of their own.
struct ObeyedPlaces {
  std::vector<std::string> told{};  // absolute paths that links of told names lead to
  std::string home{};  // of the user, where the sandbox may write it: names directly in it are asked about; else empty
  bool operator==(const ObeyedPlaces&) const = default;
};

// What the supervisor refuses by name, and what it tells of.
struct GuardedNames {
  std::vector<NameRule> rules;
  // Whether the list of files that programs obey counts (policy/obeyed.h), besides the rules.
  enum class List { kNone, kObeyed } list = List::kNone;
  std::vector<std::string> lifted{};  // absolute paths that, with all below them, are excepted from the list
  std::vector<std::string> allowed{};  // names of the list that the policy lifts
  ObeyedPlaces places{};
  std::vector<std::string> granted{};  // absolute paths that an answer has opened, as far as they are asked about
  bool operator==(const GuardedNames&) const = default;
};

}  // namespace hutch::plan
