// Making, mapping and reading a board.
#include "board/board.h"

#include "base/assert.h"
#include "board/mutex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::board {

namespace {

void put_name(Name& target, const std::string& name, const char* what) {
  if (name.empty() || name.size() >= k_name_size) {
    throw std::runtime_error(std::string(what) + " name '" + name + "' is empty or longer than " +
                             std::to_string(k_name_size - 1) + " bytes");
  }
  std::memcpy(target.data(), name.c_str(), name.size() + 1);
}

void check_limit(std::size_t count, int limit, const char* what) {
  if (count > static_cast<std::size_t>(limit)) {
    throw std::runtime_error(std::string("too many ") + what + ": " + std::to_string(count) + ", at most " +
                             std::to_string(limit) + " fit on the board");
  }
}

void write_edges(Memory& m, const Plan& plan) {
  Header& h = m.header;
  h.edges_go_forward = 1;
  for (const auto& [before, after] : plan.edges) {
    RACELAB_ASSERT(before >= 0 && after >= 0 && before < h.steps && after < h.steps);
    m.edges[h.edges++] = {before, after};
    h.edges_go_forward &= before < after ? 1U : 0U;
  }
  std::stable_sort(m.edges.begin(), m.edges.begin() + h.edges,
                   [](const EdgeSlot& a, const EdgeSlot& b) { return a.before < b.before; });
  for (int i = 0, edge = 0; i < h.steps; ++i) {
    m.steps[i].edges = edge;
    while (edge < h.edges && m.edges[edge].before == i) {
      ++edge;
    }
    m.steps[i].edges_end = edge;
  }
}

void write_plan(Memory& m, const Plan& plan) {
  Header& h = m.header;
  std::map<int, int> last_of; // actor -> its last step so far
  std::map<std::string, int> points, actors;
  for (const PlannedPoint& p : plan.points) {
    PointSlot& slot = m.points[h.points];
    put_name(slot.name, p.name, "point");
    slot.kind = p.kind;
    slot.serialized = p.serialized ? 1 : 0;
    points[p.name] = h.points++;
  }
  for (const std::string& name : plan.locks) {
    put_name(m.locks[h.locks].name, name, "lock");
    m.locks[h.locks++].holder = -1;
  }
  const auto point_of = [&](const std::string& name) {
    if (!points.count(name)) {
      throw std::runtime_error("the plan does not declare the point '" + name + "'");
    }
    return points[name];
  };
  // The slot of an actor that the plan names; made where it is the first mention.
  const auto actor_of = [&](const std::string& name) {
    if (!actors.count(name)) {
      check_limit(actors.size() + 1, k_max_actors, "actors");
      ActorSlot& slot = m.actors[h.actors];
      put_name(slot.name, name, "actor");
      slot.state = ActorState::expected;
      slot.point = slot.step = slot.lock = slot.first_step = slot.woken_by_core = -1;
      actors[name] = h.actors++;
    }
    return actors[name];
  };
  for (const PlannedStep& s : plan.steps) {
    StepSlot& step = m.steps[h.steps];
    step.actor = actor_of(s.actor);
    step.point = point_of(s.point);
    m.points[step.point].has_steps = 1;
    step.hit = static_cast<std::uint32_t>(s.hit);
    step.kills = s.kills ? 1 : 0;
    h.has_deeds |= step.kills;
    step.next_of_actor = step.after_arrival = -1;
    const bool is_first = !last_of.count(step.actor);
    (is_first ? m.actors[step.actor].first_step : m.steps[last_of[step.actor]].next_of_actor) = h.steps;
    last_of[step.actor] = h.steps++;
  }
  if (plan.removal) {
    h.has_deeds = 1;
    h.removal_point = point_of(plan.removal->point);
    h.removal_actor = plan.removal->actor.empty() ? -1 : actor_of(plan.removal->actor);
    h.removal_hit = static_cast<std::uint32_t>(plan.removal->hit);
  }
  write_edges(m, plan);
}

} // namespace

Board Board::create(const Plan& plan) {
  check_limit(plan.points.size(), k_max_points, "points");
  check_limit(plan.steps.size(), k_max_steps, "events");
  check_limit(plan.edges.size(), k_max_edges, "edges");
  check_limit(plan.locks.size(), k_max_locks, "locks");

  const int fd = memfd_create("racelab-board", 0);
  if (fd < 0 || ftruncate(fd, sizeof(Memory)) != 0) {
    throw std::runtime_error(std::string("cannot make the board's shared memory: ") + std::strerror(errno));
  }
  void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    const int error = errno;
    close(fd);
    throw std::runtime_error(std::string("cannot map the board's shared memory: ") + std::strerror(error));
  }
  Board board(fd, static_cast<Memory*>(at)); // a fresh memfd is all zeros
  Header& h = board.memory().header;
  h.magic = k_magic;
  h.format = k_format;
  h.size = sizeof(Memory);
  h.stuck_step = -1;
  h.region_owner = -1;
  h.first_to_wake = -1;
  h.removal_point = h.removal_actor = -1;
  h.may_spin = std::thread::hardware_concurrency() > 1 ? 1 : 0;
  init_mutex(h.mutex);
  write_plan(board.memory(), plan);
  board.count_open();
  board.make_present();
  return board;
}

