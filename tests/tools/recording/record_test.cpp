// `clbake record` and the layer in record mode, as users meet them: an unchanged program, its results, and what the
// recording says. Needs a device, and a loader that knows layers.
#include "command.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace clbake::tool::test {
namespace {

using boost::unit_test::precondition;
using Json = nlohmann::json;
namespace fs = std::filesystem;

// One recording of the program tests/tools/recording/app.cpp.
struct Recorded {
  Directory directory;
  Outcome outcome;
  Json manifest;

  std::string folder() const { return directory.path("recording"); }
  std::string read(const std::string& name) const { return read_file(folder() + "/" + name); }

  Json program(std::size_t index) const { return manifest.at("programs").at(index); }
  // The program that has this kernel.
  Json program_with(const std::string& name) const {
    for (const Json& program : manifest.at("programs")) {
      for (const Json& kernel : program.at("kernels")) {
        if (kernel.at("name") == name) return program;
      }
    }
    return {};
  }
  // A kernel of any program.
  Json kernel(const std::string& name) const {
    const Json program = program_with(name);
    if (program.is_null()) return {};
    for (const Json& kernel : program.at("kernels")) {
      if (kernel.at("name") == name) return kernel;
    }
    return {};
  }
  Json only_trial(const std::string& name) const {
    const Json trials = kernel(name).value("trials", Json::array());
    BOOST_REQUIRE_MESSAGE(trials.size() == 1U, name << ": " << trials);
    return trials[0];
  }

  void record(const Arguments& mode, const Arguments& options = {}) {
    outcome = clbake(Arguments{"record", "-o", folder()} + options + Arguments{"--", CLBAKE_RECORDED_APP} + mode);
    if (outcome.status == 77) skip("no OpenCL device");
    manifest = Json::parse(read("programs.json"), nullptr, false);
  }
};

Recorded recorded(const Arguments& mode, const Arguments& options = {}) {
  Recorded result;
  result.record(mode, options);
  BOOST_TEST_REQUIRE(result.outcome.status == 0, result.outcome.err);
  BOOST_TEST_REQUIRE(result.manifest.is_object(), result.outcome.err);
  return result;
}

// One recording of the program in each of these modes, made once.
constexpr const char* kBaked[] = {"arguments", "nulls", "link", "launches"};
const Recorded& recorded_once() {
  static const Recorded once = [] {
    Recorded all;
    for (const char* mode : kBaked) {
      all.record({mode});
      BOOST_TEST_REQUIRE(all.outcome.status == 0, all.outcome.err);
    }
    return all;
  }();
  return once;
}

boost::test_tools::assertion_result has_shared_memory(boost::unit_test::test_unit_id) {
  return shell(CLBAKE_RECORDED_APP " shared").status != 3;
}

// The path where others than the owner may read it or more; empty where they may not.
std::string open_to_others(const fs::path& path) {
  const fs::perms others = fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all);
  return others == fs::perms::none ? "" : path.string();
}

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryKindOfArgumentIsRecordedAsItWasAtTheLaunch) {
  const Recorded& result = recorded_once();
  const Json trial = result.only_trial("every"), arguments = trial["arguments"];
  BOOST_TEST(trial["global"] == Json({8, 1, 1}));
  BOOST_TEST(trial["local"] == Json({4, 1, 1}));
  BOOST_TEST_REQUIRE(arguments.size() == 10U);
  BOOST_TEST(result.read(arguments[0]["file"]) == floats({1, 2, 3, 4, 5, 6, 7, 8}));
  BOOST_TEST(arguments[1]["offset"] == 128);
  BOOST_TEST(result.read(arguments[1]["file"]) == floats(std::vector<float>(8, 5)));
  const Json image = {{"image", "2d"}, {"order", "RGBA"}, {"type", "UNORM_INT8"}, {"width", 4}, {"height", 2}};
  Json in = arguments[2], out = arguments[3];
  BOOST_TEST(result.read(in["file"]) == std::string(32, '\7'));
  in.erase("file");
  BOOST_TEST(in == image);
  BOOST_TEST(out["fill"] == 0);
  BOOST_TEST(out["truncated"] == true);
  out.erase("fill");
  out.erase("truncated");
  BOOST_TEST(out == image);
  const Json sampler = {{"normalized", false}, {"addressing", "CLAMP_TO_EDGE"}, {"filter", "NEAREST"}};
  BOOST_TEST(arguments[4] == Json({{"sampler", sampler}}));
  BOOST_TEST(arguments[5] == Json({{"local", 16}}));
  BOOST_TEST(arguments[6]["bytes"].get<std::string>().size() == 72U);
  BOOST_TEST(arguments[7] == Json({{"buffer", nullptr}}));
  BOOST_TEST(arguments[8] == Json({{"same", 0}}));
  BOOST_TEST(arguments[9] == Json({{"bytes", "0000000000000000"}}));
}

