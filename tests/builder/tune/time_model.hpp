// Times of the fake worker's variants on its imagined device.
#pragma once

#include <clbake/builder/tuning.hpp>
#include <clbake/kernels/params.hpp>

namespace clbake::builder::test {

// Microseconds of one call; the same for equal arguments. Each class of shapes has one best point of the family direct;
// every step away from it, in any parameter, costs a fifth, so that neighbours of a good point are good. No two points
// take the same time.
double modelled_us(const kernels::Params& params, const Shape& shape);

// Microseconds of the best of all points.
double ideal_us(const Shape& shape);

}  // namespace clbake::builder::test
