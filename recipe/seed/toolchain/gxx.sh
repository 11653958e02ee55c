# A C++ compiler under conda's name.
# `../` is a source as a compiler cache names it, from the build's folder: both must give the same __FILE__.
set -euo pipefail
triplet=x86_64-conda-linux-gnu
mkdir -p "$PREFIX/bin" "$PREFIX/etc/conda/activate.d"
for name in g++ c++; do
    printf '#!/bin/sh\nexec %s "$@"\n' "$SEED_CXX" >"$PREFIX/bin/$triplet-$name"
    chmod +x "$PREFIX/bin/$triplet-$name"
done
cat >"$PREFIX/etc/conda/activate.d/activate-gxx_linux-64.sh" <<EOF
export CXX="\$CONDA_PREFIX/bin/$triplet-g++"
if [ "\${CONDA_BUILD:-0}" = 1 ]; then
    export CXXFLAGS="\${CXXFLAGS:-} -O2 -fPIC -isystem \$PREFIX/include -ffile-prefix-map=\$SRC_DIR=/usr/local/src -ffile-prefix-map=../=/usr/local/src/ -ffile-prefix-map=\$PREFIX=/usr/local"
fi
EOF
