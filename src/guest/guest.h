// The guest's life: take the plan, apply it, serve commands.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>

#include "base/unique_fd.h"

namespace hutch::guest {

// Which namespaces the process enters before the plan comes, while the host still makes it: none, all, of a place that
// bubblewrap made its user and mount namespaces, or, of a sandbox that is an OS user, all but those of users and the
// network.
// kOfOther: those of a sandbox that runs.
enum class Namespaces { kAsStarted, kAll, kUserAndMounts, kOfRoot, kOfOther };

// Whose memory may be read is for the user namespace to say that a program was started in (ptrace(2)). So that the
// supervisor of the sandbox can read what a process of this program wants of the kernel, the file server above all, the
// program is started again in there: kAgain asks for it, kEntered is the second start.
enum class Image { kFirst, kAgain, kEntered };

// Who maps the ids of the new user namespace: the guest its own alone, or the host, several.
enum class Ids { kOwn, kByHost };

// When a network namespace is made, the dearest of all: once the plan is there, which may want none, or while the host
// still makes the plan.
enum class OwnNetwork { kByPlan, kAhead };

struct Entrance {
  Namespaces namespaces = Namespaces::kAsStarted;
  OwnNetwork network = OwnNetwork::kByPlan;
  Ids ids = Ids::kOwn;
  Image image = Image::kFirst;
  pid_t beside = 0;  // kOfOther: the init of that sandbox
};

// The words of the command line that say so; nothing where they say something else.
std::optional<Entrance> entrance_of(std::span<const char* const> words);

// Returns the exit code of the process. Failures are told to the host on the stream.
int serve(UniqueFd stream, Entrance entrance);
// The same as the first process of an engine's container, which finds the stream by its name.
int serve_container();

}  // namespace hutch::guest
