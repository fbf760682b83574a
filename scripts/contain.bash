# To be sourced: ends what a run has left behind, and nothing else.
#
# Whatever is started with CONTAINED_RUN in its environment hands it on to what it starts itself, daemons included. That
# tells a run's processes from all others. A run inside another extends its id, so that the outer one ends it as well.

# Prints an id for a run that has this scratch folder to itself.
new_run_id() {
    printf '%s' "${CONTAINED_RUN:+$CONTAINED_RUN/}$(basename "$1")"
}

# Kills every process of this run and of those inside it.
end_survivors() {
    local file pids=()
    for file in /proc/[0-9]*/environ; do
        if grep -qzE "^CONTAINED_RUN=$1(/|$)" "$file" 2>/dev/null; then pids+=("$(basename "$(dirname "$file")")"); fi
    done
    [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
}
