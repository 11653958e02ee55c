# Links to the system's libraries under the names that the link check looks for.
set -euo pipefail
folder=$PREFIX/x86_64-conda-linux-gnu/sysroot/lib64
mkdir -p "$folder"
for name in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libgcc_s.so.1 libstdc++.so.6 libgomp.so.1; do
    path=$($SEED_CC -print-file-name="$name")
    case $path in
        /*) ln -s "$path" "$folder/$name" ;;  # gcc answers with the bare name where there is none
    esac
done
