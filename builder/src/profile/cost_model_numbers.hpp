// The fitted numbers of a cost model as a PROFILE.json names them.
#pragma once

#include <clbake/cache/model.hpp>

#include <utility>

namespace clbake::builder {

constexpr std::pair<const char*, float cache::CostModel::*> cost_model_numbers[] = {
    {"call_us", &cache::CostModel::call_us},
    {"wave_us", &cache::CostModel::wave_us},
    {"latency_us", &cache::CostModel::latency_us},
    {"step_us", &cache::CostModel::step_us},
    {"a_us", &cache::CostModel::a_us},
    {"b_us", &cache::CostModel::b_us},
    {"c_us", &cache::CostModel::c_us},
    {"error", &cache::CostModel::error},
    {"margin", &cache::CostModel::margin}};

}  // namespace clbake::builder
