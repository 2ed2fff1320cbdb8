# Compiler and linker flags, and the libraries from Debian, as targets.

# Everything of ours links this.
add_library(hutch_flags INTERFACE)
target_include_directories(hutch_flags INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_definitions(hutch_flags INTERFACE HUTCH_VERSION="${PROJECT_VERSION}" _GNU_SOURCE)
target_compile_options(hutch_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror
  -fno-omit-frame-pointer -fstack-protector-strong)
# The same objects go into the static programs and into libhutch.so. Hidden, calls among them are as direct as with
# -fPIE.
target_compile_options(hutch_flags INTERFACE -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
target_compile_options(hutch_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fstack-clash-protection>)
# g++ 12 sees overlap and overflow in std::string's operator+ and assign where there are none (GCC bugs 105651, 105329,
# 105762). Where it does depends on which sources share a unit.
target_compile_options(hutch_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>)
# How much g++ allocates before it first collects garbage, in KiB: a fifth less time for a third more memory.
target_compile_options(hutch_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=800000>)
# clang's -Wconversion also objects to the text in CHECK(!"what is wrong"), and libstdc++ 12 uses what it deprecates.
target_compile_options(hutch_flags INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-string-conversion>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(HUTCH_SANITIZE)
  target_compile_options(hutch_flags INTERFACE -fsanitize=${HUTCH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(hutch_flags INTERFACE -fsanitize=${HUTCH_SANITIZE})
  # The dev build leaves vptr out: 7 % of the time to compile, for casts that the code hardly has.
  if(HUTCH_SANITIZE_NOT)
    target_compile_options(hutch_flags INTERFACE -fno-sanitize=${HUTCH_SANITIZE_NOT})
  endif()
  # g++ 12 reports false ones inside libstdc++ when it inlines between the sanitizers' checks.
  target_compile_options(hutch_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
target_compile_definitions(hutch_flags INTERFACE _GLIBCXX_ASSERTIONS)
# FORTIFY needs optimisation, and its wrappers hide calls from the sanitizers.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(hutch_flags INTERFACE -ffunction-sections -fdata-sections)
  target_compile_definitions(hutch_flags INTERFACE _FORTIFY_SOURCE=2)
  target_link_options(hutch_flags INTERFACE -Wl,--gc-sections)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(hutch_flags INTERFACE -fcf-protection=full)
  endif()
endif()

# The fuzzer sees which branches of the libraries an input takes; its own main is linked to the targets alone.
if(HUTCH_FUZZ)
  target_compile_options(hutch_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Some hundred programs of the tests, each of tens of megabytes: GNU ld takes a minute longer for them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(hutch_flags INTERFACE -fuse-ld=lld)
endif()

# For the programs that ship.
add_library(hutch_program_flags INTERFACE)
target_link_options(hutch_program_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
if(HUTCH_STATIC)
  # static-pie: no shared library at all, and still placed at a random address.
  target_link_options(hutch_program_flags INTERFACE -static-pie)
  # Relocations in a hundredth of the space, which every start has to read.
  target_link_options(hutch_program_flags INTERFACE -Wl,-z,pack-relative-relocs)
else()
  target_link_options(hutch_program_flags INTERFACE -pie)
endif()

# fmt as a static library.
find_path(HUTCH_FMT_INCLUDE fmt/format-inl.h REQUIRED)
add_library(hutch_fmt STATIC "${CMAKE_SOURCE_DIR}/cmake/fmt_library.cc")
target_compile_features(hutch_fmt PUBLIC cxx_std_23)
target_compile_options(hutch_fmt PRIVATE -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections)
if(HUTCH_SANITIZE)
  target_compile_options(hutch_fmt PRIVATE -fsanitize=${HUTCH_SANITIZE})
endif()
find_path(HUTCH_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest CONFIG)
if(HUTCH_TESTS AND NOT GTest_FOUND)
  message(FATAL_ERROR "GoogleTest is missing: apt-get install libgtest-dev libgmock-dev")
endif()

find_program(HUTCH_CCACHE ccache)
if(HUTCH_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout: another clone of the same sources finds what this one compiled.
  # ccache(1), "Precompiled headers": what it has to be told to handle them.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=true CCACHE_SLOPPINESS=pch_defines,time_macros
    "${HUTCH_CCACHE}")
endif()
