// A board whose memory holds anything, as a program under test may leave it: it is refused by map(), or every call on
// it comes back, reads and writes nothing beside it, and shows a picture whose indexes are its own.
#include "base/assert.h"
#include "board/board.h"
#include "board/check.h"
#include "board/futex.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace racelab::board;
using std::chrono::milliseconds;

constexpr milliseconds k_short_patience{1};

class Input {
public:
  Input(const std::uint8_t* data, std::size_t size) : m_at(data), m_end(data + size) {}

  bool empty() const { return m_at == m_end; }
  std::uint8_t byte() { return empty() ? 0 : *m_at++; }
  // Mostly near the board's real indexes, now and then far away.
  int index() {
    const auto small = static_cast<std::int8_t>(byte());
    return small > 100 ? small * 100'000 : small;
  }
  // At most `size` bytes into `target`.
  void take(std::byte* target, std::size_t size) {
    size = std::min(size, static_cast<std::size_t>(m_end - m_at));
    std::memcpy(target, m_at, size);
    m_at += size;
  }

private:
  const std::uint8_t *m_at, *m_end;
};

// Three actors, all kinds of points, and a past.
Board used_board() {
  Plan plan;
  plan.points = {{"p", PointKind::plain, false},
                 {"r.enter", PointKind::enter, true},
                 {"r.exit", PointKind::exit, true},
                 {"q", PointKind::plain, false}};
  plan.locks = {"l", "m"};
  plan.steps = {{"a", "p", 0}, {"b", "p", 0}, {"a", "q", 1}, {"c", "p", 2}, {"b", "q", 0}};
  plan.edges = {{0, 1}, {1, 2}, {2, 3}, {2, 4}};
  Board board = Board::create(plan);
  board.set_patience_for_test(k_short_patience);
  const int a = board.enter_actor("a", getpid(), getpid(), 1);
  const int b = board.enter_actor("b", getpid(), getpid(), 2);
  board.pass(a, 0);
  board.pass(b, 1);
  board.lock_wanted(a, 0);
  board.lock_taken(a, 0);
  return board;
}

struct Region {
  std::size_t offset, slot; // bytes
};

constexpr Region k_regions[] = {
    {offsetof(Memory, header), sizeof(Header)},       {offsetof(Memory, points), sizeof(PointSlot)},
    {offsetof(Memory, actors), sizeof(ActorSlot)},    {offsetof(Memory, steps), sizeof(StepSlot)},
    {offsetof(Memory, edges), sizeof(EdgeSlot)},      {offsetof(Memory, locks), sizeof(LockSlot)},
    {offsetof(Memory, hits), sizeof(std::uint32_t)},  {offsetof(Memory, log), sizeof(LogEntry)},
    {offsetof(Memory, arrivals), sizeof(ArrivalSlot)}};

// Overwrites parts of the board's memory: any bytes anywhere, or one number of a slot that is in use by one that is
// just or far out of bounds, with everything around it left as it was.
void damage(Input& input, std::byte* memory) {
  constexpr std::int32_t k_numbers[] = {-1,  3,    4,    5,    33,     64,      65,        512,
                                        513, 1024, 1025, 4096, 70'000, 262'145, INT32_MAX, INT32_MIN};
  constexpr std::size_t k_slots = 5; // the plan uses no more of anything
  for (int patches = input.byte() % 8; patches > 0 && !input.empty(); --patches) {
    const std::uint8_t how = input.byte();
    const Region& region = k_regions[how % std::size(k_regions)];
    if (how >= 128) {
      const std::size_t slot = region.offset == 0 ? 0 : input.byte() % k_slots;
      const std::size_t word = input.byte() % (region.slot / sizeof(std::int32_t));
      const std::int32_t number = k_numbers[input.byte() % std::size(k_numbers)];
      std::memcpy(memory + region.offset + slot * region.slot + word * sizeof number, &number, sizeof number);
    } else {
      const std::size_t offset = input.byte() * 256U + input.byte();
      const std::size_t size = std::min<std::size_t>(input.byte(), sizeof(Memory) - region.offset - offset);
      input.take(memory + region.offset + offset, size);
    }
  }
}

// Threads that park stay so until the harness gives up; this one stands for it, and also frees whom a damaged board
// would hold for ever. It looks every 200 us whether the same call is still running.
class Rescue {
public:
  Rescue() : m_thread([this] { run(); }) {}
  ~Rescue() {
    m_stop = true;
    m_thread.join();
  }
  Rescue(const Rescue&) = delete;
  Rescue& operator=(const Rescue&) = delete;

