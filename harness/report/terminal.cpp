#include "report/terminal.h"

#include "base/text.h"
#include "report/cell_text.h"
#include "report/schedule_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace racelab::report {

using result::CellResult;
using result::RunResult;

namespace {

constexpr int k_label_width = 9;
constexpr std::size_t k_max_fault_blocks = 3;
constexpr int k_max_note_lines = 3;
constexpr int k_max_message_lines = 3;

// Text behind a label, further lines below the first.
std::string labelled(std::string_view label, std::string_view text, const Style& style) {
  std::string result;
  const int room = width_of(style) - k_label_width;
  for (const std::string& line : wrap(text, room, k_max_note_lines)) {
    result += paint(style, Color::dim, pad_right(label, k_label_width)) + line + "\n";
    label = {};
  }
  return result;
}

// "cache: warm snapshot" -> {"cache", "warm snapshot"}; anything else is a "note".
std::pair<std::string, std::string> split_note(const std::string& note) {
  const std::size_t colon = note.find(": ");
  const bool short_word = colon != std::string::npos && colon > 0 && colon < static_cast<std::size_t>(k_label_width) &&
                          std::all_of(note.begin(), note.begin() + static_cast<std::ptrdiff_t>(colon),
                                      [](char c) { return c >= 'a' && c <= 'z'; });
  if (!short_word)
    return {"note", note};
  return {note.substr(0, colon), note.substr(colon + 2)};
}

std::vector<std::string> layouts_of(const RunResult& run) {
  std::vector<std::string> layouts;
  for (const CellResult& cell : run.cells) {
    std::string text = printable(cell.layout_text);
    if (!text.empty() && std::find(layouts.begin(), layouts.end(), text) == layouts.end())
      layouts.push_back(std::move(text));
  }
  return layouts;
}

// Lines under the title of a fault that say what the column view has no room for.
std::string indented(std::string_view label, const std::string& text, const Style& style) {
  std::string result;
  std::string head = "  " + pad_right(label, k_label_width);
  for (const std::string& line : wrap(text, width_of(style) - columns_of(head), k_max_message_lines)) {
    result += paint(style, Color::dim, head) + line + "\n";
    head = std::string(static_cast<std::size_t>(columns_of(head)), ' ');
  }
  return result;
}

std::string fault_block(const RunResult& run, const ShownFault& shown, const Style& style) {
  std::string text;
  std::string_view word = "FAULT";
  for (const std::string& line : wrap(fault_title(shown), width_of(style) - 6, k_max_message_lines)) {
    text += pad_right("", word.empty() ? 6 : 0) + paint(style, shown.expected ? Color::yellow : Color::red, word) +
            (word.empty() ? "" : " ") + line + "\n";
    word = {};
  }
  std::string view;
  if (!shown.trial->schedule.empty())
    view = render_schedule(shown.trial->schedule, shown.trial->faults, style);
  text += view;
  const std::string message = printable(shown.fault->message);
  if (!message.empty() && view.find(message) == std::string::npos)
    text += indented("message:", message, style);
  if (!shown.fault->others.empty())
    text += indented("others:", printable(shown.fault->others), style);
  const AgainCommand again = command_to_see_again(run, shown);
  if (!again.label.empty())
    text += paint(style, Color::dim, "  " + pad_right(again.label + ":", k_label_width)) + again.command + "\n";
  return text;
}

// Entries of all cells with one cache state.
struct TracerGroup {
  std::string cache;
  std::map<std::string, long> entries;
};

std::vector<TracerGroup> tracer_groups(const RunResult& run) {
  std::vector<TracerGroup> groups;
  for (const CellResult& cell : run.cells) {
    if (cell.tracer_entries.empty())
      continue;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const TracerGroup& g) { return g.cache == cell.cache; });
    if (group == groups.end())
      group = groups.insert(groups.end(), TracerGroup{cell.cache, {}});
    for (const auto& [entry, count] : cell.tracer_entries)
      group->entries[entry] += count;
  }
  return groups;
}

std::string tracer_text(const TracerGroup& group) {
  std::vector<std::pair<std::string, long>> entries(group.entries.begin(), group.entries.end());
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  long total = 0;
  for (const auto& [entry, count] : entries)
    total += count;
  std::vector<std::string> parts;
  parts.reserve(entries.size());
  for (const auto& [entry, count] : entries)
    parts.push_back(count > 0 ? fmt::format("{} × {}", count, printable(entry))
                              : fmt::format("{}: 0 of {}", printable(entry), total));
  return base::join(parts, ", ");
}

} // namespace

