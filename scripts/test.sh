#!/usr/bin/env bash
# Builds everything and runs all tests: GoogleTest by CTest, then lit. The last line counts both.
source "$(dirname "$0")/common.sh"

install_packages
build

status=0
rm -f build/unittests.xml build/lit.xml
echo "== unit tests"
# `lit` is a CTest test too, for whoever runs ctest by hand; here it runs once, on its own, to be counted test by test.
ctest --test-dir build --exclude-regex '^lit$' --output-junit unittests.xml -j "$(nproc)" \
  --output-on-failure || status=1
echo "== lit"
lit=$(sed -n 's/^TCC_LIT:FILEPATH=//p' build/CMakeCache.txt)
"$lit" -sv --no-progress-bar --xunit-xml-output build/lit.xml build/test || status=1

python3 scripts/count-tests.py build/unittests.xml build/lit.xml || status=1
exit $status
