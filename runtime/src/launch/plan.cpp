#include "launch/plan.hpp"

#include <clbake/choice.hpp>
#include <clbake/finalize.hpp>
#include <clbake/joined.hpp>
#include <clbake/operand.hpp>

#include <algorithm>
#include <climits>

namespace clbake {
namespace {

using cache::Role;

// Batches are split so that the workspace takes no more than this, unless one product needs more.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// The kernels that rearrange complex operands cover all rows and columns with any grid. A bounded one keeps PoCL at the
// function that is compiled for small grids, and is enough for any device.
constexpr std::size_t kMostComplexGroupsInX = 64;
constexpr std::size_t kMostComplexGroupsInY = 4096;

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

Status too_large(const char* what, std::size_t value, std::size_t limit) {
  return {Code::out_of_memory, joined({what, " would be ", value, ", the device's limit is ", limit})};
}

// Sizes of the workspace, and how much of the product is computed at a time.
class Sizer {
 public:
  explicit Sizer(LaunchPlan& plan) : plan_(plan) {
    const Problem& p = plan.real;
    const cache::Variant& v = *plan.variant;
    plan.most.rows = std::min(p.m, kMaxGroups * product_launch(v).tile_m);
    plan.most.products = std::min(std::max<std::size_t>(p.batch, 1), kMaxGroups / std::max(v.split_k, 1U));
    // All tiles are in one dimension of the grid, which has at least 2^31 - 1 groups.
    const std::size_t tiles = std::max<std::size_t>(1, tiles_of(v, plan.most.rows, p.n));
    if (v.split_k == 0) plan.most.products = std::min(plan.most.products, (std::size_t{1} << 30) / tiles);
    plan.padded_m = round_up(plan.most.rows, v.block_m);
    plan.padded_n = round_up(p.n, v.block_n);
    plan.padded_k = round_up(p.k, v.block_k);
  }

  Status run() {
    const Problem& p = plan_.real;
    const cache::Variant& v = *plan_.variant;
    const bool is_complex_product = is_complex(plan_.stated.precision);
    const bool copies[] = {is_complex_product && copies_a(plan_.stated), is_complex_product};
    const bool packs[] = {has(v, Role::pack_a), has(v, Role::pack_b)};
    for (const std::size_t padded : {plan_.padded_m, plan_.padded_n, plan_.padded_k}) {
      if (padded > INT_MAX && (packs[0] || packs[1])) return too_large("a padded size", padded, INT_MAX);
    }
    for (const std::size_t ld : {copies[0] ? p.lda : 0, copies[1] ? p.ldb : 0}) {
      if (ld > INT_MAX) return too_large("a padded row of a copy, in reals,", ld, INT_MAX);
    }
    const std::size_t element = element_bytes(p.precision);
    const std::size_t real = p.precision == Precision::double_precision ? 8 : 4;  // partial sums are never of 16 bits
    if (packs[0]) pack(Value::packed_a, v.image_a, plan_.padded_m, element);
    if (packs[1]) pack(Value::packed_b, v.image_b, plan_.padded_n, element);
    if (v.split_k > 1) fit(Value::partials, plan_.most.rows * p.n, real * v.split_k);
    if (p.quantization.zero_b != 0) fit(Value::row_terms, plan_.most.rows, sizeof(cl_int));
    if (p.quantization.zero_a != 0) fit(Value::column_terms, p.n, sizeof(cl_int));
    if (copies[0]) fit(Value::copy_a, p.a_stride, real);
    if (copies[1]) fit(Value::copy_b, p.b_stride, real);
    if (!status_) return std::move(status_);
    std::size_t& products = plan_.most.products;
    products = std::max<std::size_t>(1, std::min(products, kMostBytes / std::max<std::size_t>(bytes_, 1)));
    for (std::size_t& bytes : plan_.bytes) bytes *= products;
    if (v.image_a) plan_.bytes[static_cast<std::size_t>(Value::packed_a)] = 0;
    if (v.image_b) plan_.bytes[static_cast<std::size_t>(Value::packed_b)] = 0;
    const cache::Launch& launch = product_launch(v);
    if (v.split_k == 0) bytes_of(Value::partials) = slices_of_tail() * launch.tile_m * launch.tile_n * real;
    return {};
  }

