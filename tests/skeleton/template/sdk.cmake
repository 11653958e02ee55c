# The vendor's SDK as the target skeleton::runtime: TORCH_FL_SDK_ROOT, SKELETON_HOME, or its default folder says where it is.
set(_roots ${TORCH_FL_SDK_ROOT} $ENV{SKELETON_HOME} /opt/skeleton)
find_path(SKELETON_INCLUDE_DIR skeleton_runtime.h PATHS ${_roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(SKELETON_LIBRARY skeletonrt PATHS ${_roots} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
if(NOT SKELETON_INCLUDE_DIR OR NOT SKELETON_LIBRARY)
  list(JOIN _roots ", " _roots)
  message(FATAL_ERROR "TORCH_FL_PLATFORM=skeleton needs the Skeleton SDK, which is not in ${_roots}; set SKELETON_HOME to the folder "
    "that holds its include and lib, or build against the emulated SDK with -DTORCH_FL_EMULATED=ON")
endif()
add_library(skeleton::runtime UNKNOWN IMPORTED)
set_target_properties(skeleton::runtime PROPERTIES
  IMPORTED_LOCATION "${SKELETON_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${SKELETON_INCLUDE_DIR}")
if(NOT TORCH_FL_SDK_RUN_PATH)
  get_filename_component(TORCH_FL_SDK_RUN_PATH "${SKELETON_LIBRARY}" DIRECTORY)
endif()
