#!/usr/bin/env bash
# Builds the page for maps, quickly, and tests it in Chromium: `web/test.sh [--install]`. `--built` tests what is in web/dist.
# Without node, npm, Chromium or the tools for WebAssembly it says so and does nothing; BSPKIT_REQUIRE_WEB=1 makes that a
# failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}"
skip() {
    echo "notice: $1; the page for maps is not tested" >&2
    [[ "${BSPKIT_REQUIRE_WEB:-}" != 1 ]] && exit 0 || exit 1
}
chromium_is_here() { [[ -n "${BSPKIT_CHROMIUM:-}" ]] || command -v chromium || command -v google-chrome; } >/dev/null
if ! chromium_is_here && [[ "${1:-}" == --install || "${CI:-false}" == true ]]; then
    apt-get -qq install -y --no-install-recommends chromium >/dev/null || true
fi
chromium_is_here || skip "Chromium is not installed"
if [[ "${1:-}" != --built ]]; then
    ./build.sh --tools "$@" || skip "the tools are not installed"
    ./build.sh --quick "$@"
fi

packages="$CARGO_TARGET_DIR/web/tests"
mkdir -p "$packages"
for package in package.json package-lock.json; do
    cmp -s "tests/$package" "$packages/$package" || rm -rf "$packages/node_modules"
    cp "tests/$package" "$packages"
done
[[ -d "$packages/node_modules" ]] || npm --prefix "$packages" ci --silent --no-audit --no-fund
export BSPKIT_WEB_PACKAGES="$packages" BSPKIT_PROGRAM="$CARGO_TARGET_DIR/debug/bspkit"
cargo build --locked --quiet --manifest-path ../Cargo.toml -p bspkit-cli
node --test tests/*.test.mjs
