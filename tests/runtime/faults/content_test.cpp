// Programs that an application asks for by what it would give OpenCL.
#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/clbake.h>
#include <clbake/overlay.hpp>
#include <clbake/program_text.hpp>
#include <clbake/trust.hpp>

#include <boost/test/data/test_case.hpp>
#include <fstream>
#include <optional>
#include <thread>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr const char* kSource = "kernel void mine() {}";

ProgramText text_of(const std::string& source, const std::string& options = {}) {
  ProgramText text;
  if (!source.empty()) text.sources = {source};
  text.options = options;
  return text;
}

ProgramText with_header() {
  ProgramText text = text_of("#include \"mine.h\"", "-DA");
  text.headers = {{"mine.h", "int mine;"}};
  return text;
}

ProgramText with_il() {
  ProgramText text = text_of({}, "-DA");
  text.il = "SPIR-V";
  return text;
}

ProgramText linked() {
  ProgramText text = text_of({}, "-DLINK");
  text.parts = {text_of("kernel void one() {}", "-DONE"), with_header()};
  return text;
}

// "mine", the program of kSource and these options, with an entry for the first device.
cache::Contents baked(const Scene& scene, const ProgramText& text, const std::string& name = "mine") {
  cache::Variant variant;
  variant.name = name;
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = 1;
  variant.build_options = text.options;
  variant.content = *content_digest(text);
  ProgramText without_options = text;
  without_options.options.clear();
  cache::Entry entry;
  entry.program = fake::binary_for(0, text.options);
  cache::Contents all;
  all.targets = {*identify(scene.device)};
  all.sources = {{"mine.cl", encode(without_options)}};
  all.variants = {variant};
  all.entries = {entry};
  return all;
}

Bundle bundle_of(const cache::Contents& contents) {
  const cache::Bytes bytes = *cache::encode(contents);
  return *Bundle::copy_of({bytes.data(), bytes.size()});
}

// A context of one device, whose programs have one binary.
struct OneDevice : Scene {
  OneDevice() : own(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr)) {}
  ~OneDevice() { clReleaseContext(own); }

  Library library(const std::vector<Bundle>& bundles, const Options& options = {}) const {
    const Result<Library> made = Library::create(own, device, bundles, options);
    BOOST_REQUIRE_EQUAL(made.status().message(), "");
    return *made;
  }

  // The directory is this test's.
  Options overlay() const {
    OverlayOptions where;
    where.directory = directory.path;
    where.mode = OverlayMode::read_write;
    Options options;
    options.overlay = *open_overlay(where);
    return options;
  }

  cl_context own;
  tests::TemporaryDirectory directory;
};

// Trusts nothing.
struct Refusing : Trust {
  Result<cache::Bundle> admit(const cache::Bundle&) const override { return {Code::not_trusted, "no known key"}; }
  const std::string& scope() const override { return name; }
  std::string name = "refusing";
};

// How a call ended: "native", "source" ... or the failure's name.
std::string served(const Result<LoadedProgram>& program) {
  return program ? name(program->explanation().origin) : std::string(name(program.status().code()));
}

// True for the calls that make a program.
bool is_needed(fake::Function function) {
  using fake::Function;
  for (const Function one : {Function::clCreateProgramWithSource, Function::clCreateProgramWithIL,
                             Function::clBuildProgram, Function::clCompileProgram, Function::clLinkProgram}) {
    if (one == function) return true;
  }
  return false;
}

// Sources and binaries that the driver was shown, in order.
struct Shown {
  Shown() {
    fake::set_witness([this](const std::string& bytes) { all += bytes + "|"; });
  }
  ~Shown() { fake::set_witness({}); }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  std::string all;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ProgramOfTheBundleIsFoundWithoutItsName, OneDevice) {
  const ProgramText text = text_of(kSource, "-DA");
  const Library with = library({bundle_of(baked(*this, text))});
  BOOST_TEST(name(with.explain_program(text)->origin) == "native");
  const Result<LoadedProgram> program = with.program(text);
  BOOST_REQUIRE_EQUAL(program.status().message(), "");
  BOOST_TEST(program->explanation().variant == "mine");
  BOOST_TEST(program->explanation().reason == "asked for by its content");
  BOOST_TEST(name(program->explanation().miss) == "ok");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
}

