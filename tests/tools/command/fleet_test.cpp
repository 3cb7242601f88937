// `clbake plan` and `clbake work` as users meet them: offline targets with fake compilers, no device.
#include "command.hpp"
#include "fake_compilers.hpp"

#include <algorithm>
#include <filesystem>

namespace clbake::tool::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariants = "direct-s-nn-8x8x1-1x1x4-v1,direct-s-nt-8x8x1-1x1x4-v1";
constexpr const char* kPieces = "1,2,3,4,5";  // four bakes and their merge; the report is the sixth

// A machine with compilers for two targets, and a manifest of a bake for each of them and of two variants.
struct Fleet : FakeCompilers {
  Directory directory;
  std::string manifest = directory.path("fleet.jsonl");

  Fleet() {
    add_clang(kGoodClang);
    add_ptxas(kGoodPtxas);
    const Outcome planned =
        run({"plan", "--target", "nvidia:sm_80,nvidia:sm_90", "--variant", kVariants, "--split", "-o", manifest});
    BOOST_REQUIRE_MESSAGE(planned.status == 0, planned.err);
    BOOST_TEST(contains(planned.out, "6 pieces of work for 1 machine"), planned.out);
  }

  Environment environment() const {
    Environment all = no_platform();
    all.emplace_back("PATH", bin());
    return all;
  }
  Outcome run(const Arguments& arguments) const { return clbake(arguments, environment()); }
  nlohmann::json work(const std::string& file, const std::string& pieces = kPieces) const {
    return json_of(run({"work", file, "--piece", pieces, "--json"}));
  }
  // The same manifest where nothing has been done.
  std::string elsewhere(const Directory& other) const { return other.write("fleet.jsonl", read_file(manifest)); }
  // For a line of sh, before $CLBAKE.
  std::string here() const {
    std::string text = "env";
    for (const auto& [name, value] : environment()) text += " " + name + "='" + value + "'";
    return text + " \"$CLBAKE\"";
  }
};

std::size_t made(const nlohmann::json& work) {
  std::size_t count = 0;
  for (const nlohmann::json& piece : work["pieces"]) count += piece["made"] == true ? 1 : 0;
  return count;
}

// Locks stay.
bool nothing_unfinished(const Directory& directory) {
  const fs::directory_iterator files(directory.path("pieces/unfinished"));
  return std::all_of(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".lock"; });
}

std::string output_of(const nlohmann::json& work, std::size_t piece) { return work["pieces"][piece - 1]["output"]; }

}  // namespace

BOOST_FIXTURE_TEST_CASE(PiecesAreDoneOnceAndOutputsDecide, Fleet) {
  const nlohmann::json first = work(manifest);
  BOOST_TEST(first["done"] == 5);
  BOOST_TEST(made(first) == 5U);
  BOOST_TEST(contents_of(output_of(first, 5)).entries.size() == 8U);  // machine code and PTX
  BOOST_TEST(made(work(manifest)) == 0U);

  // One is lost and one is damaged: those alone are made again, and the damaged one is named.
  fs::remove(output_of(first, 1));
  fs::resize_file(output_of(first, 2), 100);
  const Outcome list = run({"work", manifest, "--piece", kPieces, "--list"});
  BOOST_TEST(list.status == 3);
  BOOST_TEST(contains(list.out, "    1  missing  bake nvidia:sm_80"), list.out);
  BOOST_TEST(contains(list.out, "    2  damaged  bake nvidia:sm_80"), list.out);
  BOOST_TEST(contains(list.out, "3 of 5 pieces done"), list.out);
  const Outcome again = run({"work", manifest, "--piece", kPieces});
  BOOST_TEST(again.status == 0);
  BOOST_TEST(contains(again.err, "made again: " + output_of(first, 2)), again.err);
  BOOST_TEST(contains(again.out, "5 of 5 pieces done, 2 of them now"), again.out);
}

BOOST_FIXTURE_TEST_CASE(ManyMachinesMakeTheBundleOfOne, Fleet) {
  const nlohmann::json alone = work(manifest);
  const Directory other;
  const std::string shared = elsewhere(other);
  // Two at a time on each piece, in two orders; no piece is lost, none is made twice.
  const Outcome both =
      shell(here() + " work " + shared + " --piece 1,2,3,4 --json > " + other.path("a") + " & " + here() + " work " +
            shared + " --piece 4,3,2,1 --json > " + other.path("b") + " && wait $!");
  BOOST_TEST(both.status == 0);
  const auto a = nlohmann::json::parse(read_file(other.path("a")));
  const auto b = nlohmann::json::parse(read_file(other.path("b")));
  BOOST_TEST(a["done"] == 4);
  BOOST_TEST(b["done"] == 4);
  BOOST_TEST(made(a) + made(b) == 4U);
  const nlohmann::json merged = work(shared);
  BOOST_TEST(made(merged) == 1U);
  BOOST_TEST((read_file(output_of(merged, 5)) == read_file(output_of(alone, 5))));
  BOOST_TEST(nothing_unfinished(other));
}

