#include <clbake/builder/conversation.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/timing.hpp>

#include "worker_calls.hpp"

#include <algorithm>
#include <filesystem>
#include <list>
#include <sstream>

namespace clbake::builder {
namespace {

using Clock = TimingPool::Clock;
constexpr int kPollMs = 20;
constexpr unsigned kLateVisits = 3;  // so many without a success: the shape is too much for this device

// "us 1.5 1.6"; nothing for other lines.
std::optional<std::vector<double>> parse_times(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "us") return std::nullopt;
  std::vector<double> times;
  for (double us = 0; words >> us;) times.push_back(us);
  const bool sound = words.eof() && !times.empty() &&
                     std::all_of(times.begin(), times.end(), [](double us) { return us > 0 && us < 1e12; });
  if (!sound) return std::nullopt;
  return times;
}

}  // namespace

// A variant's process: compiling, then idle or at work on an order.
class TimingPool::Process {
 public:
  static Result<std::unique_ptr<Process>> start(const TimingPool::Options& options, const kernels::Params& params,
                                                std::size_t number, std::size_t unit) {
    auto process = std::make_unique<Process>();
    const std::string stem = options.directory + "/" + std::to_string(number);
    process->files_ = {stem + ".job", stem + ".log"};
    process->timeout_ = options.timeout;
    process->unit_ = unit;
    const Status written = process->write(options.target, params);
    if (!written) return written;
    Command command;
    command.arguments = {options.worker, "worker", "time", process->files_[0], std::to_string(unit)};
    command.environment = driver_cache_environment(options.directory + "/clbake-cache");
    for (auto& variable : steady_environment()) command.environment.push_back(std::move(variable));
    command.log = process->files_[1];
    process->command_ = command;
    Result<Conversation> child = Conversation::start(command);
    if (!child) return child.status();
    process->child_.emplace(std::move(*child));
    process->deadline_ = Clock::now() + options.timeout;
    return process;
  }

  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    child_.reset();
    for (const std::string& file : files_) {
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
    }
  }

  enum class State { compiling, idle, timing, out };
  State state() const { return state_; }
  bool busy() const { return state_ == State::compiling || state_ == State::timing; }
  std::size_t unit() const { return unit_; }
  const std::string& failure() const { return failure_; }
  bool late() const { return late_; }  // it is out because an order took too long
  const Conversation& child() const { return *child_; }

  // Another variant, once it is idle.
  Status next(const Target& target, const kernels::Params& params) {
    const Status written = write(target, params);
    if (!written) return written;
    child_->say(kNextJob + files_[0]);
    state_ = State::compiling;
    deadline_ = Clock::now() + timeout_;
    ++variants_;
    return {};
  }

  unsigned variants() const { return variants_; }

  // `beside`: how many processes are at work at the same time.
  void order(const TimingOrder& order, std::size_t beside = 1) {
    child_->say(to_line(order));
    state_ = State::timing;
    deadline_ = Clock::now() + timeout_ * static_cast<std::int64_t>(beside);
  }

  // Looks once, without waiting. True when there is news: it became idle (`times` tells what was measured; empty: the
  // device was unable), or it is out (failure() tells why).
  bool look(std::vector<double>& times) {
    if (state_ == State::idle || state_ == State::out) return false;
    if (const std::optional<std::string> line = child_->hear()) return understand(*line, times);
    Exit exit;
    const std::optional<Exit> ended = child_->ended();
    if (ended) {
      exit = *ended;
    } else if (Clock::now() > deadline_) {
      exit.timed_out = true;
      late_ = state_ == State::timing;
    } else {
      return false;
    }
    const bool quiet = exit.ok();  // it should not have ended
    return fail(quiet ? "the worker ended without a word" : describe(exit, command_, timeout_));
  }

 private:
  Status write(const Target& target, const kernels::Params& params) const {
    return write_job(files_[0], make_job(target, kernels::generate(params), params));
  }

  bool fail(const std::string& cause) {
    failure_ = cause;
    state_ = State::out;
    child_.reset();
    return true;
  }

  bool understand(const std::string& line, std::vector<double>& times) {
    times.clear();
    if (state_ == State::compiling) {
      if (line != "ready") return fail("the worker said '" + line + "' instead of 'ready'");
    } else if (line.rfind("unable ", 0) != 0 && line != "set") {
      const std::optional<std::vector<double>> parsed = parse_times(line);
      if (!parsed) return fail("the worker's answer is none: '" + line.substr(0, 80) + "'");
      times = *parsed;
    }
    state_ = State::idle;
    return true;
  }

  std::vector<std::string> files_;
  Command command_;
  std::chrono::seconds timeout_{0};
  std::size_t unit_ = 0;
  unsigned variants_ = 1;  // so far
  std::optional<Conversation> child_;
  Clock::time_point deadline_;
  State state_ = State::compiling;
  std::string failure_;
  bool late_ = false;
};

