# Build rules shared by every room.
#
#   tessera_tablegen(<PublicTarget> <file.td> <out.inc> <generator args>...)
#   tessera_add_library(<Name> [NO_MLIR] SOURCES ... [DEPENDS ...] [LINK ...])
#   tessera_add_tool(<name> [NO_MLIR] SOURCES ... [LINK ...])
#   tessera_add_unittest(<Name> [NO_MLIR] SOURCES ... [LINK ...])
#
# MLIR-using targets share one precompiled header (cmake/pch.h): it cuts the
# time of a typical translation unit from 24 s to about 5 s.

set(TESSERA_COMPILE_OPTIONS -Wall -Wextra -Wno-unused-parameter -Werror=return-type -fno-plt)
if(TESSERA_ENABLE_ASSERTIONS)
  list(APPEND TESSERA_COMPILE_OPTIONS -UNDEBUG)
endif()

# "address;undefined" checks our own code while it runs; the packaged LLVM stays
# as it is, so what needs both sides instrumented (vptr, poison that LLVM's
# allocators leave) is off. scripts/sanitize.sh builds and runs such a tree.
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers for Tessera's own code, as in -fsanitize=")
if(TESSERA_SANITIZE)
  list(JOIN TESSERA_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize=vptr,function
    -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only)
  add_link_options(-fsanitize=${sanitizers} -fno-sanitize=vptr,function)
endif()

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TESSERA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

function(tessera_target_common target no_mlir)
  target_compile_options(${target} PRIVATE ${TESSERA_COMPILE_OPTIONS})
  target_include_directories(${target} PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}
    ${CMAKE_BINARY_DIR}/include ${CMAKE_BINARY_DIR})
  if(NOT no_mlir)
    target_include_directories(${target} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    # MLIR's templates at -O3 cost more time to compile than our passes need to
    # run; one level for all of them, since they share the precompiled header.
    target_compile_options(${target} PRIVATE -fno-exceptions -O1)
    if(NOT target STREQUAL TesseraPCH)
      target_precompile_headers(${target} REUSE_FROM TesseraPCH)
    endif()
  endif()
endfunction()

# The object that owns the shared precompiled header.
file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp.in "// Owner of the shared precompiled header.\n")
configure_file(${CMAKE_BINARY_DIR}/pch.cpp.in ${CMAKE_BINARY_DIR}/pch.cpp COPYONLY)
add_library(TesseraPCH OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
tessera_target_common(TesseraPCH FALSE)
target_compile_options(TesseraPCH PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Xclang;-fno-pch-timestamp>)
target_precompile_headers(TesseraPCH PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

# One generated file; `public_target` gathers them so that users can depend on
# a single name.
function(tessera_tablegen public_target td out)
  set(LLVM_TARGET_DEFINITIONS ${CMAKE_CURRENT_SOURCE_DIR}/${td})
  mlir_tablegen(${out} ${ARGN} EXTRA_INCLUDES ${MLIR_INCLUDE_DIRS} ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR})
  set(step ${public_target}_${out})
  string(MAKE_C_IDENTIFIER ${step} step)
  add_custom_target(${step} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${out})
  if(NOT TARGET ${public_target})
    add_custom_target(${public_target})
  endif()
  add_dependencies(${public_target} ${step})
endfunction()

function(tessera_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  tessera_target_common(${name} "${ARG_NO_MLIR}")
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  endif()
endfunction()

function(tessera_add_executable name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tessera_target_common(${name} "${ARG_NO_MLIR}")
  # The precompiled header is made for -fPIC; CMake gives executables -fPIE.
  target_compile_options(${name} PRIVATE -fPIC)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()

function(tessera_add_tool name)
  tessera_add_executable(${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TESSERA_TOOLS ${name})
endfunction()

# lit finds GoogleTest binaries by their suffix: name a unit test <Room>Tests.
# Unit tests land in build/test/Unit and are collected by lit (test/Unit).
function(tessera_add_unittest name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  if(ARG_NO_MLIR)
    set(mode NO_MLIR)
  endif()
  tessera_add_executable(${name} ${mode} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS}
    LINK ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/Unit)
  add_dependencies(tessera-unittests ${name})
endfunction()
