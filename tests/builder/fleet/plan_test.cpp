// From machines to pieces of work, and manifests as text. Needs no OpenCL device.
#include "files.hpp"

#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/scratch.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iterator>
#include <set>

namespace clbake::builder::fleet::test {
namespace {

using namespace clbake::tests;

Target target_of(const std::string& name, const std::string& driver = "1.0") {
  return {"Platform", "OpenCL 3.0", "Vendor", name, "OpenCL 3.0 x", driver, "", 64};
}

Machine machine_of(const std::string& name, const std::vector<std::string>& devices) {
  Machine machine;
  machine.name = name;
  for (const std::string& device : devices) machine.devices.push_back({target_of(device), 4, true});
  return machine;
}

struct Scene {
  process::ScratchDirectory directory = required(process::ScratchDirectory::create());
  FleetOptions options;
  Scene() {
    options.directory = directory.path();
    options.machines = {machine_of("n1", {"A", "B"}), machine_of("n2", {"A"})};
  }
  std::string path(const std::string& name) const { return directory.path() + "/" + name; }
  std::vector<Piece> pieces() const { return required(plan_fleet(options)); }
  std::size_t count(Stage stage) const {
    const std::vector<Piece> all = pieces();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const Piece& p) { return p.stage == stage; }));
  }
};

std::set<std::string> ids(const std::vector<Piece>& pieces) {
  std::set<std::string> all;
  for (const Piece& piece : pieces) all.insert(piece.id);
  return all;
}

