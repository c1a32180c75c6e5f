#include "result/names.h"
#include "sample.h"
#include "schema_check.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::result {
namespace {

using test::schema_problems;
using test::Unknown;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Json published_schema() {
  std::ifstream file(RACELAB_SOURCE_DIR "/reports/schemas/result.schema.json");
  return Json::parse(file);
}

TEST(ResultSchema, AcceptsAFullResultAndNamesEveryKeyOfIt) {
  EXPECT_THAT(schema_problems(published_schema(), to_json(sample_run()), Unknown::reported), IsEmpty());
}

TEST(ResultSchema, AcceptsAResultInWhichNothingIsKnown) {
  EXPECT_THAT(schema_problems(published_schema(), to_json(RunResult()), Unknown::reported), IsEmpty());
}

TEST(ResultSchema, AcceptsKeysThatALaterRacelabAdds) {
  Json json = to_json(sample_run());
  json["cells"][0]["power_w"] = 700;
  EXPECT_THAT(schema_problems(published_schema(), json, Unknown::allowed), IsEmpty());
  EXPECT_THAT(schema_problems(published_schema(), json, Unknown::reported), ElementsAre(HasSubstr("power_w")));
}

TEST(ResultSchema, RefusesAMissingKey) {
  Json json = to_json(sample_run());
  json["cells"][0].erase("verdict");
  EXPECT_THAT(schema_problems(published_schema(), json, Unknown::allowed), ElementsAre("$.cells[0] lacks \"verdict\""));
}

TEST(ResultSchema, RefusesAWrongTypeDeepInside) {
  Json json = to_json(sample_run());
  json["cells"][0]["trial_records"][0]["faults"][0]["event"] = "seven";
  EXPECT_THAT(schema_problems(published_schema(), json, Unknown::allowed),
              ElementsAre(HasSubstr("$.cells[0].trial_records[0].faults[0].event is not of type")));
}

TEST(ResultSchema, RefusesAnUnknownVerdictAndAnImpossibleInterval) {
  Json json = to_json(sample_run());
  json["cells"][0]["verdict"] = "fine";
  json["cells"][1]["fault_intervals"]["crash"] = {0.5, 1.5};
  EXPECT_THAT(schema_problems(published_schema(), json, Unknown::allowed),
              ElementsAre(HasSubstr("verdict is none of"), HasSubstr("crash[1] is more than 1")));
}

TEST(ResultSchema, ListsTheNamesThatTheProgramUses) {
  const Json schema = published_schema();
  const auto names = []<class Enum>(std::span<const std::pair<Enum, std::string_view>> table) {
    Json list = Json::array();
    for (const auto& [value, name] : table)
      list.push_back(name);
    return list;
  };
  const Json& defs = schema["$defs"];
  EXPECT_EQ(defs["cell"]["properties"]["verdict"]["enum"], names(names_of<Verdict>()));
  EXPECT_EQ(defs["trial"]["properties"]["schedule_status"]["enum"], names(names_of<ScheduleStatus>()));
  EXPECT_EQ(defs["event"]["properties"]["kind"]["enum"], names(names_of<EventKind>()));
  EXPECT_EQ(schema["properties"]["racelab"]["properties"]["result_format"]["const"], k_result_format);
}

TEST(SchemaCheck, ReportsAKeywordThatItDoesNotKnow) {
  EXPECT_THAT(schema_problems({{"pattern", "a+"}}, "b", Unknown::allowed), Not(IsEmpty()));
}

} // namespace
} // namespace racelab::result
