# A C compiler under conda's name: wrapper, binutils, and the variables that its activation sets.
# `../` is a source as a compiler cache names it, from the build's folder: both must give the same __FILE__.
set -euo pipefail
triplet=x86_64-conda-linux-gnu
mkdir -p "$PREFIX/bin" "$PREFIX/etc/conda/activate.d"
wrap() {  # wrap <name> <command...>
    printf '#!/bin/sh\nexec %s "$@"\n' "${*:2}" >"$PREFIX/bin/$triplet-$1"
    chmod +x "$PREFIX/bin/$triplet-$1"
}
wrap gcc $SEED_CC
wrap cc $SEED_CC
for tool in ar nm ranlib ld strip objcopy objdump readelf; do
    path=$(command -v "$tool") && wrap "$tool" "$path"
done
cat >"$PREFIX/etc/conda/activate.d/activate-gcc_linux-64.sh" <<EOF
export HOST=$triplet CC="\$CONDA_PREFIX/bin/$triplet-gcc"
export AR="\$CONDA_PREFIX/bin/$triplet-ar" NM="\$CONDA_PREFIX/bin/$triplet-nm" RANLIB="\$CONDA_PREFIX/bin/$triplet-ranlib"
if [ "\${CONDA_BUILD:-0}" = 1 ]; then
    export CFLAGS="\${CFLAGS:-} -O2 -fPIC -isystem \$PREFIX/include -ffile-prefix-map=\$SRC_DIR=/usr/local/src -ffile-prefix-map=../=/usr/local/src/ -ffile-prefix-map=\$PREFIX=/usr/local"
    export LDFLAGS="\${LDFLAGS:-} -Wl,-O2 -Wl,--as-needed -Wl,-rpath-link,\$PREFIX/lib -L\$PREFIX/lib"
    export CMAKE_ARGS="-DCMAKE_INSTALL_PREFIX=\$PREFIX -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=\$PREFIX"
fi
EOF
