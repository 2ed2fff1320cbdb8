// Makes files of judged contents.
#include "guest/calls/landed_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "sys/files/beneath.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

// Of file systems that cannot: open(2), and those that ignore the flag open the directory.
bool lacks_nameless(const Error& error) {
  return error.sys_errno == EOPNOTSUPP || error.sys_errno == EISDIR || error.sys_errno == ENOENT ||
         error.sys_errno == EINVAL;
}

Status remove_old(int directory, const std::string& name) {
  Status removed = sys::unlink_with(directory, name, 0);
  return removed || removed.error().sys_errno == ENOENT ? Status() : std::move(removed);
}

Status fill(int file, const LandedContent& content) {
  TRY(sys::write_all(file, content.bytes));
  TRY(sys::set_mode(file, content.mode & 0777));
  return sys::set_modified(file, content.modified_ns);
}

// The name leads to this very file, which has no other name, and the content that was judged.
Status check_landed(int directory, const std::string& name, int file, std::string_view bytes) {
  const sys::Resolved there = TRY(sys::look_at_name(directory, name));
  const sys::Resolved made = TRY(sys::look_at(file));
  const bool is_it = there.is_same(made) && made.links == 1 && TRY(sys::read_at(file, 0, bytes.size() + 1)) == bytes;
  return is_it ? Status() : fail(Error::from_errno("another file has the name", ESTALE));
}

}  // namespace

Result<sys::Resolved> land_file(int directory, const std::string& name, const LandedContent& content) {
  auto landed = land_file(directory, name, content, Landing::kNameless);
  if (landed || !lacks_nameless(landed.error())) return landed;
  return land_file(directory, name, content, Landing::kNamed);
}

Result<sys::Resolved> land_file(int directory, const std::string& name, const LandedContent& content, Landing how) {
  const bool is_nameless = how == Landing::kNameless;
  // Nobody else can open it meanwhile: it has no right for anybody yet.
  if (!is_nameless) TRY(remove_old(directory, name));
  const UniqueFd file = TRY(is_nameless ? sys::open_at(directory, ".", O_TMPFILE | O_RDWR, 0)
                                        : sys::open_at(directory, name, O_RDWR | O_CREAT | O_EXCL, 0));
  Status landed = fill(file.get(), content);
  if (landed && is_nameless) landed = remove_old(directory, name);
  if (landed && is_nameless) landed = sys::give_name(file.get(), directory, name);
  if (is_nameless && !landed) return fail(std::move(landed).error());
  if (landed) landed = check_landed(directory, name, file.get(), content.bytes);
  if (landed) return sys::look_at(file.get());
  (void)sys::unlink_with(directory, name, 0);
  return fail(std::move(landed).error());
}

// A link has its content from the beginning.
Result<sys::Resolved> land_link(int directory, const std::string& name, const std::string& target) {
  TRY(remove_old(directory, name));
  TRY(sys::make_symlink_at(target, directory, name));
  const sys::Resolved made = TRY(sys::look_at_name(directory, name));
  if (S_ISLNK(made.mode) && made.links == 1 && TRY(sys::link_text(directory, name)) == target) return made;
  (void)sys::unlink_with(directory, name, 0);
  return fail(Error::from_errno("another file has the name", ESTALE));
}

}  // namespace hutch::guest