// The program checks its own result: the launches come in its order, after the reads of the recording.
BOOST_AUTO_TEST_CASE(ContentsAreThoseJustBeforeTheLaunchInAnOutOfOrderQueue) {
  const Recorded result = recorded({"order"});
  const auto content = [&](const char* kernel) {
    return result.read(result.only_trial(kernel)["arguments"][0].value("file", ""));
  };
  BOOST_TEST(content("scale") == floats(std::vector<float>(8, 3)));
  BOOST_TEST(content("add") == floats(std::vector<float>(8, 6)));
}

BOOST_AUTO_TEST_CASE(OneTextIsOneProgramAndAFailedBuildIsNone) {
  const Recorded result = recorded({"builds"});
  BOOST_TEST(result.manifest["programs"].size() == 2U);
  Json sizes = result.kernel("scale")["work_group_sizes"];
  std::sort(sizes.begin(), sizes.end());
  BOOST_TEST(sizes == Json::parse("[[16,1,1],[64,1,1]]"));
  BOOST_TEST(result.kernel("later")["work_group_sizes"] == Json::parse("[[1,1,1]]"));
  BOOST_TEST(contains(result.outcome.err, "a program that did not build is not recorded"), result.outcome.err);
}

BOOST_AUTO_TEST_CASE(ALinkedProgramIsItsPartsWithTheirHeaders) {
  const Json program = recorded_once().program_with("use");
  BOOST_TEST_REQUIRE(program["parts"].size() == 2U);
  BOOST_TEST(program["parts"][0]["options"] == "-DPART");
  BOOST_TEST(program["parts"][0]["headers"][0]["name"] == "twice.h");
  BOOST_TEST(program["kernels"][0]["name"] == "use");
}

BOOST_AUTO_TEST_CASE(FilesThatAreIncludedBecomePartOfTheRecording) {
  const Directory files;
  const fs::path a = files.write("a.h", std::string("#include \"b.h\"\n#define A 1\n"));
  files.write("b.h", std::string("#define B 2\n"));
  const Recorded result = recorded({"include", a.parent_path().string()});
  const Json headers = result.program(0)["headers"];
  BOOST_TEST_REQUIRE(headers.size() == 2U);
  BOOST_TEST(headers[0]["name"] == "a.h");
  BOOST_TEST(result.read(headers[1]["source"]) == "#define B 2\n");
}

BOOST_AUTO_TEST_CASE(LaunchesThatNeedOtherMachineCodeHaveTrialsOfTheirOwn) {
  const Recorded& result = recorded_once();
  const Json kernel = result.kernel("scale");
  BOOST_TEST(kernel["work_group_sizes"] == Json::parse("[[64,1,1],null]"));
  BOOST_TEST_REQUIRE(kernel["trials"].size() == 4U);  // of six launches
  BOOST_TEST(kernel["trials"][1]["local"].is_null());
  BOOST_TEST(kernel["trials"][2]["global"] == Json({65536, 1, 1}));
  BOOST_TEST(kernel["trials"][3]["offset"] == Json({8, 0, 0}));
}

BOOST_AUTO_TEST_CASE(KernelsThatAreNotLaunchedAreListed) {
  const Recorded result = recorded({"untried"});
  for (const char* name : {"idle", "unmade"}) {
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(result.kernel(name)["trials"] == Json::array()); }
  }
}

BOOST_AUTO_TEST_CASE(AKernelOfSharedVirtualMemoryIsListedWithTheReason, *precondition(has_shared_memory)) {
  const Recorded result = recorded({"shared"});
  BOOST_TEST(result.kernel("shared")["trials"] == Json::array());
  BOOST_TEST(result.kernel("shared")["work_group_sizes"] == Json::parse("[[64,1,1]]"));
  BOOST_TEST(contains(result.outcome.err, "kernel shared: argument 0 is a pointer of shared virtual memory"),
             result.outcome.err);
}

BOOST_AUTO_TEST_CASE(WhatTheHostMayNotReadIsCopied) {
  const Recorded result = recorded({"hidden"});
  const Json arguments = result.only_trial("hidden")["arguments"];
  BOOST_TEST(result.read(arguments[0].value("file", "")) == floats({1, 2, 3, 4}));
  BOOST_TEST(result.read(arguments[1].value("file", "")) == std::string(32, '\7'));
}

// A part of it could lead a kernel out of its buffers.
BOOST_AUTO_TEST_CASE(AContentThatDoesNotFitIsNotCutButLeavesTheLaunchUntried) {
  const Recorded result = recorded({"large"});
  BOOST_TEST(result.kernel("scale")["trials"] == Json::array());
  BOOST_TEST(contains(result.outcome.err, "kernel scale: its contents do not fit"), result.outcome.err);
}

