// A driver that kills the process. Needs fork.
#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <filesystem>

using namespace clbake;
using namespace clbake::test;

// Whatever a process had done when the driver killed it, at every third call: the next one, with the same overlay,
// serves every problem.
BOOST_AUTO_TEST_CASE(AnyCallMayKillTheProcess) {
  bundle_bytes();
  const tests::TemporaryDirectory temporary;
  const std::string directory = temporary.file("overlay");
  // Runs all cases in a process of its own; true if it ended well.
  const auto run = [&](std::size_t killed_at) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Scene scene;
      Options options;
      options.overlay = *open_overlay({directory, OverlayMode::read_write});
      std::atomic<std::size_t> calls{0};
      fake::set_hook([&](fake::Function) {
        if (calls++ == killed_at) ::raise(SIGKILL);
      });
      const Result<Library> library = open_library(scene, options);
      bool good = library.ok();
      for (const Case which : kWithComplex) {
        const Operands operands(scene, problem_of(which));
        Result<Gemm> gemm = prepare(*library, problem_of(which));
        good = good && gemm && enqueue(*gemm, scene.queue, operands) && operands.error(scene.queue) < kTolerance;
      }
      library->finish();
      ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST((WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0),
               "killed at call " << killed_at);
    return WIFEXITED(status);
  };
  std::size_t kills = 0;
  for (std::size_t at = 0; !run(at); at += 3, ++kills) {
    if (kills % 8 != 7) continue;  // goes on with what is there
    BOOST_TEST(run(fake::kEvery));
    std::filesystem::remove_all(directory);
  }
  BOOST_TEST(kills > 50U);
}
