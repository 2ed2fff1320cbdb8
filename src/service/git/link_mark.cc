// Marks ".git" files that a command made where no supervisor saw it.
#include "service/git/link_mark.h"

#include <fcntl.h>

#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"
#include "sys/files/beneath.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/io.h"

namespace hutch::service {

namespace {

constexpr std::string_view kLinkName = ".git";
constexpr std::size_t kRandomNameBytes = 8;
constexpr mode_t kLinkMode = 0644;

}  // namespace

void mark_git_link(const std::string& link) {
  if (!link.ends_with(cat({"/", kLinkName}))) return;
  const std::string name(kLinkName);
  const auto directory = sys::open_exact(link.substr(0, link.size() - kLinkName.size() - 1));
  if (!directory) return;
  const auto file = sys::open_beneath(directory->get(), name, sys::Beneath::kReadExact);
  if (!file) return;
  const auto text = sys::read_at(file->get(), 0, plan::kJudgedBytesMax + 1);
  if (!text || text->size() > plan::kJudgedBytesMax || !text->starts_with("gitdir: ")) return;
  if (plan::is_marked_git_link(*text)) return;
  const auto random = sys::random_hex(kRandomNameBytes);
  if (!random) return;
  const std::string other = cat({plan::kOwnNameStart, *random});
  const auto marked = sys::open_at(directory->get(), other, O_WRONLY | O_CREAT | O_EXCL, kLinkMode);
  if (!marked) return;
  Status put = sys::write_all(marked->get(), plan::marked_git_link(*text));
  if (put) put = sys::rename_at(directory->get(), other, directory->get(), name, sys::Replacing::kAllowed);
  if (!put) (void)sys::unlink_at(directory->get(), other);
}

}  // namespace hutch::service
