#include "report/markdown.h"

#include "base/text.h"
#include "report/cell_text.h"
#include "report/display.h"
#include "report/schedule_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace racelab::report {

using result::CellResult;
using result::RunResult;

namespace {

constexpr std::size_t k_max_faults = 3;
constexpr std::size_t k_max_reasons = 2;
constexpr int k_max_text_columns = 1000;

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// A code span, whatever the text (CommonMark 6.1: a longer fence, and a blank between it and a backtick).
std::string code(std::string_view text) {
  if (text.empty())
    return {};
  const std::string fence(longest_run_of_backticks(text) + 1, '`');
  const std::string blank = text.front() == '`' || text.back() == '`' ? " " : "";
  return fence + blank + std::string(text) + blank + fence;
}

std::string code_block(const std::string& text) {
  const std::string fence(std::max<std::size_t>(3, longest_run_of_backticks(text) + 1), '`');
  return fence + "text\n" + text + fence + "\n";
}

// In a table a bar ends the column even within code (GitHub Flavored Markdown 4.10).
std::string in_table(std::string text) {
  for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2)
    text.insert(i, 1, '\\');
  return text;
}

std::string bounded(std::string_view text) {
  return shorten(printable(text), k_max_text_columns);
}

std::string facts(const RunResult& run) {
  std::string text;
  for (const result::ToolkitInfo& toolkit : run.toolkits)
    text += fmt::format("- toolkit {}: {}\n", code(printable(toolkit.name)), code(toolkit_text(toolkit)));
  text += fmt::format("- machine: {} CPUs, {}\n", run.machine.cpus, code(gpus_text(run.machine)));
  for (const std::string& note : run.notes)
    text += fmt::format("- {}\n", code(bounded(note)));
  text += fmt::format("- scenario {}, racelab {}\n", code(printable(run.scenario_file)),
                      code(printable(run.version + (run.git.empty() ? "" : " (" + run.git + ")"))));
  return text;
}

std::string table(const RunResult& run) {
  if (run.cells.empty())
    return "No trial was finished.\n";
  std::string text = "| cell | realised | faults | tok/s (each) | total | verdict |\n|---|---|---|---|---|---|\n";
  for (const CellResult& cell : run.cells) {
    std::vector<std::string> faults;
    for (const FaultText& fault : fault_texts(cell))
      faults.push_back(code(to_string(fault)));
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", in_table(code(cell_name(cell))), realised_text(cell),
                        in_table(base::join(faults, "<br>")), folded_rates(cell), rate_text(cell.total_tokens_per_s),
                        verdict_word(cell.verdict));
  }
  return text;
}

std::string reasons(const RunResult& run) {
  std::string text;
  for (const CellResult& cell : run.cells) {
    std::vector<std::string> its_reasons = telling_reasons(cell);
    its_reasons.resize(std::min(its_reasons.size(), k_max_reasons));
    for (const std::string& reason : its_reasons)
      text += fmt::format("- {}: {}\n", code(cell_name(cell)), code(bounded(reason)));
  }
  return text;
}

std::string fault_section(const RunResult& run, const ShownFault& shown) {
  std::string text =
      fmt::format("\n### {}: {}\n\n", shown.expected ? "Expected fault" : "Fault", code(fault_title(shown)));
  std::string block = render_schedule(shown.trial->schedule, shown.trial->faults, Style{});
  if (!shown.fault->message.empty())
    block += bounded(shown.fault->message) + "\n";
  if (!shown.fault->others.empty())
    block += "others: " + bounded(shown.fault->others) + "\n";
  if (!block.empty())
    text += code_block(block);
  const AgainCommand again = command_to_see_again(run, shown);
  const std::string repeat = printable(shown.cell->repeat);
  std::string commands = again.label.empty() ? "" : again.command + "\n";
  if (again.label == "replay" && !repeat.empty())
    commands += repeat + "\n";
  if (!commands.empty())
    text += "\nTo see it again:\n\n" + code_block(commands);
  return text;
}

std::string cache_outcomes(const RunResult& run) {
  const std::vector<CacheOutcomeRow> rows = cache_outcome_rows(run);
  std::string text =
      rows.empty() ? "" : "\n| cache | what the program made of it | what was done to it |\n|---|---|---|\n";
  for (const CacheOutcomeRow& row : rows)
    text += fmt::format("| {} | {} | {} |\n", in_table(code(row.cell)), row.outcome, in_table(bounded(row.change)));
  return text;
}

} // namespace

std::string render_markdown(const RunResult& run) {
  std::string text =
      fmt::format("## racelab: {}\n\n{}\n{}", code(printable(run.scenario_name)), facts(run), table(run));
  const std::string why = reasons(run);
  if (!why.empty())
    text += "\n" + why;
  text += cache_outcomes(run);
  const FaultChoice choice = choose_faults(run, k_max_faults);
  for (const ShownFault& shown : choice.shown)
    text += fault_section(run, shown);
  if (choice.more > 0)
    text +=
        fmt::format("\n{} more fault{} of this sort: see `result.json`.\n", choice.more, choice.more == 1 ? "" : "s");
  text += fmt::format("\n{} · exit {}", totals_text(run), run.exit_code);
  return text + (run.exit_meaning.empty() ? "" : " (" + printable(run.exit_meaning) + ")") + "\n";
}

} // namespace racelab::report