 private:
  std::size_t& bytes_of(Value part) { return plan_.bytes[static_cast<std::size_t>(part)]; }

  // The most slices that a launch has: never more than units. Of a batch, a launch may be for any number of products.
  std::size_t slices_of_tail() const {
    const Problem& p = plan_.real;
    const bool one_launch = p.batch <= 1 && plan_.most.rows == p.m;
    const std::size_t tiles = one_launch ? tiles_of(*plan_.variant, p.m, p.n) : 1;  // one: whether k is deep enough
    const Tail tail = tail_of(tiles, plan_.limits.units, p.k, plan_.variant->block_k);
    return tail.slices == 1 ? 0 : one_launch ? tail.parts() : plan_.limits.units;
  }

  void pack(Value part, bool image, std::size_t width, std::size_t element) {
    if (image) fit_image(width);
    fit(part, width * plan_.padded_k, element);
  }

  // A buffer of so many elements for each product: lowers the number of products at a time to what it can hold. Never
  // empty, as OpenCL has no empty buffers.
  void fit(Value part, std::size_t elements, std::size_t element) {
    const std::size_t most = plan_.limits.largest_buffer / element / std::max<std::size_t>(elements, 1);
    if (status_ && most == 0) {
      status_ =
          too_large("the workspace of one product, in elements,", elements, plan_.limits.largest_buffer / element);
    }
    plan_.most.products = std::min(plan_.most.products, most);
    bytes_ += elements * element;
    bytes_of(part) = std::max<std::size_t>(elements * element, 8);
  }

  void fit_image(std::size_t width) {
    const std::size_t texels = width / texel_elements(plan_.real.precision);
    if (status_ && texels > plan_.limits.image_width) {
      status_ = too_large("the width of an operand's image in texels", texels, plan_.limits.image_width);
    }
    if (status_ && plan_.padded_k > plan_.limits.image_height) {
      status_ = too_large("the height of an operand's image", plan_.padded_k, plan_.limits.image_height);
    }
    const std::size_t most = plan_.limits.image_height / std::max<std::size_t>(plan_.padded_k, 1);
    plan_.most.products = std::min(plan_.most.products, most);
  }

