// What of a kernel's module is loaded.
#pragma once

#include <string>

namespace hutch::guest {

// A module, an ELF file of 64 bits, as init_module(2) takes it: its section .BTF goes by no name, so that the kernel
// passes over what it says of types, which nobody here asks for, and which reading takes half of the time of loading.
// The signature behind it (scripts/sign-file.c), which is not that file's any more, is cut off. Pure; what is no such
// file stays as it is.
std::string without_types(std::string module);

}  // namespace hutch::guest
