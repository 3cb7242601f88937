#include <clbake/kernels/defaults.hpp>
#include <clbake/kernels/presets.hpp>
#include <clbake/kernels/space.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

BOOST_AUTO_TEST_CASE(EveryParameterOfAFamilyIsAnAxisOnce) {
  for (const Family family : all_families) {
    std::set<std::string_view> expected;
    for (const Parameter& parameter : parameters()) {
      if (parameter.of(family) && !parameter.macro.empty()) expected.insert(parameter.name);  // of the kernels
    }
    std::set<std::string_view> names;
    for (const Axis& axis : space(family).axes) {
      names.insert(axis.parameter.name);
      BOOST_TEST((std::set<std::uint32_t>(axis.values.begin(), axis.values.end()).size() == axis.values.size()));
      BOOST_TEST(!axis.values.empty());
    }
    BOOST_TEST((names == expected), name(family));
    BOOST_TEST(space(family).axes.size() == expected.size());
  }
}

static void check_on_axes(const Params& p) {
  for (const Parameter& parameter : parameters()) {
    if (!parameter.of(p.family)) BOOST_TEST(parameter.get(p) == parameter.get({}), name(p) << ": " << parameter.name);
  }
  for (const Axis& axis : space(p.family).axes) {
    const auto& values = axis.values;
    BOOST_TEST((std::find(values.begin(), values.end(), axis.parameter.get(p)) != values.end()),
               name(p) << ": " << axis.parameter.name);
  }
}

BOOST_AUTO_TEST_CASE(DefaultsAndPresetsArePointsOfTheSpace) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      for (const std::uint32_t bytes : {16U, 32U, 64U}) {
        for (const Params& p : default_variants(kind, precision, bytes)) check_on_axes(p);
        for (const Params& p : specialists(kind, precision, bytes)) check_on_axes(p);
      }
    }
  }
  for (const Preset& preset : presets()) check_on_axes(preset.params);
}
