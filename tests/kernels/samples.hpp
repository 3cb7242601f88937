// Points of the space that several tests start from.
#pragma once

#include <clbake/kernels/params.hpp>

// A large tile for CPUs, which every device can run.
inline clbake::kernels::Params register_tile() {
  clbake::kernels::Params p;
  p.family = clbake::kernels::Family::register_tile;
  p.ml = 60;
  p.nl = 128;
  p.kl = 512;
  p.ms = 6;
  p.ns = 64;
  p.vector_width = 16;
  return p;
}
