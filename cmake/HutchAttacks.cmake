# The attacks of `hutch selftest`: one static program of all that are C, and beside it what runs them, in bin/attacks.
# The directory is what the package installs; sources stay where they are.

file(GLOB ATTACK_SOURCES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/escape/attacks/*.c")
set(ATTACKS_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/attacks")
add_executable(hutch_attempts EXCLUDE_FROM_ALL ${ATTACK_SOURCES})
foreach(SOURCE ${ATTACK_SOURCES})
  get_filename_component(ATTACK "${SOURCE}" NAME_WE)
  set_source_files_properties("${SOURCE}" PROPERTIES COMPILE_DEFINITIONS "ATTACK=\"${ATTACK}\"")
endforeach()
target_compile_definitions(hutch_attempts PRIVATE _GNU_SOURCE)
# They ignore answers on purpose: what matters is what came of it.
target_compile_options(hutch_attempts PRIVATE -O1 -Wall -Wno-unused-result -Wno-unused-function)
target_link_options(hutch_attempts PRIVATE -static)
set_target_properties(hutch_attempts PROPERTIES
  OUTPUT_NAME attempts RUNTIME_OUTPUT_DIRECTORY "${ATTACKS_DIRECTORY}/escape")

# What is beside it, by its place below tests.
file(GLOB ATTACK_FILES CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/tests"
  "${CMAKE_SOURCE_DIR}/tests/escape/arena.py" "${CMAKE_SOURCE_DIR}/tests/escape/suite/*.py"
  "${CMAKE_SOURCE_DIR}/tests/escape/network/*.py" "${CMAKE_SOURCE_DIR}/tests/escape/attacks/*.[ch]"
  "${CMAKE_SOURCE_DIR}/tests/access/descriptors.py" "${CMAKE_SOURCE_DIR}/tests/lib/harness.py"
  "${CMAKE_SOURCE_DIR}/tests/lib/internet.py" "${CMAKE_SOURCE_DIR}/tests/lib/internet_server.py")
set(STAGED "")
foreach(FILE ${ATTACK_FILES})
  add_custom_command(OUTPUT "${ATTACKS_DIRECTORY}/${FILE}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${CMAKE_SOURCE_DIR}/tests/${FILE}" "${ATTACKS_DIRECTORY}/${FILE}"
    DEPENDS "${CMAKE_SOURCE_DIR}/tests/${FILE}" VERBATIM)
  list(APPEND STAGED "${ATTACKS_DIRECTORY}/${FILE}")
endforeach()
if(HUTCH_STATIC)
  add_custom_target(hutch_attacks ALL DEPENDS ${STAGED})
else()
  add_custom_target(hutch_attacks DEPENDS ${STAGED})
endif()
add_dependencies(hutch_attacks hutch_attempts)
install(DIRECTORY "${ATTACKS_DIRECTORY}" DESTINATION ${HUTCH_INSTALL_LIBEXEC} USE_SOURCE_PERMISSIONS OPTIONAL)
