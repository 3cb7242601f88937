#include <clbake/choice.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>
#include <clbake/joined.hpp>

#include "library_state.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <numeric>
#include <optional>

namespace clbake {

// The products, each with a batch of 1. Counted: one problem, whose batch is the number of products and whose m is the
// rows of all of them at most.
struct GroupProducts {
  std::vector<Problem> list;
  bool counted = false;
};

// Products of different sizes: one handle that computes all, or one for the products of each size.
class PreparedGroup {
 public:
  PreparedGroup(const GroupProducts& group, const Setup& setup)
      : group_(group), context_(setup.context), device_(setup.device) {}

  // One of the two is called. add_each makes handles by prepare(problem).
  void set_one_launch(Handle handle) { handles_.push_back(std::move(handle)); }
  template <typename Prepare>
  Status add_each(const Prepare& prepare);

  bool is_one_launch() const { return handle_of_.empty(); }
  const Explanation* explanation() const { return handles_.empty() ? nullptr : &handles_[0]->explanation(); }

  Status enqueue(cl_command_queue queue, const Scalars& scalars, const Matrix& a, const Matrix& b, const Matrix& c,
                 const GroupBuffers& more, const Events& events);

 private:
  Status check_operands(const Scalars& scalars, const Matrix& a, const Matrix& b, const Matrix& c,
                        const EpilogueBuffers& more);
  Status check_counts(const Matrix& c, const Matrix& counts) const;
  Status enqueue_each(cl_command_queue queue, const Scalars& scalars, const Matrix& a, const Matrix& b, const Matrix& c,
                      const GroupBuffers& more, const Events& events);

  GroupProducts group_;  // as the caller gave it
  cl::Context context_;
  cl::Device device_;
  std::vector<Handle> handles_;         // one for all products, or one for each size
  std::vector<std::size_t> handle_of_;  // of each product; empty: one handle computes all
  std::vector<std::size_t> ends_;       // elements that the buffer of each operand must have; filled by the first call
};

namespace {

// Distances in elements, so that sums of them do not overflow: problem.cpp.
constexpr std::size_t kMostDistance = std::size_t{1} << 62;

BatchOffsets start_of(const Problem& p) { return p.offsets.empty() ? BatchOffsets() : p.offsets[0]; }

bool has_no_c(const Problem& p) { return p.m == 0 || p.n == 0; }

// The first element of a product's matrix or vector, one past the last, and the product.
struct Extent {
  std::size_t begin, end, product;
};

// Those that have elements, in the order of their first ones. `stride`: elements between those of two products.
using OperandOf = Operand (*)(const Problem&, std::size_t);
std::vector<Extent> extents_of(const std::vector<Problem>& list, OperandOf of, std::size_t offset, std::size_t stride) {
  std::vector<Extent> all;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Operand x = of(list[i], offset + i * stride);
    if (!has_no_c(list[i]) && !x.empty()) all.push_back({x.first_start(), x.extent(), i});
  }
  std::sort(all.begin(), all.end(), [](const Extent& x, const Extent& y) { return x.begin < y.begin; });
  return all;
}

std::size_t end_of(const std::vector<Extent>& all) {
  std::size_t end = 0;
  for (const Extent& each : all) end = std::max(end, each.end);
  return end;
}

// The first C, of those that share nothing with each other, that shares bytes with one of the extents, whose elements
// have so many bytes. All are inside of buffers.
std::optional<std::size_t> meets(const std::vector<Extent>& all, std::size_t bytes, const std::vector<Extent>& results,
                                 std::size_t c_bytes) {
  for (const Extent& x : all) {
    const auto c =
        std::upper_bound(results.begin(), results.end(), x.begin * bytes,
                         [&](std::size_t begin, const Extent& result) { return begin < result.end * c_bytes; });
    if (c != results.end() && c->begin * c_bytes < x.end * bytes) return c->product;
  }
  return std::nullopt;
}

// Empty, or what differs.
const char* difference(const Problem& x, const Problem& y) {
  if (x.kind() != y.kind() || x.conj_a != y.conj_a || x.conj_b != y.conj_b) return "precision or transposes";
  if (x.layout != y.layout) return "layout";
  Epilogue epilogue = x.epilogue;
  epilogue.ldd = y.epilogue.ldd;
  epilogue.d_stride = y.epilogue.d_stride;
  if (!equal(epilogue, y.epilogue)) return "the epilogue";
  return equal(x.quantization, y.quantization) ? "" : "the quantization";
}

Status check_stride(Argument argument, std::size_t stride, std::size_t products) {
  if (stride <= kMostDistance / std::max<std::size_t>(products, 1)) return {};
  return {argument, joined({"a stride of ", stride, " elements is too large for ", products, " products"})};
}

Status check_list(const std::vector<Problem>& list) {
  if (list.empty()) return {Argument::group, "the group has no products"};
  if (list.size() > INT_MAX)
    return {Argument::group, joined({"the group has ", list.size(), " products, over 2^31 - 1"})};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Problem& p = list[i];
    const std::string differs = difference(p, list[0]);
    Status status = p.batch == 1 ? check(p) : Status(Argument::batch, "a product of a group has a batch of 1");
    if (status && !differs.empty()) status = {Argument::group, joined({"it differs from product 0 in ", differs})};
    const Quantization& q = p.quantization;
    const std::size_t scales = std::max(q.row_scale_stride, q.column_scale_stride);
    if (status) status = check_stride(Argument::bias_stride, p.epilogue.bias_stride, list.size());
    if (status) status = check_stride(Argument::quantization, scales, list.size());
    if (!status) return status.within(joined({"product ", i}));
  }
  const std::vector<Extent> results = extents_of(list, operand_c, 0, 0);
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (results[i].begin >= results[i - 1].end) continue;
    return {Argument::group, joined({"the Cs of products ", results[i - 1].product, " and ", results[i].product,
                                     " share elements, or lie between each other"})};
  }
  return {};
}

