#include "result/names.h"

#include "base/assert.h"

#include <array>

namespace racelab::result {

namespace {

template <class Enum, std::size_t N> using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<EventKind, 8> k_event_kinds = {{{EventKind::pass, "pass"},
                                                {EventKind::parked, "parked"},
                                                {EventKind::released, "released"},
                                                {EventKind::actor_start, "actor_start"},
                                                {EventKind::actor_end, "actor_end"},
                                                {EventKind::tokens, "tokens"},
                                                {EventKind::given_up, "given_up"},
                                                {EventKind::removed, "removed"}}};

constexpr Names<BoardState, 5> k_board_states = {{{BoardState::open, "open"},
                                                  {BoardState::complete, "complete"},
                                                  {BoardState::unreachable, "unreachable"},
                                                  {BoardState::impossible, "impossible"},
                                                  {BoardState::stalled, "stalled"}}};

constexpr Names<WaitKind, 3> k_wait_kinds = {
    {{WaitKind::for_event, "event"}, {WaitKind::for_lock, "lock"}, {WaitKind::for_region, "region"}}};

constexpr Names<EndKind, 7> k_end_kinds = {{{EndKind::exited, "exited"},
                                            {EndKind::signalled, "signalled"},
                                            {EndKind::time_limit, "time_limit"},
                                            {EndKind::deadlock, "deadlock"},
                                            {EndKind::hang, "hang"},
                                            {EndKind::interrupted, "interrupted"},
                                            {EndKind::not_started, "not_started"}}};

constexpr Names<ScheduleStatus, 6> k_schedule_statuses = {{{ScheduleStatus::realised, "realised"},
                                                           {ScheduleStatus::unreachable, "unreachable"},
                                                           {ScheduleStatus::impossible, "impossible"},
                                                           {ScheduleStatus::diverged, "diverged"},
                                                           {ScheduleStatus::free, "free"},
                                                           {ScheduleStatus::unproved, "unproved"}}};

constexpr Names<Verdict, 7> k_verdicts = {{{Verdict::expected, "expected"},
                                           {Verdict::ok, "ok"},
                                           {Verdict::failed, "failed"},
                                           {Verdict::flaky, "flaky"},
                                           {Verdict::fixed, "fixed"},
                                           {Verdict::skipped, "skipped"},
                                           {Verdict::inconclusive, "inconclusive"}}};

template <class Enum> std::string name_of(Enum wanted) {
  std::string_view found;
  for (const auto& [value, name] : names_of<Enum>())
    if (value == wanted)
      found = name;
  RACELAB_ASSERT(!found.empty());
  return std::string(found);
}

} // namespace

template <> std::span<const std::pair<EventKind, std::string_view>> names_of<EventKind>() {
  return k_event_kinds;
}

template <> std::span<const std::pair<BoardState, std::string_view>> names_of<BoardState>() {
  return k_board_states;
}

template <> std::span<const std::pair<WaitKind, std::string_view>> names_of<WaitKind>() {
  return k_wait_kinds;
}

template <> std::span<const std::pair<EndKind, std::string_view>> names_of<EndKind>() {
  return k_end_kinds;
}

template <> std::span<const std::pair<ScheduleStatus, std::string_view>> names_of<ScheduleStatus>() {
  return k_schedule_statuses;
}

template <> std::span<const std::pair<Verdict, std::string_view>> names_of<Verdict>() {
  return k_verdicts;
}

std::string to_string(EventKind kind) {
  return name_of(kind);
}

std::string to_string(BoardState state) {
  return name_of(state);
}

std::string to_string(WaitKind kind) {
  return name_of(kind);
}

std::string to_string(EndKind kind) {
  return name_of(kind);
}

std::string to_string(ScheduleStatus status) {
  return name_of(status);
}

std::string to_string(Verdict verdict) {
  return name_of(verdict);
}

} // namespace racelab::result
