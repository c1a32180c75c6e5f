#include "result/read_run.h"

#include "base/files.h"

namespace racelab::result {

tl::expected<RunResult, std::string> read_run(const std::string& file) {
  const auto text = base::read_file(file);
  if (!text) {
    return tl::unexpected<std::string>(text.error());
  }
  const auto json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) {
    return tl::unexpected<std::string>(file + ": is not JSON");
  }
  if (!json.is_object()) {
    return tl::unexpected<std::string>(file + ": is not a run's result (a JSON object)");
  }
  return from_json(json, file);
}

} // namespace racelab::result