Status check_counted(const Problem& p) {
  if (p.layout != Layout::row_major) return {Argument::layout, "a group that is counted on the device is row-major"};
  if (is_mixed(p.precision) || is_complex(p.precision)) {
    return {Argument::precision, "a group that is counted on the device is half, bfloat16, single or double"};
  }
  if (!p.offsets.empty()) return {Argument::offsets, "a group that is counted on the device has no offsets"};
  if (p.batch > INT_MAX) return {Argument::batch, joined({"batch = ", p.batch, " is over 2^31 - 1"})};
  Problem one = p;
  one.batch = 1;
  Status status = check(one);
  if (status) status = check_stride(Argument::b_stride, p.b_stride, p.batch);
  return status ? check_stride(Argument::bias_stride, p.epilogue.bias_stride, p.batch) : status;
}

// The launch's tiles, as many as there can be at most.
std::size_t tiles_of_all(const cache::Variant& variant, const GroupProducts& group) {
  std::size_t tiles = 0;
  for (const Problem& p : group.list) tiles += tiles_of(variant, p.m, p.n);
  const Problem& p = group.list[0];
  if (!group.counted || p.m == 0 || p.batch == 0) return group.counted ? 0 : tiles;
  const cache::Launch& launch = product_launch(variant);
  return (p.m / launch.tile_m + std::min(p.batch, p.m)) * tiles_of(variant, 1, p.n);
}

// Deep products first: their tiles take longest, and none should be the last that runs.
GroupTable table_of(const cache::Variant& variant, const GroupProducts& group) {
  GroupTable table;
  table.counted = group.counted;
  if (group.counted) table.tiles = tiles_of_all(variant, group);
  std::vector<std::size_t> order(group.counted ? 0 : group.list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return group.list[x].k > group.list[y].k; });
  for (const std::size_t i : order) {
    const BatchOffsets at = start_of(group.list[i]);
    table.add(variant, group.list[i], at, at.c, i);
  }
  return table;
}

