// A worker without a driver: `fake_worker worker compile JOB OUT`, `compile-offline JOB OUT`, `prove JOB OVERHEAD
// OUT`, `compile-learned JOB OUT`, `prove-learned JOB OUT` and `time JOB UNIT` do at once, and always with the same
// result, what clbake's worker does with a device or a compiler; or they fail in a wanted way. `fake_worker learn
// --overlay DIR [--log FILE]` is a learner with such workers.
//
// FAKE_WORKER_LOG        file that gets one line "VERB VARIANT" for each call, "order VARIANT|ORDER" for each order,
//                        "next VARIANT" for each further variant of a process, "serve" for one that serves many
// FAKE_WORKER_SIGNS      not empty: a compilation leaves files
// FAKE_WORKER_MISBEHAVE  "VERB:HOW:PART" for calls of that verb with PART in the variant's name; several with a comma.
//                        HOW@SHAPE of the verb time: at orders for a shape with SHAPE in its name
#include "system/self.hpp"
#include "tune/time_model.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/compile.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/appended_file.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/line_channel.hpp>
#include <clbake/os/lock.hpp>
#include <clbake/os/program.hpp>
#include <clbake/program_text.hpp>
#include "learn/functions.hpp"
#include "learn/inbox.hpp"
#include "learn/program_to_learn.hpp"
#include "prove/proofs.hpp"
#include "prove/signs.hpp"
#include "tune/timing/timing_order.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

