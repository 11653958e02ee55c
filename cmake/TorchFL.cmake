# Helpers for the folders under src/: one call declares a platform.

# The contract headers, for everything that is loaded by the core.
add_library(torch_fl_abi INTERFACE)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH _sources)
target_include_directories(torch_fl_abi INTERFACE "${_sources}/src/abi")
# __FILE__, which PyTorch's macros write into the libraries, names a file from the root of the sources, whether or not a compiler cache has
# made the path relative to the build's folder.
add_compile_options("-fmacro-prefix-map=${_sources}/=" -fmacro-prefix-map=../=)

# torch_fl_add_platform(<id> [VENDOR <folder>] [SOURCES ...] [LIBRARIES ...])
# Builds libtorch_fl_platform_<id>.so, which exports flagos_platform_entry and nothing else. VENDOR: the runtime mirrors CUDA's, and
# the folder's vendor.h has its names, so that the sources in src/platforms/common/runtime are the device layer.
function(torch_fl_add_platform id)
  cmake_parse_arguments(ARG "" "VENDOR" "SOURCES;LIBRARIES" ${ARGN})
  set(target torch_fl_platform_${id})
  set(_common "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/platforms/common")
  set(_mirror)
  if(ARG_VENDOR)
    file(GLOB _mirror CONFIGURE_DEPENDS "${_common}/runtime/*.cpp")
  endif()
  add_library(${target} MODULE ${ARG_SOURCES} ${_mirror})
  target_link_libraries(${target} PRIVATE torch_fl_abi ${ARG_LIBRARIES})
  target_include_directories(${target} PRIVATE "${_common}" ${ARG_VENDOR})
  target_compile_definitions(${target} PRIVATE
    TORCH_FL_PLATFORM_ID="${id}" TORCH_FL_PLATFORM_NAMESPACE=${id} TORCH_FL_SDK_VERSION="${TORCH_FL_SDK_VERSION}")
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  # Hidden visibility does not reach the templates of the standard library, hence the list of exports. The library is
  # never unloaded: threads run its code and the process may keep its signal handler.
  set(_exports "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/platform_exports.map")
  target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,-z,nodelete -Wl,--as-needed "-Wl,--version-script=${_exports}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${_exports}")
  set(_rpath "$ORIGIN" ${TORCH_FL_SDK_RUN_PATH})
  # Without PyTorch's headers nothing is won by joining sources, and their file-local names may then be equal.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF INSTALL_RPATH "${_rpath}" INSTALL_RPATH_USE_LINK_PATH OFF
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  install(TARGETS ${target} LIBRARY DESTINATION "${TORCH_FL_LIB_DIR}" COMPONENT runtime)
endfunction()

# torch_fl_add_torch_device(<id> SOURCES ... LIBRARIES ... [RUN_PATH ...])
# Builds libtorch_fl_platform_<id>_torch.so, which exports flagos_torch_device_entry: the part of a platform that is the vendor's
# PyTorch's, in the package of the kernels that run on it.
function(torch_fl_add_torch_device id)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;RUN_PATH" ${ARGN})
  set(target torch_fl_platform_${id}_torch)
  add_library(${target} MODULE ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE torch_fl_abi ${ARG_LIBRARIES})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  set(_exports "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/platform_exports.map")
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,--as-needed "-Wl,--version-script=${_exports}")
  torch_fl_set_rpath(${target} "${TORCH_FL_LIB_DIR}")
  get_target_property(_rpath ${target} INSTALL_RPATH)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF INSTALL_RPATH "${ARG_RUN_PATH};${_rpath}"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  install(TARGETS ${target} LIBRARY DESTINATION "${TORCH_FL_LIB_DIR}" COMPONENT vendor-kernels)
endfunction()

# torch_fl_add_kernels(<slot> COMPONENT <part of the installation> SOURCES ... LIBRARIES ...)
# Builds libtorch_fl_<slot>.so, whose kernels the core loads and never unloads.
function(torch_fl_add_kernels slot)
  cmake_parse_arguments(ARG "" "COMPONENT" "SOURCES;LIBRARIES" ${ARGN})
  set(target torch_fl_${slot})
  add_library(${target} MODULE ${ARG_SOURCES})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  target_link_libraries(${target} PRIVATE torch_fl torch_fl_abi ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  torch_fl_set_rpath(${target} "${TORCH_FL_LIB_DIR}")
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  install(TARGETS ${target} LIBRARY DESTINATION "${TORCH_FL_LIB_DIR}" COMPONENT ${ARG_COMPONENT})
  set_property(GLOBAL APPEND PROPERTY TORCH_FL_KERNEL_COMPONENTS ${ARG_COMPONENT})
endfunction()

# torch_fl_set_rpath(<target> <folder>): from its installed folder a library finds its siblings and libtorch, whether the
# latter lies in the prefix (conda-forge) or in site-packages/torch/lib (the wheel). Nothing absolute is left in it but
# TORCH_FL_SDK_RUN_PATH, the vendor's folders, which come last: an SDK elsewhere is named by LD_LIBRARY_PATH, which comes first.
function(torch_fl_set_rpath target folder)
  get_filename_component(_site "${TORCH_FL_PYTHON_DIR}" DIRECTORY)
  set(_rpath "$ORIGIN")
  foreach(_other "${TORCH_FL_LIB_DIR}" "${_site}/torch/lib")
    file(RELATIVE_PATH _relative "/prefix/${folder}" "/prefix/${_other}")
    if(_relative)
      list(APPEND _rpath "$ORIGIN/${_relative}")
    endif()
  endforeach()
  list(APPEND _rpath ${TORCH_FL_SDK_RUN_PATH})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${_rpath}" BUILD_RPATH "${TorchLibraries_LIB_DIR}"
    INSTALL_RPATH_USE_LINK_PATH OFF)
endfunction()
