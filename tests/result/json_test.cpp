#include "base/error.h"
#include "result/names.h"
#include "sample.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::result {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items())
    keys.push_back(key);
  return keys;
}

std::string error_of(const Json& json) {
  try {
    from_json(json, "result.json");
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(ResultJson, ReadsBackWhatItWrote) {
  const Json json = to_json(sample_run());
  EXPECT_EQ(to_json(from_json(Json::parse(json.dump()), "result.json")), json);
  EXPECT_EQ(to_json(from_json(to_json(RunResult()), "result.json")), to_json(RunResult()));
}

TEST(ResultJson, IsWrittenTrialByTrialAsItIsAtOnce) {
  RunResult run = sample_run();
  run.notes = {"a text with \n   \"trial_records\": [] in it"};
  run.cells.front().trial_results.push_back(sample_trial());
  run.cells.push_back(run.cells.front());
  EXPECT_EQ(to_text(run), to_json(run).dump(1) + "\n");
  run.cells.clear();
  EXPECT_EQ(to_text(run), to_json(run).dump(1) + "\n");
}

TEST(ResultJson, ReadsTheValuesIntoTheirPlaces) {
  const RunResult run = from_json(to_json(sample_run()), "result.json");
  ASSERT_EQ(run.cells.size(), 2u);
  const CellResult& cell = run.cells[0];
  EXPECT_EQ(run.machine.gpus, sample_run().machine.gpus);
  EXPECT_EQ(run.toolkits.at(0).name, "current");
  EXPECT_EQ(run.toolkits.at(0).missing_points, sample_run().toolkits[0].missing_points);
  EXPECT_EQ(cell.verdict, Verdict::failed);
  EXPECT_FALSE(cell.skipped.has_value());
  EXPECT_EQ(run.cells[1].skipped, "needs 2 GPUs, there is none");
  EXPECT_EQ(cell.faults.at(1).second.n, 4);
  EXPECT_DOUBLE_EQ(cell.faults.at(0).second.high, 0.88);
  EXPECT_EQ(cell.expected, sample_cell().expected);
  EXPECT_EQ(cell.total_tokens_per_s.n, 5);
  EXPECT_EQ(cell.tokens_per_s.at(1).first, "drafter1");
  EXPECT_EQ(cell.tokens_per_s.at(1).second.n, 0);
  const TrialResult& trial = cell.trial_results.at(0);
  EXPECT_EQ(trial.status, ScheduleStatus::realised);
  EXPECT_EQ(trial.faults.at(0).event, 7);
  EXPECT_EQ(trial.faults.at(1).event, -1);
  EXPECT_EQ(trial.schedule.at(0).point, "fx.trace.enter");
  EXPECT_EQ(trial.schedule.at(0).step, 0);
  EXPECT_EQ(trial.schedule.at(0).index, 4);
}

TEST(ResultJson, HasItsKeysInAStableOrder) {
  const Json json = to_json(sample_run());
  EXPECT_THAT(keys_of(json), ElementsAre("racelab", "command", "started", "seconds", "scenario", "machine", "toolkits",
                                         "notes", "cells", "directory", "exit"));
  EXPECT_THAT(keys_of(json["cells"][0]),
              ElementsAre("id", "toolkit", "cache", "layout", "layout_text", "interleaving", "mitigation", "controlled",
                          "trials", "realised", "unreachable", "impossible", "diverged", "unproved", "skipped",
                          "faults", "fault_trials", "fault_intervals", "expected", "verdict", "tokens_per_s",
                          "first_step_s", "cache_proof", "cache_changes", "cache_outcomes", "cache_mended",
                          "tracer_entries", "reasons", "repeat", "trial_records"));
  EXPECT_EQ(json["machine"]["gpus"].dump(), R"([{"name":"NVIDIA H200"},{"name":"NVIDIA H200"}])");
  EXPECT_EQ(json["cells"][0]["fault_intervals"].dump(), R"({"nested_tracing":[0.23,0.88],"deadlock":[0.0,0.49]})");
  EXPECT_EQ(json["racelab"].dump(), R"({"version":"0.1.0","git":"0123abc","result_format":1})");
}

TEST(ResultJson, WritesNullForNumbersThatDoNotExist) {
  RunResult run = sample_run();
  run.cells[0].total_tokens_per_s = {};
  run.cells[0].trial_results[0].wall_s = std::nan("");
  run.cells[0].trial_results[0].overhead_s = std::numeric_limits<double>::infinity();
  const Json cell = to_json(run)["cells"][0];
  EXPECT_EQ(cell["tokens_per_s"]["total"].dump(), R"({"median":null,"low":null,"high":null,"n":0})");
  EXPECT_TRUE(cell["trial_records"][0]["wall_s"].is_null());
  EXPECT_TRUE(cell["trial_records"][0]["overhead_s"].is_null());
  EXPECT_TRUE(cell["trial_records"][0]["throughput"][1]["first_step_s"].is_null());
  EXPECT_TRUE(cell["trial_records"][0]["faults"][1]["event"].is_null());
  EXPECT_TRUE(to_json(RunResult())["machine"]["cpus"].is_null());
}

TEST(ResultJson, CanBeWrittenWhateverBytesAPipelinePrinted) {
  RunResult run = sample_run();
  run.cells[0].trial_results[0].faults[0].message = "caf\xe9 \xff\xfe \x01 ünï";
  const std::string text = to_json(run).dump();
  const RunResult read = from_json(Json::parse(text), "result.json");
  EXPECT_EQ(read.cells[0].trial_results[0].faults[0].message, "caf\uFFFD \uFFFD\uFFFD \x01 ünï");
}

TEST(ResultJson, LeavesOutWhatAnEventHasNot) {
  Event event;
  event.kind = EventKind::actor_end;
  event.time_ns = 5;
  event.actor = "drafter0";
  EXPECT_EQ(to_json(event).dump(), R"({"kind":"actor_end","time_ns":5,"actor":"drafter0"})");
  event = sample_trial().schedule[0];
  EXPECT_EQ(to_json(event).dump(), R"({"kind":"pass","time_ns":1000,"actor":"drafter0","point":"fx.trace.enter",)"
                                   R"("hit":1,"waited_ns":20,"step":0,"index":4})");
}

TEST(ResultFromJson, IgnoresUnknownKeysAndFillsInMissingOnes) {
  Json json = to_json(sample_run());
  json["later"] = {{"x", 1}};
  json["cells"][0]["later"] = "y";
  json["cells"][0].erase("fault_trials");
  json["cells"][0].erase("fault_intervals");
  json["cells"][0].erase("trial_records");
  const RunResult run = from_json(json, "result.json");
  EXPECT_EQ(run.cells.at(0).faults.at(1).second.n, 5); // the cell's trials
  EXPECT_DOUBLE_EQ(run.cells.at(0).faults.at(1).second.high, 1);
  EXPECT_TRUE(run.cells.at(0).trial_results.empty());
}

TEST(ResultFromJson, SaysWhichValueHasAWrongType) {
  Json json = to_json(sample_run());
  json["cells"][0]["trial_records"][0]["faults"][0]["message"] = 7;
  EXPECT_EQ(error_of(json), "result.json: cells[0].trial_records[0].faults[0].message must be a text, is a number");
  json = to_json(sample_run());
  json["cells"] = {{"cold", 1}};
  EXPECT_EQ(error_of(json), "result.json: cells must be an array, is an object");
  json = to_json(sample_run());
  json["cells"][0]["trials"] = 2.5;
  EXPECT_EQ(error_of(json), "result.json: cells[0].trials must be an integer, is a number");
  json["cells"][0]["trials"] = std::int64_t{1} << 40;
  EXPECT_EQ(error_of(json), "result.json: cells[0].trials is out of range: 1099511627776");
}

TEST(ResultFromJson, ListsTheNamesThatItKnows) {
  Json json = to_json(sample_run());
  json["cells"][0]["verdict"] = "fine";
  EXPECT_EQ(error_of(json), "result.json: cells[0].verdict must be one of expected, ok, failed, flaky, fixed, skipped, "
                            "inconclusive, is 'fine'");
}

TEST(ResultFromJson, RefusesAnIntervalThatIsNone) {
  Json json = to_json(sample_run());
  json["cells"][0]["fault_intervals"]["deadlock"] = {0.5};
  EXPECT_EQ(error_of(json), "result.json: cells[0].fault_intervals.deadlock must be [low, high]");
}

TEST(ResultFromJson, RefusesALaterFormatAndSaysWhatReadsIt) {
  Json json = to_json(sample_run());
  json["racelab"]["result_format"] = k_result_format + 1;
  json["racelab"]["version"] = "9.0.0";
  EXPECT_THAT(error_of(json), AllOf(HasSubstr("result.json: result format 2, written by racelab 9.0.0"),
                                    HasSubstr("use racelab 9.0.0 or later")));
}

TEST(ResultFromJson, RefusesWhatIsNoResult) {
  EXPECT_THAT(error_of(Json::object()), HasSubstr("not a result of racelab"));
  EXPECT_EQ(error_of(Json::array()), "result.json: the file must be an object, is an array");
  EXPECT_THAT(error_of({{"racelab", {{"result_format", 0}}}}), HasSubstr("must be at least 1, is 0"));
}

template <class Enum> void expect_names_to_read_back() {
  for (const auto& [value, name] : names_of<Enum>()) {
    EXPECT_EQ(to_string(value), name);
    EXPECT_EQ(from_name<Enum>(name), value);
  }
  EXPECT_EQ(from_name<Enum>("no such name"), std::nullopt);
}

TEST(ResultNames, ReadBackAsTheSameValue) {
  expect_names_to_read_back<EventKind>();
  expect_names_to_read_back<BoardState>();
  expect_names_to_read_back<WaitKind>();
  expect_names_to_read_back<EndKind>();
  expect_names_to_read_back<ScheduleStatus>();
  expect_names_to_read_back<Verdict>();
}

} // namespace
} // namespace racelab::result
