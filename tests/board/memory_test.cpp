// Boards are refused where they would not fit, and descriptors where they are no board.
#include "support.h"

#include <climits>
#include <cstddef>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace racelab::board::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const Plan& plan) {
  try {
    Board::create(plan);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<PlannedPoint> points(int n) {
  std::vector<PlannedPoint> all;
  for (int i = 0; i < n; ++i)
    all.push_back({"p" + std::to_string(i), PointKind::plain, false});
  return all;
}

TEST(Plan, MayUseAllTheRoomThereIs) {
  Plan plan;
  plan.points = points(k_max_points);
  for (int i = 0; i < k_max_locks; ++i)
    plan.locks.push_back("l" + std::to_string(i));
  for (int i = 0; i < k_max_steps; ++i)
    plan.steps.push_back({"a" + std::to_string(i % k_max_actors), "p0", 0});
  for (int i = 0; i < k_max_edges; ++i)
    plan.edges.emplace_back(i % (k_max_steps - 1), i % (k_max_steps - 1) + 1);
  Board board = Board::create(plan);
  EXPECT_EQ(board.find_point("p511"), k_max_points - 1);
  EXPECT_EQ(board.find_lock("l63"), k_max_locks - 1);
  EXPECT_EQ(board.picture().steps.size(), static_cast<std::size_t>(k_max_steps));
  EXPECT_EQ(board.picture().actors.size(), static_cast<std::size_t>(k_max_actors));
}

TEST(Plan, IsRefusedWithOneTooManyOfAnything) {
  Plan plan;
  plan.points = points(k_max_points + 1);
  EXPECT_THAT(refusal(plan), AllOf(HasSubstr("too many points"), HasSubstr("513"), HasSubstr("512")));
  plan.points = points(1);
  plan.locks.assign(k_max_locks + 1, "l");
  EXPECT_THAT(refusal(plan), HasSubstr("too many locks"));
  plan.locks.clear();
  plan.steps.assign(k_max_steps + 1, {"a", "p0", 0});
  EXPECT_THAT(refusal(plan), HasSubstr("too many events"));
  plan.steps.assign(2, {"a", "p0", 0});
  plan.edges.assign(k_max_edges + 1, {0, 1});
  EXPECT_THAT(refusal(plan), HasSubstr("too many edges"));
}

TEST(Plan, IsRefusedWithMoreActorsThanFit) {
  Plan plan;
  plan.points = points(1);
  for (int i = 0; i <= k_max_actors; ++i)
    plan.steps.push_back({"a" + std::to_string(i), "p0", 0});
  EXPECT_THAT(refusal(plan), AllOf(HasSubstr("too many actors"), HasSubstr("1024")));
}

TEST(Plan, IsRefusedWithANameThatIsEmptyOrTooLong) {
  const std::string too_long(k_name_size, 'x');
  for (const std::string& name : {std::string(), too_long}) {
    Plan plan;
    plan.points = {{name, PointKind::plain, false}};
    EXPECT_THAT(refusal(plan), HasSubstr("point name '" + name + "' is empty or longer than 95 bytes"));
    plan = {};
    plan.locks = {name};
    EXPECT_THAT(refusal(plan), HasSubstr("lock name"));
    plan = {};
    plan.points = points(1);
    plan.steps = {{name, "p0", 0}};
    EXPECT_THAT(refusal(plan), HasSubstr("actor name"));
  }
}

TEST(Plan, IsRefusedWithAStepAtAPointThatItDoesNotDeclare) {
  Plan plan;
  plan.steps = {{"a", "nowhere", 0}};
  EXPECT_THAT(refusal(plan), HasSubstr("'nowhere'"));
}

TEST(Board, FindsOnlyWhatItsPlanNames) {
  Plan plan = in_order({"a p"});
  plan.locks = {"l"};
  Board board = Board::create(plan);
  EXPECT_EQ(board.find_point("p"), 0);
  EXPECT_EQ(board.find_point("pp"), -1);
  EXPECT_EQ(board.find_lock("l"), 0);
  EXPECT_EQ(board.find_lock("p"), -1);
  EXPECT_EQ(board.point_name(0), "p");
  EXPECT_EQ(board.point_name(1), "");
  EXPECT_EQ(board.point_name(-1), "");
}

TEST(Board, StaysMappedWhenItIsMoved) {
  Board board = Board::create(in_order({"a p"}));
  const int fd = board.fd();
  Board moved = std::move(board);
  EXPECT_EQ(moved.fd(), fd);
  Board other = Board::create({});
  other = std::move(moved);
  EXPECT_EQ(other.find_point("p"), 0);
}

TEST(Board, SeenThroughASecondMappingIsTheSame) {
  Board board = Board::create(in_order({"a p"}));
  std::string error;
  auto second = Board::map(board.fd(), error);
  ASSERT_TRUE(second) << error;
  EXPECT_EQ(second->fd(), -1);
  pass(*second, enter(*second, "a"), "p");
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

// A memfd that holds the first bytes of a real board, after `change` of its header.
template <class Change> std::string map_changed(std::size_t size, Change change) {
  const Board board = Board::create({});
  const int fd = memfd_create("changed", MFD_CLOEXEC);
  EXPECT_EQ(ftruncate(fd, static_cast<off_t>(size)), 0);
  Header header{};
  EXPECT_EQ(pread(board.fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  change(header);
  EXPECT_EQ(pwrite(fd, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  std::string error = "mapped";
  Board::map(fd, error);
  close(fd);
  return error;
}

TEST(Map, AcceptsTheVeryBytesOfABoard) {
  EXPECT_EQ(map_changed(sizeof(Memory), [](Header&) {}), "mapped");
}

TEST(Map, RefusesAnotherSize) {
  EXPECT_THAT(map_changed(sizeof(Memory) - 1, [](Header&) {}), HasSubstr("not a board"));
  EXPECT_THAT(map_changed(sizeof(Memory) + 4096, [](Header&) {}), HasSubstr("not a board"));
}

TEST(Map, RefusesAnotherMagicFormatOrRecordedSize) {
  EXPECT_THAT(map_changed(sizeof(Memory), [](Header& h) { h.magic ^= 1U; }), HasSubstr("not a board"));
  EXPECT_THAT(map_changed(sizeof(Memory), [](Header& h) { h.format = 99; }),
              AllOf(HasSubstr("format 99"), HasSubstr("expected " + std::to_string(k_format))));
  EXPECT_THAT(map_changed(sizeof(Memory), [](Header& h) { h.size -= 1; }), HasSubstr("not a board"));
}

TEST(Map, RefusesADescriptorThatIsNotOpenOrCannotBeMapped) {
  std::string error;
  EXPECT_FALSE(Board::map(-1, error));
  EXPECT_THAT(error, HasSubstr("not open"));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(Board::map(ends[0], error));
  EXPECT_THAT(error, HasSubstr("not a board"));
  close(ends[0]);
  close(ends[1]);
}

} // namespace
} // namespace racelab::board::test
