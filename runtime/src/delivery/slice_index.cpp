#include <clbake/delivery/slice_index.hpp>

#include <clbake/cache/slices.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/choice.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/os/files.hpp>
#include <clbake/program_text.hpp>
#include <clbake/trust.hpp>

#include "opencl/cl.hpp"
#include "select/tiers.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace clbake {
namespace {

using cache::Slice;
using cache::slice_name;

// Part of a question: a kind of problem, or a program.
struct Item {
  std::uint32_t kind = 0;             // a bit of Slice::kinds
  std::vector<std::size_t> programs;  // with kOwnPrograms: indices of the index' programs, any of which will do
  std::string name;                   // for people
};

// A slice's worth for a device: less is better.
struct Worth {
  Origin origin = Origin::source;
  int rank = 0;  // of equal origins
  std::string driver;

  bool operator<(const Worth& other) const {
    if (origin != other.origin) return origin < other.origin;
    return rank != other.rank ? rank < other.rank : older(other.driver, driver);
  }
};

// The ways in which slices of one target can serve the device.
struct Fit {
  bool exact = false, same_driver = false, newer_driver = false, portable = false, by_type = false;
  std::string driver;
};

Fit fit_of(const Target& target, const SliceQuery& query, bool exact) {
  Fit fit;
  fit.exact = exact;
  fit.by_type = target == cache::any_device(query.is_cpu);
  fit.same_driver = serves(Tier::same_driver, target, query.device);
  fit.newer_driver = query.newer_driver && serves(Tier::newer_driver, target, query.device);
  fit.portable = fit.exact || serves(Tier::portable, target, query.device);
  fit.driver = target.driver_version;
  return fit;
}

// For a device and a program of these forms; nothing when it does not serve. `fit`: null for a slice without a target.
std::optional<Worth> worth_of(std::uint32_t forms, const Fit* fit) {
  if (forms == 0) return std::nullopt;
  if (!fit) return Worth{Origin::source, 2, {}};
  const bool native = (forms & cache::kNativeForm) != 0;
  if (fit->exact && native) return Worth{Origin::native, 0, {}};
  if (fit->same_driver && native) return Worth{Origin::native, 1, fit->driver};
  if (fit->newer_driver && (forms & cache::kNewerDriverForm) != 0) return Worth{Origin::native, 2, fit->driver};
  if (fit->portable && (forms & cache::kPortableForm) != 0) {
    return Worth{Origin::portable, fit->exact ? 0 : 1, fit->driver};
  }
  if (fit->exact) return Worth{Origin::source, 0, {}};
  if (fit->by_type) return Worth{Origin::source, 1, {}};
  return std::nullopt;
}

// The digits of content_name() as the content's first bytes; nothing for another name.
std::optional<std::uint64_t> content_in(const std::string& name) {
  const std::size_t begin = std::strlen(kContentPrefix);
  if (name.compare(0, begin, kContentPrefix) != 0 || name.size() != begin + 64) return std::nullopt;
  std::uint64_t content = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    std::uint8_t byte = 0;
    const char* const digits = &name[begin + 2 * i];
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    content |= std::uint64_t{byte} << (8 * i);
  }
  return content;
}

// The kinds that a problem needs: of a complex one those of its real product and of the kernels beside it.
void add_items(const Problem& problem, std::vector<Item>& items) {
  const Problem row = row_major(problem);
  const GemmKind kind = real_product(row).kind();
  const char* const text = kind.trans_a ? (kind.trans_b ? " tt" : " tn") : (kind.trans_b ? " nt" : " nn");
  items.push_back(
      {is_mixed(kind.precision) ? cache::kMixed : 1U << index_of(kind), {}, joined({name(kind.precision), text})});
  if (!is_complex(row.precision)) return;
  const bool is_single = row.precision == Precision::complex_single;
  items.push_back({is_single ? cache::kComplexSingle : cache::kComplexDouble, {}, name(row.precision)});
}

