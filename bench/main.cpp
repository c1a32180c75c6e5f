// The benchmarks; or, with --on-board first, another program as a pipeline of a trial would be: the board has the
// points that its Python agent is told to install, the order of events listed there is of others, and its log is thrown
// away.
//
//     bench_cost [options of Google Benchmark]
//     bench_cost --prepare SNAPSHOT TARGET
//     bench_cost --on-board POINT,POINT,... -- COMMAND...
#include "bench/prepare.h"
#include "board/board.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::bench {

namespace {

// Events of two actors that never come, so that every pass has an open schedule to look at.
board::Plan plan_with(const std::string& points) {
  board::Plan plan;
  std::istringstream names(points);
  for (std::string name; std::getline(names, name, ',');) {
    plan.points.push_back({name, board::PointKind::plain, false});
  }
  plan.locks = {"compile_lock"};
  plan.points.push_back({"elsewhere", board::PointKind::plain, false});
  for (int i = 0; i < 8; ++i) {
    plan.steps.push_back({i % 2 == 0 ? "first" : "second", "elsewhere", 0});
    if (i > 0) {
      plan.edges.emplace_back(i - 1, i);
    }
  }
  return plan;
}

// The board's descriptor stays open in the program that is executed.
int run_on_board(const std::string& points, char** command) {
  static const board::Board board = board::Board::create(plan_with(points));
  struct stat info {};
  fstat(board.fd(), &info);
  const std::string spec = std::to_string(board.fd()) + ":" + std::to_string(info.st_ino) + ":/proc/" +
                           std::to_string(getpid()) + "/fd/" + std::to_string(board.fd());
  setenv("RACELAB_BOARD", spec.c_str(), 1);
  execvp(command[0], command);
  std::perror(command[0]);
  return 127;
}

} // namespace

} // namespace racelab::bench

int main(int argc, char** argv) {
  if (argc > 4 && std::strcmp(argv[1], "--on-board") == 0) {
    return racelab::bench::run_on_board(argv[2], argv + 4);
  }
  if (argc == 4 && std::strcmp(argv[1], "--prepare") == 0) {
    return racelab::bench::prepare(argv[2], argv[3]);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
