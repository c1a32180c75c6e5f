#include "report/junit.h"

#include "base/text.h"
#include "report/cell_text.h"
#include "report/display.h"
#include "report/schedule_view.h"

#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

namespace racelab::report {

using result::CellResult;
using result::RunResult;
using result::Verdict;

namespace {

constexpr int k_max_message_columns = 500; // a CI page shows it in one line
constexpr int k_max_reason_columns = 4000;

enum class Outcome { passed, failed, skipped, error };

Outcome outcome_of(const CellResult& cell) {
  switch (cell.verdict) {
  case Verdict::expected:
  case Verdict::ok:
    return Outcome::passed;
  case Verdict::failed:
  case Verdict::fixed:
    return Outcome::failed;
  case Verdict::flaky:
    return has_unexpected_fault(cell) ? Outcome::failed : Outcome::passed;
  case Verdict::skipped:
    return Outcome::skipped;
  case Verdict::inconclusive:
    return Outcome::error;
  }
  return Outcome::error;
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(printable(value).c_str());
}

void set_seconds(pugi::xml_node node, double seconds) {
  node.append_attribute("time").set_value(fmt::format("{:.3f}", seconds).c_str());
}

void add_property(pugi::xml_node properties, const std::string& name, const std::string& value) {
  if (value.empty())
    return;
  const pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", value);
}

double wall_seconds(const CellResult& cell) {
  double seconds = 0;
  for (const result::TrialResult& trial : cell.trial_results)
    seconds += trial.wall_s;
  return seconds;
}

void add_cell_properties(pugi::xml_node test, const CellResult& cell) {
  const pugi::xml_node properties = test.append_child("properties");
  add_property(properties, "toolkit", cell.toolkit);
  add_property(properties, "cache", cell.cache);
  add_property(properties, "layout", cell.layout_text.empty() ? cell.layout : cell.layout_text);
  add_property(properties, "interleaving", cell.interleaving);
  add_property(properties, "mitigation", cell.mitigation);
  add_property(properties, "verdict", to_string(cell.verdict));
  add_property(properties, "trials", fmt::format("{}", cell.trials));
  add_property(properties, "realised", realised_text(cell));
  for (const auto& [kind, seen] : cell.faults)
    add_property(properties, "fault." + kind,
                 fmt::format("{}/{} [{:.2f},{:.2f}]", seen.k, seen.n, seen.low, seen.high));
  if (cell.total_tokens_per_s.n > 0)
    add_property(properties, "tokens_per_s", fmt::format("{:.6g}", cell.total_tokens_per_s.median));
}

std::string summary_of(const CellResult& cell) {
  const std::vector<std::string> reasons = telling_reasons(cell);
  return shorten(verdict_word(cell.verdict) + (reasons.empty() ? "" : ": " + reasons.front()), k_max_message_columns);
}

// Reasons, faults, and the first fault of the cell with its schedule.
std::string details_of(const RunResult& run, const CellResult& cell) {
  std::string text;
  for (const std::string& reason : telling_reasons(cell))
    text += shorten(reason, k_max_reason_columns) + "\n";
  for (const FaultText& fault : fault_texts(cell))
    text += to_string(fault) + "\n";
  RunResult only_this;
  only_this.directory = run.directory;
  only_this.cells.push_back(cell);
  for (const ShownFault& shown : choose_faults(only_this, 1).shown) {
    text += "\nFAULT " + fault_title(shown) + "\n";
    text += render_schedule(shown.trial->schedule, shown.trial->faults, Style{});
    text += shorten(printable(shown.fault->message), k_max_reason_columns) + "\n";
    const AgainCommand again = command_to_see_again(run, shown);
    if (again.label == "replay")
      text += "replay: " + again.command + "\n";
  }
  if (!cell.repeat.empty())
    text += "repeat: " + printable(cell.repeat) + "\n";
  return text;
}

void add_test(pugi::xml_node suite, const RunResult& run, const CellResult& cell) {
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "classname", run.scenario_name);
  set(test, "name", cell.id);
  set_seconds(test, wall_seconds(cell));
  add_cell_properties(test, cell);
  const Outcome outcome = outcome_of(cell);
  if (outcome == Outcome::passed)
    return;
  pugi::xml_node problem = test.append_child(outcome == Outcome::failed    ? "failure"
                                             : outcome == Outcome::skipped ? "skipped"
                                                                           : "error");
  set(problem, "message", summary_of(cell));
  if (outcome == Outcome::skipped)
    return;
  set(problem, "type", to_string(cell.verdict));
  problem.text().set(details_of(run, cell).c_str());
}

void add_counts(pugi::xml_node node, const RunResult& run) {
  int failures = 0, errors = 0, skipped = 0;
  for (const CellResult& cell : run.cells) {
    const Outcome outcome = outcome_of(cell);
    failures += outcome == Outcome::failed ? 1 : 0;
    errors += outcome == Outcome::error ? 1 : 0;
    skipped += outcome == Outcome::skipped ? 1 : 0;
  }
  set(node, "tests", fmt::format("{}", run.cells.size()));
  set(node, "failures", fmt::format("{}", failures));
  set(node, "errors", fmt::format("{}", errors));
  set(node, "skipped", fmt::format("{}", skipped));
  set_seconds(node, run.seconds);
}

} // namespace

std::string render_junit(const RunResult& run) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node suites = document.append_child("testsuites");
  set(suites, "name", "racelab");
  add_counts(suites, run);
  pugi::xml_node suite = suites.append_child("testsuite");
  set(suite, "name", run.scenario_name);
  add_counts(suite, run);
  if (!run.started.empty())
    set(suite, "timestamp", run.started);
  const pugi::xml_node properties = suite.append_child("properties");
  add_property(properties, "racelab", run.version + (run.git.empty() ? "" : " (" + run.git + ")"));
  add_property(properties, "scenario", run.scenario_file);
  add_property(properties, "scenario_digest", run.scenario_digest);
  add_property(properties, "machine", fmt::format("{} CPUs, {}", run.machine.cpus, gpus_text(run.machine)));
  for (const result::ToolkitInfo& toolkit : run.toolkits)
    add_property(properties, "toolkit." + toolkit.name, toolkit_text(toolkit));
  for (const CellResult& cell : run.cells)
    add_test(suite, run, cell);
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

} // namespace racelab::report
