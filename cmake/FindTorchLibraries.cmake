# The parts of an installed PyTorch that a back end compiles and links against.
# PyTorch's own TorchConfig.cmake asks for a CUDA toolkit when the wheel was built with CUDA; nothing here needs one.
#
# Defines  torch_libraries::cpu     headers, libc10, libtorch_cpu, libtorch
#          torch_libraries::python  the same, with libtorch_python and the interpreter's headers
#          TorchLibraries_VERSION, TorchLibraries_LIB_DIR
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
    "import importlib.util as u, pathlib as p; print(p.Path(u.find_spec('torch').origin).parent)"
  OUTPUT_VARIABLE _torch_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(_torch_dir)
  file(STRINGS "${_torch_dir}/version.py" _torch_version REGEX "^__version__")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" TorchLibraries_VERSION "${_torch_version}")
endif()

# A wheel has everything inside torch/; conda-forge's libtorch keeps headers and libraries in the prefix.
find_path(TorchLibraries_INCLUDE_DIR ATen/ATen.h HINTS "${_torch_dir}/include" "${CMAKE_PREFIX_PATH}/include" NO_CACHE)
foreach(_name c10 torch_cpu torch torch_python)
  find_library(TorchLibraries_${_name} ${_name} HINTS "${_torch_dir}/lib" "${CMAKE_PREFIX_PATH}/lib" NO_CACHE)
endforeach()
if(TorchLibraries_c10)
  get_filename_component(TorchLibraries_LIB_DIR "${TorchLibraries_c10}" DIRECTORY)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchLibraries
  REQUIRED_VARS TorchLibraries_INCLUDE_DIR TorchLibraries_c10 TorchLibraries_torch_cpu TorchLibraries_torch_python
  VERSION_VAR TorchLibraries_VERSION
  REASON_FAILURE_MESSAGE "is torch installed for ${Python_EXECUTABLE}?")

if(TorchLibraries_FOUND AND NOT TARGET torch_libraries::cpu)
  add_library(torch_libraries::cpu INTERFACE IMPORTED)
  target_include_directories(torch_libraries::cpu SYSTEM INTERFACE
    "${TorchLibraries_INCLUDE_DIR}" "${TorchLibraries_INCLUDE_DIR}/torch/csrc/api/include")
  target_link_libraries(torch_libraries::cpu INTERFACE
    "${TorchLibraries_torch_cpu}" "${TorchLibraries_c10}")
  # CUDA wheels name libcudart and friends as dependencies of libtorch_cpu; the loader finds them through torch.
  target_link_options(torch_libraries::cpu INTERFACE -Wl,--as-needed -Wl,--allow-shlib-undefined)
  add_library(torch_libraries::python INTERFACE IMPORTED)
  target_link_libraries(torch_libraries::python INTERFACE
    torch_libraries::cpu "${TorchLibraries_torch_python}" Python::Module)
endif()
