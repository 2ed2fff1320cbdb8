# How sources become translation units: precompiled headers, and several sources of a folder compiled as one.
# Four fifths of the time of compiling one source by itself are the templates of the standard library and of the JSON
# library. HACKING.md says what follows for names; presets without HUTCH_UNITY compile each source by itself.

option(HUTCH_UNITY "Compile several sources of a folder as one translation unit" OFF)
# The more, the faster is a clean build: with 32 it takes seven eighths of the time with 16. After the first edit of a
# source the rest of its unit is compiled again, so the presets for daily work have fewer.
set(HUTCH_UNIT_SOURCES 16 CACHE STRING "How many sources one translation unit has at most")

# Sources that somebody is working on (tools/edited.py) stay out of the units.
set(HUTCH_EDITED_LIST "${CMAKE_BINARY_DIR}/edited.txt")
if(NOT EXISTS "${HUTCH_EDITED_LIST}")
  file(TOUCH "${HUTCH_EDITED_LIST}")
endif()
file(STRINGS "${HUTCH_EDITED_LIST}" HUTCH_EDITED)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${HUTCH_EDITED_LIST}")
foreach(SOURCE ${HUTCH_EDITED})
  set_source_files_properties("${CMAKE_SOURCE_DIR}/${SOURCE}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()

# The JSON library's classes, instantiated once for all programs.
add_library(hutch_json STATIC "${CMAKE_SOURCE_DIR}/cmake/json_library.cc")
target_link_libraries(hutch_json PRIVATE hutch_flags)
set_target_properties(hutch_json PROPERTIES UNITY_BUILD OFF)

# Each of these targets exists for its precompiled header only.
function(hutch_precompiled NAME)
  file(WRITE "${CMAKE_BINARY_DIR}/${NAME}.cc" "// Compiled for its precompiled header.\n")
  add_library(${NAME} OBJECT "${CMAKE_BINARY_DIR}/${NAME}.cc")
  target_link_libraries(${NAME} PRIVATE hutch_flags Threads::Threads)
  target_precompile_headers(${NAME} PRIVATE ${ARGN})
endfunction()
if(HUTCH_UNITY)
  hutch_precompiled(hutch_pch "${CMAKE_SOURCE_DIR}/cmake/precompiled.h")
  hutch_precompiled(hutch_pch_json "${CMAKE_SOURCE_DIR}/cmake/precompiled.h" "${CMAKE_SOURCE_DIR}/cmake/json.h")
  if(GTest_FOUND)
    hutch_precompiled(hutch_pch_test "${CMAKE_SOURCE_DIR}/cmake/precompiled.h" <gtest/gtest.h> <gmock/gmock.h>)
    target_link_libraries(hutch_pch_test PRIVATE GTest::gmock GTest::gtest)
  endif()
endif()

# hutch_units(TARGET SOURCES): the precompiled header that fits these sources, and units of them.
function(hutch_units TARGET SOURCES)
  if(NOT HUTCH_UNITY)
    return()
  endif()
  set(HEADER hutch_pch)
  foreach(SOURCE ${SOURCES})
    if(SOURCE MATCHES "_test\\.cc$")
      set(HEADER hutch_pch_test)
      break()
    endif()
    file(STRINGS "${SOURCE}" JSON REGEX "^#include <nlohmann/" LIMIT_COUNT 1)
    if(JSON)
      set(HEADER hutch_pch_json)
    endif()
  endforeach()
  target_precompile_headers(${TARGET} REUSE_FROM ${HEADER})
  # g++ wants to see the directives that lead to the precompiled header again, for ccache.
  target_compile_options(${TARGET} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  # Units are counted over all sources of the target: a source that leaves its unit moves no other one.
  set(NUMBER 0)
  foreach(SOURCE ${SOURCES})
    math(EXPR UNIT "${NUMBER} / ${HUTCH_UNIT_SOURCES}")
    set_source_files_properties("${SOURCE}" PROPERTIES UNITY_GROUP unit_${UNIT})
    math(EXPR NUMBER "${NUMBER} + 1")
  endforeach()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Folders whose code waits for the kernel, a person or another program are compiled with -O1: a quarter less time to
# compile, no difference in bench/. Those that look at each byte or each call keep the preset's -O2.
set(HUTCH_QUICK_FOLDERS base sys wire guest egress inspect sandbox)
function(hutch_optimise TARGET FOLDER)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FOLDER IN_LIST HUTCH_QUICK_FOLDERS)
    # With -O1 g++ 12 takes members of a std::variant that are not there for uninitialised ones.
    target_compile_options(${TARGET} PRIVATE -O1 -Wno-maybe-uninitialized)
  endif()
endfunction()
