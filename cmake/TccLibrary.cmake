# Helper functions for tcc's own libraries, tools and tests. Dependencies point one way (docs/Rationale.md):
# a library names in DEPENDS only what stands before it in that order, and links nothing else.

# A dependency must be defined above its user: lib/CMakeLists.txt is in dependency order.
function(tcc_check_depends name)
  foreach(dependency ${ARGN})
    if(NOT TARGET ${dependency})
      message(FATAL_ERROR "${name} depends on ${dependency}, which doesn't stand before it in lib/CMakeLists.txt")
    endif()
  endforeach()
endfunction()

# tcc_add_library(NAME sources... [DEPENDS tcc libraries...]): a library on LLVM Support alone.
function(tcc_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  tcc_check_depends(${name} ${ARG_DEPENDS})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} tcc-llvm-support)
endfunction()

# tcc_add_mlir_library(NAME sources... [DEPENDS tcc libraries...] [MLIR mlir libraries...] [COMPONENTS llvm components...]):
# a library on MLIR. MLIR and COMPONENTS are what the static build links; the shared build links libMLIR and libLLVM.
function(tcc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;MLIR;COMPONENTS" ${ARGN})
  tcc_check_depends(${name} ${ARG_DEPENDS})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
  if(TCC_STATIC)
    # MLIR's archives don't say what they need of LLVM: TccLLVM.cmake drops it with libLLVM.so.
    llvm_map_components_to_libnames(components Core Remarks Support ${ARG_COMPONENTS})
    target_link_libraries(${name} PUBLIC ${ARG_MLIR} ${components})
  else()
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  endif()
  add_dependencies(${name} tcc-headers)
  # Passes are not hot; MLIR's templates compile half again as fast without -O3.
  target_compile_options(${name} PRIVATE -O1)
  target_precompile_headers(${name} REUSE_FROM tcc-pch)
endfunction()

# tcc_add_tool(NAME sources... DEPENDS libraries... [MLIR mlir libraries...]): an executable in build/bin.
# MLIR is as for tcc_add_mlir_library.
function(tcc_add_tool name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;MLIR" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  if(ARG_MLIR)
    target_compile_options(${name} PRIVATE -O1) # as tcc_add_mlir_library
    target_precompile_headers(${name} REUSE_FROM tcc-pch)
  endif()
  if(TCC_STATIC)
    target_link_libraries(${name} PRIVATE ${ARG_MLIR})
  endif()
endfunction()

# tcc_add_unittest(NAME sources... DEPENDS libraries...): a GoogleTest executable whose cases CTest runs.
function(tcc_add_unittest name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  # Discovery runs the program; a busy machine takes longer than the 5 s that CMake allows.
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