TimingPool::TimingPool(Options options, const std::atomic<bool>& cancel)
    : options_(std::move(options)), cancel_(cancel) {}
TimingPool::~TimingPool() = default;

Result<std::unique_ptr<TimingPool::Process>> TimingPool::process_for(const kernels::Params& params, std::size_t unit) {
  const auto of_unit = [&](const auto& process) { return process->unit() == unit; };
  const auto at = std::find_if(spare_.begin(), spare_.end(), of_unit);
  if (at == spare_.end()) return Process::start(options_, params, processes_++, unit);
  std::unique_ptr<Process> process = std::move(*at);
  spare_.erase(at);
  const Status told = process->next(options_.target, params);
  if (!told) return told;
  return process;
}

void TimingPool::take_back(std::unique_ptr<Process> process) {
  const bool usable = process->state() == Process::State::idle && process->variants() < options_.variants_per_process;
  if (usable) spare_.push_back(std::move(process));
}

namespace {

// Sleeps until one of them has news.
template <typename Processes>
void wait_for(const Processes& processes) {
  std::vector<const Conversation*> children;
  for (const auto& process : processes) {
    if (process->busy()) children.push_back(&process->child());
  }
  if (!children.empty()) Conversation::wait(children, kPollMs);
}

Status check_cancel(const std::atomic<bool>& cancel) {
  return cancel ? Status(Code::cancelled, "interrupted") : Status();
}

}  // namespace

// The visits that are under way.
class TimingPool::Visits {
 public:
  Visits(TimingPool& pool, const TimingPool::Callbacks& callbacks)
      : pool_(pool), options_(pool.options_), callbacks_(callbacks) {}

  bool over() const { return no_more_ && guests_.empty(); }

  Status start() {
    // Where compiling and timing would disturb each other they take turns: compile until enough wait.
    if (options_.shares_cores && timing_phase_) return {};
    while (!no_more_ && count(State::compiling) < options_.parallel && guests_.size() < most()) {
      Visit visit;
      const TimingPool::Next next = callbacks_.next(visit);
      if (next == TimingPool::Next::end) no_more_ = true;
      if (next != TimingPool::Next::visit) break;
      auto guest = std::make_unique<Guest>();
      guest->number = started_;
      Result<std::unique_ptr<Process>> process = pool_.process_for(visit.params, started_ % options_.units);
      if (!process) return process.status();
      guest->visit = std::move(visit);
      guest->process = std::move(*process);
      guests_.push_back(std::move(guest));
      ++started_;
    }
    return {};
  }

  void look() {
    for (auto at = guests_.begin(); at != guests_.end();) {
      Guest& guest = **at;
      const bool timed = guest.state() == State::timing;
      std::vector<double> times;
      const bool news = guest.process->look(times);
      if (news && timed && guest.state() == State::idle) {
        if (!times.empty()) pool_.managed_.insert(name(guest.shape()));
        guest.visited.us.push_back(std::move(times));
      }
      const bool out = guest.state() == State::out && !forgive(guest) && !restart(guest);
      if (out) guest.visited.failure = guest.process->failure();
      at = out ? leave(at) : std::next(at);
    }
  }

  // Gives every unit that is free something to time.
  void give_turns() {
    if (options_.shares_cores) {
      if (count(State::compiling) > 0) return;
      timing_phase_ = !guests_.empty();
    }
    for (std::size_t unit = 0; unit < options_.units; ++unit) {
      if (free(unit)) give_turn(unit);
    }
    if (guests_.empty()) timing_phase_ = false;
  }

  void wait() const { wait_for(guests_); }