std::optional<Board> Board::map(int fd, std::string& error, std::chrono::milliseconds patience) {
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    error = std::string("the board's descriptor is not open: ") + std::strerror(errno);
    return std::nullopt;
  }
  if (info.st_size != static_cast<off_t>(sizeof(Memory))) {
    error = "not a board, or one of another racelab: " + std::to_string(info.st_size) + " bytes instead of " +
            std::to_string(sizeof(Memory));
    return std::nullopt;
  }
  void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    error = std::string("cannot map the board: ") + std::strerror(errno);
    return std::nullopt;
  }
  const Header& h = static_cast<Memory*>(at)->header;
  if (h.magic != k_magic || h.format != k_format || h.size != sizeof(Memory)) {
    error = "not a board, or one of another racelab (format " + std::to_string(h.format) + ", expected " +
            std::to_string(k_format) + ")";
    munmap(at, sizeof(Memory));
    return std::nullopt;
  }
  Board board(-1, static_cast<Memory*>(at));
  board.m_patience = patience;
  if (!board.lock()) {
    error = "a damaged board: its mutex cannot be taken";
    return std::nullopt;
  }
  const auto damage = find_damage(board.memory());
  board.unlock();
  if (damage) {
    error = "a damaged board: " + *damage;
    return std::nullopt;
  }
  return board;
}

Board::Board(Board&& other) noexcept
    : m_fd(other.m_fd), m_memory(other.m_memory), m_patience(other.m_patience), m_broken(other.is_broken()) {
  other.m_fd = -1;
  other.m_memory = nullptr;
}

Board& Board::operator=(Board&& other) noexcept {
  std::swap(m_fd, other.m_fd);
  std::swap(m_memory, other.m_memory);
  std::swap(m_patience, other.m_patience);
  m_broken = other.m_broken.exchange(m_broken);
  return *this;
}

Board::~Board() {
  if (m_memory != nullptr) {
    munmap(m_memory, sizeof(Memory));
  }
  if (m_fd >= 0) {
    close(m_fd);
  }
}

// A page that is not there yet costs its first user a microsecond, in the middle of a hand-over. Where the kernel
// cannot do this (before Linux 5.14) they come one by one.
void Board::make_present() const {
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto present = [&](const auto& array, std::size_t count) {
    const auto begin = reinterpret_cast<std::uintptr_t>(array.data()) & ~(page - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(array.data() + count);
    if (count > 0) {
      madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
    }
  };
  const auto used_actors = static_cast<std::size_t>(actors());
  present(memory().points, static_cast<std::size_t>(points()));
  present(memory().actors, used_actors);
  present(memory().arrivals, used_actors);
  present(memory().steps, static_cast<std::size_t>(steps()));
  present(memory().edges, static_cast<std::size_t>(edges()));
  present(memory().hits, used_actors);
  present(memory().log, k_log_present);
#endif
}

int Board::find_point(std::string_view name) const {
  for (int i = 0; i < points(); ++i) {
    if (name == text_of(memory().points[i].name)) {
      return i;
    }
  }
  return -1;
}

int Board::find_lock(std::string_view name) const {
  for (int i = 0; i < locks(); ++i) {
    if (name == text_of(memory().locks[i].name)) {
      return i;
    }
  }
  return -1;
}

// The cycle, or nothing where it names what is not there.
std::vector<WaitEdge> Board::chain() const {
  const Header& h = memory().header;
  std::vector<WaitEdge> chain(h.chain.begin(), h.chain.begin() + clamped(h.chain_length, k_max_wait_chain));
  for (WaitEdge& wait : chain) {
    wait.point = index_or_none(wait.point, points());
    wait.step = index_or_none(wait.step, steps());
    wait.lock = index_or_none(wait.lock, locks());
    if (!is_actor(wait.actor) || !is_actor(wait.other)) {
      return {};
    }
  }
  return chain;
}

Board::Picture Board::picture() const {
  Picture p;
  if (!lock()) {
    return p;
  }
  const Header& h = memory().header;
  p.state = h.state;
  p.stuck_step = index_or_none(h.stuck_step, steps());
  p.chain = chain();
  for (int i = 0; i < actors(); ++i) {
    const ActorSlot& a = memory().actors[i];
    p.actors.push_back({std::string(text_of(a.name)), a.state, a.pid, a.tid, a.ident, index_or_none(a.point, points()),
                        index_or_none(a.step, steps()), index_or_none(a.lock, locks()), a.waited});
  }
  for (int i = 0; i < steps(); ++i) {
    const StepSlot& s = memory().steps[i];
    p.steps.push_back({index_or_none(s.actor, actors()), index_or_none(s.point, points()), s.hit, s.done != 0,
                       s.kills != 0, s.log_index});
  }
  for (int i = 0; i < locks(); ++i) {
    const LockSlot& l = memory().locks[i];
    p.locks.push_back({std::string(text_of(l.name)), index_or_none(l.holder, actors())});
  }
  p.attached = h.attached;
  p.recovered = h.recovered;
  p.actors_lost = h.actors_lost;
  p.facts_lost = h.facts_lost.load();
  p.log_lost = h.log_lost.load();
  p.log_count = log_count();
  unlock();
  return p;
}

std::string Board::point_name(int point) const {
  return is_index(point, points()) ? std::string(text_of(memory().points[point].name)) : std::string();
}

unsigned Board::hits(int actor, int point) const {
  return is_index(actor, k_max_actors) && is_index(point, points())
             ? memory().hits[actor][point].load(std::memory_order_relaxed)
             : 0;
}

std::vector<LogEntry> Board::log_from(std::uint32_t first) const {
  const std::uint32_t end = log_count();
  std::vector<LogEntry> entries;
  if (first < end) {
    entries.assign(memory().log.begin() + first, memory().log.begin() + end);
  }
  return entries;
}

} // namespace racelab::board