BOOST_AUTO_TEST_CASE(ARecordingIsItsOwnersAlone) {
  const Recorded& result = recorded_once();
  const Directory files;
  const std::string copy = files.path("copy");
  BOOST_TEST_REQUIRE(clbake({"capture", result.folder(), "-o", copy}).status == 0);
  for (const std::string& folder : {result.folder(), copy}) {
    BOOST_TEST(open_to_others(folder) == "");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      BOOST_TEST(open_to_others(entry.path()) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(TheLimitOfBytesEndsContentsAndNotTheRecording) {
  const Recorded result = recorded({"launches"}, {"--max-bytes", "100"});
  BOOST_TEST(result.kernel("scale")["trials"] == Json::array());
  BOOST_TEST(contains(result.outcome.err, "the recording has reached its limit of bytes"), result.outcome.err);
}

BOOST_AUTO_TEST_CASE(ProcessesOfOneProgramRecordIntoOneDirectory) {
  const Recorded result = recorded({"forked"});
  BOOST_TEST(!result.kernel("parent").is_null());
  BOOST_TEST(!result.kernel("child").is_null());
}

BOOST_AUTO_TEST_CASE(AKilledProgramLeavesWhatItDid) {
  Recorded result;
  result.record({"killed"});
  BOOST_TEST(result.outcome.status == 137);
  BOOST_TEST(result.only_trial("scale")["arguments"].size() == 2U);
}

BOOST_AUTO_TEST_CASE(TheExitStatusIsTheProgramsOwn) {
  Recorded result;
  result.record({"status"});
  BOOST_TEST(result.outcome.status == 7);
}

BOOST_AUTO_TEST_CASE(ASecondRecordingAddsToTheFirst) {
  Recorded result = recorded({"link"});
  result.record({"launches"});
  BOOST_TEST(result.manifest["programs"].size() == 2U);
  BOOST_TEST(result.kernel("use")["trials"].size() == 1U);
}

BOOST_AUTO_TEST_CASE(BinariesOfAProgramsOwnCacheAreNamedOrRefused) {
  const Directory files;
  const std::string cache = files.path("cache");
  recorded({"cache", cache});
  Recorded cached;
  cached.record({"cache", cache});
  BOOST_TEST(cached.outcome.status == 3);
  BOOST_TEST(contains(cached.outcome.err, "a program made from a binary is not recorded"), cached.outcome.err);
  BOOST_TEST(!recorded({"cache", cache}, {"--refuse-binaries"}).kernel("scale").is_null());
}

BOOST_AUTO_TEST_CASE(TheLayerRecordsByTheEnvironmentAlone) {
  const Directory directory;
  const std::string out = directory.path("out"), in = directory.path("in");
  const Outcome ran = shell("OPENCL_LAYERS=" CLBAKE_LAYER " CLBAKE_RECORD=" + in + " " CLBAKE_RECORDED_APP " link");
  if (ran.status == 77) skip("no OpenCL device");
  BOOST_TEST(ran.status == 0, ran.err);
  const Json json = json_of(clbake({"capture", in, "-o", out, "--json"}));
  BOOST_TEST(json["programs"] == 1);
  BOOST_TEST(fs::exists(out + "/programs.json"));
}

// The whole way: nothing is left out, and the program's next run compiles nothing.
BOOST_AUTO_TEST_CASE(ARecordingIsBakedAndServesTheProgram) {
  const Recorded& result = recorded_once();
  const Directory files;
  const std::string bundle = files.path("app.clbake");
  const Outcome built = clbake({"build", "--programs", result.folder() + "/programs.json", "-o", bundle});
  BOOST_TEST_REQUIRE(built.status == 0, built.err);
  for (const std::string mode : kBaked) {
    BOOST_TEST_CONTEXT(mode) {
      const std::string log = files.path("log-" + mode);
      const Outcome served =
          clbake({"run-with", bundle, "--learn", "off", "--", CLBAKE_RECORDED_APP, mode}, {{"CLBAKE_LOG", log}});
      BOOST_TEST(served.status == 0, served.err);
      BOOST_TEST(contains(read_file(log), "is from " + bundle), read_file(log));
      BOOST_TEST(!contains(read_file(log), "is compiled by the driver"), read_file(log));
    }
  }
}

// As below nohup, and in the background of a shell without job control.
BOOST_AUTO_TEST_CASE(SignalsThatWereIgnoredStayIgnored) {
  const Directory directory;
  for (const std::string signal : {"INT", "QUIT", "HUP"}) {
    const std::string command = "trap '' " + signal + "; exec " CLBAKE_COMMAND " record -o " +
                                directory.path("recording") + " -- sh -c 'kill -" + signal + " $$; exit 5'";
    BOOST_TEST(shell(command).status == 5, signal);
  }
}

BOOST_AUTO_TEST_CASE(WhatCannotBeRunIsNamed) {
  const Directory directory;
  const std::string folder = directory.path("recording");
  check_refused(clbake({"record", "-o", folder, "--", "no-such-program"}), 1, {"no-such-program: cannot be started"});
  check_refused(clbake({"record", "-o", folder}), 2, {"'--'"});
  const Outcome nothing = clbake({"record", "-o", folder, "--", "true"});
  BOOST_TEST(nothing.status == 3);
  BOOST_TEST(contains(nothing.err, "no OpenCL program was recorded"), nothing.err);
}

}  // namespace clbake::tool::test