// The bundle's variant whose tiles are largest, if they occupy the device; else the one that makes the most of them.
std::optional<std::uint32_t> variant_for(const Bundle& bundle, const GroupProducts& group, const std::string& name,
                                         std::size_t units) {
  std::optional<std::uint32_t> best;
  std::pair<bool, std::size_t> best_rank;
  for (const std::uint32_t index : capable_variants(bundle, group.list[0], true)) {
    const Result<cache::Variant> variant = bundle.variant(index);
    if (!variant || !check_launchable(*variant) || (!name.empty() && variant->name != name)) continue;
    const cache::Launch& launch = product_launch(*variant);
    const std::size_t tiles = tiles_of_all(*variant, group);
    const bool occupies = tiles >= 2 * units;
    const std::pair rank(occupies, occupies ? std::size_t{launch.tile_m} * launch.tile_n : tiles);
    if (best && rank <= best_rank) continue;
    best = index;
    best_rank = rank;
  }
  return best;
}

}  // namespace

template <typename Prepare>
Status PreparedGroup::add_each(const Prepare& prepare) {
  std::map<std::array<std::size_t, 7>, std::size_t> known;
  for (const Problem& p : group_.list) {
    handle_of_.push_back(handles_.size());
    if (has_no_c(p)) continue;
    const auto [at, is_new] = known.try_emplace({p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.epilogue.ldd}, handles_.size());
    handle_of_.back() = at->second;
    if (!is_new) continue;
    Problem one = p;
    one.offsets.clear();
    Result<Handle> made = prepare(one);
    if (!made) return made.status().within(joined({"product ", handle_of_.size() - 1}));
    handles_.push_back(std::move(*made));
  }
  return {};
}

Status PreparedGroup::check_operands(const Scalars& scalars, const Matrix& a, const Matrix& b, const Matrix& c,
                                     const EpilogueBuffers& more) {
  const std::vector<Problem>& list = group_.list;
  const Precision precision = list[0].precision;
  const Quantization& q = list[0].quantization;
  const bool reads = scalars.alpha != 0.0, reads_d = scalars.beta != 0.0;
  const bool d_is_c = more.d.buffer == c.buffer && more.d.offset == c.offset &&
                      std::all_of(list.begin(), list.end(), [](const Problem& p) { return p.ldc == p.epilogue.ldd; });
  const std::size_t c_bytes = bytes_of(element_c(precision));
  const struct {
    const BufferArgument& as;
    Argument alias;  // none: may lie in C
    const Matrix& matrix;
    OperandOf of;
    bool is_used;
    std::size_t stride, bytes;
  } operands[] = {{kBufferA, Argument::c_alias, a, operand_a, reads, 0, bytes_of(element_a(precision))},
                  {kBufferB, Argument::c_alias, b, operand_b, reads, 0, bytes_of(element_b(precision))},
                  {kBufferC, Argument::none, c, operand_c, true, 0, c_bytes},
                  {kBufferD, d_is_c ? Argument::none : Argument::d_alias, more.d, operand_d, reads_d, 0, c_bytes},
                  {kBias, Argument::bias_alias, more.bias, operand_bias, true, list[0].epilogue.bias_stride,
                   bias_bytes_of(precision)},
                  {kRowScales, Argument::row_scales, more.row_scales, operand_row_scales, true, q.row_scale_stride, 4},
                  {kColumnScales, Argument::column_scales, more.column_scales, operand_column_scales, true,
                   q.column_scale_stride, 4}};
  if (ends_.empty()) {
    for (const auto& x : operands) ends_.push_back(end_of(extents_of(list, x.of, 0, x.stride)));
  }
  auto end = ends_.begin();
  for (const auto& x : operands) {
    const std::size_t extent = *end++;
    const Status fits = x.is_used && extent > 0 ? check_buffer(x.as, x.matrix, context_, extent, x.bytes) : Status();
    if (!fits) return fits;
  }
  for (const auto& x : operands) {
    if (!x.is_used || x.alias == Argument::none || x.matrix.buffer != c.buffer) continue;
    const auto met = meets(extents_of(list, x.of, x.matrix.offset, x.stride), x.bytes,
                           extents_of(list, operand_c, c.offset, 0), c_bytes);
    if (met)
      return {x.alias, joined({x.as.name, " of some product and C of product ", *met,
                               " share elements of one buffer, or lie between each other"})};
  }
  return {};
}

