// The tests of what of a kernel's module is loaded.
#include "guest/machine/module_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::guest {
namespace {

constexpr std::string_view kSigned = "~Module signature appended~\n";

template <class T>
void append(std::string& bytes, const T& part) {
  bytes.append(reinterpret_cast<const char*>(&part), sizeof(part));
}

// A header, the names of sections, the sections' headers: none, the names, and those that are given.
std::string module_with(const std::vector<std::string>& sections) {
  std::string names("\0.shstrtab\0", 11);
  std::vector<Elf64_Word> named;
  for (const std::string& section : sections) {
    named.push_back(static_cast<Elf64_Word>(names.size()));
    names += section + '\0';
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof(header) + names.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(2 + sections.size());
  header.e_shstrndx = 1;
  std::string module;
  append(module, header);
  module += names;
  append(module, Elf64_Shdr{});
  append(module, Elf64_Shdr{.sh_name = 1,
                            .sh_type = SHT_STRTAB,
                            .sh_flags = 0,
                            .sh_addr = 0,
                            .sh_offset = sizeof(header),
                            .sh_size = names.size(),
                            .sh_link = 0,
                            .sh_info = 0,
                            .sh_addralign = 1,
                            .sh_entsize = 0});
  for (const Elf64_Word name : named) {
    Elf64_Shdr section{};
    section.sh_name = name;
    append(module, section);
  }
  return module;
}

std::string with_signature(const std::string& module, std::string_view signature) {
  std::string about(12, '\0');
  about[10] = static_cast<char>(signature.size() >> 8);
  about[11] = static_cast<char>(signature.size() & 0xff);
  return module + std::string(signature) + about + std::string(kSigned);
}

std::vector<std::string> section_names(const std::string& module) {
  Elf64_Ehdr header;
  std::memcpy(&header, module.data(), sizeof(header));
  std::vector<std::string> found;
  for (std::size_t i = 2; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, module.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    found.emplace_back(module.data() + sizeof(header) + section.sh_name);
  }
  return found;
}

TEST(ModuleImage, TakesTheNameOfTheTypesAlone) {
  const std::string module = module_with({".text", ".BTF_ids", ".BTF", ".data"});
  const std::string loaded = without_types(module);
  EXPECT_EQ(section_names(loaded), (std::vector<std::string>{".text", ".BTF_ids", "", ".data"}));
  EXPECT_EQ(loaded.size(), module.size());
}

TEST(ModuleImage, CutsTheSignatureOff) {
  const std::string module = module_with({".BTF"});
  EXPECT_EQ(without_types(with_signature(module, std::string(700, 's'))).size(), module.size());
  EXPECT_EQ(without_types(with_signature(module, "")).size(), module.size());
}

TEST(ModuleImage, LeavesWhatHasNoTypesAsItIs) {
  const std::string module = with_signature(module_with({".text", ".BTF_ids", ".BTF.base"}), "s");
  EXPECT_EQ(without_types(module), module) << "signed still";
}

TEST(ModuleImage, LeavesASignatureThatIsLongerThanTheFile) {
  std::string module = with_signature(module_with({".BTF"}), "s");
  const std::size_t size = module.size();
  module[size - kSigned.size() - 2] = '\x7f';
  EXPECT_EQ(without_types(module).size(), size);
}

TEST(ModuleImage, TakesAnyBytes) {
  const std::string module = with_signature(module_with({".text", ".BTF"}), "sig");
  EXPECT_EQ(without_types(""), "");
  EXPECT_EQ(without_types("\177ELF"), "\177ELF");
  for (std::size_t size = 0; size < module.size(); ++size) {
    EXPECT_LE(without_types(module.substr(0, size)).size(), size);
  }
  for (std::size_t at = 0; at < module.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string other = module;
      other[at] = value;
      EXPECT_LE(without_types(other).size(), other.size()) << at;
    }
  }
}

}  // namespace
}  // namespace hutch::guest
