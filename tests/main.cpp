#define BOOST_TEST_MODULE clbake
#include <boost/test/unit_test.hpp>
