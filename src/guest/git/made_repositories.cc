// Which repositories of git the sandbox has made itself.
#include "guest/git/made_repositories.h"

#include <algorithm>

#include "sys/files/beneath.h"
#include "sys/files/birth.h"

namespace hutch::guest {

void MadeRepositories::made(const Entry& entry) {
  const auto directory = sys::open_beneath(entry.at(), entry.name, sys::Beneath::kLink);
  const auto found = directory ? look(directory->get()) : std::nullopt;
  if (!found) return;
  if (directories_.size() == kDirectoriesMax) directories_.pop_front();
  directories_.push_back(*found);
}

std::optional<plan::RepositoryIdentity> MadeRepositories::completed(int directory) {
  auto found = look(directory);
  if (!found || repositories_.size() == kRepositoriesMax) return std::nullopt;
  if (std::ranges::find(directories_, *found) == directories_.end()) return std::nullopt;
  repositories_.insert(*found);
  return found;
}

void MadeRepositories::add(const plan::RepositoryIdentity& repository) {
  if (repositories_.size() < kRepositoriesMax) repositories_.insert(repository);
}

void MadeRepositories::taken_apart(int directory) {
  if (const auto found = look(directory)) std::erase(directories_, *found);
}

bool MadeRepositories::knows(int directory) const {
  const auto found = look(directory);
  return found && (repositories_.contains(*found) || std::ranges::find(directories_, *found) != directories_.end());
}

bool MadeRepositories::contains(int directory) const {
  const auto found = look(directory);
  return found && repositories_.contains(*found);
}

std::optional<plan::RepositoryIdentity> MadeRepositories::look(int directory) {
  const auto what = sys::look_at(directory);
  const auto born_ns = sys::birth_of(directory, "a repository");
  if (!what || !born_ns || *born_ns == 0) return std::nullopt;
  return plan::RepositoryIdentity{what->device, what->inode, *born_ns};
}

}  // namespace hutch::guest