BOOST_FIXTURE_TEST_CASE(SourcesAndOptionsAreEnough, OneDevice) {
  const Library with = library({bundle_of(baked(*this, text_of(kSource, "-DA")))});
  const std::string source = kSource;
  BOOST_TEST(served(with.program({source.substr(0, 5), source.substr(5)}, "-DA")) == "native");
}

BOOST_FIXTURE_TEST_CASE(SourceThatDiffersByOneByteIsCompiled, OneDevice) {
  const Library with = library({bundle_of(baked(*this, text_of(kSource)))});
  const Result<LoadedProgram> program = with.program(text_of(std::string(kSource) + " "));
  BOOST_TEST(served(program) == "source");
  BOOST_TEST(name(program->explanation().miss) == "no program");
  BOOST_TEST(program->explanation().miss_message == "no bundle has a program of this content");
  BOOST_TEST(program->explanation().bundle == 1U);
}

BOOST_FIXTURE_TEST_CASE(OtherOptionsAreAnotherProgram, OneDevice) {
  const Library with = library({bundle_of(baked(*this, text_of(kSource, "-DA")))});
  BOOST_TEST(served(with.program(text_of(kSource, "-DB"))) == "source");
}

BOOST_FIXTURE_TEST_CASE(BundleForAnotherDriverIsAMiss, OneDevice) {
  cache::Contents contents = baked(*this, text_of(kSource));
  contents.targets[0].driver_version += "1";
  const Library with = library({bundle_of(contents)});
  BOOST_TEST(name(with.program(text_of(kSource))->explanation().miss) == "other driver");
}

BOOST_FIXTURE_TEST_CASE(SecondBundleServesWhatTheFirstDoesNotHave, OneDevice) {
  const Library with = library({bundle_of(baked(*this, text_of("kernel void other() {}"))),
                                bundle_of(baked(*this, text_of(kSource), "another-name"))});
  const Result<LoadedProgram> program = with.program(text_of(kSource));
  BOOST_TEST(served(program) == "native");
  BOOST_TEST(program->explanation().bundle == 1U);
}

BOOST_FIXTURE_TEST_CASE(BundleThatIsNotTrustedServesNothing, OneDevice) {
  Options options;
  options.trust = std::make_shared<Refusing>();
  const Library with = library({bundle_of(baked(*this, text_of(kSource)))}, options);
  const Result<LoadedProgram> program = with.program(text_of(kSource));
  BOOST_TEST(served(program) == "source");
  BOOST_TEST(name(program->explanation().miss) == "not trusted");
}

BOOST_FIXTURE_TEST_CASE(ProgramsOfOverlaysServeUnderTheirTrustOnly, OneDevice) {
  const Library first = library({}, overlay());
  BOOST_TEST(served(first.program(text_of(kSource))) == "source");
  first.finish();
  Options options = overlay();
  options.trust = std::make_shared<Refusing>();
  BOOST_TEST(served(library({}, options).program(text_of(kSource))) == "source");
}

BOOST_FIXTURE_TEST_CASE(DamagedProgramIsCompiled, OneDevice) {
  cache::Bytes bytes = *cache::encode(baked(*this, text_of(kSource)), cache::Packing::plain);
  const std::string wanted = "fake binary";
  *std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end()) ^= 1U;
  const Library with = library({*Bundle::copy_of({bytes.data(), bytes.size()})});
  const Result<LoadedProgram> program = with.program(text_of(kSource));
  BOOST_TEST(served(program) == "source");
  BOOST_TEST(name(program->explanation().miss) == "checksum");
}

BOOST_FIXTURE_TEST_CASE(PoliciesDecideWhatAMissDoes, OneDevice) {
  for (const OnMiss on_miss : {OnMiss::compile, OnMiss::fail, OnMiss::fallback}) {
    Options options;
    options.on_miss = on_miss;
    LogLines log;
    const Library without = library({}, log.in(options));
    BOOST_TEST(served(without.program(text_of(kSource))) == (on_miss == OnMiss::fail ? "no program" : "source"));
    BOOST_TEST(without.counters().misses[static_cast<std::size_t>(Code::no_program)] == 1U);
    BOOST_TEST(has(log.text(), "no bundle has a program of this content"));
  }
}

BOOST_FIXTURE_TEST_CASE(EachContentIsCompiledOnceForAllThreads, OneDevice) {
  const Library without = library({});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { BOOST_CHECK(without.program(text_of(kSource)).ok()); });
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(fake::calls(fake::Function::clBuildProgram) == 1U);
  BOOST_TEST(without.counters().source == 1U);
  BOOST_TEST(without.counters().loaded == 7U);
}

