#!/usr/bin/env bash
# Makes web/dist, the page for maps as static files, from the registries of cargo and npm alone: `web/build.sh [--install] [--quick]`.
# It needs cargo, node and npm, and the standard library for WebAssembly: that of the toolchain in use, or its source, which
# Debian has beside a compiler (rustc-web, cargo-web, rust-web-src) with a linker (lld). `--install`, or CI=true, installs
# these with apt. `--tools` says only whether all is there. `--quick` makes a larger module in a third of the time, for tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}"
triple=wasm32-unknown-unknown
made="$CARGO_TARGET_DIR/web"
may_install="${CI:-false}" only_tools=false is_quick=false
for argument in "$@"; do
    case "$argument" in
        --install) may_install=true ;;
        --tools) only_tools=true ;;
        --quick) is_quick=true ;;
        *) echo "usage: web/build.sh [--install] [--quick] [--tools]" >&2 && exit 2 ;;
    esac
done

step() {
    printf '\n> %s\n' "$*"
    "$@"
}

has_std() {
    [[ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]]
}
has_source() {
    [[ -x /usr/bin/cargo && -d /usr/lib/rustlib/src/rust/library ]] && command -v wasm-ld
} >/dev/null
tools_are_here() {
    command -v node >/dev/null && command -v npm >/dev/null && { has_std || has_source; }
}
if ! tools_are_here && [[ "$may_install" == true ]]; then
    export DEBIAN_FRONTEND=noninteractive
    step apt-get -qq update
    # Node.js from elsewhere has npm with it, and Debian's npm cannot stand beside it.
    packages=(rustc-web cargo-web rust-web-src lld)
    { command -v node && command -v npm; } >/dev/null || packages+=(nodejs npm)
    step apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
fi
tools_are_here || { echo "notice: the page is not built: node, npm or the tools for WebAssembly are not installed" >&2 && exit 3; }
[[ "$only_tools" == false ]] || exit 0

# The module. The standard library is built for size too where it is built.
if [[ "$is_quick" == true ]]; then
    export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
fi
cargo=(cargo build --locked --release --lib --target "$triple")
export CARGO_INCREMENTAL=0
# With the source of the standard library a panic is nothing but the end, without a message: a tenth smaller.
flags="-Zunstable-options -Cpanic=immediate-abort"
# shellcheck disable=SC2086
is_small() { has_source && RUSTC_BOOTSTRAP=1 /usr/bin/rustc $flags --print cfg; } >/dev/null 2>&1
from_source=(env PATH="/usr/bin:$PATH" RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld)
if [[ "$is_quick" == false ]] && is_small; then
    step "${from_source[@]}" CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$flags" "${cargo[@]}" \
        -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size
elif has_std; then
    step "${cargo[@]}"
else
    step "${from_source[@]}" "${cargo[@]}" -Zbuild-std=std,panic_abort
fi
step cargo build --locked -p bind --target-dir "$made/bind"
rm -rf "$made/web" "$made/crates"
mkdir -p "$made/web" "$made/crates/see/page"
step "$made/bind/debug/bind" "$CARGO_TARGET_DIR/$triple/release/bspkit_web.wasm" "$made/web/page/module"

# The scripts, where npm's packages are found from them.
cp -r page "$made/web"
# The viewer, without what is made of it.
find ../crates/see/page -name "*.js" ! -name "*.min.js" -exec cp {} "$made/crates/see/page" \;
for package in package.json package-lock.json; do
    cmp -s "$package" "$made/$package" || rm -rf "$made/node_modules"
    cp "$package" "$made"
done
[[ -d "$made/node_modules" ]] || step npm --prefix "$made" ci --silent --no-audit --no-fund
rm -rf dist
mkdir dist
bundle=("$made/node_modules/.bin/esbuild" --bundle --minify --format=esm --target=es2022 --charset=utf8 --legal-comments=eof
    --log-level=warning)
step "${bundle[@]}" --splitting --outdir=dist "$made/web/page/app.js"
step "${bundle[@]}" --outdir=dist "$made/web/page/worker.js"
module="$made/web/page/module/bspkit_web_bg.wasm"
if [[ "$is_quick" == true ]]; then
    cp "$module" dist
else
    # Passes after which it compresses better; those of -Oz make it a tenth smaller, and larger when it is compressed.
    passes=(--duplicate-function-elimination --coalesce-locals --reorder-locals --merge-blocks --remove-unused-brs --vacuum)
    step "$made/node_modules/.bin/wasm-opt" "${passes[@]}" --all-features "$module" -o dist/bspkit_web_bg.wasm
fi
cp page/app.css page/icon.svg page/manifest.webmanifest dist
step node files.mjs dist
ls -l dist
printf 'module: %s bytes, %s gzipped\n' "$(wc -c <dist/bspkit_web_bg.wasm)" "$(gzip -9 <dist/bspkit_web_bg.wasm | wc -c)"
