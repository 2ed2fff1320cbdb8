// A plan as arguments of bubblewrap.
#include "backend/bwrap/bwrap_arguments.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hutch::backend {

namespace {

using Arguments = std::vector<std::string>;

void append(Arguments& to, std::initializer_list<std::string> words) { to.insert(to.end(), words); }

void append_tmpfs(Arguments& to, const plan::MountStep& step) {
  // bubblewrap's root is a tmpfs of its own already, and has no option for its size.
  if (step.target == "/") return;
  append(to, {"--perms", fmt::format("{:04o}", step.mode)});
  if (step.size_bytes != 0) append(to, {"--size", std::to_string(step.size_bytes)});
  append(to, {"--tmpfs", step.target});
}

// The file that a kFile or kCover is about; null where the plan makes none such.
const plan::MountStep* file_of(const plan::SandboxPlan& plan, const plan::MountStep& step) {
  const std::string& path = step.kind == plan::MountKind::kFile ? step.target : step.source;
  for (const plan::MountStep& made : plan.mounts) {
    if (made.kind == plan::MountKind::kFile && made.target == path) return &made;
  }
  return nullptr;
}

// A descriptor of its own for each step: bwrap reads it to its end.
Status append_file(BwrapArguments& to, int first_file_fd, const plan::SandboxPlan& plan, const plan::MountStep& step) {
  const plan::MountStep* const made = file_of(plan, step);
  if (made == nullptr) return fail(Error::invalid(cat({step.source, ": the plan makes no such file"})));
  const char* const option = step.kind == plan::MountKind::kFile ? "--file" : "--ro-bind-data";
  const std::string fd = std::to_string(first_file_fd + static_cast<int>(to.files.size()));
  append(to.words, {"--perms", fmt::format("{:04o}", made->mode), option, fd, step.target});
  to.files.push_back(made->source);
  return {};
}

bool is_file(const plan::MountStep& step) {
  return step.kind == plan::MountKind::kFile || step.kind == plan::MountKind::kCover;
}

void append_step(Arguments& to, const plan::MountStep& step) {
  switch (step.kind) {
    case plan::MountKind::kTmpfs: return append_tmpfs(to, step);
    case plan::MountKind::kDirectory:
      return append(to, {"--perms", fmt::format("{:04o}", step.mode), "--dir", step.target});
    case plan::MountKind::kSymlink: return append(to, {"--symlink", step.source, step.target});
    case plan::MountKind::kBind: {
      const bool read_only = step.access == plan::Access::kReadOnly;
      return append(to, {read_only ? "--ro-bind" : "--bind", step.source, step.target});
    }
    // bwrap adds nodev to every bind, so that the device cannot be opened.
    case plan::MountKind::kHideFile: return append(to, {"--ro-bind", "/dev/null", step.target});
    case plan::MountKind::kFile:
    case plan::MountKind::kCover: return;  // append_file
    case plan::MountKind::kProc: return append(to, {"--proc", step.target});
    case plan::MountKind::kDevices: return append(to, {"--dev", step.target});
    case plan::MountKind::kAccount:
    case plan::MountKind::kGivenRoot:
    case plan::MountKind::kEngineRoot:
    case plan::MountKind::kImage: return;  // refused before there is a plan
    case plan::MountKind::kSeal: return;  // the guest's to do (guest/setup/tree.h, seal_mounts)
  }
}

// MAX_ARGS of bubblewrap.c is 9000; the backend adds the arguments of its command.
constexpr std::size_t kArgumentsMax = 8900;

}  // namespace

Result<BwrapArguments> bwrap_arguments(const plan::SandboxPlan& plan, int first_file_fd) {
  BwrapArguments arguments;
  // --die-with-parent is left out: if hutch is killed during a start, that option ends the half of bubblewrap that
  // would let the other half continue, and the other half waits for ever. The guest ends when its stream ends, and the
  // rest with it.
  arguments.words = {"--unshare-user",
                     "--unshare-pid",
                     "--unshare-net",
                     "--unshare-ipc",
                     "--unshare-uts",
                     "--unshare-cgroup",
                     "--as-pid-1",
                     "--cap-drop",
                     "ALL",
                     "--hostname",
                     plan.hostname,
                     "--uid",
                     std::to_string(plan.uid),
                     "--gid",
                     std::to_string(plan.gid)};
  // The guest makes one more user namespace; a map that includes root needs this in the parent (user_namespaces(7)).
  // The guest drops it with all others before anything else runs.
  if (plan.uid == 0) append(arguments.words, {"--cap-add", "CAP_SETFCAP"});
  for (const plan::MountStep& step : plan.mounts) {
    if (is_file(step)) TRY(append_file(arguments, first_file_fd, plan, step));
    append_step(arguments.words, step);
  }
  append(arguments.words, {"--chdir", "/"});
  for (const std::string& argument : arguments.words) {
    if (argument.find('\0') != std::string::npos) return fail(Error::invalid("a path with a NUL byte"));
  }
  if (arguments.words.size() > kArgumentsMax) {
    return fail(Error::unsupported(cat({"bwrap takes ", std::to_string(kArgumentsMax),
                                        " arguments, and this sandbox needs ", std::to_string(arguments.words.size()),
                                        ": too many files here are never written, as the settings of repositories; use "
                                        "--backend namespace, or --deny-write for the directory that holds them"})));
  }
  return arguments;
}

}  // namespace hutch::backend
