# What .ci/run and .ci/long share: a copy of the files, and parts that are timed. Sourced, after `set -euo pipefail`.

# Many tests start Python. Where this is set, each start compiles everything it imports.
unset PYTHONDONTWRITEBYTECODE

# The files as they are now, copied to a folder of their own and entered, so that your .venv is neither used nor touched.
enter_a_copy() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
        tar --null --files-from=- -cf - | tar -xf - -C "$work"
    cd "$work"
}

# What some tests want beside Python, installed where we may, else named.
require() {
    local missing=()
    for tool in "$@"; do
        command -v "${tool%:*}" >/dev/null || missing+=("${tool#*:}")
    done
    ((${#missing[@]})) || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        part "system packages: ${missing[*]}" "apt-get update -qq
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${missing[*]} >/dev/null"
    fi
    missing=()
    for tool in "$@"; do
        command -v "${tool%:*}" >/dev/null || missing+=("${tool%:*} (Debian's package ${tool#*:})")
    done
    ((${#missing[@]})) || return 0
    printf '\nThese programs are missing, and could not be installed here (that takes root, apt-get and a network):\n' >&2
    printf '    %s\n' "${missing[@]}" >&2
    exit 2
}

summary=()
failed=0

# part NAME COMMANDS: runs them, stopping at the first that fails, and remembers how long that took.
part() {
    local began=$SECONDS outcome=ok taken
    printf '\n== %s\n' "$1"
    bash -euo pipefail -c "$2" || { outcome=FAILED failed=1; }
    taken=$(clock $((SECONDS - began)))
    summary+=("$(printf '%6s  %-6s  %s' "$taken" "$outcome" "$1")")
    printf -- '-- %s: %s, %s\n' "$1" "$outcome" "$taken"
}

# Prints the table; the status is that of the whole.
finish() {
    printf '\n== summary\n'
    printf '%s\n' "${summary[@]}"
    printf '%6s  %s\n' "$(clock $SECONDS)" "altogether"
    exit $failed
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
