// Products of different sizes in one call: one handle that computes all, or one for the products of each size.
#pragma once

#include "library_state.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace clbake {

class PreparedGroup {
 public:
  // The group is as the caller gave it. Fails with invalid_argument for products that are none.
  static Status check(const GroupProducts& group);

  // Then one of the two functions below is called.
  PreparedGroup(GroupProducts group, cl::Context context, cl::Device device)
      : group_(std::move(group)), context_(std::move(context)), device_(std::move(device)) {}
  void set_one_launch(Handle handle) { handles_.push_back(std::move(handle)); }
  Status add_each(const std::function<Result<Handle>(const Problem&)>& prepare);

  bool is_one_launch() const { return handle_of_.empty(); }
  // Null where nothing is launched.
  const Explanation* explanation() const { return handles_.empty() ? nullptr : &handles_[0]->explanation(); }

  Status enqueue(cl_command_queue queue, const Scalars& scalars, Matrix a, Matrix b, Matrix c, const GroupBuffers& more,
                 const Events& events);

 private:
  Status check_operands(const Scalars& scalars, const Matrix& a, const Matrix& b, const Matrix& c,
                        const GroupBuffers& more) const;
  Status check_counts(const Matrix& c, const Matrix& counts) const;
  Status enqueue_each(cl_command_queue queue, const Scalars& scalars, const Matrix& a, const Matrix& b, const Matrix& c,
                      const GroupBuffers& more, const Events& events);

  GroupProducts group_;
  cl::Context context_;
  cl::Device device_;
  std::vector<Handle> handles_;         // one for all products, or one for each size
  std::vector<std::size_t> handle_of_;  // of each product; empty: one handle computes all
};

}  // namespace clbake
