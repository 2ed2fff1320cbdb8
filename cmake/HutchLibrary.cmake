# libhutch.so, what `cmake --install` puts where, and the package that find_package(hutch) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Where the programs look for it as well: ../lib/hutch beside bin.
set(HUTCH_INSTALL_LIBEXEC "lib/hutch")

target_include_directories(hutch_api PUBLIC "${CMAKE_SOURCE_DIR}/include")
target_compile_definitions(hutch_api PRIVATE
  HUTCH_INSTALLED_GUEST="${CMAKE_INSTALL_PREFIX}/${HUTCH_INSTALL_LIBEXEC}/hutch-guest")

# One shared library: all of hutch and its static dependencies, of which nothing can be seen but the API.
add_library(hutch_shared SHARED $<TARGET_OBJECTS:hutch_api>)
set(HUTCH_EXPORTS "${CMAKE_SOURCE_DIR}/cmake/libhutch.map")
target_link_libraries(hutch_shared PRIVATE hutch_flags hutch_service)
target_link_options(hutch_shared PRIVATE
  "-Wl,--version-script=${HUTCH_EXPORTS}" -Wl,-z,relro,-z,now,-z,noexecstack)
set_target_properties(hutch_shared PROPERTIES
  OUTPUT_NAME hutch EXPORT_NAME hutch VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS "${HUTCH_EXPORTS}" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
target_include_directories(hutch_shared INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(hutch_shared INTERFACE cxx_std_23)
if(HUTCH_SANITIZE OR HUTCH_FUZZ)
  set_target_properties(hutch_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

install(TARGETS hutch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS hutch-guest hutch-helper hutch-inspect hutch-unpack RUNTIME DESTINATION ${HUTCH_INSTALL_LIBEXEC})
install(TARGETS hutch_shared EXPORT hutchTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/hutch" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(HUTCH_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/hutch")
install(EXPORT hutchTargets NAMESPACE hutch:: FILE hutchConfig.cmake DESTINATION ${HUTCH_PACKAGE_DIR})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/hutchConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/hutchConfigVersion.cmake" DESTINATION ${HUTCH_PACKAGE_DIR})