namespace clbake::builder {
using namespace process;
namespace {

using namespace tune;

// Far longer than any timeout of the tests; ends even when nobody kills it.
constexpr std::chrono::seconds kHang{120};
constexpr std::size_t kProgramBytes = 20000;  // random, so that it does not shrink when stored

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::size_t calls_logged(const std::string& call) {
  std::ifstream log(environment("FAKE_WORKER_LOG"));
  std::size_t count = 0;
  for (std::string line; std::getline(log, line);) count += line == call ? 1 : 0;
  return count;
}

// In turns: wine may lose a line of two that are appended at once.
void log(const std::string& line) {
  const Result<os::LockFile> turn = os::LockFile::open(environment("FAKE_WORKER_LOG"));
  if (turn) static_cast<void>(turn->lock(0xFFFFFFFFU));  // a byte far behind the lines
  const Result<os::AppendedFile> file = os::AppendedFile::open(environment("FAKE_WORKER_LOG"));
  if (file) static_cast<void>(file->append(line + "\n"));
}

// How this call shall misbehave, or this order; empty: not at all.
std::string misbehaviour(const std::string& verb, const std::string& variant, const std::string& shape = {}) {
  std::istringstream list(environment("FAKE_WORKER_MISBEHAVE"));
  for (std::string item; std::getline(list, item, ',');) {
    const std::size_t how = item.find(':') + 1;
    const std::size_t part = item.find(':', how) + 1;
    if (item.substr(0, how - 1) != verb || variant.find(item.substr(part)) == std::string::npos) continue;
    const std::string wanted = item.substr(how, part - 1 - how);
    const std::size_t at = wanted.find('@');
    const bool of_order = at != std::string::npos;
    if (of_order != !shape.empty()) continue;
    if (!of_order || shape.find(wanted.substr(at + 1)) != std::string::npos) return wanted.substr(0, at);
  }
  return {};
}

cache::Bytes program_of(const Job& job) {
  const std::string text = job.target.device_name + job.target.driver_version + job.variant.name;
  std::seed_seq seed(text.begin(), text.end());
  std::mt19937 random(seed);
  cache::Bytes bytes(kProgramBytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

void compile(Job& job, const std::string& how) {
  cache::Entry entry;
  entry.form = how == "portable" ? cache::Form::portable : cache::Form::native;
  entry.program = program_of(job);
  entry.newer_driver = job.target.vendor == "NVIDIA Corporation";
  job.entries = {std::move(entry)};
  compile::sign(job.entries);
}

// The tools of the offline targets in tests.
void add_offline_tools(cache::Proof& proof) {
  for (const cache::Tool& tool : {cache::Tool{"clang", "15.0.6"}, {"libclc", ""}, {"ptxas", "12.4.99"}}) {
    proof.tools.push_back(tool);
  }
  proof.note = "not proven: compiled for another device";
}

void prove(Job& job, const std::string& how) {
  const std::size_t calls = calls_logged("prove " + job.variant.name);
  const bool noise = how == "noise-once" && calls == 1;
  cache::Entry& entry = job.entries.front();
  entry.proof.proven = how != "unproven";
  entry.proof.jit_free = how != "not-jit-free" && !noise && entry.form == cache::Form::native;
  if (entry.proof.proven) {
    entry.proof.device = job.target.device_name;
    entry.proof.driver = job.target.driver_version;
  }
  entry.proof.create_us = 10;
  entry.proof.build_us = 28;
  entry.proof.kernel_us = 2;
  entry.proof.first_us = entry.proof.jit_free ? 110 : 250000;
  entry.proof.steady_us = how == "varying" ? static_cast<float>(tests::own_id()) : 100.0F;
  entry.proof.max_error = 1e-7F;
  entry.proof.tolerance = 1e-6F;
  entry.proof.note = "proven by the fake worker";
  if (how == "varying") entry.proof.note += std::string(static_cast<std::size_t>(tests::own_id() / 4 % 64), '.');
}

// A program by content, with a function for each launch and those for every launch.
Job learned(const learn::Request& request) {
  Job job;
  job.target = request.target;
  job.source = {"program.cl", request.program};
  job.variant.name = content_name(request.digest);
  job.variant.family = "program";
  job.variant.precision = no_precision;
  job.variant.contract = 1;
  job.variant.content = request.digest;
  job.variant.launches = {{cache::Role::kernel, "f", {1, 1, 1}, 1, 1}};
  for (const learn::SeenLaunch& launch : request.launches) {
    if (launch.local[0] == 0) continue;
    job.variant.launches.push_back({cache::Role::kernel, launch.kernel, {launch.local[0], 1, 1}, 1, 1});
  }
  compile(job, {});
  const learn::Functions functions = learn::functions_of(request.launches);
  job.entries.front().proof.specialisations = {functions.begin(), functions.end()};
  job.entries.front().proof.specialisations.emplace_back("f 0-0-0");
  return job;
}

void prove_functions(Job& job, const std::string& how) {
  cache::Proof& proof = job.entries.front().proof;
  const auto is_general = [&](const std::string& function) {
    return function.find(" 0-0-0") != std::string::npos || how == "no-functions";
  };
  std::vector<std::string>& all = proof.specialisations;
  all.erase(std::remove_if(all.begin(), all.end(), is_general), all.end());
  proof.jit_free = how != "not-jit-free" && how != "slow";
  proof.note = how == "slow" ? std::string(learn::kSlowLoad) + "30 s" : "proven by the fake worker";
}

int fail(const std::string& line) {
  std::fprintf(stderr, "some noise of the driver\n%s\n", line.c_str());
  return 1;
}

Status leave(const std::string& how, const std::string& output, Job job, bool proofs = false) {
  if (how == "garbage") {
    const std::string text =
        "this is no job at all, though it is longer than the header of a bundle, which makes 128 bytes";
    return cache::write_file(output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  if (how == "other-variant") job.variant.name = "another-variant";
  if (how == "no-entry") job.entries.clear();
  return proofs ? prove::write_proofs(output, std::move(job)) : write_job(output, job);
}

int end(const Status& left) {
  if (left) return 0;
  fail(left.message());
  return left.code() == Code::io ? kWorkerIoExit : 1;
}

// Exit status; nothing when it does not misbehave in one of the ways that all verbs know.
std::optional<int> misbehave(const std::string& how) {
  if (how == "crash") tests::crash();
  if (how == "hang") std::this_thread::sleep_for(kHang);
  if (how == "message") return fail("the driver has lost its mind");
  if (how == "exit-7") return 7;
  if (how == "full-disk") return fail("no space left on device") * kWorkerIoExit;
  if (how == "wrong-result") return fail("wrong result at 5 x 3 x 129: error 0.5, tolerance 1e-06") * kWorkerWrongExit;
  if (how == "silent") return 0;
  return std::nullopt;
}

// A call that took too long is the last one.
std::string times_of(const TimingOrder& order, const kernels::Params& params) {
  const double us = test::modelled_us(params, order.shape);
  const std::uint32_t runs = order.limit_us > 0 && us > order.limit_us ? 1 : order.runs;
  std::ostringstream line;
  line.precision(17);
  line << "us";
  for (std::uint32_t i = 0; i < runs; ++i) line << ' ' << us;
  return line.str();
}

int time(std::string variant) {
  os::ParentChannel caller;
  if (misbehaviour("time", variant) == "garbage") caller.send("a driver's greeting");
  caller.send("ready");
  auto params = std::get<kernels::Params>(kernels::parse(variant));
  while (const std::optional<std::string> line = caller.receive()) {
    if (line->rfind(kNextJobPrefix, 0) == 0) {
      const Result<Job> job = read_job(line->substr(std::string(kNextJobPrefix).size()));
      if (!job) return fail(job.status().message());
      variant = job->variant.name;
      params = std::get<kernels::Params>(kernels::parse(variant));
      log("next " + variant);
      caller.send("ready");
      continue;
    }
    const std::optional<TimingOrder> order = parse_order(*line);
    if (!order) return fail("not an order: " + *line);
    log((order->runs == 0 ? "prepare " : "order ") + variant + '|' + *line);
    const std::string how = misbehaviour("time", variant, name(order->shape));
    if (const std::optional<int> status = misbehave(how)) return *status;
    if (how == "unable") {
      caller.send(to_line(std::vector<double>()));
    } else {
      caller.send(how == "garbage" ? "us 1 2 three" : times_of(*order, params));
    }
  }
  return 0;
}

int compile_learned(const std::string& input, const std::string& output) {
  std::ifstream file(input);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Result<learn::Request> request = clbake::learn::decode(bytes);
  if (!request) return fail(request.status().message());
  Job job = learned(*request);
  log("learner " + std::to_string(tests::parent_id()));
  log("compile-learned " + job.variant.name);
  const std::string how = misbehaviour("compile-learned", job.variant.name);
  if (const std::optional<int> status = misbehave(how)) return *status;
  if (how == "signs" && !prove::write_control(learn::control_beside(output), {true, {}, false, false})) return 1;
  return end(leave(how, output, std::move(job)));
}

int work(const std::string& verb, const std::string& input, const std::string& output) {
  if (verb == "compile-learned") return compile_learned(input, output);
  Result<Job> job = read_job(input);
  if (!job) return fail(job.status().message());
  if (job->variant.name == prove::overhead_job(job->target).variant.name) {
    if (verb == "control" && !environment("FAKE_WORKER_SIGNS").empty()) {
      return end(prove::write_control(output, {true, {}, false, false}));
    }
    compile(*job, {});
    return end(leave({}, output, std::move(*job)));
  }
  log(verb + " " + job->variant.name);

  const std::string how = misbehaviour(verb, job->variant.name);
  if (const std::optional<int> status = misbehave(how)) return *status;
  if (verb == "time") return time(job->variant.name);
  if (verb == "prove-learned") {
    prove_functions(*job, how);
  } else if (verb == "compile" || verb == "compile-offline") {
    compile(*job, how);
    if (verb == "compile-offline") add_offline_tools(job->entries.front().proof);
  } else {
    if (job->entries.empty()) return fail(input + ": nothing was compiled");
    prove(*job, how);
  }
  return end(leave(how, output, std::move(*job), verb == "prove"));
}

int serve() {
  log("serve");
  os::ParentChannel caller;
  while (const std::optional<std::string> line = caller.receive()) {
    std::vector<std::string> words;
    std::istringstream rest(*line);
    for (std::string word; std::getline(rest, word, '\t');) words.push_back(word);
    const int status = work(words[0], words[1], words.back());
    if (status != 0) return status;
    caller.send(kDoneLine);
  }
  return 0;
}

int be_learner(const std::vector<std::string>& arguments) {
  learn::Settings settings;
  settings.overlay.mode = OverlayMode::read_write;
  settings.worker = os::path_of_program();
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--overlay") settings.overlay.directory = arguments[i + 1];
    if (arguments[i] == "--max-bytes") settings.overlay.max_bytes = std::stoul(arguments[i + 1]);
    if (arguments[i] == "--log") settings.log = arguments[i + 1];
  }
  return learn::learn(settings) ? 0 : 1;
}

}  // namespace
}  // namespace clbake::builder

int main(int argc, char** argv) {
  const std::vector<std::string> words = clbake::os::begin_program(argc, argv);
  if (!words.empty() && words[0] == "learn") return clbake::builder::be_learner(words);
  if (words.size() == 2 && words[1] == "serve") return clbake::builder::serve();
  if (words.size() < 4 || words[0] != "worker") return clbake::builder::fail("not called as a worker");
  return clbake::builder::work(words[1], words[2], words.back());
}
