# SPDX-License-Identifier: Apache-2.0
"""The offsets of CPython's structs are those of its headers, of every version installed here: of the system and of pyenv.

    python_offsets_test.py SOURCE_DIR
"""

import os
import subprocess
import sys
from pathlib import Path

VERSIONS = {f"python3.{minor}" for minor in range(9, 13)}


def main():
    source = Path(sys.argv[1])
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [*Path("/usr/include").glob("python3.*"), *pyenv.glob("versions/*/include/python3.*")]
    folders = [str(folder) for folder in folders
               if folder.name in VERSIONS and (folder / "internal/pycore_interp.h").exists()]
    if not folders:
        print("skipped: no headers of CPython 3.9 to 3.12")
        sys.exit(77)
    sys.exit(subprocess.run([sys.executable, "-B", source / "tools/python_offsets", "--include", *folders, "--check",
                             source / "profiler/stacks/python_offsets.h"], check=False).returncode)


if __name__ == "__main__":
    main()
