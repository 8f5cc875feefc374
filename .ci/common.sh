# Functions of .ci/run and .ci/long: copy the files, install tools and dependencies, time the parts, run some beside
# others. Source it after `set -euo pipefail`.

# Many tests start Python. If this variable were set, each start would compile all its imports again.
unset PYTHONDONTWRITEBYTECODE

# Nor does pip compile all of torch, sympy and the others: the first import compiles what is used, and keeps it.
export PIP_COMPILE=0

# A worker of pytest runs on each processor, and starts thousands of processes that multiply small matrices: threads of
# numpy's and torch's in each of them would only wait for each other.
export OMP_NUM_THREADS=1

work=$(mktemp -d)
beside= # the process group that runs beside this one
trap 'if [ -n "$beside" ]; then kill -- "-$beside" && wait "$beside"; fi 2>/dev/null || true; rm -rf "$work"' EXIT

# Copies the files, committed or not, to a temporary folder and enters it, so that your .venv is neither used nor changed.
enter_a_copy() {
    mkdir "$work/copy"
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
        tar --null --files-from=- -cf - | tar -xf - -C "$work/copy"
    cd "$work/copy"
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
    part "${1#../}: environment" "python3 -m venv $1 && $1/bin/pip install -q $2"
}

# part NAME COMMANDS: runs the commands up to the first that fails, and notes the outcome and the time for the summary.
part() {
    local began=$SECONDS outcome=ok taken
    printf '\n== %s\n' "$1"
    bash -euo pipefail -c "$2" || outcome=FAILED
    taken=$(clock $((SECONDS - began)))
    printf '%6s  %-6s  %s\n' "$taken" "$outcome" "$1" >>"$work/summary"
    printf -- '-- %s: %s, %s\n' "$1" "$outcome" "$taken"
}

# begin_beside FUNCTION: runs parts while others run, for the time in which those wait, and behind them in the queue for a
# processor. It gets a copy of the files, so that neither sees what the other writes.
begin_beside() {
    cp -R "$work/copy" "$work/beside"
    set -m # a process group of its own, which can be ended as a whole
    (cd "$work/beside" && renice -n 10 "$BASHPID" >/dev/null && "$1") >"$work/said" 2>&1 </dev/null &
    beside=$!
    set +m
}

# Waits for what runs beside, and prints what it said.
end_beside() {
    wait "$beside" || printf '%6s  FAILED  what ran beside\n' "" >>"$work/summary"
    beside=
    cat "$work/said"
}

# Prints the summary and exits, with status 1 if a part failed.
finish() {
    printf '\n== summary\n'
    cat "$work/summary"
    printf '%6s  %s\n' "$(clock $SECONDS)" "total"
    ! grep -q '^ *[0-9:]*  FAILED ' "$work/summary"
    exit
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