 private:
  using State = Process::State;
  struct Guest {
    std::size_t number = 0;
    Visit visit;
    Visited visited;
    std::unique_ptr<Process> process;
    State state() const { return process->state(); }
    const Shape& shape() const { return visit.shapes[visited.us.size()]; }  // the next one, or the one under way
    bool busy() const { return process->busy(); }
    const Conversation& child() const { return process->child(); }
  };
  using Guests = std::list<std::unique_ptr<Guest>>;

  // Whoever was in the process before may have left it broken: once more, alone. False when nobody was.
  bool restart(Guest& guest) {
    if (guest.process->variants() == 1 || !start_anew(guest)) return false;
    guest.visited = {};
    return true;
  }

  bool start_anew(Guest& guest) {
    Result<std::unique_ptr<Process>> process =
        Process::start(options_, guest.visit.params, pool_.processes_++, guest.process->unit());
    if (process) guest.process = std::move(*process);
    return process.ok();
  }

  bool managed(const Guest& guest) const {
    return guest.visit.best_us[guest.visited.us.size()] > 0 || pool_.managed_.count(name(guest.shape())) > 0;
  }

  // Who is late on a shape that nobody has managed goes on with the next one.
  bool forgive(Guest& guest) {
    if (!guest.process->late() || managed(guest) || !start_anew(guest)) return false;
    ++pool_.late_[name(guest.shape())];
    guest.visited.late.push_back(guest.visited.us.size());
    guest.visited.us.emplace_back();
    return true;
  }

  // Whether so many have been late that nobody else needs to try.
  bool too_slow(const Guest& guest) const {
    const auto late = pool_.late_.find(name(guest.shape()));
    return late != pool_.late_.end() && late->second >= kLateVisits && !managed(guest);
  }

  std::size_t most() const { return options_.parallel + options_.waiting; }

  std::size_t count(State state) const {
    return static_cast<std::size_t>(
        std::count_if(guests_.begin(), guests_.end(), [&](const auto& guest) { return guest->state() == state; }));
  }

  bool free(std::size_t unit) const {
    return std::none_of(guests_.begin(), guests_.end(), [&](const auto& guest) {
      return guest->process->unit() == unit && guest->state() == State::timing;
    });
  }

  // The oldest guest goes on until it has nothing left to time.
  void give_turn(std::size_t unit) {
    for (auto at = guests_.begin(); at != guests_.end();) {
      Guest& guest = **at;
      if (guest.process->unit() != unit || guest.state() != State::idle) {
        ++at;
        continue;
      }
      std::vector<std::vector<double>>& us = guest.visited.us;
      const std::size_t count = guest.visit.shapes.size();
      while (us.size() < count && too_slow(guest)) us.emplace_back();
      std::optional<TimingOrder> order;
      if (us.size() < count) order = callbacks_.order(guest.visit, us.size(), guest.visited);
      if (order) {
        guest.process->order(*order);
        return;
      }
      at = leave(at);
    }
  }

  Guests::iterator leave(Guests::iterator at) {
    const std::unique_ptr<Guest> guest = std::move(*at);
    const auto next = guests_.erase(at);
    pool_.take_back(std::move(guest->process));
    callbacks_.done(guest->number, guest->visit, std::move(guest->visited));
    return next;
  }

  TimingPool& pool_;
  const Options& options_;
  const Callbacks& callbacks_;
  Guests guests_;  // oldest first
  std::size_t started_ = 0;
  bool no_more_ = false;
  bool timing_phase_ = false;
};

Status TimingPool::visit(const Callbacks& callbacks, Clock::time_point deadline) {
  Visits visits(*this, callbacks);
  do {  // once in any case: some visits need no time, as they are known
    Status status = check_cancel(cancel_);
    if (status) status = visits.start();
    if (!status) return status;
    visits.look();
    visits.give_turns();
    if (visits.over()) return {};
    visits.wait();
  } while (Clock::now() < deadline);
  return {};
}

// Variants in turns.
class TimingPool::Race {
 public:
  Race(TimingPool& pool, const RaceCallbacks& callbacks, Clock::time_point deadline)
      : pool_(pool), callbacks_(callbacks), deadline_(deadline) {}
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race() {
    for (auto& process : processes_) pool_.take_back(std::move(process));
  }

