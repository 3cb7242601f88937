#!/bin/sh
# sbom.sh FILE...: the bill of materials is valid, by the validator of CycloneDX for Python, PYTHON. Exit status 77: it
# is not here.
set -eu
python=${PYTHON:-python3}
"$python" -c 'import cyclonedx.validation, jsonschema' 2> /dev/null || { echo "skipped: no cyclonedx-python-lib"; exit 77; }
exec "$python" -c '
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for name in sys.argv[1:]:
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(name).read())
    if error:
        sys.exit(f"{name}: {error}")
    print(f"tested: {name}")
' "$@"