// That the counts are there, and not in C, which the handle checks.
Status PreparedGroup::check_counts(const Matrix& c, const Matrix& counts) const {
  const Problem& p = group_.list[0];
  const std::size_t bytes = bytes_of(element_c(p.precision));
  Status there = check_buffer(kCounts, counts, context_, p.batch, sizeof(cl_int));
  if (!there || counts.buffer != c.buffer || has_no_c(p)) return there;
  there = check_buffer(kBufferC, c, context_, extents(p).c, bytes);
  const Extent all{counts.offset, counts.offset + p.batch, 0};
  if (!there || !meets({all}, sizeof(cl_int), extents_of({p}, operand_c, c.offset, 0), bytes)) return there;
  return {Argument::counts, "the counts lie in C"};
}

Status PreparedGroup::enqueue_each(cl_command_queue queue, const Scalars& scalars, const Matrix& a, const Matrix& b,
                                   const Matrix& c, const GroupBuffers& more, const Events& events) {
  std::vector<cl::Event> done;
  std::vector<cl_event> waits(events.wait_list, events.wait_list + events.wait_count);
  for (std::size_t i = 0; i < group_.list.size(); ++i) {
    const Problem& p = group_.list[i];
    if (has_no_c(p)) continue;
    const BatchOffsets at = start_of(p);
    EpilogueBuffers own = more;
    own.d.offset += at.c;
    own.bias.offset += i * p.epilogue.bias_stride;
    own.row_scales.offset += i * p.quantization.row_scale_stride;
    own.column_scales.offset += i * p.quantization.column_scale_stride;
    cl_event event = nullptr;
    const Status status = handles_[handle_of_[i]]->enqueue(
        queue, ScalarList(scalars), {a.buffer, a.offset + at.a}, {b.buffer, b.offset + at.b},
        {c.buffer, c.offset + at.c}, own, {events.wait_count, events.wait_list, events.event ? &event : nullptr});
    if (!status) return status.within(joined({"product ", i}));
    if (event) waits.push_back(done.emplace_back(event)());
  }
  if (!events.event) return {};
  return opencl_status("clEnqueueMarkerWithWaitList",
                       clEnqueueMarkerWithWaitList(queue, static_cast<cl_uint>(waits.size()),
                                                   waits.empty() ? nullptr : waits.data(), events.event));
}

Status PreparedGroup::enqueue(cl_command_queue queue, const Scalars& scalars, const Matrix& a, const Matrix& b,
                              const Matrix& c, const GroupBuffers& more, const Events& events) {
  Status status = check_queue(queue, context_, device_);
  if (status) status = check_wait_list(events.wait_count, events.wait_list);
  for (const Matrix* x : {&a, &b, &c, &more.d, &more.bias, &more.row_scales, &more.column_scales, &more.counts}) {
    if (status && x->offset >= Matrix::usm_flag) status = {Argument::group, "a group takes buffers, no pointers"};
  }
  if (status) status = group_.counted ? check_counts(c, more.counts) : check_operands(scalars, a, b, c, more);
  if (!status) return status;
  if (is_one_launch()) return handles_[0]->enqueue(queue, ScalarList(scalars), a, b, c, more, events, more.counts);
  return enqueue_each(queue, scalars, a, b, c, more, events);
}

