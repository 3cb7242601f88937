// A library that computes on the host, with matrices of the host's.
#pragma once

#include "bench/peers/peers.hpp"

namespace clbake::tool {

class HostPeer : public Peer {
 public:
  void attach(const builder::Session* /*session*/) override {}

  bool set(const Problem& problem) override {
    problem_ = problem;
    const Extents e = extents(problem);
    a_ = random_matrix(element_a(problem.precision), e.a);
    b_ = random_matrix(element_b(problem.precision), e.b);
    c_ = random_matrix(element_c(problem.precision), e.c);
    return true;
  }

  std::vector<unsigned char> result() const override { return c_; }

 protected:
  Problem problem_;
  std::vector<unsigned char> a_, b_, c_;
};

}  // namespace clbake::tool
