#!/usr/bin/env python3
"""Adds up the tests of JUnit reports and prints "N passed, N failed[, N skipped]".

Exits 1 if a test failed, if a report is missing or broken, or if nothing ran."""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """(passed, failed, skipped), counted from the test cases: ctest and lit fill the totals in differently."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "disabled":
            skipped += 1
        elif case.get("status", "run") not in ("run", "pass"):  # CTest: "fail", or "notrun" without its program
            failed += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    passed = failed = skipped = 0
    for path in sys.argv[1:]:
        try:
            more = count(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"error: expected a JUnit report in {path}: {error}", file=sys.stderr)
            failed += 1
            continue
        passed, failed, skipped = (a + b for a, b in zip((passed, failed, skipped), more))
    sys.stderr.flush()
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
