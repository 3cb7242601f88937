// The layer's library above the fake driver: loaded anew for each scene, with settings of its own.
#pragma once

// The whole of OpenCL, old and new: before the first header of OpenCL.
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/program_text.hpp>

#include <CL/cl_layer.h>

#include <map>
#include <string>
#include <vector>

namespace clbake::test {

using Environment = std::map<std::string, std::string>;

inline constexpr const char* kSource = "kernel void mine() {}";
inline constexpr const char* kOptions = "-DSPLIT_K=2";  // two kernels: clbake_gemm, clbake_reduce

// A program that the fake driver can build: its options decide about its kernels.
ProgramText text_of(const std::string& source, const std::string& options);

// A bundle file with machine code for these programs on these devices of the fake driver (0, 1).
void write_bundle(const std::string& path, const std::vector<ProgramText>& programs, const std::vector<int>& devices);
cache::Contents contents_of(const std::vector<ProgramText>& programs, const std::vector<int>& devices);
void write_contents(const std::string& path, const cache::Contents& contents);

class LayerScene : public Scene {
 public:
  // The variables are set while the layer is loaded. Without CLBAKE_OVERLAY there is none. `entries`: of the table that
  // the layer gets; 0: all.
  explicit LayerScene(Environment environment, cl_uint entries = 0);

  const cl_icd_dispatch& cl() const { return *table_; }
  cl_uint entries() const { return entries_; }
  std::string log() const;
  std::size_t log_lines() const;

  cl_program create(const std::string& source) const;
  // Creates and builds for the devices; all of the context's if there are none. Checks that it succeeds.
  cl_program build(const std::string& source, const std::string& options, std::vector<cl_device_id> devices = {}) const;
  cl_kernel kernel(cl_program program, const char* name = "clbake_gemm") const;
  std::string build_text(cl_program program, cl_program_build_info what) const;
  cl_uint references(cl_program program) const;
  cl_program program_of(cl_kernel kernel) const;

 private:
  tests::TemporaryDirectory directory_;
  const cl_icd_dispatch* table_ = nullptr;
  cl_uint entries_ = 0;
};

// A scene whose bundle has kSource with kOptions and with "-DSPLIT_K=1" for both devices.
struct Served {
  Served()
      : path(directory.file("app.clbake")),
        written((write_bundle(path, {text_of(kSource, kOptions), text_of(kSource, "-DSPLIT_K=1")}, {0, 1}), true)),
        scene({{"CLBAKE_BUNDLE", path}}) {}
  tests::TemporaryDirectory directory;
  std::string path;
  bool written;
  LayerScene scene;
};

}  // namespace clbake::test
