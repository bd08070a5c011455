# Every command that is offered has help, and its first line names it.
for command in $(mptrain list commands | awk '{ print $1 }'); do
    mptrain "$command" --help >text
    head -n 1 text | grep -q "^usage: mptrain $command" || echo "$command: no usage"
    [ "$(awk '{ if (length($0) > 90) print }' text)" = "" ] || echo "$command: long lines"
done
