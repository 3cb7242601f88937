// Calls of routines that the door forwards to fake_clblast.cpp. Without a device and without Boost, so that they run on
// other processors, too.
#pragma once

#include "clblast/fake_clblast.hpp"

#include <clblast_c.h>

#include <string>

namespace clbake::tests {

// Integers, numbers, and what does not fit into registers.
inline bool real_routine_arrives() {
  auto* q = handle<cl_command_queue>(14);
  return clblast::Gemv<float>(clblast::Layout::kColMajor, clblast::Transpose::kYes, 1, 2, 3, handle<cl_mem>(4), 5, 6,
                              handle<cl_mem>(7), 8, 9, 10, handle<cl_mem>(11), 12, 13, &q,
                              handle<cl_event*>(15)) == clblast::StatusCode::kSuccess;
}

inline bool complex_routine_arrives() {
  auto* q = handle<cl_command_queue>(10);
  return clblast::Axpy<std::complex<double>>(1, {2, 3}, handle<cl_mem>(4), 5, 6, handle<cl_mem>(7), 8, 9, &q,
                                             nullptr) == clblast::StatusCode::kSuccess;
}

inline bool routine_of_c_arrives() {
  auto* q = handle<cl_command_queue>(9);
  return CLBlastSrotg(handle<cl_mem>(1), 2, handle<cl_mem>(3), 4, handle<cl_mem>(5), 6, handle<cl_mem>(7), 8, &q,
                      nullptr) == CLBlastSuccess;
}

inline bool references_arrive() {
  std::unordered_map<std::string, std::size_t> parameters;
  return clblast::RetrieveParameters(handle<cl_device_id>(1), "Xgemm", clblast::Precision::kSingle, parameters) ==
             clblast::StatusCode::kSuccess &&
         parameters["MWG"] == 64;
}

// The first routine fills all registers, and returns through memory.
inline bool every_register_arrives() {
  const auto vector = [](float first) { return Vector{first, first + 1, first + 2, first + 3}; };
  const Large result = every_register(1, 2, 3, 4, 5, 6, 7, 8, vector(10), vector(20), vector(30), vector(40),
                                      vector(50), vector(60), vector(70), vector(80), 9, vector(90));
  bool right = true;
  for (int i = 0; i < 9; ++i) right = right && result.integers[i] == i + 1;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 4; ++j) right = right && result.vectors[i][j] == static_cast<float>(10 * (i + 1) + j);
  }
  return right;
}

// The calls of which arguments were lost, by way of the lookup and directly.
inline std::string calls_that_lost_arguments() {
  std::string lost;
  for (int turn = 0; turn < 2; ++turn) {
    if (!every_register_arrives()) lost += "every register ";
    if (!real_routine_arrives()) lost += "real ";
    if (!complex_routine_arrives()) lost += "complex ";
    if (!routine_of_c_arrives()) lost += "C ";
    if (!references_arrive()) lost += "references ";
  }
  return lost;
}

}  // namespace clbake::tests
