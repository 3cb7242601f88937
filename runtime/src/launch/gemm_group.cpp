#include "launch/gemm_group.hpp"

#include <clbake/choice.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>
#include <clbake/joined.hpp>

#include <algorithm>
#include <climits>
#include <map>
#include <optional>

namespace clbake {
namespace {

// Distances in elements, so that sums of them do not overflow: problem.cpp.
constexpr std::size_t kMostDistance = std::size_t{1} << 62;
// Pairs of matrices between each other's rows that are compared exactly.
constexpr std::size_t kMostPairs = std::size_t{1} << 22;

bool is_empty(const Problem& p) { return p.m == 0 || p.n == 0; }

BatchOffsets start_of(const Problem& p) { return p.offsets.empty() ? BatchOffsets() : p.offsets[0]; }

// A matrix or vector of one product, from its first byte to its last.
struct Place {
  Operand operand;
  std::size_t begin = 0, end = 0;
  std::size_t product = 0;
};

using OperandOf = Operand (*)(const Problem&, std::size_t);

// Those that have elements, of products that have some. `stride`: elements between those of two products.
std::vector<Place> places_of(const std::vector<Problem>& list, OperandOf of, std::size_t offset, std::size_t stride,
                             std::size_t bytes) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (is_empty(list[i])) continue;
    Operand x = of(list[i], offset + i * stride);
    if (x.empty()) continue;
    x.offset = x.start(0);
    x.offsets = nullptr;
    places.push_back({x, x.offset * bytes, x.extent() * bytes, i});
  }
  return places;
}

std::size_t extent_of(const std::vector<Place>& places) {
  std::size_t most = 0;
  for (const Place& place : places) most = std::max(most, place.operand.extent());
  return most;
}

// The Cs of a group, in the order of their first bytes.
class Results {
 public:
  explicit Results(std::vector<Place> places) : places_(std::move(places)) {
    std::sort(places_.begin(), places_.end(), [](const Place& x, const Place& y) { return x.begin < y.begin; });
    for (const Place& place : places_) ends_.push_back(std::max(place.end, ends_.empty() ? 0 : ends_.back()));
  }

  // The product of a C between whose first and last byte some of x lie and for which share(C, x); or that is one of too
  // many to compare.
  template <typename Share>
  std::optional<std::size_t> find(const Place& x, const Share& share) {
    const auto first = std::upper_bound(ends_.begin(), ends_.end(), x.begin) - ends_.begin();
    for (auto c = places_.begin() + first; c != places_.end() && c->begin < x.end; ++c) {
      if (c->end > x.begin && (++pairs_ > kMostPairs || share(*c, x))) return c->product;
    }
    return std::nullopt;
  }

  const std::vector<Place>& places() const { return places_; }

 private:
  std::vector<Place> places_;
  std::vector<std::size_t> ends_;  // the largest end up to each
  std::size_t pairs_ = 0;
};

Results results_of(const std::vector<Problem>& list, std::size_t offset) {
  return Results(places_of(list, operand_c, offset, 0, bytes_of(element_c(list[0].precision))));
}

Status check_results_apart(const std::vector<Problem>& list) {
  Results all = results_of(list, 0);
  for (const Place& place : all.places()) {
    const auto other = all.find(
        place, [](const Place& c, const Place& x) { return c.product < x.product && overlap(c.operand, x.operand); });
    if (!other) continue;
    return {Argument::group, joined({"products ", *other, " and ", place.product,
                                     ": their Cs share elements, or interleave over millions of rows"})};
  }
  return {};
}

// Empty, or what differs.
const char* difference(const Problem& x, const Problem& y) {
  const Epilogue &e = x.epilogue, &f = y.epilogue;
  const Quantization &q = x.quantization, &r = y.quantization;
  if (x.kind() != y.kind() || x.conj_a != y.conj_a || x.conj_b != y.conj_b) return "precision or transposes";
  if (x.layout != y.layout) return "layout";
  if (e.bias != f.bias || e.bias_stride != f.bias_stride || e.activation != f.activation || e.low != f.low ||
      e.high != f.high || e.has_d != f.has_d) {
    return "the epilogue";
  }
  const bool same = q.row_scales == r.row_scales && q.column_scales == r.column_scales &&
                    q.row_scale_stride == r.row_scale_stride && q.column_scale_stride == r.column_scale_stride &&
                    q.zero_a == r.zero_a && q.zero_b == r.zero_b && q.zero_c == r.zero_c &&
                    q.weight_group == r.weight_group && q.weight_zeros == r.weight_zeros;
  return same ? "" : "the quantization";
}

