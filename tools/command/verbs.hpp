// One function for each verb of the command; each takes the arguments behind the verb and returns the exit status.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

int devices(const std::vector<std::string>& arguments);
int targets(const std::vector<std::string>& arguments);
int space(const std::vector<std::string>& arguments);
int build(const std::vector<std::string>& arguments);
int run(const std::vector<std::string>& arguments);
int prove(const std::vector<std::string>& arguments);
int merge(const std::vector<std::string>& arguments);
int inspect(const std::vector<std::string>& arguments);
int embed(const std::vector<std::string>& arguments);
int tune(const std::vector<std::string>& arguments);
int bench(const std::vector<std::string>& arguments);
int bench_bake(const std::vector<std::string>& arguments);
int bench_choice(const std::vector<std::string>& arguments);
int bench_cold(const std::vector<std::string>& arguments);
int bench_gemm(const std::vector<std::string>& arguments);
int bench_load(const std::vector<std::string>& arguments);
int bench_overhead(const std::vector<std::string>& arguments);
int bench_presets(const std::vector<std::string>& arguments);

// The child processes of build, tune and bench; not for people.
int worker(const std::vector<std::string>& arguments);

}  // namespace clbake::tool