BOOST_FIXTURE_TEST_CASE(AfterAKilledWorkerTheNextOneGoesOn, Fleet) {
  add_clang("echo $$ > " + path("pid") + "\nexec sleep 600");
  const Outcome killed = shell(here() + " work " + manifest + " --piece 1 & while [ ! -s " + path("pid") +
                               " ]; do sleep 0.01; done; kill -9 $!; wait $!");
  BOOST_TEST(killed.status == 137);
  BOOST_TEST(!nothing_unfinished(directory));
  shell("kill -9 $(cat " + path("pid") + ")");
  add_clang(kGoodClang);
  BOOST_TEST(made(work(manifest)) == 5U);
  BOOST_TEST(nothing_unfinished(directory));
}

BOOST_FIXTURE_TEST_CASE(WhatIsDamagedIsNeitherContinuedNorCopied, Fleet) {
  const nlohmann::json pieces = nlohmann::json::parse(run({"work", manifest, "--list", "--json"}).out);
  const fs::path merged = output_of(pieces, 5);
  fs::create_directories(directory.path("pieces/unfinished"));
  write_file(directory.path("pieces/unfinished/" + merged.filename().string()), "not a bundle");
  const fs::path baked = output_of(pieces, 1);
  write_file(directory.path("pieces/unfinished/" + baked.filename().string()), "not a bundle");
  BOOST_TEST(made(work(manifest)) == 5U);

  // A byte of a program.
  std::string bytes = read_file(merged.string());
  bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);
  write_file(merged.string(), bytes);
  const std::string output = directory.path("gemm.clbake");
  const Outcome copied = run({"work", manifest, "--piece", kPieces, "--output", output});
  BOOST_TEST(contains(copied.err, "made again: " + merged.string()), copied.err);
  BOOST_TEST(clbake({"verify", output}).status == 0);
}

BOOST_FIXTURE_TEST_CASE(AFailedPieceIsNamedAndTheOthersGoOn, Fleet) {
  add_ptxas("case $2 in sm_80) echo boom >&2; exit 1;; esac\n" + std::string(kGoodPtxas));
  const Outcome outcome = run({"work", manifest, "--piece", kPieces});
  BOOST_TEST(outcome.status == 3);
  BOOST_TEST(contains(outcome.err, "clbake work: 1 bake nvidia:sm_80"), outcome.err);
  BOOST_TEST(contains(outcome.err, "boom"), outcome.err);
  BOOST_TEST(contains(outcome.out, "    5  waiting  merge 4 bundles"), outcome.out);
  BOOST_TEST(contains(outcome.out, "2 of 5 pieces done"), outcome.out);
  add_ptxas(kGoodPtxas);
  BOOST_TEST(made(work(manifest)) == 3U);
}

BOOST_FIXTURE_TEST_CASE(AFailedCheckIsNamedAndRepeated, Fleet) {
  const std::string bundle = directory.path("gemm.clbake");
  Arguments plan = {"plan",
                    "--target",
                    "nvidia:sm_90",
                    "--variant",
                    "direct-s-nn-8x8x1-1x1x4-v1",
                    "--shapes",
                    directory.write("shapes.txt", std::string("single nn 64x64x64\n")),
                    "--require",
                    "native",
                    "-o",
                    manifest};
  BOOST_TEST(run(plan).status == 0);
  const Arguments all = {"work", manifest, "--piece", "1,2,3,3", "-o", bundle};
  const Outcome failed = run(all);
  BOOST_TEST(failed.status == 3);
  BOOST_TEST(contains(failed.err, "clbake work: 3 check that"), failed.err);
  BOOST_TEST(contains(failed.err, "clbake work: " + bundle + ": not written"), failed.err);
  BOOST_TEST(!fs::exists(bundle));
  const nlohmann::json pieces = nlohmann::json::parse(run({"work", manifest, "--list", "--json"}).out);
  BOOST_TEST(contains(read_file(output_of(pieces, 3)), "made without the device and is used only with newer_driver"));
  BOOST_TEST(contains(run(all).err, "begins: 3 check"));

  plan.emplace_back("--newer-driver");
  BOOST_TEST(run(plan).status == 0);
  const Outcome served = run(all);
  BOOST_TEST(served.status == 0, served.err);
  BOOST_TEST(fs::exists(bundle));
}

