// Epilogues on the command line: --bias, --activation, --low, --high and --d.
#pragma once

#include "cli/cli.hpp"

#include <clbake/clbake.hpp>

namespace clbake::tool {

// The words of --activation; "none" is the first.
inline constexpr const char* activation_words[] = {"none", "relu", "clamp", "sigmoid", "silu", "gelu", "gelu_tanh"};

void add_epilogue_options(Cli& cli);

// Those that a list names; of an empty list all. Throws UsageError.
std::vector<Activation> activations_of(const std::vector<std::string>& words);

// The epilogue of a problem with this ldc; D has no gaps that C has not. Throws UsageError.
Epilogue epilogue_from(const Cli& cli, std::size_t ldc);

}  // namespace clbake::tool
