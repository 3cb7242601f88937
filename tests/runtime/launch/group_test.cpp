// Groups without a variant for them: a launch for each product. What is refused, events, and the C API.
#include "api/library_scene.hpp"
#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <clbake/clbake.h>

#include <climits>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

const Surroundings& where() {
  static const auto* const only = new Surroundings{here().device, here().session, library_of(baked())};
  return *only;
}

Problem product(std::size_t m, std::size_t n, std::size_t k, BatchOffsets at) {
  Problem p = tight_problem(Precision::single_precision, m, n, k);
  p.offsets = {at};
  return p;
}

// Two products whose A, B and C begin at 0, 16 and 32, and at 64, 80 and 96 of one buffer.
std::vector<Problem> two() { return {product(4, 4, 4, {0, 16, 32}), product(3, 5, 2, {64, 80, 96})}; }

struct Buffers {
  cl::Context context{here().session.context(), true};
  std::vector<float> ones = std::vector<float>(128, 1);
  cl::Buffer memory{context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, ones.size() * sizeof(float), ones.data()};
  Matrix all(std::size_t offset = 0) const { return {memory(), offset}; }
  float at(const cl::CommandQueue& queue, std::size_t place) const {
    float number = 0;
    BOOST_TEST(queue.enqueueReadBuffer(memory, CL_TRUE, place * sizeof(float), sizeof(float), &number) == CL_SUCCESS);
    return number;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(ProductsAreRightOneByOne) {
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (std::size_t number = 0; number < kEpilogues; number += 3) {
      GemmRunOptions options;
      const GemmKind kind{precision, number % 2 == 1, number % 4 > 1};
      const std::vector<Problem> products = random_group(kind, 40, number, options);
      Result<GemmGroup> group = where().library.prepare_group(products);
      BOOST_REQUIRE_MESSAGE(group.ok(), group.status().message());
      BOOST_TEST(!group->is_one_launch());
      const std::string failure = tests::failure_of(where(), *group, products, options);
      BOOST_TEST(failure.empty(), failure);
    }
  }
}

BOOST_AUTO_TEST_CASE(WhatIsNoGroupIsRefused) {
  const auto refused = [](const std::vector<Problem>& products, Argument argument, const char* part) {
    const Status status = where().library.prepare_group(products).status();
    BOOST_TEST((status.argument() == argument), status.message());
    BOOST_TEST(has(status.message(), part), status.message());
  };
  refused({}, Argument::group, "no products");
  const auto changed = [](const auto& change) {
    std::vector<Problem> products = two();
    change(products[1]);
    return products;
  };
  refused(changed([](Problem& p) { p.m = std::size_t{INT_MAX} + 1; }), Argument::m, "product 1");
  refused(changed([](Problem& p) { p.ldb = 4; }), Argument::ldb, "product 1");
  refused(changed([](Problem& p) { p.batch = 2; }), Argument::batch, "product 1");
  refused(changed([](Problem& p) { p.offsets.clear(), p.batch = 0; }), Argument::batch, "product 1");
  refused(changed([](Problem& p) { p.offsets.emplace_back(); }), Argument::offsets, "product 1");
  refused(changed([](Problem& p) { p.trans_a = true, p.lda = 4; }), Argument::group, "transposes");
  refused(changed([](Problem& p) { p.layout = Layout::column_major, p.ldc = 9, p.ldb = p.lda = 5; }), Argument::group,
          "layout");
  refused(changed([](Problem& p) { p.epilogue.activation = Activation::relu; }), Argument::group, "epilogue");
  refused(changed([](Problem& p) { p.quantization.weight_group = 64; }), Argument::group, "quantization");
  refused(changed([](Problem& p) { p.offsets[0].c = 47; }), Argument::group, "products 0 and 1");
  // Blocks of one matrix, which lie between each other's rows.
  std::vector<Problem> blocks = {product(4, 3, 2, {0, 0, 0}), product(4, 3, 2, {0, 0, 3})};
  blocks[0].ldc = blocks[1].ldc = 6;
  refused(blocks, Argument::group, "lie between");

  Problem counted = tight_problem(Precision::single_precision, 8, 4, 4);
  BOOST_TEST((where().library.prepare_counted_group(counted).status().code() == Code::no_variant));
  counted.layout = Layout::column_major;
  BOOST_TEST((where().library.prepare_counted_group(counted).status().argument() == Argument::layout));
}

BOOST_AUTO_TEST_CASE(OperandsAreCheckedBeforeAnythingRuns) {
  Buffers buffers;
  const cl::CommandQueue queue(here().session.queue(), true);
  GemmGroup group = required(where().library.prepare_group(two()));
  const auto enqueue = [&](double alpha, Matrix a, Matrix b, double beta, Matrix c) {
    return group.enqueue(queue(), alpha, a, b, beta, c);
  };
  const Matrix all = buffers.all();
  BOOST_TEST((enqueue(1, {}, all, 0, all).argument() == Argument::a));
  BOOST_TEST((enqueue(1, all, buffers.all(49), 0, all).argument() == Argument::b_size));
  BOOST_TEST((enqueue(1, all, all, 0, buffers.all(18)).argument() == Argument::c_size));
  BOOST_TEST((enqueue(1, buffers.all(33), all, 0, all).argument() == Argument::c_alias));  // A of 0 in its own C
  BOOST_TEST((enqueue(1, all, buffers.all(28), 0, all).argument() == Argument::c_alias));  // B of 1 in that of 1
  const Status other = enqueue(1, buffers.all(45), all, 0, all);                           // A of 0 in its own C
  BOOST_TEST((other.argument() == Argument::c_alias), other.message());
  BOOST_TEST((enqueue(1, all, svm(&buffers), 0, all).argument() == Argument::group));  // no pointers
  BOOST_TEST((enqueue(1, all, all, 0, usm(&buffers, 3)).argument() == Argument::group));
  BOOST_TEST((group.enqueue(nullptr, 1, all, all, 0, all).argument() == Argument::queue));
  BOOST_TEST((group.enqueue(queue(), {1, 1}, all, all, 0, all).argument() == Argument::alpha));
  queue.finish();
  for (const std::size_t place : {32U, 47U, 96U, 110U}) BOOST_TEST(buffers.at(queue, place) == 1);
  BOOST_TEST(enqueue(0, {}, {}, 3, all).ok());  // A and B are not read
  BOOST_TEST(buffers.at(queue, 110) == 3);
  GemmGroup far = required(where().library.prepare_group({product(4, 4, 4, {0, 16, std::size_t{1} << 62})}));
  BOOST_TEST((far.enqueue(queue(), 1, all, all, 0, all).argument() == Argument::c_size));  // bytes beyond 2^64
  GemmGroup moved = std::move(group);
  BOOST_TEST((group.enqueue(queue(), 1, all, all, 0, all).argument() == Argument::group));  // NOLINT: moved from
}

BOOST_AUTO_TEST_CASE(TheEventIsThatOfAllProducts) {
  Buffers buffers;
  for (const cl_command_queue_properties properties :
       {cl_command_queue_properties{0}, cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
    cl_int error = CL_SUCCESS;
    const cl::CommandQueue queue(buffers.context, cl::Device(here().device.id, true), properties, &error);
    if (error != CL_SUCCESS) continue;  // a device without queues out of order
    GemmGroup group = required(where().library.prepare_group(two()));
    cl::UserEvent gate(buffers.context);
    const cl_event waits[] = {gate()};
    cl::Event done;
    const Status status =
        group.enqueue(queue(), 1, buffers.all(), buffers.all(), 0, buffers.all(), {}, 1, waits, &done());
    BOOST_TEST(status.ok(), status.message());
    BOOST_TEST(done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() != CL_COMPLETE);
    gate.setStatus(CL_COMPLETE);
    BOOST_TEST(done.wait() == CL_SUCCESS);
    const cl::CommandQueue reads(here().session.queue(), true);
    BOOST_TEST(buffers.at(reads, 47) == 4);
    BOOST_TEST(buffers.at(reads, 110) == 2);
    GemmGroup empty = required(where().library.prepare_group({product(0, 4, 4, {}), product(4, 0, 4, {})}));
    BOOST_TEST(empty.enqueue(queue(), 1, {}, {}, 0, {}, {}, 0, nullptr, &done()).ok());
    BOOST_TEST(done.wait() == CL_SUCCESS);
    queue.finish();
  }
}

BOOST_AUTO_TEST_CASE(TheCApiComputesAGroup) {
  Buffers buffers;
  const cl::CommandQueue queue(here().session.queue(), true);
  clbake_error error;
  clbake_bundle* bundle = nullptr;
  clbake_library* library = nullptr;
  clbake_group* group = nullptr;
  BOOST_REQUIRE(clbake_bundle_open(std::getenv("CLBAKE_TEST_BUNDLE"), &bundle, &error) == CLBAKE_OK);
  BOOST_REQUIRE(clbake_library_create(here().session.context(), here().device.id, &bundle, 1, nullptr, &library,
                                      &error) == CLBAKE_OK);
  const clbake_batch_offsets places[] = {{0, 16, 32}, {64, 80, 96}};
  clbake_problem products[2];
  clbake_problem_init(&products[0], CLBAKE_SINGLE, 4, 4, 4);
  clbake_problem_init(&products[1], CLBAKE_SINGLE, 3, 5, 2);
  for (std::size_t i = 0; i < 2; ++i) products[i].offsets = &places[i];
  BOOST_TEST(clbake_group_prepare(library, products, 0, nullptr, &group, &error) == CLBAKE_INVALID_ARGUMENT);
  BOOST_TEST(error.argument == CLBAKE_ARGUMENT_GROUP);
  BOOST_TEST(clbake_group_prepare(library, products, 2, "none-group", &group, &error) == CLBAKE_NO_VARIANT);
  BOOST_TEST(clbake_group_prepare_counted(library, products, nullptr, &group, &error) == CLBAKE_INVALID_ARGUMENT);
  BOOST_TEST(error.argument == CLBAKE_ARGUMENT_OFFSETS);
  BOOST_REQUIRE(clbake_group_prepare(library, products, 2, nullptr, &group, &error) == CLBAKE_OK);
  BOOST_TEST(clbake_group_is_one_launch(group) == 0);
  clbake_explanation explanation;
  clbake_explanation_init(&explanation);
  BOOST_TEST(clbake_group_explanation(group, &explanation, &error) == CLBAKE_OK);
  BOOST_TEST(explanation.variant[0] != '\0');
  const clbake_scalars scalars = {2, 0, 1, 0};
  const cl_mem all = buffers.memory();
  BOOST_TEST(clbake_group_enqueue(group, queue(), nullptr, all, 0, all, 0, all, 0, nullptr, nullptr, 0, 0, nullptr,
                                  nullptr, &error) == CLBAKE_INVALID_ARGUMENT);
  BOOST_TEST(clbake_group_enqueue(group, queue(), &scalars, all, 0, all, 0, all, 0, nullptr, nullptr, 0, 0, nullptr,
                                  nullptr, &error) == CLBAKE_OK);
  BOOST_TEST(buffers.at(queue, 32) == 9);
  BOOST_TEST(buffers.at(queue, 96) == 5);
  clbake_group_release(group);
  clbake_library_release(library);
  clbake_bundle_release(bundle);
}
