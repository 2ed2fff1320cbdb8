// Says where a directory's repository is, if git and package managers cannot find it in the sandbox.
#include "service/explain/missing_repository.h"

#include <string>
#include <string_view>

#include "base/text.h"
#include "host/paths/outer_repository.h"
#include "policy/path_option.h"
#include "service/explain/explain.h"

namespace hutch::service {

namespace {

std::string_view why_outside(host::OuterRepository::LinkedBy by) {
  using enum host::OuterRepository::LinkedBy;
  switch (by) {
    case kUser: return "";
    case kSandbox: return ", and a sandbox made the link to it";
    case kSymbolicLink: return ", and it names this directory by a symbolic link, which a sandbox may have made";
  }
  return "";
}

}  // namespace

std::optional<sandbox::Refusal> missing_repository(const Prepared& prepared, const plan::HostFacts& facts,
                                                   sandbox::AllowedBy by) {
  using host::OuterRepository;
  const std::string& directory = prepared.plan.cwd;
  const auto repository = host::outer_repository(directory);
  if (!repository) return std::nullopt;
  const std::string objects = cat({repository->git, "/objects"});
  const auto verdict = judge_path(prepared, facts, objects, policy::Access::kWrite);
  if (!verdict || verdict->allowed) return std::nullopt;
  const std::string git = printable(repository->git);
  const bool is_part = repository->kind == OuterRepository::Kind::kPart || repository->work_tree != directory;
  if (!is_part) {
    return sandbox::Refusal{
        .what = cat({"git finds no repository here: it is ", git, ", outside of the sandbox",
                     why_outside(repository->linked_by), "; ",
                     by == sandbox::AllowedBy::kOption ? policy::path_option("--allow-write", repository->git)
                                                       : policy::path_setting("filesystem.allowWrite", repository->git),
                     " lets git work"}),
        .rule = verdict->rule};
  }
  const std::string work_tree = printable(repository->work_tree);
  const std::size_t above = repository->work_tree == "/" ? 1 : repository->work_tree.size() + 1;
  // hutch would take "-x" for an option, and "~x" for a home.
  const std::string below = directory.substr(above);
  const std::string part = shell_word(below.starts_with('-') || below.starts_with('~') ? cat({"./", below}) : below);
  return sandbox::Refusal{.what = cat({"this directory is a part of ", work_tree,
                                       ", outside of the sandbox: git finds no repository here, and a package manager ",
                                       "no workspace; start hutch there, with --cwd ", part}),
                          .rule = verdict->rule};
}

}  // namespace hutch::service
