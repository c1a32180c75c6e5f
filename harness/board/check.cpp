#include "board/check.h"

namespace racelab::board {

namespace {

class Check {
public:
  explicit Check(const Memory& memory) : m(memory), h(memory.header) {}

  std::optional<std::string> damage() {
    check_counts();
    if (!m_damage) { // everything below trusts the counts
      check_header();
      check_names();
      check_steps();
      check_actors();
    }
    return m_damage;
  }

private:
  void require(bool holds, const char* what, long long value) {
    if (!holds && !m_damage) {
      m_damage = std::string(what) + " is " + std::to_string(value);
    }
  }
  void require_index(std::int32_t index, int count, const char* what) { require(is_index(index, count), what, index); }
  void require_index_or_none(std::int32_t index, int count, const char* what) {
    require(index == -1 || is_index(index, count), what, index);
  }
  template <class Enum> void require_enum(Enum value, Enum last, const char* what) {
    require(value <= last, what, static_cast<long long>(value));
  }
  void require_count(std::int32_t count, int room, const char* what) {
    require(count >= 0 && count <= room, what, count);
  }
  void require_text(const Name& name, const char* what) { require(text_of(name).size() < name.size(), what, 0); }

  void check_counts() {
    require_count(h.points, k_max_points, "the number of points");
    require_count(h.actors, k_max_actors, "the number of actors");
    require_count(h.steps, k_max_steps, "the number of events");
    require_count(h.edges, k_max_edges, "the number of edges");
    require_count(h.locks, k_max_locks, "the number of locks");
    require_count(h.chain_length, k_max_wait_chain, "the length of the cycle");
    require(h.log_count.load() <= k_log_capacity, "the number of log entries", h.log_count.load());
  }

  void check_header() {
    require(h.may_spin <= 1, "whether there is more than one core", h.may_spin);
    require(h.first_to_wake == -1, "the first actor to wake", h.first_to_wake);
    require_enum(h.state, ScheduleState::stalled, "the state of the schedule");
    require_index_or_none(h.stuck_step, h.steps, "the event that will not come");
    require_index_or_none(h.region_owner, h.actors, "the owner of the region");
    require_index_or_none(h.removal_point, h.points, "the point at which caches are removed");
    require_index_or_none(h.removal_actor, h.actors, "the actor that removes caches");
    for (int i = 0; i < h.chain_length; ++i) {
      const WaitEdge& wait = h.chain[static_cast<std::size_t>(i)];
      require_enum(wait.kind, WaitKind::for_region, "the kind of a wait");
      require_index(wait.actor, h.actors, "an actor of the cycle");
      require_index(wait.other, h.actors, "an actor of the cycle");
    }
  }

  void check_names() {
    for (int i = 0; i < h.points; ++i) {
      require_text(m.points[i].name, "the end of a point's name");
      require_enum(m.points[i].kind, PointKind::lock_released, "the kind of a point");
    }
    for (int i = 0; i < h.locks; ++i) {
      require_text(m.locks[i].name, "the end of a lock's name");
      require_index_or_none(m.locks[i].holder, h.actors, "the holder of a lock");
    }
  }

  void check_steps() {
    for (int i = 0; i < h.steps; ++i) {
      require_index(m.steps[i].actor, h.actors, "the actor of an event");
      require_index(m.steps[i].point, h.points, "the point of an event");
      require_index_or_none(m.steps[i].next_of_actor, h.steps, "the next event of an actor");
      require_index_or_none(m.steps[i].after_arrival, h.actors, "the actor that an event comes after");
      require_count(m.steps[i].edges, h.edges, "the first edge of an event");
      require_count(m.steps[i].edges_end, h.edges, "the end of the edges of an event");
    }
    for (int i = 0; i < h.edges; ++i) {
      require_index(m.edges[i].before, h.steps, "an event of an edge");
      require_index(m.edges[i].after, h.steps, "an event of an edge");
    }
  }

  void check_actors() {
    for (int i = 0; i < h.actors; ++i) {
      const ActorSlot& a = m.actors[i];
      require_text(a.name, "the end of an actor's name");
      require_enum(a.state, ActorState::ended, "the state of an actor");
      require_enum(m.arrivals[i].word.load(), Arrival::passed, "the arrival of an actor");
      require_index_or_none(a.point, h.points, "the point of an actor");
      require_index_or_none(a.step, h.steps, "the awaited event of an actor");
      require_index_or_none(a.lock, h.locks, "the wanted lock of an actor");
      require_index_or_none(a.first_step, h.steps, "the first event of an actor");
    }
  }

  const Memory& m;
  const Header& h;
  std::optional<std::string> m_damage;
};

} // namespace

std::optional<std::string> find_damage(const Memory& memory) {
  return Check(memory).damage();
}

} // namespace racelab::board
