#include <clbake/os/usage.hpp>

#include <link.h>
#include <sys/resource.h>
#include <filesystem>
#include <fstream>

namespace clbake::os {
namespace {

namespace fs = std::filesystem;

::rusage usage_of(int who) {
  ::rusage usage{};
  ::getrusage(who, &usage);
  return usage;
}

std::chrono::microseconds used(const ::rusage& usage) {
  const auto us = [](const ::timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

}  // namespace

std::chrono::microseconds processor_time() { return used(usage_of(RUSAGE_SELF)) + used(usage_of(RUSAGE_CHILDREN)); }

// Page faults: each child has some.
std::int64_t ended_children() {
  const ::rusage ended = usage_of(RUSAGE_CHILDREN);
  return ended.ru_minflt + ended.ru_majflt;
}

// Those of every thread.
std::set<std::int64_t> running_children() {
  std::set<std::int64_t> children;
  std::error_code error;
  for (fs::directory_iterator task("/proc/self/task", error), end; !error && task != end; task.increment(error)) {
    std::ifstream list(task->path() / "children");
    for (std::int64_t child = 0; list >> child;) children.insert(child);
  }
  return children;
}

std::set<std::string> loaded_libraries() {
  std::set<std::string> paths;
  const auto add = [](dl_phdr_info* info, std::size_t, void* to) {
    static_cast<std::set<std::string>*>(to)->insert(info->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(add, &paths);
  paths.erase("");  // the program
  return paths;
}

}  // namespace clbake::os