// 0 when the slice does not serve the item.
std::uint32_t forms_of(const cache::SliceTable& table, const Slice& slice, const Item& item) {
  if ((slice.kinds & item.kind) == 0) return 0;
  std::uint32_t forms = 0;
  for (const std::size_t program : item.programs) forms |= table.forms(slice, program);
  if (item.kind == cache::kOwnPrograms) return forms;
  const bool is_product = item.kind < cache::kComplexSingle || item.kind == cache::kMixed;
  if (slice.target == cache::kNoTarget && is_product) return 0;  // no profile names them
  return table.forms_of_kind(slice, item.kind);
}

std::vector<NeededSlice>::iterator find(const std::string& name, std::vector<NeededSlice>& in) {
  return std::find_if(in.begin(), in.end(), [&](const NeededSlice& slice) { return slice.name == name; });
}

void add_once(const NeededSlice& slice, std::vector<NeededSlice>& to) {
  const auto known = find(slice.name, to);
  if (known == to.end())
    to.push_back(slice);
  else
    known->origin = std::max(known->origin, slice.origin);
}

}  // namespace

struct SliceIndex::State {
  Bundle index;
  cache::SliceTable table;
  std::shared_ptr<const Trust> trust;

  std::vector<std::size_t> programs(const std::string& name) const {
    const std::optional<std::uint64_t> content = content_in(name);
    const std::uint64_t hash = cache::xxh64(reinterpret_cast<const std::uint8_t*>(name.data()), name.size(), 0);
    std::vector<std::size_t> found;  // two names may have one content
    for (std::size_t p = 0; p < table.programs.size(); ++p) {
      const cache::ProgramKey& key = table.programs[p];
      if (content ? key.content == *content : key.name == hash) found.push_back(p);
    }
    return found;
  }

  Result<std::vector<Item>> items(const SliceQuery& query) const {
    std::vector<Item> items;
    for (const Problem& problem : query.problems) {
      const Status possible = check(problem);
      if (!possible) return possible;
      add_items(problem, items);
    }
    for (const std::string& name : query.programs) items.push_back({cache::kOwnPrograms, programs(name), name});
    return items;
  }

  Result<const Slice*> find(const std::string& name) const {
    for (const Slice& slice : table.slices) {
      if (slice_name(slice.digest) == name) return &slice;
    }
    return {Argument::other, "the index of release " + std::to_string(table.release) + " names no slice " + name};
  }

  Result<Bundle> checked(const Result<Bundle>& bundle, const Slice& slice) const {
    if (!bundle) return bundle;
    return bundle->of_digest(slice.digest, trust);
  }

  static Result<SliceIndex> made_of(Result<Bundle> bundle, const IndexOptions& options) {
    if (bundle && options.trust) bundle = options.trust->admit(*bundle);
    if (!bundle) return bundle.status();
    Result<cache::SliceTable> table = bundle->slices();
    if (!table) return table.status();
    if (table->release < options.minimum_release) {
      return {Code::not_trusted,
              joined({"the index is of release ", table->release, ", older than ", options.minimum_release})};
    }
    return SliceIndex(std::make_shared<const State>(State{std::move(*bundle), std::move(*table), options.trust}));
  }
};

Result<SliceIndex> SliceIndex::open(const std::string& path, const IndexOptions& options) {
  return exceptions_to_status([&]() -> Result<SliceIndex> {
    const Result<os::Mapping> file = os::map_file(path);
    if (!file) return file.status();
    const cache::ByteView bytes{file->data, file->size};
    Result<Bundle> bundle = Bundle::from_memory(bytes, file->owner);
    // Copied, so that the application may write the next release's index in its place.
    if (bundle && bundle->is_index()) bundle = Bundle::copy_of(bytes);
    Result<SliceIndex> index = State::made_of(std::move(bundle), options);
    return index ? std::move(index) : index.status().within(path);
  });
}

Result<SliceIndex> SliceIndex::copy_of(cache::ByteView bytes, const IndexOptions& options) {
  return exceptions_to_status([&] { return State::made_of(Bundle::copy_of(bytes), options); });
}