// As CI keeps it between plans. Logs show what was baked.
BOOST_FIXTURE_TEST_CASE(AStoreServesAnotherPlan, Fleet) {
  const std::string store = directory.path("store");
  const auto with_store = [&](const std::string& file) {
    return json_of(run({"work", file, "--piece", kPieces, "--store", store, "--json"}));
  };
  BOOST_TEST(made(with_store(manifest)) == 5U);
  const Directory other;
  const nlohmann::json again = with_store(elsewhere(other));
  BOOST_TEST(made(again) == 5U);
  for (const std::size_t bake : {1U, 2U, 3U, 4U}) {
    const std::string output = output_of(again, bake);
    const std::string log =
        read_file(other.path("pieces/" + again["pieces"][bake - 1]["piece"].get<std::string>() + ".log"));
    BOOST_TEST(contains(log, "(0 baked, 1 reused)"), log);
  }
}

BOOST_FIXTURE_TEST_CASE(AFullDiskIsNamedAndTheNextRunFinishes, Fleet) {
  const Outcome full = shell("ulimit -f 16; " + here() + " work " + manifest + " --piece 1,2");  // 8 KiB
  BOOST_TEST(full.status == 3);
  BOOST_TEST(contains(full.err, "File too large"), full.err);
  BOOST_TEST(made(work(manifest)) == 5U);
}

BOOST_FIXTURE_TEST_CASE(APieceForAnotherMachineStays, Fleet) {
  fs::remove(bin() + "/ptxas");
  const Outcome outcome = run({"work", manifest, "--piece", "1"});
  BOOST_TEST(outcome.status == 3);
  BOOST_TEST(contains(outcome.out, "    1  elsewhere  bake nvidia:sm_80"), outcome.out);
}

BOOST_FIXTURE_TEST_CASE(DamagedManifestsAndWrongPiecesAreNamed, Fleet) {
  std::string text = read_file(manifest);
  check_refused(run({"work", manifest, "--piece", "7"}), 1, {manifest, "no piece '7'"});
  text.replace(text.find("\"nvidia:sm_80\""), 14, "\"nvidia:sm_90\"");
  const std::string changed = directory.write("changed.jsonl", text);
  check_refused(run({"work", changed, "--list"}), 1, {"changed.jsonl: line 2", "not named after its contents"});
  text = read_file(manifest);
  text.replace(text.find("\"version\":1"), 11, "\"version\":2");
  check_refused(run({"work", directory.write("newer.jsonl", text)}), 1, {"version 2", "clbake plan"});
  check_refused(run({"work", directory.write("letter.txt", std::string("Dear all,\n"))}), 1, {"is no manifest"});
  check_refused(run({"plan", "--target", "nvidia:sm_80", "-o", directory.path("letter.txt")}), 1,
                {"letter.txt", "stays"});
  check_refused(run({"plan", "--target", "nvidia:sm_1", "-o", manifest}), 1, {"'nvidia:sm_1'"});
  check_refused(run({"plan", "--target", "nvidia:sm_80", "-o", directory.path("none/a")}), 1,
                {"none/a", "the directory does not exist"});
  check_refused(run({"plan", "--format", "slurm"}), 2, {"--format"});
  const Arguments checked = {"plan",
                             "--target",
                             "nvidia:sm_80",
                             "-o",
                             manifest,
                             "--shapes",
                             directory.write("shapes.txt", std::string("64x64x64\n"))};
  const auto with = [&](const std::string& option, const std::string& value) {
    return run(checked + Arguments{option, value});
  };
  check_refused(with("--require", "native,fast"), 2, {"--require", "'fast'"});
  check_refused(with("--against", "a,b"), 2, {"--against", "'a,b'"});
  check_refused(with("--against", manifest), 1, {"--against", manifest});
  check_refused(run({"plan", "--from", manifest, "--format", "make"}), 2, {"--format", "'make'"});
}