  template <class Call> void guard(Memory* memory, Call call) {
    m_memory = memory;
    call();
    m_memory = nullptr;
    ++m_calls;
    while (m_acting)
      cpu_relax();
  }

private:
  void run() {
    for (std::uint64_t seen = 0; !m_stop;) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      m_acting = true;
      Memory* const memory = m_memory;
      if (memory != nullptr && seen == m_calls)
        free_all(*memory);
      seen = m_calls;
      m_acting = false;
    }
  }

  static void free_all(Memory& memory) {
    for (int i = 0; i < clamped(memory.header.actors, k_max_actors); ++i) {
      ActorSlot& actor = memory.actors[static_cast<std::size_t>(i)];
      actor.state = ActorState::running;
      actor.wake.exchange(Wake::granted);
      wake_sleeper(actor.wake);
      memory.arrivals[static_cast<std::size_t>(i)].word = Arrival::none;
    }
  }

  std::atomic<bool> m_stop{false}, m_acting{false};
  std::atomic<Memory*> m_memory{nullptr};
  std::atomic<std::uint64_t> m_calls{0};
  std::thread m_thread;
};

void call_something(Input& input, Board& board) {
  const std::uint8_t what = input.byte();
  const int one = input.index(), other = input.index();
  switch (what % 12) {
  case 0:
    board.enter_actor(std::string(1 + what % 120, static_cast<char>('a' + one % 4)), getpid(), getpid(), 3);
    break;
  case 1:
    board.end_actor(one);
    break;
  case 2:
    board.end_process(one < 0 ? getpid() : one);
    break;
  case 3:
  case 4:
    board.pass(one, other);
    break;
  case 5:
    board.lock_wanted(one, other);
    break;
  case 6:
    board.lock_taken(one, other);
    break;
  case 7:
    board.lock_released(one, other);
    break;
  case 8:
    board.lock_not_taken(one);
    break;
  case 9:
    board.log_tokens(one, other);
    break;
  case 10:
    board.give_up(ScheduleState::stalled);
    break;
  case 11:
    board.find_point("q");
    board.find_lock("m");
    board.point_name(one);
    board.hits(one, other);
    board.agent_attached();
    break;
  }
}

void expect_own_indexes(const Board& board) {
  const Board::Picture picture = board.picture();
  const auto fits = [](int index, std::size_t count) { return index >= -1 && index < static_cast<int>(count); };
  for (const auto& actor : picture.actors) {
    RACELAB_ASSERT(fits(actor.step, picture.steps.size()) && fits(actor.lock, picture.locks.size()));
    RACELAB_ASSERT(fits(actor.point, k_max_points) && actor.name.size() <= k_name_size);
  }
  for (const auto& step : picture.steps)
    RACELAB_ASSERT(fits(step.actor, picture.actors.size()) && fits(step.point, k_max_points));
  for (const auto& lock : picture.locks)
    RACELAB_ASSERT(fits(lock.holder, picture.actors.size()));
  for (const WaitEdge& wait : picture.chain) {
    RACELAB_ASSERT(wait.actor >= 0 && fits(wait.actor, picture.actors.size()));
    RACELAB_ASSERT(wait.other >= 0 && fits(wait.other, picture.actors.size()));
    RACELAB_ASSERT(fits(wait.step, picture.steps.size()) && fits(wait.lock, picture.locks.size()));
  }
  RACELAB_ASSERT(fits(picture.stuck_step, picture.steps.size()));
  RACELAB_ASSERT(board.log_from(0).size() <= k_log_capacity);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Rescue s_rescue;
  Input input(data, size);
  Board own = used_board();
  void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, own.fd(), 0);
  RACELAB_ASSERT(at != MAP_FAILED);
  auto* const memory = static_cast<Memory*>(at);

  // An agent maps what it finds; the harness has made the board and goes on with it.
  const bool as_agent = input.byte() % 2 == 0;
  damage(input, static_cast<std::byte*>(at));
  std::string error;
  std::optional<Board> mapped;
  if (as_agent)
    mapped = Board::map(own.fd(), error, k_short_patience);
  RACELAB_ASSERT(!as_agent || mapped || !error.empty());
  if (mapped || !as_agent) {
    Board& board = mapped ? *mapped : own;
    for (int calls = 0; calls < 64 && !input.empty(); ++calls)
      s_rescue.guard(memory, [&] { call_something(input, board); });
    s_rescue.guard(memory, [&] { expect_own_indexes(board); });
  }
  munmap(at, sizeof(Memory));
  return 0;
}
