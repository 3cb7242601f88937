// The application's own programs on the driver in memory: tiers, misses, policies, overlay, threads, the C header.
#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/clbake.h>
#include <optional>
#include <thread>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr const char* kKernel = "clbake_gemm";  // the fake driver has it in every program

cache::Target target_of(cl_device_id device) { return *identify(device); }

cache::Variant program(const std::string& name, const std::string& options, std::uint32_t source = 0) {
  cache::Variant variant;
  variant.name = name;
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = 1;
  variant.build_options = options;
  variant.source = source;
  for (const std::uint32_t local : {4U, 8U})
    variant.launches.push_back({cache::Role::kernel, kKernel, {local, 1, 1}, 1, 1});
  return variant;
}

// "softmax" with an entry, "scale" without one.
cache::Contents programs(const Scene& scene) {
  cache::Contents all;
  all.targets = {target_of(scene.device)};
  all.sources = {{"mine.cl", "kernel void mine() {}"}};
  all.variants = {program("softmax", "-DWIDTH=4"), program("scale", "-DWIDTH=8")};
  cache::Entry entry;
  entry.program = fake::binary_for(0, "-DWIDTH=4");
  all.entries = {entry};
  return all;
}

Bundle bundle_of(const cache::Contents& contents) {
  const Result<cache::Bytes> bytes = cache::encode(contents);
  BOOST_REQUIRE_EQUAL(bytes.status().message(), "");
  return *Bundle::copy_of({bytes->data(), bytes->size()});
}

Library library_in(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                   const Options& options = {}) {
  const Result<Library> library = Library::create(context, device, bundles, options);
  BOOST_REQUIRE_EQUAL(library.status().message(), "");
  return *library;
}

Library library_of(const Scene& scene, const std::vector<Bundle>& bundles, const Options& options = {}) {
  return library_in(scene.context, scene.device, bundles, options);
}

// How a call ended: "native", "source" ... or the failure's name.
std::string served(const Result<LoadedProgram>& program) {
  return program ? name(program->explanation().origin) : std::string(name(program.status().code()));
}

// A directory for an overlay.
struct Directory : tests::TemporaryDirectory {
  Options options() const {
    OverlayOptions where;
    where.directory = path;
    where.mode = OverlayMode::read_write;
    Options options;
    options.overlay = *open_overlay(where);
    return options;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(AProgramOfTheBundleIsLoadedOnceForAllThreads) {
  {
    const Scene scene;
    const Library library = library_of(scene, {bundle_of(programs(scene))});
    fake::forget_calls();
    std::vector<std::thread> threads;
    std::vector<std::optional<LoadedProgram>> loaded(8);
    for (auto& mine : loaded) {
      threads.emplace_back([&] {
        Result<LoadedProgram> program = library.program("softmax");
        if (program) mine = *program;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& one : loaded) {
      BOOST_REQUIRE(one.has_value());
      BOOST_TEST(one->get() == loaded[0]->get());
      BOOST_TEST(name(one->explanation().origin) == "native");
      BOOST_TEST(one->explanation().variant == "softmax");
      BOOST_TEST(one->explanation().reason == "asked for by name");
      BOOST_TEST(one->explanation().miss_message == "");
    }
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);
    BOOST_TEST(fake::calls(fake::Function::clEnqueueNDRangeKernel) == 0U);  // no arguments are known, on PoCL either
    BOOST_TEST(library.counters().native == 1U);
    BOOST_TEST(library.counters().loaded == 7U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AProgramOutlivesItsLibrary) {
  {
    const Scene scene;
    std::optional<Library> library = library_of(scene, {bundle_of(programs(scene))});
    const LoadedProgram program = *library->program("softmax");
    library.reset();
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program.get(), kKernel, &error);
    BOOST_TEST(error == CL_SUCCESS);
    clReleaseKernel(kernel);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AMissIsCompiledOrFailsWithItsReason) {
  const Scene scene;
  for (const OnMiss on_miss : {OnMiss::compile, OnMiss::fail, OnMiss::fallback}) {
    LogLines log;
    Options options;
    options.on_miss = on_miss;
    const Library library = library_of(scene, {bundle_of(programs(scene))}, log.in(options));
    const bool fails = on_miss == OnMiss::fail;
    const Result<Explanation> expected = library.explain_program("scale");
    BOOST_TEST((expected ? name(expected->origin) : name(expected.status().code())) == (fails ? "no entry" : "source"));
    BOOST_TEST(served(library.program("scale")) == (fails ? "no entry" : "source"));
    BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::no_entry)] == 1U);
    const bool says_before = on_miss == OnMiss::fallback;  // that the call waits
    BOOST_REQUIRE(log.lines().size() == (says_before ? 2U : 1U));
    if (says_before)
      BOOST_TEST(log.lines()[0].rfind("the call waits until scale is compiled, as nothing else can serve: ", 0) == 0U);
    if (fails) continue;
    BOOST_TEST(log.lines().back().rfind("scale is served from source, compiled in ", 0) == 0U);
    const Result<LoadedProgram> again = library.program("scale");
    BOOST_TEST(again->explanation().loaded);
    BOOST_TEST(again->explanation().waits_for == "");
    BOOST_TEST(library.counters().source == 1U);
    BOOST_TEST(library.counters().loaded == 1U);
  }
}

BOOST_AUTO_TEST_CASE(AnUnknownNameIsAFailureThatNamesTheOthers) {
  const Scene scene;
  const Library library = library_of(scene, {bundle_of(programs(scene))});
  const Result<LoadedProgram> missing = library.program("softmin");
  BOOST_TEST(served(missing) == "no program");
  BOOST_TEST(missing.status().message() == "no bundle has a program named 'softmin'; there are: scale, softmax");
  BOOST_TEST(library.counters().failed == 1U);
  BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::no_program)] == 1U);
  BOOST_TEST(name(library.explain_program("softmin").status().code()) == "no program");
  const Library products = library_of(scene, {*Bundle::copy_of({bundle_bytes().data(), bundle_bytes().size()})});
  BOOST_TEST(products.program("native").status().message() == "no bundle has a program named 'native'; they have none");
}

