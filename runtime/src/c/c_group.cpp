// The C API of groups.
#include "c/c_api.hpp"

using namespace clbake::c;

struct clbake_group {
  clbake::GemmGroup group;
};

clbake_code clbake_group_prepare(clbake_library* library, const clbake_problem* products, std::size_t count,
                                 const char* variant, clbake_group** group, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    clbake_group** const to = output(group, "group");
    return hand_over(from.prepare_group(problems_of(products, count, "products"), variant ? variant : ""), to);
  });
}

clbake_code clbake_group_prepare_counted(clbake_library* library, const clbake_problem* problem, const char* variant,
                                         clbake_group** group, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    clbake_group** const to = output(group, "group");
    return hand_over(from.prepare_counted_group(problem_of(problem), variant ? variant : ""), to);
  });
}

void clbake_group_release(clbake_group* group) { delete group; }

int clbake_group_is_one_launch(const clbake_group* group) { return group && group->group.is_one_launch() ? 1 : 0; }

clbake_code clbake_group_explanation(const clbake_group* group, clbake_explanation* explanation, clbake_error* error) {
  return run(error, [&] {
    const clbake::GemmGroup& from = given(group, "group", clbake::Argument::group)->group;
    return copy_explanation(from.explanation(), sized_output(explanation, "explanation"));
  });
}

clbake_code clbake_group_enqueue(clbake_group* group, cl_command_queue queue, const clbake_scalars* scalars, cl_mem a,
                                 std::size_t a_offset, cl_mem b, std::size_t b_offset, cl_mem c, std::size_t c_offset,
                                 const clbake_epilogue_buffers* more, cl_mem counts, std::size_t counts_offset,
                                 cl_uint wait_count, const cl_event* wait_list, cl_event* event, clbake_error* error) {
  return run(error, [&] {
    clbake::GemmGroup& by = given(group, "group", clbake::Argument::group)->group;
    const clbake::Scalars s = scalars_of(*given(scalars, "scalars", clbake::Argument::scalars));
    return by.enqueue(queue, s.alpha, {a, a_offset}, {b, b_offset}, s.beta, {c, c_offset},
                      {buffers_of(more), {counts, counts_offset}}, wait_count, wait_list, event);
  });
}