Status check_list(const std::vector<Problem>& list) {
  if (list.empty()) return {Argument::group, "the group has no products"};
  if (list.size() > INT_MAX)
    return {Argument::group, joined({"the group has ", list.size(), " products, over 2^31 - 1"})};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Problem& p = list[i];
    const auto refused = [&](Argument argument, std::string_view why) {
      return Status(argument, joined({"product ", i, ": ", why}));
    };
    if (p.batch != 1) return refused(Argument::batch, "a product of a group has a batch of 1");
    const Status possible = clbake::check(p);
    if (!possible) return possible.within(joined({"product ", i}));
    const std::string differs = difference(p, list[0]);
    if (!differs.empty()) return refused(Argument::group, joined({"differs from product 0 in ", differs}));
    const std::size_t most = kMostDistance / list.size();
    if (p.epilogue.bias_stride > most) return refused(Argument::bias_stride, "bias_stride is too large");
    if (std::max(p.quantization.row_scale_stride, p.quantization.column_scale_stride) > most) {
      return refused(Argument::quantization, "a stride of scales is too large");
    }
  }
  return check_results_apart(list);
}

Status check_counted(const Problem& p) {
  if (p.layout != Layout::row_major) return {Argument::layout, "a group that is counted on the device is row-major"};
  if (is_mixed(p.precision) || is_complex(p.precision)) {
    return {Argument::precision, "a group that is counted on the device is half, bfloat16, single or double"};
  }
  if (!p.offsets.empty()) return {Argument::offsets, "a group that is counted on the device has no offsets"};
  if (p.batch > INT_MAX) return {Argument::batch, joined({"batch = ", p.batch, " is over 2^31 - 1"})};
  const std::size_t most = kMostDistance / std::max<std::size_t>(p.batch, 1);
  if (p.b_stride > most) return {Argument::b_stride, "b_stride is too large"};
  if (p.epilogue.bias_stride > most) return {Argument::bias_stride, "bias_stride is too large"};
  Problem one = p;
  one.batch = 1;
  return clbake::check(one);
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
    const std::size_t tiles = group_tiles(*variant, group);
    const bool occupies = tiles >= 2 * units;
    const std::pair rank(occupies, occupies ? std::size_t{launch.tile_m} * launch.tile_n : tiles);
    if (best && rank <= best_rank) continue;
    best = index;
    best_rank = rank;
  }
  return best;
}

GroupProducts row_major_of(const GroupProducts& group) {
  GroupProducts exchanged{{}, group.counted};
  exchanged.list.reserve(group.list.size());
  for (const Problem& p : group.list) exchanged.list.push_back(row_major(p));
  return exchanged;
}

// The problem of the handle of a list: its group has checked the operands, so that there is nothing to check.
Problem shared_by(const std::vector<Problem>& list) {
  Problem p = list[0];
  p.offsets.clear();
  p.m = 0;
  for (const Problem& each : list) p.k = std::max(p.k, each.k);
  return p;
}

}  // namespace

Status PreparedGroup::check(const GroupProducts& group) {
  return group.counted ? check_counted(group.list[0]) : check_list(group.list);
}

