# torch_fl_add_boxing(<slot> TARGET <device type>): libtorch_fl_<slot>.so, which serves flagos tensors with the kernels that
# PyTorch has for another of its device types (CUDA). No vendor header is needed: everything goes through PyTorch's dispatcher.
set(_boxing_folder "${CMAKE_CURRENT_LIST_DIR}")

set(TORCH_FL_BOXING_SIGNATURES 0 CACHE STRING
  "how many C++ signatures get a typed kernel, those of the most operators first; the others' operators are boxed. 0: all")

function(torch_fl_add_boxing slot)
  cmake_parse_arguments(ARG "" "TARGET" "" ${ARGN})
  set(shards 12) # no compiler process takes more than 2 GiB, and all cores have something to do
  get_target_property(_include torch_libraries::cpu INTERFACE_INCLUDE_DIRECTORIES)
  list(GET _include 0 _include)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "import importlib.util as u; print(u.find_spec('torchgen').submodule_search_locations[0])"
    OUTPUT_VARIABLE _torchgen OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(_functions "${_torchgen}/packaged/ATen/native/native_functions.yaml")
  if(NOT EXISTS "${_functions}")
    message(FATAL_ERROR "${Python_EXECUTABLE} has no torchgen with packaged/ATen/native/native_functions.yaml, of which the boxing "
      "kernels' list is made; it is part of PyTorch's wheel and of conda-forge's pytorch: install that")
  endif()
  set(_generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
  set(_outputs "${_generated}/all_typed.cpp")
  math(EXPR _last "${shards} - 1")
  foreach(_number RANGE ${_last})
    list(APPEND _outputs "${_generated}/typed_${_number}.cpp")
  endforeach()
  add_custom_command(
    OUTPUT ${_outputs}
    COMMAND "${Python_EXECUTABLE}" "${_boxing_folder}/list_operators.py" --functions "${_functions}" --headers "${_include}/ATen/ops"
      --key "${ARG_TARGET}" --output "${_generated}" --shards ${shards}
      --signatures "${TORCH_FL_BOXING_SIGNATURES}"
    DEPENDS "${_boxing_folder}/list_operators.py" "${_functions}" "${_include}/ATen/core/TensorBody.h"
    COMMENT "Listing the operators that this PyTorch has ${ARG_TARGET} kernels for"
    VERBATIM)

  set(_sources attention.cpp boxed.cpp call.cpp eligible.cpp library.cpp)
  if(NOT ARG_TARGET STREQUAL "CPU")
    list(APPEND _sources flash_attention.cpp)
  endif()
  list(TRANSFORM _sources PREPEND "${_boxing_folder}/")
  # A part of its own: the package torch-fl-vendor-kernels.
  torch_fl_add_kernels(${slot} COMPONENT vendor-kernels SOURCES ${_sources} ${_outputs} LIBRARIES torch_libraries::cpu)
  set(target torch_fl_${slot})
  target_include_directories(${target} PRIVATE "${_boxing_folder}")
  target_compile_definitions(${target} PRIVATE AT_PER_OPERATOR_HEADERS TORCH_FL_TARGET=${ARG_TARGET}
    "TORCH_FL_BOXING_SLOT=\"${slot}\"")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_precompile_headers(${target} PRIVATE "${_boxing_folder}/typed.h")
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF) # the shards are joined sources already
endfunction()
