#!/usr/bin/env bash
# The one compile: configure, build and install everything into $PREFIX, and write down what was installed.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1  # running Python must not add files to the packages

value() { if [ "$1" != none ]; then printf %s "$1"; fi; }
switch() { if [ "$1" = no ]; then printf OFF; else printf ON; fi; }
site_packages=${SP_DIR#"$PREFIX"/}

# A compiler cache, where there is one, must not see that every build has folders of its own.
export CCACHE_BASEDIR="${SRC_DIR%/*}" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

list_prefix() { (cd "$PREFIX" && find . \( -type f -o -type l \) -printf '%P\n' | LC_ALL=C sort); }
list_prefix > prefix-before.txt

# CMake alone decides the run paths: the toolchain's own would name the build prefix.
export LDFLAGS="${LDFLAGS//-Wl,-rpath,$PREFIX\/lib/}"

# shellcheck disable=SC2086  # CMAKE_ARGS is a list of words
cmake -S . -B build -G Ninja ${CMAKE_ARGS:-} \
  -DPython_EXECUTABLE="$PYTHON" \
  -DTORCH_FL_PLATFORM="$FLAGOS_PLATFORM" \
  -DTORCH_FL_SDK_VERSION="$(value "$FLAGOS_SDK_VERSION")" \
  -DTORCH_FL_SDK_ROOT="$(value "$FLAGOS_SDK_ROOT")" \
  -DTORCH_FL_SDK_RUN_PATH="$(value "$FLAGOS_SDK_RUN_PATH" | tr : ';')" \
  -DTORCH_FL_CORE_LIBRARY="$(value "$FLAGOS_CORE_LIBRARY")" \
  -DTORCH_FL_LIBTORCH="$(value "$FLAGOS_LIBTORCH")" \
  -DTORCH_FL_EMULATED="$(switch "$FLAGOS_EMULATED_SDK")" \
  -DTORCH_FL_VENDOR_KERNELS="$(switch "$FLAGOS_VENDOR_KERNELS")" \
  -DTORCH_FL_UNITY=ON \
  -DTORCH_FL_FLAGGEMS="$(switch "$FLAGOS_FLAGGEMS")" \
  -DTORCH_FL_PYTHON_DIR="$site_packages/torch_fl" \
  -DTORCH_FL_LIB_DIR=lib \
  -DTORCH_FL_DATA_DIR=share/torch-fl \
  -DTORCH_FL_INCLUDE_DIR=include/torch_fl
cmake --build build --parallel "${CPU_COUNT:-2}"
cmake --install build --prefix "$PREFIX" --strip

"$PYTHON" "$RECIPE_DIR/outputs/torch-fl-build/dist_info.py" "$SP_DIR"
# The hash of the source and not its time decides whether a .pyc is current: archives do not keep times.
# --stripdir keeps the path of the build out of them.
find "$SP_DIR/torch_fl" "$SP_DIR/torch_flagos" "$SP_DIR/_torch_fl_triton" "$SP_DIR/_torch_fl_autoload.py" -name '*.py' -print0 |
  xargs -0 "$PYTHON" -m compileall -q --invalidation-mode checked-hash -s "$PREFIX" -p /

# Proof for the tests that every file goes into exactly one package (shipped with the runtime's tests).
list_prefix | LC_ALL=C comm -13 prefix-before.txt - > staged-files.txt
