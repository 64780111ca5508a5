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
separator=$(printf '\037')
folders="--remap-path-prefix=$here="
if [ -d ../registry ]; then
  # Crates may have parts that run where they are compiled.
  cc --version >/dev/null || unsuited "a worker has no C compiler"
  crates=$here/cargo-home/crates
  mkdir -p "$crates"
  while read -r name checksum; do
    # Whoever works need not be able to give files away.
    said=$(tar -xzof "../registry/$name.crate" -C "$crates" 2>&1) || unsuited "a worker cannot unpack crates: $said"
    printf '{"files":{},"package":"%s"}' "$checksum" >"$crates/$name/.cargo-checksum.json"
  done <../registry/checksums
  printf '[source.crates-io]\nreplace-with = "sent"\n[source.sent]\ndirectory = "%s"\n' "$crates" >"$here/cargo-home/config.toml"
  folders="$folders$separator--remap-path-prefix=$crates=/crates"
fi
export RUSTC="$rustc" RUSTC_WRAPPER="" RUSTC_WORKSPACE_WRAPPER="" CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR="$here/target" CARGO_HOME="$here/cargo-home"
export CARGO_ENCODED_RUSTFLAGS="$folders$separator$FLAGS"
exec "$sysroot/bin/cargo" "$@"
