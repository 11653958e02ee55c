# The vendor's SDK as a target: maca::mcruntime, with the SDK's include folder.
#
# TORCH_FL_SDK_ROOT, else METAX_PATH, METAX_HOME, MACA_PATH or MACA_HOME of CMake or the environment says where it is; /opt/maca is the
# vendor's default. Without TORCH_FL_SDK_RUN_PATH the library built here looks for the SDK's where it was found.
set(_maca_roots ${TORCH_FL_SDK_ROOT})
foreach(_name METAX_PATH METAX_HOME MACA_PATH MACA_HOME)
  list(APPEND _maca_roots ${${_name}} $ENV{${_name}})
endforeach()
list(APPEND _maca_roots /opt/maca)

find_path(MACA_INCLUDE_DIR mcr/mc_runtime_api.h PATHS ${_maca_roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(MACA_mcruntime_LIBRARY NAMES mcruntime PATHS ${_maca_roots} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
if(NOT MACA_INCLUDE_DIR OR NOT MACA_mcruntime_LIBRARY)
  set(_maca_missing)
  if(NOT MACA_INCLUDE_DIR)
    list(APPEND _maca_missing mcr/mc_runtime_api.h)
  endif()
  if(NOT MACA_mcruntime_LIBRARY)
    list(APPEND _maca_missing libmcruntime.so)
  endif()
  list(JOIN _maca_missing ", " _maca_missing)
  list(JOIN _maca_roots ", " _maca_roots)
  message(FATAL_ERROR "TORCH_FL_PLATFORM=metax needs the MACA toolkit: ${_maca_missing} not found in ${_maca_roots}; set "
    "METAX_PATH to the folder that holds its include and lib, or build against the emulated SDK with -DTORCH_FL_EMULATED=ON")
endif()

if(NOT TORCH_FL_SDK_RUN_PATH)
  get_filename_component(TORCH_FL_SDK_RUN_PATH "${MACA_mcruntime_LIBRARY}" DIRECTORY)
endif()

add_library(maca::mcruntime UNKNOWN IMPORTED)
set_target_properties(maca::mcruntime PROPERTIES
  IMPORTED_LOCATION "${MACA_mcruntime_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${MACA_INCLUDE_DIR}")
