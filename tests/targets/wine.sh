# Starts wine, which is set up the first time. `bash tests/targets/wine.sh PROGRAM ARGUMENT...` starts a program in it;
# `.ci/targets` sources this file. `folder` is where the drives of wine are.
wine=/usr/lib/wine/wine64

start_wine() {
    export WINEPREFIX="$folder/wine" WINEDEBUG=-all
    unset DISPLAY
    local system="$WINEPREFIX/drive_c/windows/system32"
    mkdir -p "$WINEPREFIX"
    # The server of wine and its services stay, so that programs start fast. They must not inherit a pipe, whose reader would
    # wait for them. A second server is refused.
    /usr/lib/wine/wineserver64 -p >/dev/null 2>&1 </dev/null || true
    trap '/usr/lib/wine/wineserver64 -k || true' EXIT
    "$wine" cmd /c exit >/dev/null 2>&1 </dev/null || true
    [[ ! -e "$system/bcryptprimitives.dll" ]] || return 0
    "$wine" wineboot -i >"$folder/wine.log" 2>&1 </dev/null
    "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f >"$folder/wine.log" 2>&1 </dev/null
    # Wine 8 lacks this library, from which Rust's standard library takes its random numbers.
    x86_64-w64-mingw32-gcc -shared -O2 -nostdlib -Wl,-e,0 -o "$system/bcryptprimitives.dll" \
        "$(dirname "${BASH_SOURCE[0]}")/random.c" -ladvapi32
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
    set -euo pipefail
    folder="${CARGO_TARGET_DIR:-$(dirname "$0")/../../target}/targets"
    mkdir -p "$folder"
    folder="$(cd "$folder" && pwd)"
    start_wine
    "$wine" "$@"
fi