BOOST_FIXTURE_TEST_CASE(OverlayKeepsWhatWasCompiled, OneDevice) {
  for (const ProgramText& text : {text_of(kSource, "-DA"), with_header(), with_il(), linked()}) {
    const Library first = library({}, overlay());
    BOOST_TEST(served(first.program(text)) == "source");
    first.finish();
    fake::forget_calls();
    BOOST_TEST(name(library({}, overlay()).explain_program(text)->origin) == "overlay");
    BOOST_TEST(served(library({}, overlay()).program(text)) == "overlay");
    BOOST_TEST(fake::calls(fake::Function::clBuildProgram) == 1U);  // of the binary
    BOOST_TEST(fake::calls(fake::Function::clCompileProgram) == 0U);
  }
}

BOOST_FIXTURE_TEST_CASE(ProgramOfTheOverlayIsFoundByItsNameToo, OneDevice) {
  const Library first = library({}, overlay());
  BOOST_TEST(served(first.program(text_of(kSource))) == "source");
  first.finish();
  cache::Contents named = baked(*this, text_of(kSource));
  named.entries.clear();
  BOOST_TEST(served(library({bundle_of(named)}, overlay()).program("mine")) == "overlay");
}

BOOST_FIXTURE_TEST_CASE(FileThatChangesIsAnotherProgram, OneDevice) {
  std::ofstream(directory.file("mine.h")) << "int a;";
  const ProgramText text = text_of("#include \"mine.h\"", "-I " + directory.path);
  const Library first = library({}, overlay());
  BOOST_TEST(served(first.program(text)) == "source");
  first.finish();
  BOOST_TEST(served(library({}, overlay()).program(text)) == "overlay");
  std::ofstream(directory.file("mine.h")) << "int b;";
  BOOST_TEST(served(library({}, overlay()).program(text)) == "source");
}

BOOST_FIXTURE_TEST_CASE(StoredTextHasTheFilesThatItIncludes, OneDevice) {
  std::ofstream(directory.file("mine.h")) << "int a;";
  const Library first = library({}, overlay());
  BOOST_TEST(first.program(text_of("#include \"mine.h\"", "-DA -I " + directory.path)).ok());
  first.finish();
  int stored_files = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory.path)) {
    if (file.path().extension() != ".clbake") continue;
    ++stored_files;
    const Bundle bundle = *Bundle::open(file.path().string());
    BOOST_TEST(bundle.variant(0)->build_options == "-DA");
    const ProgramText stored = *decode_program_text(bundle.source(0)->text);
    BOOST_REQUIRE(stored.headers.size() == 1U);
    BOOST_TEST(stored.headers[0].text == "int a;");
  }
  BOOST_TEST(stored_files == 1);
}

BOOST_FIXTURE_TEST_CASE(CompilerGetsWhatTheApplicationGave, OneDevice) {
  const Library without = library({});
  const Shown shown;
  BOOST_TEST(without.program(text_of(kSource)).ok());
  BOOST_TEST(without.program(with_header()).ok());
  BOOST_TEST(without.program(with_il()).ok());
  BOOST_TEST(without.program(linked()).ok());
  const std::string header = "#include \"mine.h\"|int mine;|";
  BOOST_TEST(shown.all == kSource + ("|" + header) + "SPIR-V|kernel void one() {}|" + header);
}

BOOST_FIXTURE_TEST_CASE(SourceThatDoesNotBuildIsNamed, OneDevice) {
  ProgramText broken_part = linked();
  broken_part.parts[0].sources = {"#error mine"};
  ProgramText broken_header = with_header();
  broken_header.sources = {"#error mine"};
  for (const ProgramText& text : {text_of("#error mine"), broken_part, broken_header}) {
    const Result<LoadedProgram> program = library({}).program(text);
    BOOST_TEST(served(program) == "build failed");
    BOOST_TEST(has(program.status().message(), "program.cl as content-"));
    BOOST_TEST(has(program.status().message(), "#error mine"));
  }
}

BOOST_FIXTURE_TEST_CASE(UnclearIncludesAreRefused, OneDevice) {
  const Result<LoadedProgram> program = library({}).program(text_of(kSource, "-include mine.h"));
  BOOST_TEST(served(program) == "invalid argument");
  BOOST_TEST(has(program.status().message(), "-include"));
}

