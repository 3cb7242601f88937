#include "c/c_api.hpp"
