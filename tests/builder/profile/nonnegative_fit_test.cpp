// Least squares: known coefficients are found again, and none is ever negative.
#include "profile/cost_fit.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

namespace clbake::builder::test {
using namespace profile;
namespace {

double product(const Features& coefficients, const Features& features) {
  double sum = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) sum += coefficients[i] * features[i];
  return sum;
}

// Random features, and the values that the coefficients give them.
std::vector<Observation> observations(const Features& coefficients, std::size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(0, 10);
  std::vector<Observation> list(count);
  for (Observation& o : list) {
    for (double& feature : o.features) feature = draw(random);
    o.value = product(coefficients, o.features);
  }
  return list;
}

double squared_error(const Features& coefficients, const std::vector<Observation>& list) {
  double sum = 0;
  for (const Observation& o : list) sum += o.weight * std::pow(product(coefficients, o.features) - o.value, 2);
  return sum;
}

void check_near(const Features& found, const Features& wanted) {
  for (std::size_t i = 0; i < kFeatures; ++i) BOOST_TEST(std::abs(found[i] - wanted[i]) < 1e-6, i << ": " << found[i]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(KnownCoefficientsAreFoundAgain) {
  for (const Features& known : {Features{1, 2, 3, 4, 5, 6, 7}, Features{0, 0, 3, 0, 1e-3, 0, 1e3}, Features{}}) {
    check_near(fit_nonnegative(observations(known, 50)), known);
  }
}

BOOST_AUTO_TEST_CASE(NoCoefficientIsNegative) {
  const Features truth = {1, -2, 3, -4, 5, 0.5, -0.1};
  const std::vector<Observation> list = observations(truth, 50);
  const Features found = fit_nonnegative(list);
  BOOST_TEST(*std::min_element(found.begin(), found.end()) == 0);
  // No step from there to other coefficients of at least 0 makes the error smaller.
  for (std::size_t i = 0; i < kFeatures; ++i) {
    for (const double step : {-1e-3, 1e-3}) {
      Features other = found;
      other[i] = std::max(0.0, other[i] + step);
      BOOST_TEST(squared_error(other, list) >= squared_error(found, list), i << " " << step);
    }
  }
}

BOOST_AUTO_TEST_CASE(FeaturesThatAre0OrThatOthersMakeUpDoNoHarm) {
  std::vector<Observation> list = observations({1, 2, 3, 4, 5, 6, 7}, 50);
  for (Observation& o : list) {
    o.features[2] = 0;
    o.features[5] = 2 * o.features[4];
    o.value = product({1, 2, 0, 4, 5, 1, 7}, o.features);
  }
  const Features found = fit_nonnegative(list);
  BOOST_TEST(found[2] == 0);
  BOOST_TEST((found[4] == 0 || found[5] == 0));
  BOOST_TEST(squared_error(found, list) < 1e-9);
}

// Times of nanoseconds and of hours, features of parts and of millions.
BOOST_AUTO_TEST_CASE(TheScaleOfAFeatureDoesNotMatter) {
  const Features scales = {1e-9, 1e9, 1, 1e-6, 1e6, 1e-3, 1e3};
  std::vector<Observation> list = observations({1, 2, 3, 4, 5, 6, 7}, 50);
  for (Observation& o : list) {
    for (std::size_t i = 0; i < kFeatures; ++i) o.features[i] *= scales[i];
  }
  Features found = fit_nonnegative(list);
  for (std::size_t i = 0; i < kFeatures; ++i) found[i] *= scales[i];
  check_near(found, {1, 2, 3, 4, 5, 6, 7});
}

BOOST_AUTO_TEST_CASE(ObservationsCountByTheirWeight) {
  std::vector<Observation> list(2);
  list[0].features[0] = list[1].features[0] = 1;
  list[0].value = 10;
  list[1].value = 20;
  BOOST_TEST(std::abs(fit_nonnegative(list)[0] - 15) < 1e-9);
  list[1].weight = 3;
  BOOST_TEST(std::abs(fit_nonnegative(list)[0] - 17.5) < 1e-9);
  list[1].weight = 0;
  BOOST_TEST(std::abs(fit_nonnegative(list)[0] - 10) < 1e-9);
}

}  // namespace clbake::builder::test
