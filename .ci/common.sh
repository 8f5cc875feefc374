# Functions of .ci/run and .ci/long: copy the files, install tools and dependencies, time the parts. Source it after
# `set -euo pipefail`.

# Many tests start Python. If this variable were set, each start would compile all its imports again.
unset PYTHONDONTWRITEBYTECODE

# Copies the files, committed or not, to a temporary folder and enters it, so that your .venv is neither used nor changed.
enter_a_copy() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
        tar --null --files-from=- -cf - | tar -xf - -C "$work"
    cd "$work"
}

# require PROGRAM:PACKAGE...: installs the programs that are missing. If that is not possible, lists them and exits.
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
    printf '\nThese programs are missing and could not be installed (that needs root, apt-get and a network):\n' >&2
    printf '    %s\n' "${missing[@]}" >&2
    exit 2
}

# requirements lowest|newest: prints the requirements of the package and its tests. If both name a library, the package's
# requirement counts.
requirements() {
    python3 - "$1" <<'PYTHON'
import re, sys, tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
wanted = {}
for requirement in project["dependencies"] + project["optional-dependencies"]["test"]:
    wanted.setdefault(re.match(r"[\w-]+", requirement)[0], requirement)
for requirement in wanted.values():
    print(requirement.replace(">=", "==", 1) if sys.argv[1] == "lowest" else requirement)
PYTHON
}

# environment FOLDER WHAT-PIP-INSTALLS
environment() {
    part "$1: environment" "python3 -m venv $1 && $1/bin/pip install -q $2"
}

summary=()
failed=0

# part NAME COMMANDS: runs the commands up to the first that fails, and notes the outcome and the time for the summary.
part() {
    local began=$SECONDS outcome=ok taken
    printf '\n== %s\n' "$1"
    bash -euo pipefail -c "$2" || { outcome=FAILED failed=1; }
    taken=$(clock $((SECONDS - began)))
    summary+=("$(printf '%6s  %-6s  %s' "$taken" "$outcome" "$1")")
    printf -- '-- %s: %s, %s\n' "$1" "$outcome" "$taken"
}

# Prints the summary and exits, with status 1 if a part failed.
finish() {
    printf '\n== summary\n'
    printf '%s\n' "${summary[@]}"
    printf '%6s  %s\n' "$(clock $SECONDS)" "total"
    exit $failed
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
