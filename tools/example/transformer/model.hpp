// A layer of a transformer, with random weights of 4 bits in groups of 32, and its result in double precision.
#pragma once

#include <clbake/weights/pack.hpp>

#include <CL/cl_half.h>

#include <vector>

constexpr std::size_t rows = 8, width = 1024, heads = 8, hidden = 2816;

struct Model {
  // op(B), row-major: to q, k and v; from all heads; to gate and up; from the hidden values.
  clbake::PackedWeights qkv, out, gate_up, down;
  std::vector<cl_half> gain_1, gain_2;  // of the norms
  std::vector<cl_half> input;           // rows x width
  std::vector<double> result;           // the same size
};

Model make_model();

// The norm of a result's difference to the model's, over the norm of what the layer adds to its input.
double error_of(const Model& model, const std::vector<cl_half>& result);
