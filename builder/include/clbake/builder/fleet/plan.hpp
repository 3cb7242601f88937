// Baking with many machines. A manifest lists pieces of work, each of which one `clbake` command does on any machine
// that has the piece's device. The output of a piece is a file that is named after everything that goes into it, so
// whoever finds the file, on whatever machine, has no need to do the piece again.
#pragma once

#include <clbake/builder/offline_targets.hpp>

#include <string>
#include <vector>

namespace clbake::builder {

// What a machine can bake for: `clbake devices --json`, or a file written by hand.
struct Machine {
  struct Device {
    Target target;
    std::uint32_t compute_units = 0;  // 0: not known
    bool fp64 = true;
  };
  struct Offline {
    std::string name;      // of `clbake targets`
    std::string identity;  // empty: any compilers will do
    bool fp64 = true;
  };
  std::string name;  // what the scheduler calls it
  std::vector<Device> devices;
  std::vector<Offline> targets;
};

// Whether a machine may be called so: letters, digits, dots, dashes and underscores.
bool is_machine_name(const std::string& name);

// 16 hexadecimal digits that differ for other targets, or for compilers of other versions.
std::string identity(const OfflineTarget& target);

// This machine under its host name. Fails with no_device when it has neither a device nor a compiler for a target.
Result<Machine> this_machine();

// Reads {"machine": NAME, "devices": [{"target": {...}}, ...], "targets": [{"name": NAME}, ...]}. Other fields are
// ignored; "targets", and in its elements all but the name, and beside a device's target everything, may be missing.
// Fails with not_found, io, or malformed; messages begin with the path and name the field.
Result<Machine> read_machine(const std::string& path);

enum class Stage { tune, profile, bake, merge, check, report };
constexpr Stage all_stages[] = {Stage::tune, Stage::profile, Stage::bake, Stage::merge, Stage::check, Stage::report};
const char* name(Stage stage);  // "tune", ...

// A file that a piece reads and no other piece writes.
struct InputFile {
  std::string path;    // relative to the manifest's directory, or absolute
  std::string digest;  // of its bytes when the manifest was made
};

struct Piece {
  Stage stage = Stage::bake;
  std::string id;     // "bake-" and 16 hexadecimal digits: see piece_id()
  std::string title;  // for people: "bake NVIDIA H200, driver 580.159.04, single"
  // The verb and its arguments. It runs in the manifest's directory; its last two arguments name output_of().
  std::vector<std::string> command;
  std::vector<InputFile> files;
  std::vector<std::string> needs;  // ids of pieces whose outputs it reads
  std::string device;  // identity of the device or offline target, or its name: any compilers; empty: any machine
  std::uint32_t compute_units = 0;    // that the device must have; 0: any number
  std::vector<std::string> machines;  // names of those that have the device; empty: any
};

// The path of the piece's output, relative to the manifest's directory: "pieces/bake-0123456789abcdef.clbake".
std::string output_of(const Piece& piece);

// The piece's name: a hash of clbake's version, the command without its output, the bytes of its files and the device.
// The names of what it reads from other pieces are in the command, so it stands for their inputs, too.
std::string piece_id(const Piece& piece);

struct FleetOptions {
  std::vector<Machine> machines;
  std::string device;                 // only devices with this in the platform's or device's name; empty: all
  std::vector<std::string> targets;   // offline targets to bake for
  std::string budget;                 // of each tuning, as for `clbake tune --budget`; empty: no tuning
  unsigned shards = 1;                // of each tuning
  std::string shapes;                 // file of the problems to tune for and to check; empty: none
  std::vector<std::string> profiles;  // files; each goes to the devices that it was made for
  std::vector<std::string> precisions = {"single", "double"};
  std::string transposes;             // to tune; empty: all
  std::vector<std::string> variants;  // exactly these are baked
  std::string programs;               // manifest of the application's own programs; empty: none
  bool gemm = true;                   // false: `programs` alone
  bool split = false;                 // a piece for each variant, or else for each precision, and one for `programs`
  bool untuned = false;               // as the options of `clbake build`
  bool strict = false;
  bool reproducible = false;
  std::string require;        // of `clbake check`; empty: its default
  bool newer_driver = false;  // of `clbake check` and `clbake report`
  std::string against;        // bundle of the last release, for the report; empty: none
  std::string directory;      // of the manifest; all file names above are relative to the caller's
};

struct Plan {
  std::vector<Piece> pieces;         // a piece comes after those that it needs
  std::vector<std::string> remarks;  // for a person
};

// A device that several machines have is tuned and baked once: its pieces run on any of them. Fails with
// invalid_argument (no device; a target that no machine compiles for; two machines of one name) or like reading the
// files.
Result<Plan> plan_fleet(const FleetOptions& options);

}  // namespace clbake::builder
