// The precompiled header needs one source file to be compiled with.
