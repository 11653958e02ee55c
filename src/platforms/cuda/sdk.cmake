# What a build for CUDA needs: cuda::cudart (headers and runtime), and PyTorch's own part for it, cuda::c10_cuda.
#
# TORCH_FL_SDK_ROOT, else CUDA_HOME or CUDA_PATH of CMake or the environment, else the NVIDIA packages beside PyTorch (the wheels
# nvidia-cuda-runtime and nvidia-cuda-crt; of CUDA 12 nvidia-cuda-runtime-cu12 and nvidia-cuda-nvcc-cu12), else /usr/local/cuda. Nothing of it is packaged, and the process has one runtime:
# the one that PyTorch has loaded, which is of the same major version.
find_library(CUDA_c10_cuda_LIBRARY c10_cuda PATHS "${TorchLibraries_LIB_DIR}" NO_DEFAULT_PATH)
if(NOT CUDA_c10_cuda_LIBRARY)
  message(FATAL_ERROR "TORCH_FL_PLATFORM=cuda needs a PyTorch with CUDA, and there is no libc10_cuda.so in "
    "${TorchLibraries_LIB_DIR}; install one, such as the wheel torch==2.11.0, or conda-forge's pytorch=*=cuda*")
endif()

get_filename_component(_site "${TorchLibraries_LIB_DIR}" DIRECTORY)
get_filename_component(_site "${_site}" DIRECTORY)
set(_cuda_roots ${TORCH_FL_SDK_ROOT})
foreach(_name CUDA_HOME CUDA_PATH)
  list(APPEND _cuda_roots ${${_name}} $ENV{${_name}})
endforeach()
list(APPEND _cuda_roots "${_site}/nvidia/cu13" "${_site}/nvidia/cuda_runtime" /usr/local/cuda)

set(_cuda_missing)
foreach(_root ${_cuda_roots})
  # One root for both, since headers of two versions do not fit together; the wheels of CUDA 12 have a folder for each part.
  foreach(_include include targets/x86_64-linux/include targets/sbsa-linux/include)
    foreach(_crt "${_root}/${_include}" "${_root}/../cuda_nvcc/include")
      if(EXISTS "${_root}/${_include}/cuda_runtime_api.h" AND EXISTS "${_crt}/crt/host_defines.h" AND NOT CUDA_INCLUDE_DIR)
        set(CUDA_INCLUDE_DIR "${_root}/${_include}")
        set(_crt_include_dir "${_crt}")
        file(GLOB _cudart "${_root}/lib64/libcudart.so*" "${_root}/lib/libcudart.so*")
      endif()
    endforeach()
  endforeach()
  if(CUDA_INCLUDE_DIR AND _cudart)
    list(GET _cudart 0 CUDA_cudart_LIBRARY)
    break()
  endif()
  unset(CUDA_INCLUDE_DIR)
endforeach()
if(NOT CUDA_INCLUDE_DIR)
  list(JOIN _cuda_roots ", " _cuda_roots)
  message(FATAL_ERROR "TORCH_FL_PLATFORM=cuda needs cuda_runtime_api.h, crt/host_defines.h and libcudart.so below one folder, and "
    "none of ${_cuda_roots} has all; install the CUDA toolkit and name it by CUDA_HOME, or the wheels nvidia-cuda-runtime and "
    "nvidia-cuda-crt beside PyTorch")
endif()

# The runtime in the process is PyTorch's, so its major version decides.
file(STRINGS "${CUDA_INCLUDE_DIR}/cuda_runtime_api.h" _version REGEX "^#define CUDART_VERSION")
string(REGEX MATCH "[0-9]+" _version "${_version}")
math(EXPR _major "${_version} / 1000")
file(STRINGS "${_site}/torch/version.py" _torch_cuda REGEX "^cuda")
string(REGEX MATCH "[0-9]+" _torch_major "${_torch_cuda}")
if(_torch_major AND NOT _torch_major EQUAL _major)
  message(FATAL_ERROR "the headers in ${CUDA_INCLUDE_DIR} are of CUDA ${_major}, and this PyTorch was built for CUDA ${_torch_major}; "
    "name a toolkit of CUDA ${_torch_major} by CUDA_HOME")
endif()

add_library(cuda::cudart UNKNOWN IMPORTED)
set_target_properties(cuda::cudart PROPERTIES IMPORTED_LOCATION "${CUDA_cudart_LIBRARY}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${CUDA_INCLUDE_DIR};${_crt_include_dir}"
  INTERFACE_INCLUDE_DIRECTORIES "${CUDA_INCLUDE_DIR};${_crt_include_dir}")
add_library(cuda::c10_cuda UNKNOWN IMPORTED)
set_target_properties(cuda::c10_cuda PROPERTIES IMPORTED_LOCATION "${CUDA_c10_cuda_LIBRARY}")
