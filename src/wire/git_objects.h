// Questions to the process that reads objects of git (guest/git/reader.h), and its answers.
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/git/objects.h"

namespace hutch::wire {

// A question is the size of a name, with this bit if all copies are to be alike, and the name.
inline constexpr unsigned kAllCopiesBit = 0x80;

// An answer is the kind of the object, the number of its bytes in four bytes, and the bytes.
Status send_git_object(int stream, const plan::GitObjectAnswer& answer);

class GitObjectStream {
 public:
  explicit GitObjectStream(UniqueFd stream);

  // Any bytes: the caller checks their sum. kUnreadable: the store cannot read it, or the process has ended or does not
  // answer before `until`, and answers no more.
  enum class Copies { kFirst, kAllAlike };
  plan::GitObjectAnswer look_up(std::string_view name, Copies copies, std::chrono::steady_clock::time_point until);
  bool answers() const { return static_cast<bool>(stream_); }

 private:
  Result<plan::GitObjectAnswer> ask(std::string_view name, Copies copies,
                                    std::chrono::steady_clock::time_point until) const;

  UniqueFd stream_;  // closed once the process has failed
};

}  // namespace hutch::wire
