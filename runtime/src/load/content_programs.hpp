// The programs that a library was asked for by their content: each with the bundles that have it, and with what the
// application gave, to compile.
#pragma once

#include <clbake/program_text.hpp>

#include "load/policy.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace clbake {

// All members may be called by any number of threads at once.
class ContentPrograms {
 public:
  // All three must outlive it.
  ContentPrograms(const Setup& setup, Background& background, Tally& tally)
      : setup_(setup), background_(background), tally_(tally) {}

  // As Policy::find and Policy::explain, and like content_digest.
  Result<Found> find(const ProgramText& text);
  Result<Explanation> explain(const ProgramText& text);

 private:
  // One content: a library of its own, as it were.
  struct One {
    One(Setup its_setup, Request its_request, Background& background, Tally& tally)
        : setup(std::move(its_setup)), request(std::move(its_request)), policy(setup, background, tally) {}
    const Setup setup;
    const Request request;
    Policy policy;
  };

  Result<std::shared_ptr<One>> one_of(const ProgramText& text);
  Result<std::shared_ptr<One>> make(const ProgramText& text, const ContentDigest& content) const;

  const Setup& setup_;
  Background& background_;
  Tally& tally_;
  std::mutex mutex_;  // guards ones_
  std::map<ContentDigest, std::shared_ptr<One>> ones_;
};

}  // namespace clbake
