#!/bin/sh
# Puts the table of a finished matrix into README.md, between its markers: no figure there is typed by hand.
#
#   experiments/transports/table.sh runs/20261121-194213-groups-of-ten
#
# The markers are those of the script's name, as matrix.json has it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
readme=$here/README.md
page=${1:?usage: table.sh RUNFOLDER}/matrix.md
[ -r "$page" ] || { echo "error: $page: a matrix's folder has a matrix.md, and this one has none" >&2; exit 1; }

name=$(sed -n 's/^Measured: \([^,]*\),.*/\1/p' "$page")
begin="<!-- $name: begin -->"
end="<!-- $name: end -->"
for marker in "$begin" "$end"; do
  grep -qxF "$marker" "$readme" || { echo "error: README.md has no line \"$marker\"" >&2; exit 1; }
done

awk -v begin="$begin" -v end="$end" -v page="$page" '
  $0 == end { skipping = 0 }
  !skipping { print }
  $0 == begin {
    skipping = 1
    print ""
    while ((getline line < page) > 0) print line
    print ""
  }
' "$readme" > "$readme.new"
mv "$readme.new" "$readme"
