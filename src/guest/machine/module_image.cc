// What of a kernel's module is loaded. elf(5), include/linux/module_signature.h.
#include "guest/machine/module_image.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace hutch::guest {

namespace {

constexpr std::string_view kSigned = "~Module signature appended~\n";
// Before these words: five bytes of what it is, three of nothing, the signature's length with its highest byte first.
constexpr std::size_t kAboutSignature = 12;
constexpr std::string_view kTypes(".BTF\0", 5);

template <class T>
std::optional<T> part_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T part;
  std::memcpy(&part, bytes.data() + at, sizeof(T));
  return part;
}

// Its size without the signature.
std::size_t unsigned_size(std::string_view module) {
  if (!module.ends_with(kSigned) || module.size() < kSigned.size() + kAboutSignature) return module.size();
  const std::size_t behind = module.size() - kSigned.size();
  std::size_t size = 0;
  for (std::size_t i = behind - 4; i < behind; ++i) size = size << 8 | static_cast<unsigned char>(module[i]);
  size += kAboutSignature;
  return size <= behind ? behind - size : module.size();
}

// Where a section's header has its name, of those that are called that.
std::optional<std::size_t> name_of_types(std::string_view module) {
  const auto header = part_at<Elf64_Ehdr>(module, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum ||
      header->e_shoff > module.size()) {
    return std::nullopt;
  }
  const auto place_of = [&](std::size_t section) { return header->e_shoff + section * sizeof(Elf64_Shdr); };
  const auto names = part_at<Elf64_Shdr>(module, place_of(header->e_shstrndx));
  if (!names || names->sh_offset > module.size()) return std::nullopt;
  for (std::size_t section = 1; section < header->e_shnum; ++section) {
    const auto found = part_at<Elf64_Shdr>(module, place_of(section));
    if (!found || found->sh_name >= names->sh_size) continue;
    const std::string_view rest = module.substr(names->sh_offset);
    if (found->sh_name <= rest.size() && rest.substr(found->sh_name).starts_with(kTypes)) {
      return place_of(section) + offsetof(Elf64_Shdr, sh_name);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string without_types(std::string module) {
  const auto name = name_of_types(module);
  if (!name) return module;
  module.resize(unsigned_size(module));
  // The first of the names is none (elf(5), "String and symbol tables").
  constexpr Elf64_Word kNoName = 0;
  if (*name + sizeof(kNoName) <= module.size()) std::memcpy(module.data() + *name, &kNoName, sizeof(kNoName));
  return module;
}

}  // namespace hutch::guest
