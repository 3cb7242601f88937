#!/bin/sh
# workflow.sh FILE...: GitHub's workflows are valid by their schema. Exit status 77: there is no check-jsonschema.
set -eu
command -v check-jsonschema > /dev/null || { echo "skipped: no check-jsonschema of PyPI"; exit 77; }
exec check-jsonschema --builtin-schema vendor.github-workflows "$@"
