// The number types of OpenCL C; and images and samplers as manifests state them, by the names of OpenCL's constants
// without CL_.
#pragma once

#include <clbake/image_names.hpp>

#include <CL/cl.h>

#include <cstdint>
#include <string>

namespace clbake::builder::program {

// Holds whole numbers of 64 bits exactly where its significand has as many bits, as on x86 and 64-bit ARM with Linux.
using Number = long double;

struct NumberType {
  const char* name;
  std::uint32_t bytes;
  double tolerance;                            // of a result, if the trial states none; 0: a whole number
  void (*store)(Number value, std::uint8_t*);  // rounded to the type
  double (*load)(const std::uint8_t*);
  bool is_float() const { return tolerance > 0; }
  bool holds(Number value) const;
};

// Null for any other name.
const NumberType* number_type(const std::string& name);

// For messages: "char, uchar, ... or double".
extern const char* const kNumberTypes;

// A number or a vector, as elements of buffers and values of scalars are.
struct ElementType {
  const NumberType* number = nullptr;  // null: no such type
  std::uint32_t width = 1;             // components
  std::uint32_t stored = 1;            // components that it takes in memory: 4 for a vector of 3

  std::uint32_t bytes() const { return stored * number->bytes; }
};

// Reads "float", "float4" and the like.
ElementType element_type(const std::string& name);

using ImageShape = image_names::Shape;

struct Image {
  const ImageShape* shape = nullptr;
  cl_image_format format = {};
  std::uint64_t width = 1, height = 1, depth = 1, array_size = 1;  // those that the shape lacks are 1
  ElementType pixel;                                               // as its channels are stored

  // Its extents for clEnqueueReadImage, where the array's size follows the dimensions.
  void region(std::size_t (&extents)[3]) const;
};

// Null for any other name.
const ImageShape* image_shape(const std::string& name);
extern const char* const kImageShapes;  // for messages

// That of a type, "image2d_array_t"; null for one of no shape that is known.
const ImageShape* image_shape_of(const std::string& type);

// Sets format and pixel. False when one of the names is unknown.
bool set_format(const std::string& order, const std::string& type, Image& image);

struct Sampler {
  bool normalized = false;
  cl_addressing_mode addressing = CL_ADDRESS_NONE;
  cl_filter_mode filter = CL_FILTER_NEAREST;
};

// Sets the mode. False for an unknown name.
bool set_addressing(const std::string& name, Sampler& sampler);
bool set_filter(const std::string& name, Sampler& sampler);

}  // namespace clbake::builder::program
