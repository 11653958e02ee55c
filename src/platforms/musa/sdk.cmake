# The vendor's SDK as targets: musa::musart, musa::mudnn, musa::murand, each with the SDK's include folder.
#
# TORCH_FL_SDK_ROOT, else MUSA_HOME, MUSA_ROOT or MUSA_PATH of CMake or the environment says where it is; /usr/local/musa is the
# vendor's default. Without TORCH_FL_SDK_RUN_PATH the libraries built here look for the SDK's where they were found.
# musa::mupti is headers only: the profiler's library is opened when a session starts, never linked.
set(_musa_roots ${TORCH_FL_SDK_ROOT})
foreach(_name MUSA_HOME MUSA_ROOT MUSA_PATH)
  list(APPEND _musa_roots ${${_name}} $ENV{${_name}})
endforeach()
list(APPEND _musa_roots /usr/local/musa)

find_path(MUSA_INCLUDE_DIR musa_runtime.h PATHS ${_musa_roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
set(_musa_missing)
foreach(_library musart mudnn murand)
  # MUSA 5.1 calls the C++ interface of mudnn "mudnncxx".
  set(_names ${_library})
  if(_library STREQUAL "mudnn")
    set(_names mudnncxx mudnn)
  endif()
  find_library(MUSA_${_library}_LIBRARY NAMES ${_names} PATHS ${_musa_roots} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
  if(NOT MUSA_${_library}_LIBRARY)
    list(APPEND _musa_missing "lib${_library}.so")
  endif()
endforeach()
if(NOT MUSA_INCLUDE_DIR OR _musa_missing)
  if(NOT MUSA_INCLUDE_DIR)
    list(PREPEND _musa_missing musa_runtime.h)
  endif()
  list(JOIN _musa_missing ", " _musa_missing)
  list(JOIN _musa_roots ", " _musa_roots)
  message(FATAL_ERROR "TORCH_FL_PLATFORM=musa needs the MUSA toolkit: ${_musa_missing} not found in ${_musa_roots}; set "
    "MUSA_HOME to the folder that holds its include and lib, or build against the emulated SDK with -DTORCH_FL_EMULATED=ON")
endif()

if(NOT TORCH_FL_SDK_RUN_PATH)
  get_filename_component(TORCH_FL_SDK_RUN_PATH "${MUSA_musart_LIBRARY}" DIRECTORY)
endif()

foreach(_library musart mudnn murand)
  add_library(musa::${_library} UNKNOWN IMPORTED)
  set_target_properties(musa::${_library} PROPERTIES
    IMPORTED_LOCATION "${MUSA_${_library}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${MUSA_INCLUDE_DIR}")
endforeach()
add_library(musa::mupti INTERFACE IMPORTED)
set_target_properties(musa::mupti PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${MUSA_INCLUDE_DIR}")
