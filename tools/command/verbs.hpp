// The verbs of the command: a function each, which takes the arguments after the verb and returns the exit status.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

struct Verb {
  const char* name;
  int (*run)(const std::vector<std::string>& arguments);
  const char* summary;  // one line of the help
  int failure = 1;      // exit status of a failure
};

int devices(const std::vector<std::string>& arguments);
int targets(const std::vector<std::string>& arguments);
int space(const std::vector<std::string>& arguments);
int build(const std::vector<std::string>& arguments);
int run(const std::vector<std::string>& arguments);
int prove(const std::vector<std::string>& arguments);
int check(const std::vector<std::string>& arguments);
int diff(const std::vector<std::string>& arguments);
int prune(const std::vector<std::string>& arguments);
int verify(const std::vector<std::string>& arguments);
int keygen(const std::vector<std::string>& arguments);
int sign(const std::vector<std::string>& arguments);
int digest(const std::vector<std::string>& arguments);
int capture(const std::vector<std::string>& arguments);
int merge(const std::vector<std::string>& arguments);
int report(const std::vector<std::string>& arguments);
int inspect(const std::vector<std::string>& arguments);
int plan(const std::vector<std::string>& arguments);
int work(const std::vector<std::string>& arguments);
int embed(const std::vector<std::string>& arguments);
int tune(const std::vector<std::string>& arguments);
int bench(const std::vector<std::string>& arguments);
int bench_bundle(const std::vector<std::string>& arguments);
int bench_choice(const std::vector<std::string>& arguments);
int bench_cold(const std::vector<std::string>& arguments);
int bench_gemm(const std::vector<std::string>& arguments);

// The child processes of the other verbs; users do not call it.
int worker(const std::vector<std::string>& arguments);

}  // namespace clbake::tool