std::string cause(const Result<std::vector<Piece>>& plan) { return plan ? "planned" : plan.status().message(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(ADeviceOfTwoMachinesIsBakedOnceOnEither, Scene) {
  const std::vector<Piece> all = pieces();
  BOOST_REQUIRE(all.size() == 4U);  // two devices, merge, report
  BOOST_TEST(all[0].machines == (std::vector<std::string>{"n1", "n2"}), boost::test_tools::per_element());
  BOOST_TEST(all[1].machines == (std::vector<std::string>{"n1"}), boost::test_tools::per_element());
  BOOST_TEST(all[0].device == identity(target_of("A")));
  BOOST_TEST(all[0].command == (std::vector<std::string>{"build", "--device", identity(target_of("A")), "--precision",
                                                         "single,double", "-o", output_of(all[0])}),
             boost::test_tools::per_element());
  BOOST_TEST(all[2].command ==
                 (std::vector<std::string>{"merge", output_of(all[0]), output_of(all[1]), "-o", output_of(all[2])}),
             boost::test_tools::per_element());
  BOOST_TEST(all[2].needs == (std::vector<std::string>{all[0].id, all[1].id}), boost::test_tools::per_element());
  BOOST_TEST(all[2].machines.empty());
}

BOOST_FIXTURE_TEST_CASE(ATuningIsDividedIntoShardsThatAreJoined, Scene) {
  options.budget = "10m";
  options.shards = 3;
  options.machines[1].devices[0].compute_units = 8;
  const std::vector<Piece> all = pieces();
  BOOST_TEST(count(Stage::tune) == 6U);
  BOOST_TEST(count(Stage::profile) == 2U);
  // Shards of 4 and 8 compute units cannot be joined.
  BOOST_TEST(all[0].machines == (std::vector<std::string>{"n1"}), boost::test_tools::per_element());
  BOOST_TEST(all[0].compute_units == 4U);
  BOOST_TEST(all[3].needs.size() == 3U);
  const auto bake = std::find_if(all.begin(), all.end(), [](const Piece& piece) { return piece.stage == Stage::bake; });
  BOOST_TEST(bake->needs == (std::vector<std::string>{all[3].id}), boost::test_tools::per_element());
  BOOST_TEST((std::find(bake->command.begin(), bake->command.end(), output_of(all[3])) != bake->command.end()));
}

BOOST_FIXTURE_TEST_CASE(NamesFollowFromWhatGoesIn, Scene) {
  options.shapes = path("shapes.txt");
  write_file(options.shapes, "64x64x64\n");
  const std::set<std::string> first = ids(pieces());
  BOOST_TEST(ids(pieces()) == first, boost::test_tools::per_element());
  // The same file at another place: the same names.
  write_file(path("moved.txt"), "64x64x64\n");
  options.shapes = path("moved.txt");
  BOOST_TEST(ids(pieces()) == first, boost::test_tools::per_element());
  // Other contents: the bakes, which do not read them, stay; the check gets another name.
  write_file(options.shapes, "65x64x64\n");
  const std::set<std::string> second = ids(pieces());
  std::vector<std::string> both;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
  BOOST_TEST(both.size() == 3U);  // two bakes and their merge
  // A machine less: all that is left keeps its name but what joins it.
  options.machines[0].devices.pop_back();
  BOOST_TEST(first.count(pieces()[0].id) == 1U);
}

BOOST_FIXTURE_TEST_CASE(BakesAreSplitByPrecisionOrVariant, Scene) {
  options.split = true;
  options.machines[0].devices[1].fp64 = false;
  BOOST_TEST(count(Stage::bake) == 3U);  // B has no double precision
  options.variants = {"direct-s-nn-8x8x1-1x1x1-v1", "direct-s-tt-8x8x1-1x1x1-v1"};
  BOOST_TEST(count(Stage::bake) == 4U);
}

// A precision that all bakes of it failed to make is missed only by a check that asks for it.
BOOST_FIXTURE_TEST_CASE(TheCheckAsksForWhatWasPlannedOnEveryDevice, Scene) {
  options.shapes = path("shapes.txt");
  write_file(options.shapes, "64x64x64\n");
  const auto precisions = [&] {
    const std::vector<Piece> all = pieces();
    const auto check =
        std::find_if(all.begin(), all.end(), [](const Piece& piece) { return piece.stage == Stage::check; });
    const auto option = std::find(check->command.begin(), check->command.end(), "--precision");
    return option == check->command.end() ? std::string() : *(option + 1);
  };
  BOOST_TEST(precisions() == "single,double");
  options.machines[0].devices[1].fp64 = false;
  BOOST_TEST(precisions() == "single");
  options.variants = {"direct-s-nn-8x8x1-1x1x1-v1"};
  BOOST_TEST(precisions() == "");
}

BOOST_FIXTURE_TEST_CASE(TargetsGoToMachinesWithTheSameCompilers, Scene) {
  options.targets = {"nvidia:sm_90"};
  BOOST_TEST(contains(cause(plan_fleet(options)), "no machine compiles for the target 'nvidia:sm_90'"));
  options.machines[0].targets = {{"nvidia:sm_90", "1111111111111111", true}};
  options.machines[1].targets = {{"nvidia:sm_90", "2222222222222222", true}};
  BOOST_TEST(count(Stage::bake) == 3U);
  BOOST_TEST(pieces()[2].machines == (std::vector<std::string>{"n1"}), boost::test_tools::per_element());
  options.machines[1].targets[0].identity = "1111111111111111";
  BOOST_TEST(pieces()[2].machines == (std::vector<std::string>{"n1", "n2"}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(WhatCannotBePlannedIsNamed, Scene) {
  options.device = "Q";
  BOOST_TEST(contains(cause(plan_fleet(options)), "'Q'"));
  options.device.clear();
  options.machines[1].name = "n1";
  BOOST_TEST(contains(cause(plan_fleet(options)), "two machines have the name n1"));
  options.machines = {machine_of("n1", {})};
  BOOST_TEST(contains(cause(plan_fleet(options)), "no device"));
  options.machines = {machine_of("n1", {"A"})};
  options.shapes = path("none.txt");
  BOOST_TEST(contains(cause(plan_fleet(options)), "none.txt"));
}

BOOST_FIXTURE_TEST_CASE(AManifestIsReadAsItWasWritten, Scene) {
  const std::vector<Piece> all = pieces();
  write_file(path("fleet.jsonl"), manifest_text(all));
  const Manifest read = required(read_manifest(path("fleet.jsonl")));
  BOOST_TEST(manifest_text(read.pieces) == manifest_text(all));
  BOOST_TEST(required(find_piece(read, "2")) == 1U);
  BOOST_TEST(required(find_piece(read, all[3].id)) == 3U);
  BOOST_TEST(contains(find_piece(read, "5").status().message(), "no piece '5'"));
}

BOOST_FIXTURE_TEST_CASE(ForeignAndChangedManifestsAreRefused, Scene) {
  const auto refusal = [&](const std::string& text) {
    write_file(path("fleet.jsonl"), text);
    const Result<Manifest> read = read_manifest(path("fleet.jsonl"));
    return read ? "read" : read.status().message();
  };
  const std::string text = manifest_text(pieces());
  const std::pair<std::string, std::string> cases[] = {
      {replaced(text, "\"version\":1", "\"version\":2"), "version 2, this is 1: make it again"},
      {replaced(text, "\"clbake\":\"", "\"clbake\":\"9."), "clbake \"9."},
      {replaced(text, "single,double", "single,half"), "line 2: the piece is not named after its contents"},
      {replaced(text, "\"needs\":[\"bake-", "\"needs\":[\"bake-0"), "line 4: needs: bake-0"},
      {text.substr(0, text.size() - 20), "line 5: parse error at line 1"},
      {text.substr(0, text.size() - 1), "read"},
      {text.substr(0, text.rfind("{\"piece\"")), "pieces: 4, and 3 lines follow"},
      {"Dear all,\n", "is no manifest"},
      {"", "is no manifest"},
  };
  for (const auto& [changed, cause] : cases) BOOST_TEST(contains(refusal(changed), cause), refusal(changed));
  for (const std::uintmax_t size : {0U, (64U << 20U) + 1}) {  // not ours, either
    std::filesystem::resize_file(path("fleet.jsonl"), size);
    const Status kept = write_manifest(path("fleet.jsonl"), {});
    BOOST_TEST(contains(kept.message(), "is no manifest; it stays as it is"), kept.message());
  }
}

BOOST_FIXTURE_TEST_CASE(AMachineIsReadAndWhatIsWrongWithItNamed, Scene) {
  const std::string good =
      R"({"machine": "n7", "other": 1, "devices": [{"index": 0, "compute_units": 4, "fp64": true, "target":
          {"platform_name": "P", "platform_version": "1", "vendor": "V", "device_name": "D", "device_version": "1",
          "driver_version": "1", "architecture": "", "cpu_features": "avx", "address_bits": 64}}],
          "targets": [{"name": "intel:dg2", "identity": "0123456789abcdef", "fp64": false}]})";
  const auto read = [&](const std::string& text) {
    write_file(path("machine.json"), text);
    return read_machine(path("machine.json"));
  };
  const Machine machine = required(read(good));
  BOOST_TEST(machine.name == "n7");
  BOOST_TEST(machine.devices[0].target.device_name == "D");
  BOOST_TEST(machine.devices[0].target.cpu_features == "avx");
  BOOST_TEST(machine.devices[0].compute_units == 4U);
  BOOST_TEST(machine.targets[0].name == "intel:dg2");
  const auto refused = [&](const std::string& text, const std::string& cause) {
    const std::string said = read(text).status().message();
    BOOST_TEST(contains(said, path("machine.json") + ": " + cause), said);
  };
  refused(replaced(good, "\"machine\"", "\"m\""), "machine: is missing");
  refused(replaced(good, "n7", "a b"), "machine: is no name");
  refused(replaced(good, "\"target\"", "\"t\""), "devices[0].target: is missing");
  refused(replaced(good, "\"0123456789abcdef\"", "5"), "targets[0].identity: ");
  refused("{", "parse error at line 1");
  refused("[]", "is not an object");
}

// An application's own programs, of a manifest with an include.
struct Programs : Scene {
  Programs() {
    options.programs = path("programs.json");
    options.gemm = false;
    write_file(options.programs, R"({"version": 2, "programs": [{"name": "one", "source": "one.cl", "kernels": [
        {"name": "one", "work_group_sizes": [[4]], "trials": [{"global": [4], "arguments": [
          {"buffer": "char", "count": 4}]}]}]}]})");
    write_file(path("one.cl"), "#include \"part.h\"\nkernel void one(global char* x) {}\n");
    write_file(path("part.h"), "// part\n");
  }
};

