// A library that is loaded where a driver would load its compiler.
extern "C" int clbake_test_compiler() { return 0; }
