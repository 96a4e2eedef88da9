//===- LinkTest.cpp - The program that a library is linked into -----------===//

/// Linking is the test; running it runs the static initialisers of the whole library.
int main() { return 0; }
