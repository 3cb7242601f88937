// Images and samplers as manifests state them: by the names of OpenCL's constants without CL_.
#pragma once

#include <clbake/image_names.hpp>
#include "program/numbers.hpp"

#include <CL/cl.h>

#include <cstdint>
#include <string>

namespace clbake::builder::program {

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