Status PreparedGroup::add_each(const std::function<Result<Handle>(const Problem&)>& prepare) {
  std::map<std::array<std::size_t, 7>, std::size_t> known;
  for (const Problem& p : group_.list) {
    handle_of_.push_back(handles_.size());
    if (is_empty(p)) continue;
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
                                     const GroupBuffers& more) const {
  const Problem& first = group_.list[0];
  const Precision precision = first.precision;
  const Quantization& q = first.quantization;
  const bool reads = scalars.alpha != 0.0, reads_d = scalars.beta != 0.0;
  const std::size_t c_bytes = bytes_of(element_c(precision)), bias_bytes = bias_bytes_of(precision);
  const struct {
    const BufferArgument& as;
    Argument alias;
    const Matrix& matrix;
    OperandOf of;
    bool is_read;
    std::size_t stride, bytes;
  } operands[] = {{kBufferA, Argument::c_alias, a, operand_a, reads, 0, bytes_of(element_a(precision))},
                  {kBufferB, Argument::c_alias, b, operand_b, reads, 0, bytes_of(element_b(precision))},
                  {kBufferC, Argument::none, c, operand_c, true, 0, c_bytes},
                  {kBufferD, Argument::d_alias, more.d, operand_d, reads_d, 0, c_bytes},
                  {kBias, Argument::bias_alias, more.bias, operand_bias, true, first.epilogue.bias_stride, bias_bytes},
                  {kRowScales, Argument::row_scales, more.row_scales, operand_row_scales, true, q.row_scale_stride, 4},
                  {kColumnScales, Argument::column_scales, more.column_scales, operand_column_scales, true,
                   q.column_scale_stride, 4}};
  for (const auto& x : operands) {
    const std::vector<Place> places =
        x.is_read ? places_of(group_.list, x.of, 0, x.stride, x.bytes) : std::vector<Place>();
    const std::size_t extent = extent_of(places);
    const Status fits = extent > 0 ? check_buffer(x.as, x.matrix, context_, extent, x.bytes) : Status();
    if (!fits) return fits;
  }
  for (const auto& x : operands) {
    if (!x.is_read || x.alias == Argument::none || x.matrix.buffer != c.buffer) continue;
    Results results = results_of(group_.list, c.offset);
    for (const Place& place : places_of(group_.list, x.of, x.matrix.offset, x.stride, x.bytes)) {
      const auto other = results.find(place, [&](const Place& result, const Place& operand) {
        const bool is_own_d = x.alias == Argument::d_alias && result.product == operand.product &&
                              same_matrix(operand.operand, result.operand);
        return !is_own_d && (x.bytes != c_bytes || overlap(operand.operand, result.operand));
      });
      if (!other) continue;
      return {x.alias, joined({"C of product ", *other, " and ", x.as.name, " of product ", place.product,
                               " share elements of one buffer, or lie between each other"})};
    }
  }
  return {};
}

// That the counts are there, and not in C.
Status PreparedGroup::check_counts(const Matrix& c, const Matrix& counts) const {
  const Problem& p = group_.list[0];
  const Status there = check_buffer(kCounts, counts, context_, p.batch, sizeof(cl_int));
  if (!there || counts.buffer != c.buffer || is_empty(p)) return there;
  const std::size_t bytes = bytes_of(element_c(p.precision)), begin = counts.offset * sizeof(cl_int);
  const bool meet =
      begin < (c.offset + operand_c(p).extent()) * bytes && c.offset * bytes < begin + p.batch * sizeof(cl_int);
  return meet ? Status(Argument::counts, "the counts lie in C") : Status();
}

Status PreparedGroup::enqueue_each(cl_command_queue queue, const Scalars& scalars, const Matrix& a, const Matrix& b,
                                   const Matrix& c, const GroupBuffers& more, const Events& events) {
  cl_command_queue_properties properties = 0;
  const cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  if (error != CL_SUCCESS) return opencl_status("clGetCommandQueueInfo", error);
  const bool in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  const Quantization& q = group_.list[0].quantization;
  std::vector<cl::Event> done;
  for (std::size_t i = 0; i < group_.list.size(); ++i) {
    const Problem& p = group_.list[i];
    if (is_empty(p)) continue;
    const BatchOffsets at = start_of(p);
    EpilogueBuffers own = more;
    own.d.offset += at.c;
    own.bias.offset += i * p.epilogue.bias_stride;
    own.row_scales.offset += i * q.row_scale_stride;
    own.column_scales.offset += i * q.column_scale_stride;
    cl_event event = nullptr;
    const Status status = handles_[handle_of_[i]]->enqueue(
        queue, ScalarList(scalars), {a.buffer, a.offset + at.a}, {b.buffer, b.offset + at.b},
        {c.buffer, c.offset + at.c}, own,
        {events.wait_count, events.wait_list, events.event && !in_order ? &event : nullptr});
    if (!status) return status.within(joined({"product ", i}));
    if (event) done.emplace_back(event);
  }
  if (!events.event) return {};
  std::vector<cl_event> waits(events.wait_list, events.wait_list + events.wait_count);
  for (const cl::Event& event : done) waits.push_back(event());
  return opencl_status("clEnqueueMarkerWithWaitList",
                       clEnqueueMarkerWithWaitList(queue, static_cast<cl_uint>(waits.size()),
                                                   waits.empty() ? nullptr : waits.data(), events.event));
}

Status PreparedGroup::enqueue(cl_command_queue queue, const Scalars& scalars, Matrix a, Matrix b, Matrix c,
                              const GroupBuffers& more, const Events& events) {
  Status status = check_queue(queue, context_, device_);
  if (status) status = check_wait_list(events.wait_count, events.wait_list);
  if (status) status = group_.counted ? check_counts(c, more.counts) : check_operands(scalars, a, b, c, more);
  if (!status) return status;
  if (is_one_launch()) return handles_[0]->enqueue(queue, ScalarList(scalars), a, b, c, more, events, more.counts);
  return enqueue_each(queue, scalars, a, b, c, more, events);
}

Result<Handle> Library::State::make_group_handle(const GroupProducts& group, const std::string& variant_name) {
  const GroupProducts products = row_major_of(group);
  const Problem shared = group.counted ? products.list[0] : shared_by(products.list);
  Request request;
  request.problem = shared;
  request.named = true;
  for (std::size_t i = 0; i < setup.bundles.size(); ++i) {
    const std::optional<std::uint32_t> variant =
        variant_for(setup.bundles[i].bundle, products, variant_name, limits.units);
    if (variant) request.candidates.push_back({i, *variant});
  }
  if (request.candidates.empty()) {
    return {Code::no_variant,
            joined({"no bundle has ", variant_name.empty() ? "a variant" : variant_name, " for groups of ",
                    name(shared.precision), "; 'clbake build --group' bakes them"})};
  }
  const Result<Explanation> explained = policy.explain(request);
  if (!explained) return explained.status();
  const bool may_compile = group.counted || !variant_name.empty();
  if (!may_compile && explained->origin == Origin::source) return {Code::no_variant, "it would have to be compiled"};
  Result<Found> found = policy.find(request);
  if (!found) return found.status();
  const auto parts = parts_of(shared, group.list[0].layout);
  parts->found = std::move(*found);
  parts->group = products;
  return make(parts);
}

Result<std::unique_ptr<PreparedGroup>> Library::State::prepare_group(GroupProducts group, const std::string& variant) {
  auto made = exceptions_to_status([&]() -> Result<std::unique_ptr<PreparedGroup>> {
    const Status possible = PreparedGroup::check(group);
    if (!possible) return possible;
    Result<Handle> handle = make_group_handle(group, variant);
    if (!handle && (group.counted || !variant.empty())) return handle.status();
    auto prepared = std::make_unique<PreparedGroup>(std::move(group), setup.context, setup.device);
    if (handle) {
      prepared->set_one_launch(std::move(*handle));
      return prepared;
    }
    const Status each = prepared->add_each([this](const Problem& one) { return this->prepare(one, {}); });
    if (!each) return each;
    return prepared;
  });
  if (!made) policy.count_failure(made.status());
  return made;
}

Result<GemmGroup> Library::prepare_group(const std::vector<Problem>& products, const std::string& variant) const {
  Result<std::unique_ptr<PreparedGroup>> made = state_->prepare_group({products, false}, variant);
  if (!made) return made.status();
  return GemmGroup(std::move(*made));
}

Result<GemmGroup> Library::prepare_counted_group(const Problem& problem, const std::string& variant) const {
  Problem counted = problem;  // without the strides that a counted group does not have
  counted.a_stride = counted.c_stride = counted.epilogue.d_stride = 0;
  if (counted.epilogue.bias == Bias::per_row) counted.epilogue.bias_stride = 0;
  Result<std::unique_ptr<PreparedGroup>> made = state_->prepare_group({{counted}, true}, variant);
  if (!made) return made.status();
  return GemmGroup(std::move(*made));
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
