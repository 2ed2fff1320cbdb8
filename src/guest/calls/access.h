// The access supervisor: a process beside the sandbox that makes the changes to files in its supervised trees, and the
// connections of its sockets.
#pragma once

#include "base/unique_fd.h"

namespace hutch::guest {

// The life of `hutch-guest --access`, until the sandbox or the host has gone. Descriptor 0 is the stream to the host,
// which sends the rules first; the others are those that came with wire::Supervise, in its order, from 3 on. After them
// comes the file of the turns that the supervisors of one user take (guest/calls/turns.h), where it could be opened,
// and the directory of the lists of known commits (plan/git/known_commits.h), likewise; then the roots of the
// supervised mounts, and those of the host's directories that the host could open.
//
// The workload sees its supervised trees read-only. A call that would change something there is held by the kernel
// (seccomp_unotify(2)); this process reads its arguments, resolves its path as the caller would, looks at the name that
// it leads to, and makes the change itself in a writable copy of the tree of mounts. What is let through to the kernel
// instead meets the read-only mount, so that neither a race nor an unknown call gets further than that.
enum class TakesTurns { kNo, kYes };
enum class KnowsCommits { kNo, kYes };
enum class HasRoots { kNo, kYes };
int serve_access(UniqueFd stream, TakesTurns takes_turns, KnowsCommits knows, HasRoots has_roots);

}  // namespace hutch::guest
