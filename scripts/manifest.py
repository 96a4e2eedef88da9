"""Manifests: a line for each entry, its fields between bars, comments after '#'."""

import sys


def read(path, form):
    """The fields of each entry; `form` names them: 'NAME | PROGRAM | OPTIONS'."""
    entries = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            fields = [field.strip() for field in line.split("|")]
            if len(fields) != form.count("|") + 1:
                sys.exit(f"{path}:{number}: expected '{form}', found '{line}'")
            entries.append(fields)
    return entries
