# Finds LLVM (always) and MLIR (for the compiler), shared or static.
#
# Defines the interface target `tcc-llvm-support`: LLVM Support, from libLLVM.so or from the static archive, never both:
# two copies of LLVM in one process corrupt its registries.

if(TCC_STATIC)
  find_package(zstd REQUIRED) # LLVMSupport's link interface names it; Debian: libzstd-dev
endif()
if(TCC_ENABLE_COMPILER)
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
endif()
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)

if(TCC_STATIC)
  # Debian's MLIR archives carry libLLVM.so in their link interface. Drop it, see above.
  set(LLVM_LINK_LLVM_DYLIB OFF)
  set(MLIR_LINK_MLIR_DYLIB OFF)
  foreach(archive ${MLIR_EXPORTED_TARGETS})
    get_target_property(interface ${archive} INTERFACE_LINK_LIBRARIES)
    if(interface)
      list(REMOVE_ITEM interface LLVM "$<LINK_ONLY:LLVM>")
      set_target_properties(${archive} PROPERTIES INTERFACE_LINK_LIBRARIES "${interface}")
    endif()
  endforeach()
  # LLVMSupport names z3, which nothing here calls: without --as-needed the tools would ask for it.
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
endif()

list(APPEND CMAKE_MODULE_PATH ${LLVM_CMAKE_DIR})
if(TCC_ENABLE_COMPILER)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR})
endif()
include(AddLLVM)
include(HandleLLVMOptions)
if(TCC_ENABLE_COMPILER)
  include(TableGen)
  include(AddMLIR)
  include_directories(SYSTEM ${MLIR_INCLUDE_DIRS})
endif()
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${llvm_definitions})

add_library(tcc-llvm-support INTERFACE)
if(TCC_STATIC)
  target_link_libraries(tcc-llvm-support INTERFACE LLVMSupport)
else()
  target_link_libraries(tcc-llvm-support INTERFACE LLVM)
endif()

# lld links MLIR tools several times faster than bfd.
find_program(TCC_LLD NAMES ld.lld-22 ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR})
if(TCC_LLD)
  get_filename_component(lld_dir ${TCC_LLD} DIRECTORY)
  add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
endif()
find_program(TCC_CCACHE ccache)
if(TCC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TCC_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${TCC_CCACHE})
endif()
