// Resolution of paths as path_resolution(7) has it, in user space, so that every link on the way is known.
#include "host/paths/looker.h"

#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "host/reach.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

plan::FileType type_of(sys::EntryKind kind);
void drop_last(std::string& path);
void push_parts(std::vector<std::string>& pending, std::string_view path);

}  // namespace

Result<const Looked*> Looker::look(const std::string& path) {
  const auto found = seen_.find(path);
  if (found != seen_.end()) return &found->second;
  Looked looked;
  auto status = sys::status_of(path);
  if (!status && !is_out_of_reach(status.error())) return fail(std::move(status).error());
  if (status && *status) {
    looked.type = type_of((*status)->kind);
    looked.identity = {(*status)->device, (*status)->inode};
    looked.owner = (*status)->uid;
    if (looked.type == plan::FileType::kSymlink) looked.link = TRY(sys::tree_link_text(path));
  }
  return &seen_.emplace(path, std::move(looked)).first->second;
}

void Looker::assume(const std::vector<plan::RootEntry>& root) {
  for (const plan::RootEntry& entry : root) {
    Looked looked;
    looked.type = entry.type;
    looked.link = entry.link;
    seen_.emplace("/" + entry.name, std::move(looked));
  }
}

Result<Resolved> Looker::resolve(std::string_view path, FinalLink final_link, const Eyes* eyes) {
  Resolved result;
  std::vector<std::string> pending;  // the next component is the last element
  push_parts(pending, path);
  result.type = plan::FileType::kDirectory;
  bool absent = false;
  while (!pending.empty()) {
    const std::string part = std::move(pending.back());
    pending.pop_back();
    if (part == "..") {
      result.is_lost = result.is_lost || (eyes != nullptr && !eyes->leaves(result.path.empty() ? "/" : result.path));
      drop_last(result.path);
      continue;
    }
    const std::string candidate = cat({result.path, "/", part});
    const Looked* looked = absent ? nullptr : TRY(look(candidate));
    const bool follow = looked != nullptr && looked->type == plan::FileType::kSymlink &&
                        (!pending.empty() || final_link == FinalLink::kFollow) &&
                        (eyes == nullptr || eyes->follows(candidate));
    if (follow) {
      result.hops.push_back({candidate, looked->link, looked->owner});
      if (result.hops.size() > limits::kSymlinksMax) {
        return fail(Error::invalid(cat({printable(path), ": a cycle of symbolic links at ", printable(candidate)})));
      }
      if (looked->link.starts_with('/')) result.path.clear();
      push_parts(pending, looked->link);
      continue;
    }
    result.path = candidate;
    result.type = looked == nullptr ? plan::FileType::kAbsent : looked->type;
    absent = absent || result.type == plan::FileType::kAbsent;
  }
  if (result.path.empty()) {
    result.path = "/";
    result.type = plan::FileType::kDirectory;
  }
  if (absent) result.type = plan::FileType::kAbsent;
  return result;
}

plan::SeenPath Looker::seen(const std::string& path) const {
  const auto found = seen_.find(path);
  if (found == seen_.end()) return {.path = path};
  return {.path = path, .type = found->second.type, .identity = found->second.identity, .link = found->second.link};
}

plan::PathFacts Looker::facts() const {
  plan::PathFacts facts;
  facts.seen.reserve(seen_.size());
  for (const auto& [path, looked] : seen_) {
    facts.seen.push_back({.path = path, .type = looked.type, .identity = looked.identity, .link = looked.link});
  }
  return facts;
}

namespace {

plan::FileType type_of(sys::EntryKind kind) {
  switch (kind) {
    case sys::EntryKind::kFile: return plan::FileType::kFile;
    case sys::EntryKind::kDirectory: return plan::FileType::kDirectory;
    case sys::EntryKind::kSymlink: return plan::FileType::kSymlink;
    case sys::EntryKind::kOther:
    case sys::EntryKind::kUnknown: break;
  }
  return plan::FileType::kOther;
}

void drop_last(std::string& path) {
  const std::size_t slash = path.rfind('/');
  path.resize(slash == std::string::npos ? 0 : slash);
}

void push_parts(std::vector<std::string>& pending, std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (!parts[i].empty() && parts[i] != ".") pending.emplace_back(parts[i]);
  }
}

}  // namespace

}  // namespace hutch::host
