#!/usr/bin/env python3
"""check-includes.py ROOT FOLDER [USED-FOLDER...]

Fails if a file of lib/FOLDER or include/tcc/FOLDER includes a header of tcc that is in none of the folders."""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]tcc/([^">]+)[">]', re.MULTILINE)
SOURCES = {".h", ".cpp", ".td", ".inc"}


def main():
    root, folders = pathlib.Path(sys.argv[1]), [pathlib.PurePath(folder) for folder in sys.argv[2:]]
    files = [
        file
        for parent in (root / "lib" / folders[0], root / "include" / "tcc" / folders[0])
        for file in sorted(parent.rglob("*"))
        if file.suffix in SOURCES
    ]
    if not files:
        sys.exit(f"error: no source files found for {folders[0]}")
    failed = False
    for file in files:
        for match in INCLUDE.finditer(file.read_text()):
            if not any(folder in pathlib.PurePath(match[1]).parents for folder in folders):
                print(f"{file}: error: {folders[0]} must not use tcc/{match[1]}; it may use "
                      f"{', '.join(map(str, folders[1:])) or 'no other library of tcc'}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