BOOST_AUTO_TEST_CASE(ABundleOfProgramsHasNoProducts) {
  const Scene scene;
  const Library library = library_of(scene, {bundle_of(programs(scene))});
  const Problem problem = make_problem({Precision::single_precision}, 4, 4, 4);
  const Result<Gemm> gemm = library.prepare(problem);
  BOOST_TEST(name(gemm.status().code()) == "no variant");
  BOOST_TEST(gemm.status().message().find("nothing for products") != std::string::npos);
  BOOST_TEST(name(library.prepare(problem, "softmax").status().code()) == "no variant");
  BOOST_TEST(name(library.gemm(scene.queue, problem, 1, {}, {}, 0, {}).code()) == "no variant");
  BOOST_TEST(!library.contains(problem));
}

// The first bundle decides which source is meant. A program of another source must not serve, however well it fits.
BOOST_AUTO_TEST_CASE(AnEntryOfAnOlderSourceIsNeverServed) {
  const Scene scene;
  cache::Contents newer = programs(scene), older = programs(scene), same = programs(scene);
  newer.entries.clear();
  older.sources[0].text = "kernel void mine() { /* older */ }";
  same.variants[1].build_options = "-DWIDTH=9";  // of "scale"
  const Bundle first = bundle_of(newer);
  BOOST_TEST(served(library_of(scene, {first, bundle_of(older)}).program("softmax")) == "source");
  BOOST_TEST(served(library_of(scene, {first, bundle_of(older), bundle_of(same)}).program("softmax")) == "native");
  same.variants[0].build_options = "-DWIDTH=5";
  BOOST_TEST(served(library_of(scene, {first, bundle_of(same)}).program("softmax")) == "source");
}

BOOST_AUTO_TEST_CASE(ADamagedOrRejectedProgramIsCompiled) {
  const Scene scene;
  cache::Contents rejected = programs(scene);
  rejected.entries[0].program.back() ^= 1U;
  const Library library = library_of(scene, {bundle_of(rejected)});
  const Result<LoadedProgram> compiled = library.program("softmax");
  BOOST_TEST(served(compiled) == "source");
  BOOST_TEST(name(compiled->explanation().miss) == "driver rejected");

  cache::Bytes bytes = *cache::encode(programs(scene), cache::Packing::plain);
  const std::string wanted = "fake binary";
  const auto at = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
  BOOST_REQUIRE((at != bytes.end()));
  *at ^= 1U;
  const Library damaged = library_of(scene, {*Bundle::copy_of({bytes.data(), bytes.size()})});
  fake::forget_calls();
  const Result<LoadedProgram> other = damaged.program("softmax");
  BOOST_TEST(served(other) == "source");
  BOOST_TEST(name(other->explanation().miss) == "checksum");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
}