std::string render_header(const RunResult& run, Style style) {
  std::string text;
  std::vector<std::string> layouts = layouts_of(run);
  for (const result::ToolkitInfo& toolkit : run.toolkits) {
    std::string line = printable(toolkit.name) + ": " + toolkit_text(toolkit) + ", " + gpus_text(run.machine);
    const std::string with_layout = layouts.size() == 1 ? line + " → layout " + layouts.front() : "";
    if (!with_layout.empty() && columns_of(with_layout) <= width_of(style) - k_label_width) {
      line = with_layout;
      layouts.clear();
    }
    text += labelled("toolkit", line, style);
    for (const auto& [point, why] : toolkit.missing_points)
      text += labelled("", printable(fmt::format("{} lacks the point {}: {}", toolkit.name, point, why)), style);
  }
  for (const std::string& layout : layouts)
    text += labelled("layout", layout, style);
  for (const std::string& note : run.notes) {
    const auto [label, rest] = split_note(note);
    text += labelled(label, printable(rest), style);
  }
  return text;
}

std::string render_faults(const RunResult& run, Style style) {
  const FaultChoice choice = choose_faults(run, k_max_fault_blocks);
  std::string text;
  for (const ShownFault& shown : choice.shown)
    text += (text.empty() ? "" : "\n") + fault_block(run, shown, style);
  if (choice.more > 0)
    text += fmt::format("  {} more fault{} of this sort: see result.json\n", choice.more, choice.more == 1 ? "" : "s");
  return text;
}

std::string render_cache_outcomes(const RunResult& run, Style style) {
  const std::vector<CacheOutcomeRow> rows = cache_outcome_rows(run);
  if (rows.empty())
    return {};
  int cell_width = 0, outcome_width = 0;
  for (const CacheOutcomeRow& row : rows) {
    cell_width = std::max(cell_width, columns_of(row.cell));
    outcome_width = std::max(outcome_width, columns_of(row.outcome));
  }
  std::string text = "What the program made of its cache\n";
  for (const CacheOutcomeRow& row : rows) {
    const std::string head =
        "  " + pad_right(row.cell, cell_width) + "   " + pad_right(row.outcome, outcome_width) + "   ";
    const auto lines = wrap(row.change, std::max(width_of(style) - columns_of(head), 20), 1);
    text += head + (lines.empty() ? "" : lines.front()) + "\n";
  }
  return text;
}

std::string render_tracer_entries(const RunResult& run, Style style) {
  const std::vector<TracerGroup> groups = tracer_groups(run);
  const auto traced = [](const TracerGroup& group) {
    return std::any_of(group.entries.begin(), group.entries.end(), [](const auto& entry) { return entry.second > 0; });
  };
  if (std::none_of(groups.begin(), groups.end(), traced))
    return {}; // of a program that never traces, "create_block_mask: 0 of 0" says nothing
  std::string text = "Tracer.trace was entered by\n";
  int width = 0;
  for (const TracerGroup& group : groups)
    width = std::max(width, columns_of(printable(group.cache)));
  for (const TracerGroup& group : groups) {
    std::string head = "  " + pad_right(printable(group.cache), width) + "   ";
    for (const std::string& line : wrap(tracer_text(group), width_of(style) - columns_of(head), k_max_note_lines)) {
      text += head + line + "\n";
      head = std::string(static_cast<std::size_t>(columns_of(head)), ' ');
    }
  }
  return text;
}

std::string render_footer(const RunResult& run, Style style) {
  std::string text = totals_text(run);
  if (!run.directory.empty())
    text += " · results " + printable(run.directory);
  text += " · " + paint(style, run.exit_code == 0 ? Color::green : Color::red, fmt::format("exit {}", run.exit_code));
  if (!run.exit_meaning.empty())
    text += " (" + printable(run.exit_meaning) + ")";
  return text + "\n";
}

std::string render_terminal(const RunResult& run, Style style) {
  std::string text;
  for (const std::string& part : {render_header(run, style), render_table(run, style), render_faults(run, style),
                                  render_cache_outcomes(run, style), render_tracer_entries(run, style)}) {
    if (!part.empty())
      text += part + "\n";
  }
  return text + render_footer(run, style);
}

} // namespace racelab::report