BOOST_FIXTURE_TEST_CASE(TheSlurmFormSubmitsWhatIsNotDone, Fleet) {
  BOOST_TEST(work(manifest, "1,2")["done"] == 2);
  const std::string script = directory.path("fleet.slurm");
  check_refused(run({"plan", "--from", manifest, "--format", "slurm", "-o", manifest}), 1, {"also an input", manifest});
  BOOST_TEST(run({"plan", "--from", manifest, "--format", "slurm", "-o", script}).status == 0);
  // A sbatch that records its arguments and numbers the jobs; a Slurm with three nodes.
  const std::string host = shell("hostname").out.substr(0, shell("hostname").out.find('\n'));
  const std::string log = directory.path("log");
  add("sinfo", "printf '%s\\n' other1 " + host + " other2");
  add("sbatch", "echo \"$*\" >> " + log + "; grep -c job-name " + log);
  const Outcome submitted = shell("PATH=" + bin() + ":/usr/bin:/bin bash " + script + " --partition=gpu");
  BOOST_TEST(submitted.status == 0);
  BOOST_TEST(submitted.out == "1\n2\n3\n");
  const std::string calls = read_file(log);
  BOOST_TEST(contains(calls, "--job-name=clbake-bake --array=3,4 "), calls);
  BOOST_TEST(contains(calls, "--exclude=other1,other2 --partition=gpu"), calls);
  BOOST_TEST(contains(calls, "--job-name=clbake-merge --array=5 "), calls);
  BOOST_TEST(contains(calls, "--dependency=afterany:1 "), calls);
  BOOST_TEST(contains(calls, "--dependency=afterany:2 "), calls);
}

BOOST_FIXTURE_TEST_CASE(WorkflowsHaveEveryPieceAndWaitForTheirStages, Fleet) {
  const std::string github = run({"plan", "--from", manifest, "--format", "github"}).out;
  const std::string gitlab = run({"plan", "--from", manifest, "--format", "gitlab"}).out;
  const nlohmann::json list = nlohmann::json::parse(run({"work", manifest, "--list", "--json"}).out);
  BOOST_TEST(list["pieces"].size() == 6U);
  for (const nlohmann::json& piece : list["pieces"]) {
    const std::string id = piece["piece"];
    BOOST_TEST(contains(github, "piece: " + id + "\n"), id);
    BOOST_TEST(contains(gitlab, "variables: {PIECE: " + id + "}"), id);
  }
  BOOST_TEST(contains(github, "  report:\n    needs: [bake, merge]\n    if: ${{ !cancelled() }}\n"), github);
  BOOST_TEST(contains(gitlab, "stages: [bake, merge, report]\n"), gitlab);
  // Only bakes have a cache of the programs for one driver.
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  BOOST_TEST(count(github, "restore-keys: clbake-store-${{ matrix.driver }}-\n") == 1U);
  BOOST_TEST(count(gitlab, "- {key: store-") == 4U);
}

// An application's own programs, with an include that changes between plan and work.
BOOST_FIXTURE_TEST_CASE(ProgramsAreBakedOnceAndPlannedAnewWhenAFileOfTheirsChanges, Fleet) {
  directory.write("app.cl", std::string("#include \"part.h\"\nkernel void clbake_gemm() {}\n"));
  directory.write("part.h", std::string("// part\n"));
  const std::string programs = directory.write(
      "programs.json", std::string(R"({"version": 2, "programs": [{"name": "mine", "source": "app.cl", "kernels": [
        {"name": "clbake_gemm", "work_group_sizes": [[8]], "trials": [{"global": [8], "arguments": []}]}]}]})"));
  const Arguments plan = {"plan", "--target", "nvidia:sm_90", "--programs", programs, "-o", manifest};
  const Outcome planned = run(plan);
  BOOST_REQUIRE_MESSAGE(planned.status == 0, planned.err);
  BOOST_TEST(contains(planned.out, "4 pieces of work for 1 machine"), planned.out);
  const nlohmann::json first = work(manifest, "1,2,3,4");
  BOOST_TEST(made(first) == 4U);
  BOOST_TEST(contents_of(output_of(first, 2)).variants.at(0).name == "mine");
  BOOST_TEST(contains(read_file(output_of(first, 3)), "name=\"program mine\""));
  directory.write("part.h", std::string("// another\n"));
  std::filesystem::remove(output_of(first, 1));
  const Outcome waiting = run({"work", manifest, "--piece", "1"});
  BOOST_TEST(waiting.status == 3);
  BOOST_TEST(contains(waiting.out + waiting.err, "part.h: is not the file that was planned with; plan again"));
  BOOST_TEST(run(plan).status == 0);
  BOOST_TEST(made(work(manifest, "1,2,3,4")) == 4U);
}

BOOST_FIXTURE_TEST_CASE(WhatPlansProgramsIsChecked, Fleet) {
  const std::string programs = directory.write("programs.json", std::string("{"));
  const Arguments plan = {"plan", "--target", "nvidia:sm_90", "--programs", programs, "-o", manifest};
  check_refused(run(plan), 1, {"programs.json: parse error at line 1"});
  const std::string shapes = directory.write("shapes.txt", std::string("8x8x8\n"));
  check_refused(run(plan + Arguments{"--shapes", shapes}), 2, {"--shapes", "--programs alone bakes no GEMM"});
}

}  // namespace clbake::tool::test