  LaunchPlan& plan_;
  std::size_t bytes_ = 0;  // of one product's workspace
  Status status_;          // the first failure
};

void add(std::vector<KernelArgument>& arguments, std::initializer_list<KernelArgument> more) {
  arguments.insert(arguments.end(), more);
}

std::vector<KernelArgument> arguments_of(const LaunchPlan& plan, Role role) {
  const cache::Variant& v = *plan.variant;
  const Value a = plan.bytes_of(Value::copy_a) > 0 ? Value::copy_a : Value::a;
  const Value b = plan.bytes_of(Value::copy_b) > 0 ? Value::copy_b : Value::b;
  const bool cuts_tail = v.split_k == 0;
  std::vector<KernelArgument> arguments;
  switch (role) {
    case Role::pack_a: add(arguments, {{a}, {Value::packed_a}}); break;
    case Role::pack_b: add(arguments, {{b}, {Value::packed_b}}); break;
    case Role::row_terms: add(arguments, {{a}, {Value::row_terms}}); break;
    case Role::column_terms: add(arguments, {{b}, {Value::column_terms}}); break;
    case Role::gemm:
    case Role::group:
      add(arguments, {{has(v, Role::pack_a) ? Value::packed_a : a}, {has(v, Role::pack_b) ? Value::packed_b : b}});
      add(arguments, {{v.split_k > 1 ? Value::partials : Value::c}});
      if (cuts_tail) add(arguments, {{Value::partials}, {Value::tail}});
      break;
    case Role::reduce:
      add(arguments, {{Value::partials}, {Value::c}});
      if (cuts_tail) add(arguments, {{Value::tail}});
      break;
    case Role::kernel: break;  // of an application's program, which is no product
  }
  add(arguments, {{Value::offsets}});
  const bool updates_c = role == Role::gemm || role == Role::group || role == Role::reduce;
  if (updates_c) add(arguments, {{Value::bias}, {Value::d}});
  add(arguments, {{Value::numbers}});
  if (updates_c) add(arguments, {{Value::scalars}});
  if (has_weights(v.precision)) {
    const bool unpacks = has(v, Role::pack_b);
    if (role == Role::pack_b || (role == Role::gemm && !unpacks)) add(arguments, {{Value::weights}});
    return arguments;
  }
  if (!is_mixed(v.precision) || role == Role::pack_a || role == Role::pack_b) return arguments;
  if (updates_c) {
    add(arguments, {{Value::row_scales}, {Value::column_scales}, {Value::row_terms}, {Value::column_terms}});
  }
  add(arguments, {{Value::quantization}});
  return arguments;
}

// The arguments that the kernels of complex products (kernels/complex.cl) begin with.
PlannedKernel complex_kernel(const char* name, std::size_t items, const Operand& from, Value memory, Value offset) {
  PlannedKernel kernel{name, {items, 1, 1}, {}};
  add(kernel.arguments, {{Value::integer, from.rows},
                         {Value::integer, from.cols},
                         {memory},
                         {offset},
                         {Value::integer, from.ld},
                         {Value::distance, from.stride},
                         {Value::complex_offsets},
                         {Value::first_product}});
  return kernel;
}

void add_complex_kernels(LaunchPlan& plan, std::size_t items) {
  const Problem& p = plan.stated;
  PlannedKernel a = complex_kernel("clbake_complex_a", items, operand_a(p), Value::a, Value::a_offset);
  add(a.arguments, {{Value::copy_a},
                    {Value::distance, plan.real.a_stride},
                    {Value::integer, plan.real.lda},
                    {Value::integer, p.trans_a ? 1U : 0U},
                    {Value::sign, p.conj_a ? 1U : 0U}});
  PlannedKernel b = complex_kernel("clbake_complex_b", items, operand_b(p), Value::b, Value::b_offset);
  add(b.arguments, {{Value::copy_b},
                    {Value::distance, plan.real.b_stride},
                    {Value::integer, plan.real.ldb},
                    {Value::complex_alpha},
                    {Value::sign, p.conj_b ? 1U : 0U},
                    {Value::sign, p.trans_b ? 1U : 0U}});
  PlannedKernel c = complex_kernel("clbake_complex_c", items, operand_c(p), Value::c, Value::c_offset);
  add(c.arguments, {{Value::complex_beta}});
  for (const PlannedKernel& kernel : {a, b, c}) plan.kernels.push_back(kernel);
}

// One of the launches before a complex product: `which` is 0 for A, 1 for B, 2 for C.
Step complex_step(const LaunchPlan& plan, std::size_t which, const Part& part) {
  const Problem& p = plan.stated;
  const Operand on = which == 0 ? operand_a(p) : which == 1 ? operand_b(p) : operand_c(p);
  Step step;
  step.kernel = plan.variant->launches.size() + which;
  // On CPUs a work-group of one item takes whole rows; on GPUs each item of a work-group an element.
  const std::size_t items = plan.kernels[step.kernel].local[0];
  step.groups = {items == 1 ? 1 : std::min(ceil_div(on.cols, items), kMostComplexGroupsInX),
                 std::min(on.rows, kMostComplexGroupsInY), part.products};
  step.part = part;
  if (which == 2) step.when = When::beta_is_complex;
  return step;
}

// Columns and rows of the grid that a launch has to cover, in elements.
std::array<std::size_t, 2> covered(const LaunchPlan& plan, Role role, std::size_t rows) {
  if (role == Role::pack_a) return {plan.padded_m, plan.padded_k};
  if (role == Role::pack_b) return {plan.padded_n, plan.padded_k};
  if (role == Role::reduce) return {rows * plan.real.n, 1};
  if (role == Role::row_terms) return {rows, 1};
  if (role == Role::column_terms) return {plan.real.n, 1};
  return {plan.real.n, rows};
}

std::array<std::size_t, 3> groups_of(const LaunchPlan& plan, const cache::Launch& launch, const Step& step) {
  const cache::Variant& v = *plan.variant;
  const bool reduces = launch.role == Role::reduce;
  if (v.split_k == 0 && reduces) {
    const cache::Launch& product = product_launch(v);
    return {ceil_div(std::size_t{product.tile_m} * product.tile_n, launch.tile_n), step.tail.tiles, 1};
  }
  if (v.split_k == 0 && launch.role == Role::gemm) return {step.tail.whole + step.tail.parts(), 1, 1};
  const auto [columns, rows] = covered(plan, launch.role, step.part.rows);
  return {ceil_div(columns, launch.tile_n),
          std::min(ceil_div(rows, launch.tile_m), kMaxGroups),  // packing goes on by itself
          step.part.products * (launch.role == Role::gemm ? v.split_k : 1)};
}

// True when C changes even if alpha is 0 and beta 1.
bool has_epilogue(const Problem& p) {
  const Epilogue& e = p.epilogue;
  return e.bias != Bias::none || e.activation != Activation::none || e.has_d || p.quantization.zero_c != 0;
}

// True for launches that a call need not have.
bool is_needed(const LaunchPlan& plan, Role role, const Tail& tail, bool reads_operands) {
  switch (role) {
    case Role::pack_a:
    case Role::pack_b: return reads_operands;
    case Role::row_terms: return reads_operands && plan.real.quantization.zero_b != 0;
    case Role::column_terms: return reads_operands && plan.real.quantization.zero_a != 0;
    case Role::reduce: return plan.variant->split_k != 0 || tail.slices > 1;
    default: return true;
  }
}

// The variant's launches for some rows.
void append_product(const LaunchPlan& plan, const Part& part, bool reads_operands, std::vector<Step>& steps) {
  const cache::Variant& v = *plan.variant;
  Step step;
  step.part = part;
  if (!reads_operands && !has_epilogue(plan.real)) step.when = When::beta_is_not_one;
  if (v.split_k == 0) {
    const std::size_t tiles = tiles_of(v, part.rows, plan.real.n) * part.products;
    step.tail = tail_of(tiles, plan.limits.units, reads_operands ? plan.real.k : 0, v.block_k);
  }
  for (step.kernel = 0; step.kernel < v.launches.size(); ++step.kernel) {
    const cache::Launch& launch = v.launches[step.kernel];
    if (!is_needed(plan, launch.role, step.tail, reads_operands)) continue;
    step.groups = groups_of(plan, launch, step);
    steps.push_back(step);
  }
}

Status plan_group(LaunchPlan& plan, const GroupTable* given) {
  const Problem& p = plan.real;
  if (is_complex(plan.stated.precision)) {
    return {Code::no_variant, joined({"variant ", plan.variant->name, " is for groups, which are not complex"})};
  }
  for (std::size_t i = 0; !given && i < p.batch; ++i) {
    const bool listed = !p.offsets.empty();
    const BatchOffsets strided{i * p.a_stride, i * p.b_stride, i * p.c_stride};
    plan.group.add(*plan.variant, p, listed ? p.offsets[i] : strided, listed ? p.offsets[i].c : i * p.epilogue.d_stride,
                   i);
  }
  if (given) plan.group = *given;
  if (plan.group.tiles > INT_MAX) return too_large("the tiles of a group", plan.group.tiles, INT_MAX);
  Step step;
  step.groups = {plan.group.tiles, 1, 1};
  step.part.rows = p.m;
  if (plan.group.tiles > 0) plan.steps.push_back(step);
  return {};
}

}  // namespace

std::size_t tiles_of(const cache::Variant& variant, std::size_t m, std::size_t n) {
  const cache::Launch& launch = product_launch(variant);
  return ceil_div(m, launch.tile_m) * ceil_div(n, launch.tile_n);
}

void GroupTable::add(const cache::Variant& variant, const Problem& p, const BatchOffsets& at, std::size_t d,
                     std::size_t number) {
  if (p.m == 0 || p.n == 0) return;
  const auto as_int = [](std::size_t value) { return static_cast<std::int32_t>(value); };
  members.push_back({at.a, at.b, at.c, d, as_int(p.m), as_int(p.n), as_int(p.k), as_int(p.lda), as_int(p.ldb),
                     as_int(p.ldc), as_int(p.epilogue.ldd), as_int(number), as_int(tiles), 0});
  tiles += tiles_of(variant, p.m, p.n);
}

bool has(const cache::Variant& variant, Role role) {
  return std::any_of(variant.launches.begin(), variant.launches.end(),
                     [&](const cache::Launch& launch) { return launch.role == role; });
}

Result<LaunchPlan> plan_launches(const Problem& problem, const cache::Variant& variant, const DeviceLimits& limits,
                                 std::size_t complex_items, const GroupTable* group) {
  LaunchPlan plan;
  plan.stated = problem;
  plan.real = real_product(problem);
  // A vector as the variant reads it.
  if (plan.real.kind() != variant.kind() && !is_complex(problem.precision)) read_otherwise(plan.real);
  plan.variant = &variant;
  plan.limits = limits;
  const Status fits = variant.is_group() ? plan_group(plan, group) : Sizer(plan).run();
  if (!fits) return fits.within(variant.name);
  for (const cache::Launch& launch : variant.launches) {
    plan.kernels.push_back(
        {launch.kernel_name, {launch.local[0], launch.local[1], launch.local[2]}, arguments_of(plan, launch.role)});
  }
  if (is_complex(problem.precision)) add_complex_kernels(plan, complex_items);
  if (!variant.is_group()) append_steps(plan, 0, plan.real.batch, plan.real.k > 0, plan.steps);
  return plan;
}

void append_steps(const LaunchPlan& plan, std::size_t first_product, std::size_t products, bool reads_operands,
                  std::vector<Step>& steps) {
  const Problem& p = plan.real;
  if (p.m == 0 || p.n == 0) return;
  const std::size_t end = first_product + products;
  Part part;
  for (part.first_product = first_product; part.first_product < end; part.first_product += part.products) {
    part.products = std::min(plan.most.products, end - part.first_product);
    part.first_row = 0;
    part.rows = p.m;
    if (is_complex(plan.stated.precision)) {
      if (reads_operands && plan.bytes_of(Value::copy_a) > 0) steps.push_back(complex_step(plan, 0, part));
      if (reads_operands) steps.push_back(complex_step(plan, 1, part));
      steps.push_back(complex_step(plan, 2, part));  // C at the last moment
    }
    for (; part.first_row < p.m; part.first_row += plan.most.rows) {
      part.rows = std::min(plan.most.rows, p.m - part.first_row);
      append_product(plan, part, reads_operands, steps);
    }
  }
}

std::size_t LaunchPlan::workspace_bytes() const {
  std::size_t sum = 0;
  for (const std::size_t part : bytes) sum += round_up(part, limits.alignment);
  return sum;
}

Step widened_reduction(const LaunchPlan& plan, std::size_t elements) {
  const cache::Variant& v = *plan.variant;
  if (v.split_k < 2 || plan.steps.empty()) return {};
  Step step = plan.steps.back();
  step.groups = {ceil_div(elements, v.launches.back().tile_n), 1, 1};
  return step;
}

}  // namespace clbake