BOOST_FIXTURE_TEST_CASE(BundlesOwnLinkedProgramIsCompiledByName, OneDevice) {
  cache::Contents contents = baked(*this, linked());
  contents.entries.clear();
  enable_encoded_programs();
  BOOST_TEST(served(library({bundle_of(contents)}).program("mine")) == "source");
  BOOST_TEST(fake::calls(fake::Function::clLinkProgram) == 1U);
}

// Each call that the program needs fails once: so does the program, with the driver's code.
BOOST_AUTO_TEST_CASE(EveryFailureOfTheDriverIsReported) {
  for (const ProgramText& text : {text_of(kSource), with_header(), with_il(), linked()}) {
    std::size_t needed = 0;
    for (std::size_t at = 0;; ++at) {
      fake::Function failed = fake::Function::count;
      {
        const OneDevice scene;
        const Library without = scene.library({});
        fake::fail(fake::Function::count, at, CL_OUT_OF_HOST_MEMORY);
        const Result<LoadedProgram> program = without.program(text);
        failed = fake::failed();
        fake::fail_nothing();
        if (is_needed(failed)) {
          ++needed;
          BOOST_TEST(!program.ok(), fake::name(failed));
          BOOST_TEST(has(program.status().message(), "CL_OUT_OF_HOST_MEMORY (-6)"), fake::name(failed));
        }
      }
      check_nothing_is_left();
      if (failed == fake::Function::count) break;
    }
    BOOST_TEST(needed >= 2U);  // it is created and built
  }
}

BOOST_AUTO_TEST_CASE(ProgramOutlivesItsLibraryAndNothingIsLeft) {
  {
    const OneDevice scene;
    std::optional<Library> without = scene.library({}, scene.overlay());
    const LoadedProgram program = *without->program(linked());
    without.reset();
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program.get(), "clbake_gemm", &error);
    if (kernel) clReleaseKernel(kernel);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(HeaderForCHasProgramsByContent) {
  {
    const OneDevice scene;
    clbake_error error{};
    clbake_library* library = nullptr;
    const cache::Bytes bytes = *cache::encode(baked(scene, linked()));
    clbake_bundle* bundle = nullptr;
    BOOST_REQUIRE(clbake_bundle_from_memory(bytes.data(), bytes.size(), &bundle, &error) == CLBAKE_OK);
    BOOST_REQUIRE(clbake_library_create(scene.own, scene.device, &bundle, 1, nullptr, &library, &error) == CLBAKE_OK);
    clbake_program_text one, other, whole;
    for (clbake_program_text* text : {&one, &other, &whole}) clbake_program_text_init(text);
    const char* const sources[] = {"kernel void ", "one() {}..."};
    const std::size_t sizes[] = {12, 8};
    one.sources = sources;
    one.source_sizes = sizes;
    one.source_count = 2;
    one.options = "-DONE";
    const char* const including[] = {"#include \"mine.h\""};
    const char* const names[] = {"mine.h"};
    const char* const headers[] = {"int mine;"};
    other.sources = including;
    other.source_count = 1;
    other.options = "-DA";
    other.header_names = names;
    other.header_texts = headers;
    other.header_count = 1;
    const clbake_program_text* const parts[] = {&one, &other};
    whole.parts = parts;
    whole.part_count = 2;
    whole.options = "-DLINK";
    clbake_explanation explanation;
    clbake_explanation_init(&explanation);
    BOOST_TEST(clbake_library_explain_program_text(library, &whole, &explanation, &error) == CLBAKE_OK);
    BOOST_TEST(explanation.origin == CLBAKE_NATIVE);
    clbake_program* program = nullptr;
    BOOST_TEST(clbake_library_program_text(library, &whole, &program, &error) == CLBAKE_OK);
    BOOST_TEST(clbake_program_get(program) != nullptr);
    clbake_program_release(program);
    whole.parts = nullptr;
    BOOST_TEST(clbake_library_program_text(library, &whole, &program, &error) == CLBAKE_INVALID_ARGUMENT);
    BOOST_TEST(std::string(error.message) == "text.parts is null");
    whole.struct_size = 1;
    BOOST_TEST(clbake_library_program_text(library, &whole, &program, &error) == CLBAKE_INVALID_ARGUMENT);
    clbake_library_release(library);
    clbake_bundle_release(bundle);
  }
  check_nothing_is_left();
}
