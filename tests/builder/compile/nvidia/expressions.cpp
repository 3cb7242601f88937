// Functions of numbers: each an expression of a, b and c.
#include "expressions.hpp"
#include "cases.hpp"

namespace clbake::tests {
namespace {

struct Expression {
  const char* text;
  double units;
};

// A kernel for each expression over numbers of `in`.
void add(NvidiaProgram& program, const std::string& in, const std::string& out, const Expression& expression,
         Input input, Output output) {
  NvidiaKernel kernel;
  kernel.name = "k" + std::to_string(program.kernels.size());
  kernel.input = input;
  kernel.output = output;
  kernel.units = expression.units;
  program.text += "kernel void " + kernel.name + "(global " + out + "* o, global const " + in + "* x, global const " +
                  in + "* y, global const " + in + "* z) {\n  const size_t i = get_global_id(0);\n  const " + in +
                  " a = x[i], b = y[i], c = z[i];\n  o[i] = " + expression.text + ";\n}\n";
  program.kernels.push_back(kernel);
}

const Expression kFloats[] = {{"a / b", 0},
                              {"a * b + c", 0},
                              {"sqrt(a)", 0},
                              {"1 / sqrt(a)", 2},
                              {"mad(a, b, c)", 0},
                              {"fma(a, b, c)", 0},
                              {"native_sin(a)", 0},
                              {"native_cos(a)", 0},
                              {"native_tan(a)", 0},
                              {"native_exp(a)", 0},
                              {"native_exp2(a)", 0},
                              {"native_exp10(a)", 0},
                              {"native_log(a)", 0},
                              {"native_log2(a)", 0},
                              {"native_log10(a)", 0},
                              {"native_sqrt(a)", 0},
                              {"native_rsqrt(a)", 0},
                              {"native_recip(a)", 0},
                              {"native_divide(a, b)", 0},
                              {"native_powr(a, b)", 0},
                              {"half_rsqrt(a)", 0},
                              {"half_sqrt(a)", 0},
                              {"half_recip(a)", 0},
                              {"half_exp2(a)", 0},
                              {"half_divide(a, b)", 2},
                              {"rsqrt(a)", 0},
                              {"exp2(a)", 0},
                              {"fmin(fmax(a, b), c)", 0},
                              {"fabs(a)", 0},
                              {"floor(a) + ceil(b) + trunc(c)", 0},
                              {"rint(a) + round(b)", 0},
                              {"copysign(a, b)", 0},
                              {"fmod(a, b)", 1},
                              {"isnan(a) + isinf(b) * 2 + signbit(c) * 4", 0},
                              {"isgreater(a, b) + islessequal(b, c) * 2", 0},
                              {"(float)ilogb(isnan(a) ? 1 : a)", 0},
                              {"ldexp(a, 3)", 0},
                              {"clamp(a, -1.0f, 1.0f)", 0},
                              {"sign(a)", 1},
                              {"step(a, b)", 0},
                              {"native_sin((float2)(a, b)).y", 0},
                              {"native_exp((float3)(a, b, c)).z", 0},
                              {"native_log((float4)(a, b, c, a)).w", 0},
                              {"native_divide((float8)(a), (float8)(b)).s5", 0},
                              {"native_powr((float16)(b), (float16)(a)).sf", 0},
                              {"a * 1.1", 0},
                              {"(float)(int)clamp(a, -1e9f, 1e9f)", 0}};

// Twice the error that OpenCL allows: ours and the driver's may lie on opposite sides.
const Expression kFunctions[] = {{"sin(a)", 8},           {"cos(a)", 8},
                                 {"tan(a)", 10},          {"exp(a)", 6},
                                 {"exp10(a)", 6},         {"log(a)", 6},
                                 {"log2(a)", 6},          {"log10(a)", 6},
                                 {"pow(fabs(a), b)", 32}, {"powr(fabs(a), b)", 32},
                                 {"pown(a, 3)", 32},      {"cbrt(a)", 4},
                                 {"hypot(a, b)", 8},      {"atan(a)", 10},
                                 {"atan2(a, b)", 12},     {"asin(a)", 8},
                                 {"acos(a)", 8},          {"sinh(a)", 8},
                                 {"cosh(a)", 8},          {"tanh(a)", 10},
                                 {"erf(a)", 32},          {"expm1(a)", 6},
                                 {"log1p(a)", 4},         {"half_exp(a)", 8192},
                                 {"half_log(a)", 8192},   {"half_sin(clamp(a, -10.0f, 10.0f))", 8192}};

const Expression kFast[] = {{"sin(a)", 0},        {"cos(a)", 0},
                            {"tan(a)", 0},        {"exp(a)", 0},
                            {"exp2(a)", 0},       {"exp10(a)", 0},
                            {"log(a)", 0},        {"log2(a)", 0},
                            {"log10(a)", 0},      {"a / b", 0},
                            {"sqrt(a)", 0},       {"a * b + c", 0},
                            {"native_exp(a)", 0}, {"native_divide(a, b)", 0}};

const Expression kIntegers[] = {{"a + b * c", 0},
                                {"add_sat(a, b)", 0},
                                {"sub_sat(a, b)", 0},
                                {"hadd(a, b)", 0},
                                {"rhadd(a, b)", 0},
                                {"mul_hi(a, b)", 0},
                                {"mad_hi(a, b, c)", 0},
                                {"mad_sat(a, b, c)", 0},
                                {"abs(a)", 0},
                                {"abs_diff(a, b)", 0},
                                {"popcount(a)", 0},
                                {"clz(a)", 0},
                                {"ctz(a)", 0},
                                {"rotate(a, b)", 0},
                                {"bitselect(a, b, c)", 0},
                                {"min(max(a, b), c)", 0},
                                {"clamp(a, min(b, c), max(b, c))", 0}};

const char* const kIntegerTypes[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"};

NvidiaProgram floats(const std::string& name, const std::string& options, const Expression* begin,
                     const Expression* end) {
  NvidiaProgram program{name, options, {}, {}, {}};
  const bool flushed = options == "-cl-denorms-are-zero" || options == "-cl-fast-relaxed-math";
  const Input input = flushed ? Input::normal_floats : Input::floats;
  for (; begin != end; ++begin) {
    add(program, "float", "float", *begin, input, Output::floats);
    program.kernels.back().flushed = flushed;
  }
  return program;
}

template <std::size_t N>
NvidiaProgram floats(const std::string& name, const std::string& options, const Expression (&expressions)[N]) {
  return floats(name, options, expressions, expressions + N);
}

NvidiaProgram integers() {
  NvidiaProgram program{"integers", {}, {}, {}, {}};
  for (const std::string type : kIntegerTypes) {
    for (const Expression& expression : kIntegers) add(program, type, type, expression, Input::bits, Output::bytes);
  }
  for (const char* text :
       {"mad24(a >> 8, b >> 8, c)", "mul24(a >> 8, b >> 8)", "select(a, b, (uint)c)",
        "shuffle((int4)(a, b, c, a), (uint4)(3, 1, 2, 0)).y",
        "shuffle2((int2)(a, b), (int2)(c, a), (uint4)(3, 1, 2, 0)).z", "as_int(as_uchar4(a).wzyx)"}) {
    add(program, "int", "int", {text, 0}, Input::bits, Output::bytes);
  }
  return program;
}

NvidiaProgram conversions() {
  NvidiaProgram program{"conversions", {}, {}, {}, {}};
  for (const std::string type : kIntegerTypes) {
    for (const char* how : {"_sat", "_sat_rte", "_sat_rtp", "_sat_rtn", "_sat_rtz"}) {
      const std::string text = "convert_" + type + how + "(isnan(a) ? 0 : a)";
      add(program, "float", type, {text.c_str(), 0}, Input::floats, Output::bytes);
    }
    for (const char* how : {"", "_rte", "_rtz", "_rtp", "_rtn"}) {
      const std::string text = std::string("convert_float") + how + "(a)";
      add(program, type, "float", {text.c_str(), 0}, Input::bits, Output::floats);
    }
    const std::string text = "convert_" + type + "_sat(a)";
    add(program, "long", type, {text.c_str(), 0}, Input::bits, Output::bytes);
    add(program, type, "double", {"convert_double(a)", 0}, Input::bits, Output::doubles);
  }
  return program;
}

NvidiaProgram doubles() {
  NvidiaProgram program{"doubles", {}, {}, {}, {}};
  for (const Expression& expression : {Expression{"a / b", 0},
                                       {"a * b + c", 0},
                                       {"sqrt(a)", 0},
                                       {"fma(a, b, c)", 0},
                                       {"exp(a)", 8},
                                       {"log(a)", 8},
                                       {"sin(clamp(a, -100.0, 100.0))", 64},
                                       {"pow(fabs(a), b)", 64},
                                       {"floor(a)", 0},
                                       {"fmin(a, b)", 0},
                                       {"rsqrt(a)", 8}}) {
    add(program, "double", "double", expression, Input::doubles, Output::doubles);
  }
  return program;
}

}  // namespace

std::vector<NvidiaProgram> expressions() {
  const std::string zero = "-cl-denorms-are-zero";
  return {floats("floats", "", kFloats),
          floats("floats_flushed", zero, kFloats),
          floats("floats_exact", "-cl-fp32-correctly-rounded-divide-sqrt", kFloats),
          floats("floats_single", "-cl-single-precision-constant -cl-mad-enable -w -Werror", kFloats),
          floats("functions", "", kFunctions),
          floats("fast", "-cl-fast-relaxed-math", kFast),
          integers(),
          conversions(),
          doubles()};
}

}  // namespace clbake::tests
