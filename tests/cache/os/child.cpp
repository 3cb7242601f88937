// A child process of the tests: os_child VERB ARGUMENTS.
#include <clbake/os/environment.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/line_channel.hpp>
#include <clbake/os/lock.hpp>
#include <clbake/os/messages.hpp>
#include <clbake/os/program.hpp>
#include <clbake/os/usage.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

namespace clbake::tests {
namespace {

using Arguments = std::vector<std::string>;

constexpr auto kMoment = std::chrono::milliseconds(5);

[[noreturn]] void sleep_on() {
  while (true) std::this_thread::sleep_for(kMoment);
}

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(kMoment);
}

bool is_locked(const std::string& path) {
  const Result<os::LockFile> lock = os::LockFile::open(path);
  const Result<bool> taken = lock ? lock->try_lock(0) : lock.status();
  return taken && !*taken;
}

int print(const Arguments& arguments) {
  for (const std::string& argument : arguments) std::printf("<%s>\n", argument.c_str());
  return 0;
}

int variable(const Arguments& arguments) {
  std::printf("%s", os::variable(arguments[0]).value_or("not set").c_str());
  return 0;
}

// As long as it lives others cannot lock the file.
int hold(const Arguments& arguments) {
  os::end_with_parent();
  const Result<os::LockFile> lock = os::LockFile::open(arguments[0]);
  if (!lock || !lock->lock(0)) return 1;
  sleep_on();
}

// Starts another child, which holds the file; then does what the second word says.
int start(const Arguments& arguments) {
  const Result<os::Child> child = os::Child::start(
      {{os::variable("OS_CHILD").value_or(""), "hold", arguments[0]}, os::variables(), arguments[0] + ".log"});
  if (!child) return 1;
  wait_until([&] { return is_locked(arguments[0]); });
  if (arguments[1] == "die") std::abort();
  if (arguments[1] == "end") std::_Exit(0);
  sleep_on();
}

int converse(const Arguments& arguments) {
  os::ParentChannel parent;
  while (const std::optional<std::string> line = parent.receive()) {
    if (*line == "end") return std::stoi(arguments[0]);
    parent.send("heard " + *line);
  }
  return 9;  // the parent has closed its end
}

int flood(const Arguments& arguments) {
  const std::string block(1000, 'x');
  for (int i = std::stoi(arguments[0]); i > 0; --i) std::printf("%s", block.c_str());
  return 0;
}

int spin(const Arguments&) {
  const auto start = os::processor_time();
  while (os::processor_time() - start < std::chrono::milliseconds(200)) {
  }
  sleep_on();
}

int become(const Arguments& arguments) {
  Arguments command = {os::variable("OS_CHILD").value_or("")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return os::become(command, os::variables()) ? 1 : 2;
}

int crash(const Arguments&) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): not null, which compilers and analysers see
  volatile int* const nowhere = reinterpret_cast<int*>(std::strtoull("8", nullptr, 10));
  return *nowhere;
}

int directory(const Arguments&) {
  std::FILE* const file = std::fopen("here", "w");
  return file && std::fclose(file) == 0 ? 0 : 1;
}

// Notes in a file what it gets: sizes and first letters. Ends after as many messages as the second word says.
int receive(const Arguments& arguments) {
  if (!os::is_message_channel()) return os::write_file(arguments[0], "no channel") ? 0 : 1;
  std::string noted;
  int left = std::stoi(arguments[1]);
  while (left > 0) {
    const os::Received got = os::receive_message(1000, 10 << 20);
    if (got.event == os::Received::Event::end) break;
    if (got.event == os::Received::Event::silence) continue;
    noted += got.status ? std::to_string(got.message.size()) + got.message.substr(0, 1) : got.status.message();
    noted += "\n";
    --left;
  }
  return os::write_file(arguments[0], noted + (left > 0 ? "end" : "enough")) ? 0 : 1;
}

// Replaces the file, which it maps, until it is killed: one letter many times.
int write(const Arguments& arguments) {
  os::end_with_parent();
  for (std::size_t i = 0;; ++i) {
    const std::string text(20000 + i % 7 * 1000, static_cast<char>('a' + i % 26));
    const Result<os::Mapping> old = os::map_file(arguments[0]);
    if (!os::write_file(arguments[0], text)) return 1;
  }
}

int status(const Arguments& arguments) { return std::stoi(arguments[0]); }

int run(const Arguments& all) {
  const std::map<std::string, int (*)(const Arguments&)> verbs = {
      {"become", become}, {"converse", converse}, {"crash", crash},     {"directory", directory}, {"flood", flood},
      {"hold", hold},     {"print", print},       {"receive", receive}, {"spin", spin},           {"start", start},
      {"status", status}, {"variable", variable}, {"write", write}};
  return verbs.at(all.at(0))({all.begin() + 1, all.end()});
}

}  // namespace
}  // namespace clbake::tests

int main(int count, char** values) { return clbake::tests::run(clbake::os::begin_program(count, values)); }
