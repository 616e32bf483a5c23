#!/usr/bin/env bash
# Makes viewer.min.js, which is in the repository, from page.js, what it imports, and three.js as package-lock.json
# pins them. The licence of three.js stays in it. `build.sh --check` says whether the file is what would be made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT
find . -maxdepth 1 ! -name "*.min.js" \( -name "*.js" -o -name "package*.json" \) -exec cp {} "$made" \;
npm --prefix "$made" ci --silent --no-audit --no-fund
"$made/node_modules/.bin/esbuild" "$made/page.js" --bundle --minify --format=iife --target=es2022 --legal-comments=eof \
    --charset=utf8 --log-level=warning --outfile="$made/viewer.min.js"
if grep -qi '</script' "$made/viewer.min.js"; then
    echo "error: the script would end its element" >&2
    exit 1
fi
case "${1:-}" in
    --check) cmp "$made/viewer.min.js" viewer.min.js && cmp "$made/node_modules/three/LICENSE" three.LICENSE ;;
    *) cp "$made/viewer.min.js" viewer.min.js && cp "$made/node_modules/three/LICENSE" three.LICENSE ;;
esac