  // Until all of them are compiled.
  Status start(const std::vector<kernels::Params>& variants) {
    variants_ = variants;
    for (bool compiling = true; compiling || processes_.size() < variants.size();) {
      if (over()) return check_cancel(pool_.cancel_);
      const auto count = static_cast<unsigned>(std::count_if(
          processes_.begin(), processes_.end(), [](const auto& p) { return p->state() == State::compiling; }));
      if (processes_.size() < variants.size() && count < pool_.options_.parallel) {
        Result<std::unique_ptr<Process>> process = pool_.process_for(variants[processes_.size()], 0);
        if (!process) return process.status();
        processes_.push_back(std::move(*process));
      }
      compiling = look();
      if (compiling) wait_for(processes_);
    }
    return {};
  }

  Status turns(const std::vector<TimingOrder>& orders, unsigned rounds) {
    for (std::size_t o = 0; o < orders.size(); ++o) {
      at_ = o;
      prepare(orders[o]);
      for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t v = 0; v < processes_.size(); ++v) {
          if (over()) return check_cancel(pool_.cancel_);
          const bool wanted = !callbacks_.wanted || callbacks_.wanted(v, o, round);
          if (wanted && processes_[v]->state() == State::idle) turn(v, o, orders[o]);
        }
      }
    }
    return {};
  }

 private:
  using State = Process::State;

  bool over() const { return pool_.cancel_ || Clock::now() >= deadline_; }

  // True while one is compiling.
  bool look() {
    bool compiling = false;
    for (std::size_t v = 0; v < processes_.size(); ++v) {
      if (processes_[v]->look(times_) && processes_[v]->state() == State::out) failed(v);
      compiling = compiling || processes_[v]->state() == State::compiling;
    }
    return compiling;
  }

  // All at once make the matrices and check their results: large ones take longer to make than to multiply.
  void prepare(TimingOrder order) {
    settle();
    order.runs = 0;
    for (const auto& process : processes_) {
      if (process->state() == State::idle) process->order(order, processes_.size());
    }
    settle();
  }

  // Until none of them is busy.
  void settle() {
    while (!over()) {
      look();
      const bool busy = std::any_of(processes_.begin(), processes_.end(), [](const auto& p) { return p->busy(); });
      if (!busy) return;
      wait_for(processes_);
    }
  }

  // To its end, with nothing beside it; dropped when the time is over.
  void turn(std::size_t v, std::size_t number, const TimingOrder& order) {
    Process& process = *processes_[v];
    process.order(order);
    while (!process.look(times_)) {
      if (over()) return;
      Conversation::wait({&process.child()}, kPollMs);
    }
    if (process.state() == State::out) {
      failed(v);
      settle();
      const bool again = !callbacks_.wanted || callbacks_.wanted(v, number, 0);
      if (again && processes_[v]->state() == State::idle) turn(v, number, order);
      return;
    }
    if (!times_.empty()) callbacks_.turn(v, number, times_);
  }

  // It is out of the race, unless the shape is to blame; of a process that others used before nobody knows whose fault
  // that is: once more, alone.
  void failed(std::size_t v) {
    const Process& process = *processes_[v];
    const bool forgiven = process.late() && callbacks_.late && callbacks_.late(v, at_, process.failure());
    if (!forgiven && process.variants() == 1) return callbacks_.failed(v, process.failure());
    Result<std::unique_ptr<Process>> alone = Process::start(pool_.options_, variants_[v], pool_.processes_++, 0);
    if (alone) processes_[v] = std::move(*alone);
  }

  TimingPool& pool_;
  const RaceCallbacks& callbacks_;
  Clock::time_point deadline_;
  std::vector<kernels::Params> variants_;
  std::vector<std::unique_ptr<Process>> processes_;  // of each variant
  std::vector<double> times_;
  std::size_t at_ = 0;  // the order under way
};

Status TimingPool::race(const std::vector<kernels::Params>& variants, const std::vector<TimingOrder>& orders,
                        unsigned rounds, const RaceCallbacks& callbacks, Clock::time_point deadline) {
  Race race(*this, callbacks, deadline);
  const Status started = race.start(variants);
  return started ? race.turns(orders, rounds) : started;
}

}  // namespace clbake::builder
