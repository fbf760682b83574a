# To be sourced: ends what a run has left behind, and nothing else.
#
# Whatever is started with CONTAINED_RUN in its environment hands it on to what it starts itself, daemons included. That
# tells a run's processes from all others.

# Kills every process with this run id.
end_survivors() {
    local file pids=()
    for file in /proc/[0-9]*/environ; do
        if grep -qzFx "CONTAINED_RUN=$1" "$file" 2>/dev/null; then pids+=("$(basename "$(dirname "$file")")"); fi
    done
    [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
}
