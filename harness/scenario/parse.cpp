#include "scenario/parse.h"

#include "base/digest.h"
#include "scenario/document.h"
#include "scenario/keys.h"
#include "scenario/names.h"
#include "scenario/overrides.h"
#include "scenario/read.h"
#include "scenario/shape.h"

namespace racelab::scenario {

tl::expected<Scenario, std::vector<base::Diagnostic>> parse_scenario(const std::string& text, const std::string& file,
                                                                     const std::string& directory,
                                                                     const Vocabulary& vocabulary,
                                                                     const std::vector<Override>& overrides) {
  Diagnostics diagnostics;
  Value document = parse_document(text, file, diagnostics);
  if (document.kind == Value::Kind::null)
    return tl::unexpected(diagnostics.sorted());
  if (document.kind == Value::Kind::map)
    for (const Override& one : overrides)
      apply_override(document, one, diagnostics);

  // Each step goes on with what the one before found right, so that all errors of a file come out at once.
  const NameTables names = collect_names(document, vocabulary);
  validate(document, scenario_shape(vocabulary), names, diagnostics);

  Scenario scenario;
  scenario.file = file;
  scenario.directory = directory;
  scenario.digest = base::digest(text);
  read_scenario(document, names, scenario, diagnostics);
  check_scenario(document, names, vocabulary, scenario, diagnostics);
  if (!diagnostics.empty())
    return tl::unexpected(diagnostics.sorted());
  return scenario;
}

} // namespace racelab::scenario
