// Calls about files that no rule allows: which of them are asked about, and those that wait for an answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "guest/places/access_arguments.h"
#include "guest/places/access_place.h"
#include "plan/plan.h"
#include "wire/access.h"

namespace hutch::guest {

// Nothing is decided here: what is answered changes the mounts, or the trees in which changes are made, and the call is
// made by those.
class AccessQuestions {
 public:
  struct Settings {
    int listener = -1;
    plan::FileQuestions questions = plan::FileQuestions::kNone;
    std::vector<std::string> hidden;  // in any order
    // Asks the host; FileAnswered follows.
    std::function<Status(const wire::FileAsked& asked)> ask;
  };
  AccessQuestions(const Places& places, Settings settings) : places_(places), settings_(std::move(settings)) {
    hide(settings_.hidden);
  }

  // These places, and no others, are hidden from here on.
  void hide(std::vector<std::string> places);
  bool asks() const { return settings_.questions != plan::FileQuestions::kNone; }
  // Whether a call only looks: the kernel makes it in any case.
  static bool is_look(const AccessCall& call);
  // What it would be asked about; nothing where the mounts give the answer already.
  std::optional<wire::FileAsked> about(const AccessCall& call) const;

  // A call with two paths is asked about twice, and once more where the first has changed.
  struct Waiting {
    AccessCall call;
    int rounds = 0;
  };
  // False where it is not asked: too many wait already, or it was asked about often enough.
  Result<bool> ask(const Waiting& waiting, const wire::FileAsked& asked);
  // The call that this is the answer to, unless it has gone.
  std::optional<Waiting> take(std::uint64_t id);

  std::optional<std::chrono::milliseconds> time_left() const;
  void forget_gone();

 private:
  std::optional<std::string> looked_at(const AccessCall& call) const;
  std::optional<std::string> changed(const AccessCall& call) const;
  std::optional<std::string> changed(const AccessCall& call, const CallerPath& path, sys::LastLink last) const;
  bool is_hidden(const std::string& path) const;

  const Places& places_;
  const Settings settings_;
  std::vector<std::string> hidden_;  // sorted
  std::map<std::uint64_t, Waiting> waiting_;  // by the number of the call
};

}  // namespace hutch::guest