Result<Handle> Library::State::make_group_handle(const GroupProducts& group, const std::string& name) {
  GroupProducts products = group;
  for (Problem& p : products.list) p = row_major(p);
  // For a list, what all share: the group checks the operands, so that there is nothing to check for an m of 0.
  Problem shared = products.list[0];
  if (!group.counted) {
    shared.offsets.clear();
    shared.m = 0;
    for (const Problem& each : products.list) shared.k = std::max(shared.k, each.k);
  }
  Request request;
  request.problem = shared;
  request.named = true;
  for (std::size_t i = 0; i < setup.bundles.size(); ++i) {
    const std::optional<std::uint32_t> variant = variant_for(setup.bundles[i].bundle, products, name, limits.units);
    if (variant) request.candidates.push_back({i, *variant});
  }
  if (request.candidates.empty()) {
    return {Code::no_variant, joined({"no bundle has ", name.empty() ? "a variant" : name, " for groups of ",
                                      clbake::name(shared.precision), "; 'clbake build --group' bakes them"})};
  }
  const Result<Explanation> explained = policy.explain(request);
  if (!explained) return explained.status();
  const bool may_compile = group.counted || !name.empty();
  if (!may_compile && explained->origin == Origin::source) return {Code::no_variant, "it would have to be compiled"};
  Result<Found> found = policy.find(request);
  if (!found) return found.status();
  const auto parts = parts_of(shared, group.list[0].layout);
  parts->found = std::move(*found);
  parts->group = std::make_shared<const GroupTable>(table_of(parts->found.program->variant, products));
  return make(parts);
}

Result<GemmGroup> Library::State::prepare_group(const GroupProducts& group, const std::string& variant) {
  Result<GemmGroup> made = exceptions_to_status([&]() -> Result<GemmGroup> {
    Status status = group.counted ? check_counted(group.list[0]) : check_list(group.list);
    if (!status) return status;
    auto prepared = std::make_unique<PreparedGroup>(group, setup);
    Result<Handle> handle = make_group_handle(group, variant);
    if (handle) {
      prepared->set_one_launch(std::move(*handle));
    } else {
      const bool needs_one = group.counted || !variant.empty();
      status = needs_one ? handle.status() : prepared->add_each([&](const Problem& one) { return prepare(one, {}); });
    }
    if (!status) return status;
    return GemmGroup(std::move(prepared));
  });
  if (!made) policy.count_failure(made.status());
  return made;
}

Result<GemmGroup> Library::prepare_group(const std::vector<Problem>& products, const std::string& variant) const {
  return state_->prepare_group({products, false}, variant);
}

Result<GemmGroup> Library::prepare_counted_group(const Problem& problem, const std::string& variant) const {
  Problem counted = problem;  // without the strides that a counted group does not have
  counted.a_stride = counted.c_stride = counted.epilogue.d_stride = 0;
  if (counted.epilogue.bias == Bias::per_row) counted.epilogue.bias_stride = 0;
  return state_->prepare_group({{counted}, true}, variant);
}

GemmGroup::GemmGroup(std::unique_ptr<PreparedGroup> prepared) : prepared_(std::move(prepared)) {}
GemmGroup::GemmGroup(GemmGroup&&) noexcept = default;
GemmGroup& GemmGroup::operator=(GemmGroup&&) noexcept = default;
GemmGroup::~GemmGroup() = default;

bool GemmGroup::is_one_launch() const { return prepared_ && prepared_->is_one_launch(); }

const Explanation& GemmGroup::explanation() const {
  static const Explanation none;
  const Explanation* const found = prepared_ ? prepared_->explanation() : nullptr;
  return found ? *found : none;
}

Status GemmGroup::enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b,
                          std::complex<double> beta, Matrix c, const GroupBuffers& more, cl_uint wait_count,
                          const cl_event* wait_list, cl_event* event) {
  if (!prepared_) return {Argument::group, "the GemmGroup was moved from"};
  return exceptions_to_status([&] {
    return prepared_->enqueue(queue, {alpha, beta}, a, b, c, more, {wait_count, wait_list, event});
  });
}

}  // namespace clbake
