// From machines to the pieces of work of a bundle: tune, bake, merge, check and report.
#pragma once

#include <clbake/builder/fleet/manifest.hpp>
#include <clbake/builder/offline_targets.hpp>

namespace clbake::builder::fleet {

// A machine and what it bakes for, as `clbake devices --json` prints it.
struct Machine {
  struct Device {
    Target target;
    std::uint32_t compute_units = 0;
    bool fp64 = true;
  };
  struct Offline {
    std::string name;      // of `clbake targets`
    std::string identity;  // of its compilers
    bool fp64 = true;
  };
  std::string name;  // what the scheduler calls it
  std::vector<Device> devices;
  std::vector<Offline> targets;
};

// True for a name of letters, digits, dots, dashes and underscores that does not begin with a dash.
bool is_machine_name(const std::string& name);

// This machine under its host name. Fails with no_device when it has neither a device nor a compiler for a target.
Result<Machine> this_machine();

// Reads {"machine": NAME, "devices": [{"target": {...}, "compute_units": N, "fp64": B}, ...], "targets": [{"name":
// NAME, "identity": TEXT, "fp64": B}, ...]}; other fields are ignored. Fails with not_found, io, or malformed; messages
// begin with the path and name the field.
Result<Machine> read_machine(const std::string& path);

struct FleetOptions {
  std::vector<Machine> machines;
  std::string device;                 // only devices with this in the platform's or device's name; empty: all
  std::vector<std::string> targets;   // offline targets to bake for
  std::string budget;                 // of each tuning, as for `clbake tune --budget`; empty: no tuning
  unsigned shards = 1;                // of each tuning
  std::string shapes;                 // file of the problems to tune for and to check; empty: none
  std::vector<std::string> profiles;  // files; each goes to the devices that it was made for
  std::vector<std::string> precisions = {"single", "double"};
  std::vector<std::string> variants;  // exactly these are baked
  std::string programs;               // manifest of the application's own programs; empty: none
  bool gemm = true;                   // false: `programs` alone
  bool group = false;                 // also variants for groups of products
  bool split = false;                 // a piece for each variant, or else for each precision, and one for `programs`
  std::string against;                // bundle of the last release, for the report; empty: none
  std::string directory;              // of the manifest; all file names above are relative to the caller's
  std::vector<std::string> bake, check, report;  // further options of these commands, as they are
};

// Pieces in an order in which each comes after those that it needs. A device that several machines have is tuned and
// baked once: its pieces run on any of them; shards are tuned only where it has as many compute units as on the first.
// Only machines with the same compilers for a target as the first bake for it. Fails with invalid_argument (no device;
// a target that no machine compiles for; two machines of one name) or like reading the files.
Result<std::vector<Piece>> plan_fleet(const FleetOptions& options);

}  // namespace clbake::builder::fleet
