# TORCH_FL_SANITIZE instruments everything that this project compiles, and nothing else: libtorch and the interpreter stay
# as they are. `python -m flbuild.sanitize` builds so, preloads the sanitizer's library and runs tests/sanitize.
set(TORCH_FL_SANITIZE "" CACHE STRING "sanitizers to build with: empty, `address,undefined` or `thread`")
set_property(CACHE TORCH_FL_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")
if(TORCH_FL_SANITIZE)
  if(NOT TORCH_FL_SANITIZE STREQUAL "address,undefined" AND NOT TORCH_FL_SANITIZE STREQUAL "thread")
    message(FATAL_ERROR "TORCH_FL_SANITIZE=${TORCH_FL_SANITIZE}: there are \"address,undefined\" and \"thread\"")
  endif()
  # Stacks stay readable and inlined reference counts stay instrumented. The checks of address and undefined are so many that
  # optimizing them takes longer than the tests win; those of thread are calls, and cost little.
  if(TORCH_FL_SANITIZE STREQUAL "thread")
    add_compile_options(-O1)
  else()
    add_compile_options(-O0)
  endif()
  add_compile_options(-g1 -fno-omit-frame-pointer "-fsanitize=${TORCH_FL_SANITIZE}")
  add_link_options("-fsanitize=${TORCH_FL_SANITIZE}")
endif()
