#include <clbake/kernels/space.hpp>

#include <algorithm>
#include <iterator>

namespace clbake::kernels {

namespace {

using Values = std::vector<std::uint32_t>;

// ---- The values ----

template <typename Choice>
Values values(std::initializer_list<Choice> choices) {
  Values all;
  for (const Choice choice : choices) all.push_back(static_cast<std::uint32_t>(choice));
  return all;
}

const Values kVectorWidths = {1, 2, 4, 8, 16};
const Values kUnrolling = {1, 2, 4, 8, 16, 32};
const Values kSplits = {1, 2, 3, 4, 6, 8, 16, 32};
const Values kSplitsAndTail = {0, 1, 2, 3, 4, 6, 8, 16, 32};
const Values kSwitch = {0, 1};
const Values kAllLayouts =
    values({Layout::row_major, Layout::padded, Layout::column_block, Layout::row_block, Layout::image});
const Values kBufferLayouts = values({Layout::row_major, Layout::padded, Layout::column_block, Layout::row_block});
const Values kRowLayouts = values({Layout::row_major, Layout::padded});
const Values kWarpgroupLayouts = values({Layout::row_major, Layout::padded, Layout::k_major});
const Values kBlocks = {4, 8, 12, 16, 24, 32, 48, 56, 60, 64, 96, 120, 128, 192, 256};  // of a GPU's work-group
const Values kItems = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16};  // rows or columns of a work-item

// A multiple of every product of two parameters that is asked to divide, at the upper end of what is in range.
constexpr std::uint32_t divisible_depth = 26880;  // 2^8 * 3 * 5 * 7

const Parameter& parameter(std::string_view name) {
  const auto& all = parameters();
  return *std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
}

using NamedValues = std::vector<std::pair<std::string_view, Values>>;

// The family's axes after those that all families begin with, in an order in which each can be eased with those before
// it.
Space space_of(Family family, const NamedValues& further) {
  NamedValues all = {{"split_k", cuts_tail(family) ? kSplitsAndTail : kSplits}, {"vector_width", kVectorWidths}};
  all.insert(all.end(), further.begin(), further.end());
  Space space{family, {}};
  const Params standard;
  for (const auto& [name, values] : all) {
    const Parameter& axis = parameter(name);
    const bool has_standard = std::find(values.begin(), values.end(), axis.get(standard)) != values.end();
    const bool divides = name == "kl" && !shares_k(family);
    space.axes.push_back({axis, values,
                          divides        ? divisible_depth
                          : has_standard ? axis.get(standard)
                                         : values.front()});
  }
  return space;
}

const Values kDirectBlocks = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 48, 56, 60, 64, 96, 120, 128, 256};

// In the order of all_families.
const Space kSpaces[] = {
    space_of(Family::direct, {{"ns", kVectorWidths},
                              {"nl", kDirectBlocks},
                              {"ms", {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}},
                              {"ml", kDirectBlocks},
                              {"kl", {1, 2, 4, 8, 16, 32, 64}},
                              {"ks", kUnrolling}}),
    space_of(Family::register_tile, {{"ns", {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128}},
                                     {"nl", {4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512}},
                                     {"ms", {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 16}},
                                     {"ml", {1,  2,  4,  6,  8,   12,  14,  16,  24,  28,  30,  32,  48,  56,
                                             60, 64, 84, 96, 120, 126, 128, 252, 256, 258, 504, 510, 512, 516}},
                                     {"kl", {16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}},
                                     {"ks", kUnrolling},
                                     {"dots", kSwitch},
                                     {"lines", kSwitch}}),
    space_of(Family::local_tile, {{"ns", kItems},
                                  {"nl", kBlocks},
                                  {"ms", kItems},
                                  {"ml", kBlocks},
                                  {"kl", {4, 8, 12, 16, 24, 32, 48, 64}},
                                  {"ks", kUnrolling},
                                  {"layout_a", kBufferLayouts},
                                  {"layout_b", kBufferLayouts},
                                  {"load_width", {1, 2, 4, 8}},
                                  {"map", values({Map::blocked, Map::cyclic, Map::zigzag, Map::mma})},
                                  {"buffers", {1, 2, 3, 4}},
                                  {"padding", {0, 1, 2, 4, 8}},
                                  {"prefetch", kSwitch},
                                  {"fragments", {1, 2}},
                                  {"shares", {1, 2, 4}},
                                  {"exchange", kSwitch}}),
    space_of(Family::thin_tile, {{"ns", {2, 4, 8}},
                                 {"nl", {8, 16, 32, 64}},
                                 {"ms", {2, 4, 8}},
                                 {"ml", {8, 16, 32, 64}},
                                 {"kl", {1, 2, 4, 8, 16}},
                                 {"ks", {1, 2, 4, 8}}}),
    space_of(Family::warp_tile, {{"ns", {4, 8, 16}},
                                 {"nl", {16, 32, 64, 128, 256}},
                                 {"ms", {2, 4, 8, 16}},
                                 {"ml", {16, 32, 64, 128, 256}},
                                 {"kl", {16, 32}},
                                 {"ks", {4, 8}},
                                 {"layout_a", kRowLayouts},
                                 {"layout_b", kRowLayouts},
                                 {"map", values({Map::mma8, Map::mma})},  // the first is what more devices have
                                 {"buffers", {2, 3, 4, 5, 6}},
                                 {"fragments", {1, 2}},
                                 {"shares", {1, 2, 4}}}),
    space_of(Family::warpgroup_tile, {{"ns", {8, 16, 32, 40, 48, 56, 64}},
                                      {"nl", {32, 64, 128, 160, 192, 224, 256}},
                                      {"ms", {2}},
                                      {"ml", {16, 32, 64, 128, 192, 256}},
                                      {"kl", {64, 128, 256}},
                                      {"ks", {1}},
                                      {"layout_a", kWarpgroupLayouts},
                                      {"layout_b", kWarpgroupLayouts},
                                      {"buffers", {3, 4, 5, 6, 8}},
                                      {"tensor_copies", kSwitch},
                                      {"shares", {1, 2, 3}}}),
    space_of(Family::stripe, {{"ns", kItems},
                              {"nl", kBlocks},
                              {"ms", kItems},
                              {"ml", kBlocks},
                              {"kl", {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256}},
                              {"ks", kUnrolling},
                              {"layout_a", kAllLayouts},
                              {"layout_b", kAllLayouts},
                              {"local_a", kSwitch},
                              {"local_b", kSwitch}}),
    space_of(Family::weight_tile, {{"ns", {4, 8, 16, 32, 64}},
                                   {"nl", {16, 32, 64, 128}},
                                   {"ms", {1, 2, 4, 8, 16}},
                                   {"ml", {1, 2, 4, 8, 16, 32, 64, 128}},
                                   {"kl", {1, 2, 4, 8, 16, 32, 64, 128}},
                                   {"ks", {128, 256, 512, 1024, 2048, 4096}},
                                   {"map", values({Map::cyclic, Map::mma})}})};
static_assert(std::size(kSpaces) == std::size(all_families), "a space for each family");

}  // namespace

void Axis::ease(Params& p) const {
  const std::string_view name = parameter.name;
  parameter.set(p, name == "ns" || name == "ms" ? p.vector_width : name == "nl" ? p.ns : name == "ml" ? p.ms : easiest);
}

const Space& space(Family family) { return kSpaces[static_cast<std::size_t>(family)]; }

}  // namespace clbake::kernels