std::uint64_t SliceIndex::release() const { return state_->table.release; }

Result<NeededSlices> SliceIndex::needed(const SliceQuery& query) const {
  return exceptions_to_status([&]() -> Result<NeededSlices> {
    const cache::SliceTable& table = state_->table;
    const Result<std::vector<Item>> items = state_->items(query);
    if (!items) return items.status();
    const Result<std::uint32_t> own = state_->index.find_target(query.device);
    std::vector<Fit> fit_of_target;
    for (std::uint32_t t = 0; t < state_->index.target_count(); ++t) {
      const Result<Target> target = state_->index.target(t);
      if (!target) return target.status();
      fit_of_target.push_back(fit_of(*target, query, own && *own == t));
    }
    NeededSlices needed;
    const auto shown = [](const std::pair<Worth, const Slice*>& of) {
      return NeededSlice{slice_name(of.second->digest), of.second->bytes, of.first.origin};
    };
    for (const Item& item : *items) {
      std::vector<std::pair<Worth, const Slice*>> serving;
      for (const Slice& slice : table.slices) {
        const Fit* const fit = slice.target == cache::kNoTarget ? nullptr : &fit_of_target[slice.target];
        std::optional<Worth> worth = worth_of(forms_of(table, slice, item), fit);
        if (worth) serving.emplace_back(std::move(*worth), &slice);
      }
      const auto better = [](const auto& a, const auto& b) { return a.first < b.first; };
      std::stable_sort(serving.begin(), serving.end(), better);
      const auto known = std::find(needed.unserved.begin(), needed.unserved.end(), item.name);
      if (serving.empty() && known == needed.unserved.end()) needed.unserved.push_back(item.name);
      if (serving.empty()) continue;
      add_once(shown(serving.front()), needed.slices);
      const auto other = std::find_if(serving.begin(), serving.end(),
                                      [&](const auto& of) { return of.first.origin != serving.front().first.origin; });
      if (other != serving.end()) add_once(shown(*other), needed.instead);
    }
    std::vector<NeededSlice>& instead = needed.instead;
    const auto is_fetched = [&](const NeededSlice& slice) {
      return find(slice.name, needed.slices) != needed.slices.end();
    };
    instead.erase(std::remove_if(instead.begin(), instead.end(), is_fetched), instead.end());
    return needed;
  });
}

Result<NeededSlices> SliceIndex::needed(cl_device_id device, const std::vector<Problem>& problems,
                                        const std::vector<std::string>& programs, bool newer_driver) const {
  return exceptions_to_status([&]() -> Result<NeededSlices> {
    Result<Target> target = identify(device);
    if (!target) return target.status();
    cl_device_type type = 0;
    const cl_int error = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
    if (error != CL_SUCCESS) return Status(Code::opencl, "clGetDeviceInfo failed", error);
    return needed({std::move(*target), (type & CL_DEVICE_TYPE_CPU) != 0, newer_driver, problems, programs});
  });
}

Result<Bundle> SliceIndex::open_slice(const std::string& name, const std::string& path) const {
  return exceptions_to_status([&]() -> Result<Bundle> {
    const Result<const Slice*> slice = state_->find(name);
    if (!slice) return slice.status();
    const Result<Bundle> opened = Bundle::open(path);
    if (!opened) return opened;  // the message has the path
    Result<Bundle> bundle = state_->checked(opened, **slice);
    return bundle ? std::move(bundle) : bundle.status().within(path);
  });
}

Result<Bundle> SliceIndex::copy_slice(const std::string& name, cache::ByteView bytes) const {
  return exceptions_to_status([&]() -> Result<Bundle> {
    const Result<const Slice*> slice = state_->find(name);
    if (!slice) return slice.status();
    return state_->checked(state_->trust ? Bundle::from_memory(bytes) : Bundle::copy_of(bytes), **slice);
  });
}

}  // namespace clbake