BOOST_AUTO_TEST_CASE(ASourceThatDoesNotBuildAndAMissingKernelAreNamed) {
  const Scene scene;
  cache::Contents wrong = programs(scene);
  wrong.sources[0].text = "#error mine";
  const Result<LoadedProgram> broken = library_of(scene, {bundle_of(wrong)}).program("scale");
  BOOST_TEST(served(broken) == "build failed");
  BOOST_TEST(broken.status().message().find("mine.cl as scale") == 0U);
  wrong = programs(scene);
  wrong.variants[1].launches[1].kernel_name = "no_such_kernel";
  const Result<LoadedProgram> missing = library_of(scene, {bundle_of(wrong)}).program("scale");
  BOOST_TEST(missing.status().message().find("kernel no_such_kernel") != std::string::npos);
  wrong.variants[1].contract = 2;
  BOOST_TEST(served(library_of(scene, {bundle_of(wrong)}).program("scale")) == "unsupported version");
}

BOOST_AUTO_TEST_CASE(TheOverlayKeepsWhatWasCompiled) {
  {
    const Scene scene;
    const Directory directory;
    const cache::Contents contents = programs(scene);
    cl_context context = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);  // of one device
    {
      const Library library = library_in(context, scene.device, {bundle_of(contents)}, directory.options());
      BOOST_TEST(served(library.program("scale")) == "source");
      library.finish();
    }
    const Library second = library_in(context, scene.device, {bundle_of(contents)}, directory.options());
    BOOST_TEST(name(second.explain_program("scale")->origin) == "overlay");
    BOOST_TEST(served(second.program("scale")) == "overlay");
    cache::Contents changed = contents;
    changed.sources[0].text += " // changed";
    BOOST_TEST(served(library_in(context, scene.device, {bundle_of(changed)}, directory.options()).program("scale")) ==
               "source");
    changed = contents;
    changed.variants[1].build_options += " -DMORE";
    BOOST_TEST(served(library_in(context, scene.device, {bundle_of(changed)}, directory.options()).program("scale")) ==
               "source");
    clReleaseContext(context);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(TheHeaderForCHasPrograms) {
  {
    const Scene scene;
    const cache::Bytes bytes = *cache::encode(programs(scene));
    clbake_error error{};
    clbake_bundle* bundle = nullptr;
    clbake_library* library = nullptr;
    BOOST_REQUIRE(clbake_bundle_from_memory(bytes.data(), bytes.size(), &bundle, &error) == CLBAKE_OK);
    BOOST_REQUIRE(clbake_library_create(scene.context, scene.device, &bundle, 1, nullptr, &library, &error) ==
                  CLBAKE_OK);
    clbake_program* program = nullptr;
    BOOST_TEST(clbake_library_program(library, "softmin", &program, &error) == CLBAKE_NO_PROGRAM);
    clbake_explanation explanation;
    clbake_explanation_init(&explanation);
    BOOST_TEST(clbake_library_explain_program(library, "scale", &explanation, &error) == CLBAKE_OK);
    BOOST_TEST(explanation.origin == CLBAKE_SOURCE);
    BOOST_REQUIRE(clbake_library_program(library, "softmax", &program, &error) == CLBAKE_OK);
    BOOST_TEST(clbake_program_explanation(program, &explanation, &error) == CLBAKE_OK);
    BOOST_TEST(std::string(explanation.variant) == "softmax");
    cl_int failure = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(clbake_program_get(program), kKernel, &failure);
    BOOST_TEST(failure == CL_SUCCESS);
    clReleaseKernel(kernel);
    clbake_program_release(program);
    clbake_library_release(library);
    clbake_bundle_release(bundle);
  }
  check_nothing_is_left();
}
