// The offline targets with made-up compilers: shell scripts in front of PATH that fail in every way.
#include "build_fixture.hpp"
#include "fake_compilers.hpp"

#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/programs.hpp>
#include "compile/nvidia/ptx_edit.hpp"
#include "compile/offline/offline_compile.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <tuple>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::builder::compile;
using namespace clbake::builder::test;

namespace {

using Names = std::vector<std::string>;
using Tools = std::vector<cache::Tool>;

// Fake compilers, and PATH leads to nothing else.
class Toolbox : public FakeCompilers {
 public:
  Toolbox() : path_(std::getenv("PATH")) { setenv("PATH", bin().c_str(), 1); }
  ~Toolbox() { setenv("PATH", path_.c_str(), 1); }
  Toolbox(const Toolbox&) = delete;
  Toolbox& operator=(const Toolbox&) = delete;

 private:
  std::string path_;
};

OfflineTarget target_named(const std::string& name) {
  for (OfflineTarget& target : required(offline_targets())) {
    if (target.name == name) return target;
  }
  throw std::runtime_error("no target " + name);
}

Job job_for(const char* name, const char* variant = "direct-s-nn-16x16x1-1x1x4-v1") {
  const OfflineTarget target = target_named(name);
  const kernels::Params params = offline_variant(target, std::get<kernels::Params>(kernels::parse(variant)));
  return make_job(target.device.target, kernels::generate(params), params);
}

// The failure of compile_offline for the default job.
std::string complaint(const char* target = "nvidia:sm_90") {
  const Result<std::vector<cache::Entry>> entries = compile_offline(job_for(target));
  BOOST_REQUIRE(!entries);
  return std::string(name(entries.status().code())) + ": " + entries.status().message();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(MissingToolsAreNamedWithWhoHasThem, Toolbox) {
  BOOST_TEST(contains(target_named("nvidia:sm_90").obstacle, "clang is not installed; it is in Debian's clang-15"));
  BOOST_TEST(contains(target_named("intel:dg2").obstacle, "ocloc is not installed; it is in Debian's intel-ocloc"));
  BOOST_TEST(complaint("intel:dg2") == "not found: " + target_named("intel:dg2").obstacle);
  const Result<std::vector<OfflineTarget>> named = offline_targets_named({"intel:dg2"});
  BOOST_TEST(outcome(named) == "not found");
  BOOST_TEST(contains(named.status().message(), "intel:dg2: ocloc"));
}

BOOST_FIXTURE_TEST_CASE(UnknownTargetsAreRefusedWithTheKnownOnes, Toolbox) {
  const Result<std::vector<OfflineTarget>> named = offline_targets_named({"nvidia:sm_1"});
  BOOST_TEST(outcome(named) == "invalid argument");
  BOOST_TEST(contains(named.status().message(), "'nvidia:sm_1'"));
  BOOST_TEST(contains(named.status().message(), "nvidia:sm_90, "));
}

BOOST_FIXTURE_TEST_CASE(TargetsHaveTheLimitsOfTheirDevices, Toolbox) {
  const auto fits = [](const char* target, const char* variant) {
    return kernels::admits(target_named(target).device.limits, std::get<kernels::Params>(kernels::parse(variant)));
  };
  const char* const warpgroups = "warpgroup_tile-h-nn-128x256x64-2x64x1-v8-buffers4";
  BOOST_TEST(fits("nvidia:sm_90", warpgroups));
  BOOST_TEST(!fits("nvidia:sm_80", warpgroups));
  const char* const large_private_memory = "register_tile-s-nn-256x128x512-8x32x1-v16";
  BOOST_TEST(!fits("nvidia:sm_90", large_private_memory));
  BOOST_TEST(fits("intel:dg2", large_private_memory));
}

BOOST_FIXTURE_TEST_CASE(TheToolkitSaysWhichDriverIsTheOldest, Toolbox) {
  add_clang(kGoodClang);
  const std::pair<const char*, const char*> drivers[] = {
      {"11.8.89", "450.80.02"}, {"12.4.99", "525.60.13"}, {"13.0.88", "580.65.06"}};
  for (const auto& [toolkit, driver] : drivers) {
    add_ptxas(kGoodPtxas, toolkit);
    const OfflineTarget target = required(offline_targets_named({"nvidia:sm_90"})).front();
    BOOST_TEST(target.device.target.driver_version == driver);
    BOOST_TEST(target.device.target.platform_name == "NVIDIA CUDA");
    BOOST_TEST(target.device.target.architecture == "sm_90");
    BOOST_TEST((tools_of(target) == Tools{{"clang", "30.1.2"}, {"libclc", ""}, {"ptxas", toolkit}}));
  }
  add_ptxas(kGoodPtxas, "99.0.1");
  BOOST_TEST(contains(target_named("nvidia:sm_90").obstacle, "CUDA 99.0.1"));
}

BOOST_FIXTURE_TEST_CASE(AnArchitectureThatPtxasLacksIsAnObstacle, Toolbox) {
  add_clang(kGoodClang);
  add_ptxas(kGoodPtxas);
  BOOST_TEST(target_named("nvidia:sm_90").obstacle == "");
  BOOST_TEST(contains(target_named("nvidia:sm_89").obstacle, "ptxas 12.4.99 does not know sm_89"));
}

BOOST_FIXTURE_TEST_CASE(BothFormsCarryTheWorkGroupSize, Toolbox) {
  add_clang(kGoodClang);
  add_ptxas("cp \"$5\" " + path("assembled.ptx") + "\n" + kGoodPtxas);
  const std::vector<cache::Entry> entries = required(compile_offline(job_for("nvidia:sm_90")));
  BOOST_REQUIRE_EQUAL(entries.size(), 2U);
  BOOST_CHECK(entries[0].form == cache::Form::native);
  BOOST_CHECK(entries[1].form == cache::Form::portable);
  for (const cache::Entry& entry : entries) BOOST_TEST(!entry.proof.proven);
  BOOST_TEST((entries[0].proof.tools == Tools{{"clang", "30.1.2"}, {"libclc", ""}, {"ptxas", "12.4.99"}}));
  BOOST_TEST((entries[1].proof.tools == Tools{{"clang", "30.1.2"}, {"libclc", ""}}));
  const std::string ptx(entries[1].program.begin(), entries[1].program.end());
  BOOST_TEST(contains(ptx, ")\n.reqntid 16, 16, 1\n{"));
  BOOST_TEST(ptx == read_file(path("assembled.ptx")));
}

namespace {

// clang as it is called for a program: for the built-in functions, for the source, for what became of it.
std::string program_clang(const std::string& kept, const std::string& ptx, const std::string& attributes = "") {
  return "echo \"$*\" >> " + kept + "; for last; do :; done; cp $last " + kept + ".source\ncase \"$*\" in\n" +
         "*builtins.bc\\ builtins.cl) echo BC > builtins.bc;;\n*part_0.cl) cat > kernel.ll <<'END'\n" +
         "define dso_local spir_kernel void @mine(ptr %0) #0 !kernel_arg_access_qual !1 !kernel_arg_type !2 "
         "!kernel_arg_base_type !2 " +
         attributes + "{\n!1 = !{!\"none\", !\"read_only\", !\"none\"}\n" +
         "!2 = !{!\"float*\", !\"image2d_t\", !\"sampler_t\"}\n!3 = !{i32 8, i32 4, i32 2}\nEND\n;;\n" +
         "*) cat > kernel.ptx <<'END'\n" + ptx + "END\n;;\nesac";
}

program::Program mine(const std::string& options = "") {
  program::Program made;
  made.name = "mine";
  made.source = {"mine.cl", "#line 1 \"mine.cl\"\n"};
  made.options = options;
  made.launches = {{cache::Role::kernel, "mine", {64, 1, 1}, 1, 1}, {cache::Role::kernel, "mine", {32, 16, 1}, 1, 1}};
  return made;
}

std::string ptx_of(const program::Program& program) {
  const std::vector<cache::Entry> entries =
      required(compile_offline(make_job(target_named("nvidia:sm_90").device.target, program)));
  BOOST_REQUIRE_EQUAL(entries.size(), 2U);
  return {entries[1].program.begin(), entries[1].program.end()};
}

std::string complaint_about(const program::Program& program) {
  return compile_offline(make_job(target_named("nvidia:sm_90").device.target, program)).status().message();
}

constexpr const char* kMine =
    ".entry mine(\n\t.param .u64 .ptr .global .align 4 mine_param_0,\n"
    "\t.param .u64 .ptr .global .align 1 mine_param_1,\n"
    "\t.param .u64 .ptr .const .align 1 mine_param_2\n)\n{\n";

}  // namespace

// The registers of the largest listed size must suffice, and other sizes can be launched, too.
BOOST_FIXTURE_TEST_CASE(AProgramsRegistersSufficeForItsLargestWorkGroup, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang(program_clang(path("clang"), std::string(kMine) + "}\n"));
  BOOST_TEST(contains(ptx_of(mine()), ")\n.maxnreg 128\n{"));
  BOOST_TEST(contains(ptx_of(mine("-cl-nv-maxrregcount=32")), ")\n.maxnreg 32\n{"));
  program::Program other = mine();
  other.launches[0].kernel_name = "none";
  BOOST_TEST(complaint_about(other) == "clang left out the kernel none");
}

// The driver leaves the bound out of its PTX.
BOOST_AUTO_TEST_CASE(EachKernelOfADriversPtxGetsTheBoundOnRegisters) {
  std::string ptx = ".entry a(\n)\n{\n}\n.entry b(\n)\n{\n}\n";
  BOOST_TEST(!bound_registers(ptx, "-cl-std=CL1.2"));
  BOOST_TEST(bound_registers(ptx, "-cl-std=CL1.2 -cl-nv-maxrregcount=128"));
  BOOST_TEST(ptx == ".entry a(\n)\n.maxnreg 128\n{\n}\n.entry b(\n)\n.maxnreg 128\n{\n}\n");
  BOOST_TEST(!bound_registers(ptx, "-cl-nv-maxrregcount=64"));  // it has one
}

BOOST_FIXTURE_TEST_CASE(KernelsThatAProgramDoesNotListAreNoted, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang(program_clang(path("clang"), std::string(kMine) + "}\n.entry other(\n)\n{\n}\n"));
  const Result<std::vector<cache::Entry>> entries =
      compile_offline(make_job(target_named("nvidia:sm_90").device.target, mine()));
  for (const cache::Entry& entry : required(entries)) BOOST_TEST(entry.proof.note == "not listed: kernel other");
}

BOOST_FIXTURE_TEST_CASE(ARequiredWorkGroupSizeIsInThePtx, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang(program_clang(path("clang"), std::string(kMine) + "}\n", "!reqd_work_group_size !3 "));
  BOOST_TEST(contains(ptx_of(mine()), ")\n.reqntid 8, 4, 2\n{"));
}

BOOST_FIXTURE_TEST_CASE(ImagesAreNamedInTheirInstructions, Toolbox) {
  add_ptxas(kGoodPtxas);
  const std::string body =
      "\tld.param.u64 \t%rd1, [mine_param_1];\n\tld.param.u64 \t%rd2, [mine_param_2];\n"
      "\tmov.u64 \t%rd3, 37;\n\tmov.u64 \t%rd4, %rd1;\n";
  add_clang(program_clang(path("clang"), kMine + body + "\ttex.2d.v4.f32.f32 {%f1}, [%rd4, %rd2, {%f2}];\n" +
                                             "\ttex.2d.v4.f32.f32 {%f1}, [%rd1, %rd3, {%f2}];\n}\n"));
  const std::string ptx = ptx_of(mine());
  BOOST_TEST(contains(ptx, "\t.param .texref mine_param_1,\n\t.param .samplerref mine_param_2\n"), ptx);
  BOOST_TEST(contains(ptx, "[mine_param_1, mine_param_2, {%f2}]"), ptx);
  BOOST_TEST(contains(ptx, "[mine_param_1, clbake_sampler_37, {%f2}]"), ptx);
  BOOST_TEST(contains(ptx, ".global .samplerref clbake_sampler_37 = { addr_mode_0 = clamp_to_border, "), ptx);
  BOOST_TEST(contains(ptx, "filter_mode = linear };"), ptx);
  BOOST_TEST(!contains(ptx, "ld.param.u64"), ptx);
  add_clang(program_clang(path("clang"), kMine + body + "\tmov.u64 \t%rd4, %rd5;\n\ttxq.width.b32 %r1, [%rd4];\n}\n"));
  BOOST_TEST(contains(complaint_about(mine()), "the kernel mine takes an image or sampler otherwise than"));
}

BOOST_FIXTURE_TEST_CASE(RotationsOfLongsTakeTheDistanceModulo64, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang(program_clang(path("clang"), std::string(kMine) +
                                             "\t{\n\t.reg .u32 %amt2;\n\tshl.b64 \t%lhs, %rd3, %r1;\n"
                                             "\tsub.u32 \t%amt2, 64, %r1;\n\tshr.b64 \t%rhs, %rd3, %amt2;\n\t}\n}\n"));
  const std::string ptx = ptx_of(mine());
  BOOST_TEST(contains(ptx, "and.b32 %amt, %r1, 63;\n\tshl.b64 \t%lhs, %rd3, %amt;\n\tsub.u32 \t%amt2, 64, %amt;\n"),
             ptx);
}

BOOST_FIXTURE_TEST_CASE(OptionsOfBuildsBecomeClangs, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang(program_clang(path("clang"), std::string(kMine) + "}\n"));
  const std::tuple<const char*, const char*, bool> options[] = {
      {"", "-cl-std=CL3.0 ", true},
      {"-cl-std=CL1.2", "-cl-std=CL1.2 ", true},
      {"-D A=1 -DB", "-DA=1 -DB ", true},
      {"-D \"TEXT=a b\"", "-DTEXT=a b ", true},
      {"-I folder -I other", "folder", false},
      {"-cl-fast-relaxed-math", "-D__FAST_RELAXED_MATH__=1 ", true},
      {"-cl-fast-relaxed-math", "-nvptx-prec-divf32=0 ", true},
      {"-cl-fp32-correctly-rounded-divide-sqrt", "-nvptx-prec-divf32=2 ", true},
      {"", "-nvptx-prec-divf32=1 ", true},
      {"-cl-denorms-are-zero", "-fdenormal-fp-math-f32=preserve-sign", true},
      {"", "-fdenormal-fp-math-f32", false},
      {"-cl-single-precision-constant", "-cl-single-precision-constant ", true},
      {"", "-fno-strict-aliasing ", true},
      {"-cl-strict-aliasing", "-fno-strict-aliasing", false},
      {"-w -Werror -g -cl-mad-enable -cl-finite-math-only -cl-opt-disable -cl-nv-verbose", "-Werror", false}};
  for (const auto& [given, expected, present] : options) {
    std::remove(path("clang").c_str());
    ptx_of(mine(given));
    const std::string calls = read_file(path("clang"));
    BOOST_TEST(contains(calls, expected) == present, given << ": " << calls);
  }
  BOOST_TEST(complaint_about(mine("-cl-unknown")) == "NVIDIA's driver does not know the option -cl-unknown");
  BOOST_TEST(contains(complaint_about(mine("-cl-std=CL1.0")), "CL1.1, CL1.2, CL2.0 and CL3.0, not CL1.0"));
  BOOST_TEST(complaint_about(mine("-D")) == "-D is the last option: a value is missing");
}

BOOST_FIXTURE_TEST_CASE(PartsAndHeadersOfAProgramAreCompiled, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang(program_clang(path("clang"), std::string(kMine) + "}\n"));
  ProgramText text;
  text.sources = {"#include \"a/b.h\"\n", "two"};
  text.headers = {{"a/b.h", "header"}};
  program::Program made = mine();
  made.source.text = encode(text);
  ptx_of(made);
  BOOST_TEST(contains(read_file(path("clang")), "-Ipart_0 "));
  ProgramText linked;
  linked.parts = {text, text};
  linked.parts[0].options = "-DFIRST";
  made.source.text = encode(linked);
  made.options = "-cl-fast-relaxed-math";
  BOOST_TEST(complaint_about(made) == "");
  BOOST_TEST(contains(read_file(path("clang")), "-DFIRST "));
  BOOST_TEST(contains(read_file(path("clang")), "-c -o part_0.bc part_0.cl"));
  BOOST_TEST(contains(read_file(path("clang")), "-Xclang -mlink-bitcode-file -Xclang part_0.bc "));
  text.headers[0].name = "../../b.h";
  made.source.text = encode(text);
  BOOST_TEST(contains(complaint_about(made), "leads out of the folder"));
  text = {};
  text.il = "SPIR-V";
  made.source.text = encode(text);
  BOOST_TEST(complaint_about(made) == "SPIR-V cannot be compiled offline for NVIDIA's devices");
}

BOOST_FIXTURE_TEST_CASE(OclocGetsOneText, Toolbox) {
  add("ocloc", "cp kernel.cl " + path("source.cl") + "; printf '\\177ELF' > kernel");
  const auto outcome_of = [&](const ProgramText& text) {
    program::Program made = mine();
    made.source.text = encode(text);
    return compile_offline(make_job(target_named("intel:dg2").device.target, made)).status().message();
  };
  ProgramText text;
  text.sources = {"one ", "two"};
  BOOST_TEST(outcome_of(text) == "");
  BOOST_TEST(read_file(path("source.cl")) == "one two");
  ProgramText linked;
  linked.parts = {text, text};
  BOOST_TEST(contains(outcome_of(linked), "linked programs and headers cannot be compiled offline for Intel's"));
}

BOOST_FIXTURE_TEST_CASE(AFunctionThatIsMissingIsNamed, Toolbox) {
  add_ptxas(kGoodPtxas);
  const std::string printf = ".func  (.param .b32 func_retval0) clbake_printf\n(\n)\n;\n";
  add_clang(program_clang(path("clang"), printf + kMine + "}\n"));
  BOOST_TEST(complaint_about(mine()) == "it calls printf: such a program bakes on the device only");
  add_clang(program_clang(path("clang"), ".func _Z4frobi\n(\n\t.param .b32 a\n)\n;\n" + std::string(kMine) + "}\n"));
  BOOST_TEST(complaint_about(mine()) == "there is no function frob(int) for NVIDIA's devices");
}

BOOST_FIXTURE_TEST_CASE(AnArchitectureThatClangLacksGetsThatOfTheNewestOlderOne, Toolbox) {
  add_clang("echo \"$*\" > " + path("arguments") + "\n" + kGoodClang);
  add_ptxas("echo \"$*\" >> " + path("arguments") + "\n" + kGoodPtxas);
  required(compile_offline(job_for("nvidia:sm_90")));
  BOOST_TEST(contains(read_file(path("arguments")), "-target-cpu -Xclang sm_86 "));
  BOOST_TEST(contains(read_file(path("arguments")), "-arch sm_90a "));
  add_clang(kGoodClang, "sm_100");
  BOOST_TEST(contains(complaint(), "clang knows no architecture up to sm_90"));
}

BOOST_FIXTURE_TEST_CASE(TheInstructionsOfMatrixUnitsAreForTheirArchitecture, Toolbox) {
  const auto ptx_of = [&](const char* instruction, const char* clangs, const char* version = "7.1") {
    add_clang(std::string("printf '.version ") + version + "\\n.target " + clangs +
                  "\\n.entry clbake_gemm(\\n)\\n{\\n" + instruction + "\\n}\\n' > kernel.ptx",
              clangs);
    add_ptxas(kGoodPtxas);
    const cache::Bytes program = required(compile_offline(job_for("nvidia:sm_90")))[1].program;
    return std::string(program.begin(), program.end());
  };
  for (const char* matrix : {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%%fd1};",
                             "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%%fd1};"}) {
    BOOST_TEST(contains(ptx_of(matrix, "sm_86"), ".version 7.8\n.target sm_90\n.entry"));
    BOOST_TEST(contains(ptx_of(matrix, "sm_90"), ".version 7.8\n.target sm_90\n.entry"));
    BOOST_TEST(contains(ptx_of(matrix, "sm_90", "8.5"), ".version 8.5\n.target sm_90\n.entry"));
  }
  BOOST_TEST(contains(ptx_of("ret;", "sm_86"), ".version 7.1\n.target sm_86\n.entry"));
}

BOOST_FIXTURE_TEST_CASE(AFailingCompilerIsQuotedWithItsFirstError, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang("echo warning: slow; echo common.cl:3: error: boom; echo 2 errors; exit 1");
  BOOST_TEST(complaint() == "build failed: clang: common.cl:3: error: boom");
  add_clang("echo 'what went wrong'; exit 3");
  BOOST_TEST(complaint() == "build failed: clang: what went wrong");
  add_clang(kGoodClang);
  add_ptxas("echo 'ptxas fatal   : Unresolved extern'; exit 255");
  BOOST_TEST(complaint() == "build failed: ptxas: ptxas fatal   : Unresolved extern");
  add("ocloc", "echo 1:7:36: error: oops; echo Build failed with error code: -11; exit 245");
  BOOST_TEST(complaint("intel:dg2") == "build failed: ocloc: 1:7:36: error: oops");
}

BOOST_FIXTURE_TEST_CASE(ACompilerThatCrashesIsNamed, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang("kill -SEGV $$");
  BOOST_TEST(contains(complaint(), "build failed: clang: killed by signal 11"));
}

BOOST_FIXTURE_TEST_CASE(ACompilerThatLiesAboutSuccessIsFound, Toolbox) {
  add_ptxas(kGoodPtxas);
  add_clang("exit 0");
  BOOST_TEST(contains(complaint(), "clang left out the kernel clbake_gemm"));
  add_clang("echo '.entry another() {}' > kernel.ptx");
  BOOST_TEST(contains(complaint(), "clang left out the kernel clbake_gemm"));
  add_clang(std::string(kGoodClang) + "\necho '.func _Z11read_imagefi;' >> kernel.ptx");
  BOOST_TEST(contains(complaint(), "there is no function read_imagef(int) for NVIDIA's devices"));
  add_clang(kGoodClang);
  for (const char* output : {"exit 0", ": > \"$4\"", "echo text > \"$4\""}) {
    add_ptxas(output);
    BOOST_TEST(contains(complaint(), "ptxas 12.4.99 made no cubin"));
  }
  add("ocloc", "exit 0");
  BOOST_TEST(contains(complaint("intel:dg2"), "ocloc reported success but left no machine code"));
}

// An old and a new ocloc.
BOOST_FIXTURE_TEST_CASE(EveryOclocIsAskedForItsDevices, Toolbox) {
  const auto check = [&](const char* version, const char* platform, const Names& known, const Names& unknown) {
    const std::vector<OfflineTarget> all = required(offline_targets());
    for (const OfflineTarget& target : all) {
      if (target.name.rfind("intel:", 0) != 0) continue;
      const std::string device = target.name.substr(6);
      BOOST_TEST(target.device.target.driver_version == version);
      BOOST_TEST(target.device.target.platform_name == platform);
      const bool is_known = std::count(known.begin(), known.end(), device) > 0;
      BOOST_TEST(target.obstacle == (is_known ? "" : "ocloc " + std::string(version) + " does not know " + device));
      BOOST_TEST(is_known == (std::count(unknown.begin(), unknown.end(), device) == 0), device);
    }
    const std::vector<cache::Entry> entries = required(compile_offline(job_for("intel:dg2")));
    BOOST_REQUIRE_EQUAL(entries.size(), 1U);
    BOOST_TEST(entries[0].program.size() == 4U);
    BOOST_TEST((entries[0].proof.tools == Tools{{"ocloc", version}}));
  };
  add_ocloc_22_43();
  check("22.43.24595", "Intel(R) OpenCL HD Graphics", {"skl", "icllp", "tgllp", "adlp", "dg1", "dg2", "pvc"},
        {"mtl", "arl", "bmg", "lnl", "ptl"});
  add_ocloc_26_27();
  check("26.27.039122", "Intel(R) OpenCL Graphics",
        {"tgllp", "adlp", "dg1", "dg2", "pvc", "mtl", "arl", "bmg", "lnl", "ptl"}, {"skl", "icllp"});
}

BOOST_FIXTURE_TEST_CASE(VariantsOfNvidiaAreClangs, Toolbox) {
  const kernels::Params params;
  BOOST_TEST(is_clangs(job_for("nvidia:sm_90").variant));
  BOOST_TEST(!is_clangs(job_for("intel:dg2").variant));
  BOOST_TEST(!is_clangs({}));
  BOOST_TEST(kernels::name(offline_variant(target_named("nvidia:sm_90"), params)) == kernels::name(params) + "-clang");
  BOOST_CHECK(offline_variant(target_named("intel:dg2"), params) == params);
}
