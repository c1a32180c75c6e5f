// A turn that goes back and forth between two actors: through the board, and bare, with one futex word each.
//
// Each iteration plays a new list of events and reports the seconds of one hand-over, without those at the start, where
// the partner may still be on its way. Threads or processes, pinned to one core or to two.
#include "bench/cores.h"
#include "board/board.h"
#include "board/clock.h"
#include "board/futex.h"

#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include <benchmark/benchmark.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::bench {

namespace {

constexpr int k_first_counted = 40; // turns of one side

// Memory that a forked child shares.
template <class T> class Shared {
public:
  Shared() : m_at(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (m_at == MAP_FAILED) {
      std::perror("mmap");
      std::abort();
    }
    new (m_at) T{};
  }
  ~Shared() { munmap(m_at, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *static_cast<T*>(m_at); }
  T* operator->() const { return static_cast<T*>(m_at); }

private:
  void* m_at;
};

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

// The least that a hand-over can be: each side waits for the number of its turn in a word of its own.
class Bare {
public:
  Bare(int, std::int64_t spin_ns) : m_spin_ns(spin_ns) { m_words->at(0).word = number(0); }
  void begin(int) {}

  void turn(int side, int turn) {
    await(side, turn);
    give(side, turn);
  }
  void await(int side, int turn) const { wait(m_words->at(side).word, turn); }
  void give(int side, int turn) const {
    std::atomic<std::uint32_t>& other = m_words->at(1 - side).word;
    if ((other.exchange(number(turn + side)) & k_sleeping) != 0 || m_spin_ns == 0) {
      futex(other, FUTEX_WAKE, 1);
    }
  }

private:
  static constexpr std::uint32_t k_sleeping = 1;
  static std::uint32_t number(int turn) { return static_cast<std::uint32_t>(turn + 1) * 2; }
  struct alignas(128) Word {
    std::atomic<std::uint32_t> word;
  };

  void wait(std::atomic<std::uint32_t>& word, int turn) const {
    const auto has_come = [&] { return word.load(std::memory_order_acquire) == number(turn); };
    if (m_spin_ns > 0) {
      board::spin_until(has_come);
    }
    std::uint32_t before = number(turn - 1);
    word.compare_exchange_strong(before, before | k_sleeping);
    while (!has_come()) {
      futex(word, FUTEX_WAIT, number(turn - 1) | k_sleeping);
    }
  }

  std::int64_t m_spin_ns;
  Shared<std::array<Word, 2>> m_words;
};

// The same, with a record of each turn in a shared list, under a robust mutex: what a log in one order asks for.
class BareWithLog {
public:
  BareWithLog(int turns, std::int64_t spin_ns) : m_bare(turns, spin_ns) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m_log->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  void begin(int) {}

  void turn(int side, int turn) {
    m_bare.await(side, turn);
    pthread_mutex_lock(&m_log->mutex);
    m_log->entries[m_log->count++] = {board::now_ns(), side, turn};
    pthread_mutex_unlock(&m_log->mutex);
    m_bare.give(side, turn);
  }

private:
  struct alignas(64) Entry {
    std::int64_t time;
    int side, turn;
  };
  struct Log {
    alignas(64) pthread_mutex_t mutex;
    int count;
    std::array<Entry, 4096> entries;
  };
  Bare m_bare;
  Shared<Log> m_log;
};

class OnBoard {
public:
  OnBoard(int turns, std::int64_t) : m_board(board::Board::create(plan(turns))), m_point(m_board.find_point("p")) {}
  void begin(int side) {
    m_board.agent_attached();
    t_actor = m_board.enter_actor(side == 0 ? "a" : "b", getpid(), static_cast<int>(syscall(SYS_gettid)), 0);
  }
  void turn(int, int) { m_board.pass(t_actor, m_point); }

private:
  static board::Plan plan(int turns) {
    board::Plan plan;
    plan.points.push_back({"p", board::PointKind::plain, false});
    for (int i = 0; i < 2 * turns; ++i) {
      plan.steps.push_back({i % 2 == 0 ? "a" : "b", "p", 0});
      if (i > 0) {
        plan.edges.emplace_back(i - 1, i);
      }
    }
    return plan;
  }

  static thread_local int t_actor;
  board::Board m_board;
  int m_point;
};
thread_local int OnBoard::t_actor = -1;

struct Sides {
  bool processes;
  bool two_cores;
};

// Runs `part` as a second thread or process of the other side and waits for its end.
template <class Part> class Partner {
public:
  Partner(bool process, Part part) {
    if (!process) {
      m_thread = std::thread(part);
    } else if ((m_pid = fork()) == 0) {
      part();
      _exit(0);
    }
  }
  ~Partner() {
    if (m_thread.joinable()) {
      m_thread.join();
    } else {
      waitpid(m_pid, nullptr, 0);
    }
  }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

private:
  std::thread m_thread;
  pid_t m_pid = -1;
};

template <class Channel> double seconds_of_one(const Sides& sides, int turns, std::int64_t spin_ns) {
  Channel channel(turns, spin_ns);
  const Shared<std::atomic<int>> ready;
  Partner partner(sides.processes, [&, second = sides.two_cores ? 1 : 0] {
    const OnCore pinned(second);
    channel.begin(1);
    ready->store(1);
    for (int i = 0; i < turns; ++i) {
      channel.turn(1, i);
    }
  });
  const OnCore pinned(0);
  channel.begin(0);
  while (ready->load() == 0) {
    sched_yield();
  }
  std::int64_t from = 0;
  for (int i = 0; i < turns; ++i) {
    channel.turn(0, i);
    if (i == k_first_counted) {
      from = board::now_ns();
    }
  }
  return static_cast<double>(board::now_ns() - from) * 1e-9 / (2.0 * (turns - 1 - k_first_counted));
}

template <class Channel> void hand_over(benchmark::State& state, Sides sides, int turns, std::int64_t spin_ns) {
  if (sides.two_cores && cores() < 2) {
    state.SkipWithError("needs two cores");
  }
  for (auto _ : state) {
    state.SetIterationTime(seconds_of_one<Channel>(sides, turns, spin_ns));
  }
}

const int registered = [] {
  for (const bool processes : {false, true}) {
    for (const bool two_cores : {false, true}) {
      const Sides sides{processes, two_cores};
      const std::string where =
          std::string(processes ? "processes" : "threads") + "/" + (two_cores ? "two_cores" : "one_core");
      const auto add = [&](const std::string& name, auto function, int turns, std::int64_t spin_ns) {
        benchmark::RegisterBenchmark(("hand_over/" + where + "/" + name).c_str(), function, sides, turns, spin_ns)
            ->UseManualTime()
            ->Iterations(2)
            ->Unit(benchmark::kNanosecond);
      };
      add("futex", hand_over<Bare>, 300, 0);
      add("spin_futex", hand_over<Bare>, 300, board::k_spin_ns);
      add("spin_futex_log", hand_over<BareWithLog>, 300, board::k_spin_ns);
      add("futex_log", hand_over<BareWithLog>, 300, 0);
      add("board", hand_over<OnBoard>, 300, 0);
      add("board_long", hand_over<OnBoard>, 2000, 0);
    }
  }
  return 0;
}();

} // namespace

} // namespace racelab::bench