BOOST_FIXTURE_TEST_CASE(ProgramsAloneAreBakedForEachDeviceAndChecked, Programs) {
  const std::vector<Piece> all = pieces();
  BOOST_REQUIRE(all.size() == 5U);  // two devices, merge, check, report
  BOOST_TEST(all[0].command == (std::vector<std::string>{"build", "--device", identity(target_of("A")), "--programs",
                                                         "programs.json", "-o", output_of(all[0])}),
             boost::test_tools::per_element());
  std::set<std::string> files;
  for (const InputFile& file : all[0].files) files.insert(file.path);
  BOOST_TEST(files == (std::set<std::string>{"programs.json", "one.cl", "part.h"}), boost::test_tools::per_element());
  BOOST_TEST(all[3].command == (std::vector<std::string>{"check", output_of(all[2]), "--junit", output_of(all[3])}),
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(AnyFileOfAProgramMakesAnotherPiece, Programs) {
  const std::set<std::string> first = ids(pieces());
  BOOST_TEST(ids(pieces()) == first, boost::test_tools::per_element());
  for (const auto& [file, text] : {std::pair("part.h", "// changed\n"), {"one.cl", "// none\n"}}) {
    const std::string before = read_file(path(file));
    write_file(path(file), text);
    for (const std::string& id : ids(pieces())) BOOST_TEST(first.count(id) == 0U, file << ": " << id);
    write_file(path(file), before);
  }
}

BOOST_FIXTURE_TEST_CASE(WithGemmProgramsShareItsPiecesOrHaveTheirOwn, Programs) {
  options.gemm = true;
  std::vector<Piece> all = pieces();
  BOOST_REQUIRE(count(Stage::bake) == 2U);
  const auto has = [](const Piece& piece, const char* word) {
    return std::find(piece.command.begin(), piece.command.end(), word) != piece.command.end();
  };
  BOOST_TEST((has(all[0], "--programs") && has(all[0], "--precision")));
  BOOST_TEST(!has(all[0], "--group"));
  options.split = options.group = true;
  all = pieces();
  BOOST_REQUIRE(count(Stage::bake) == 6U);
  BOOST_TEST((has(all[0], "--programs") && !has(all[0], "--precision") && !has(all[0], "--group")));
  BOOST_TEST((!has(all[1], "--programs") && has(all[1], "--precision") && has(all[1], "--group")));
  BOOST_TEST(contains(all[0].title, ", programs"));
}

BOOST_FIXTURE_TEST_CASE(AProgramThatCannotBeReadIsNamedBeforeAnyWork, Programs) {
  write_file(path("one.cl"), "#include \"none.h\"\n");
  BOOST_TEST(cause(plan_fleet(options)) ==
             options.programs + ": program one: one.cl:1: there is no file 'none.h' to include");
}

}  // namespace clbake::builder::fleet::test
