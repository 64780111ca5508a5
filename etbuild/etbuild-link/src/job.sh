# Compiles a project where a worker put it. The worker must have the toolchain that the build is keyed by; status 78 says that
# it has not, and the last line on standard error why.
set -u
unsuited() {
  echo "$1" >&2
  exit 78
}
sysroot=$(rustc --print sysroot) || unsuited "a worker has no Rust"
rustc=$sysroot/bin/rustc
found=$("$rustc" -vV)
[ "$found" = "$WANTED_RUSTC" ] || unsuited "a worker has $("$rustc" --version), which is not the compiler here"
if [ -n "$WANTED_LINKER" ]; then
  compiler=$(cc --version) || unsuited "a worker has no C compiler"
  linker=$(cc -Wl,--version 2>/dev/null) || unsuited "a worker has no linker"
  found=$(printf '%s\n' "$compiler" | head -n 1) && found="$found, $(printf '%s\n' "$linker" | head -n 1)"
  [ "$found" = "$WANTED_LINKER" ] || unsuited "a worker links with $found, which is not the linker here"
fi
[ -d "$sysroot/lib/rustlib/$WANTED_TARGET/lib" ] || unsuited "a worker's Rust lacks the target $WANTED_TARGET"
here=$(pwd)
export RUSTC="$rustc" RUSTC_WRAPPER="" RUSTC_WORKSPACE_WRAPPER="" CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR="$here/target" CARGO_HOME="$here/cargo-home"
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$here=$(printf '\037')$FLAGS"
exec "$sysroot/bin/cargo" "$@"
