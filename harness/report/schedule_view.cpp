#include "report/schedule_view.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace racelab::report {

using result::Event;
using result::EventKind;
using result::Fault;

namespace {

constexpr int k_indent = 4;
constexpr int k_column_gap = 2;
constexpr int k_min_column = 14;
constexpr int k_max_column = 32;
constexpr int k_context = 3; // rows shown before and after a fault or a listed event, where not all are shown
constexpr std::size_t k_few_actors = 4;        // as many are shown even if some do nothing of interest
constexpr std::size_t k_max_marked_faults = 8; // a trial in which all of a hundred actors die needs no row for each

struct Row {
  std::string actor;
  std::string text;
  bool fault = false;
  bool listed = false;
};

std::string pass_text(const Event& event) {
  return printable(event.point) + (event.hit > 1 ? fmt::format("#{}", event.hit) : "");
}

Row fault_row(const Fault& fault) {
  return {fault.actor, printable(fault.message.empty() ? fault.kind : fault.message), true, false};
}

// The faults that get a row: one exception is one row, though it was nested_tracing first and actor_died later.
std::vector<const Fault*> marked(std::span<const Fault> faults) {
  std::vector<const Fault*> marks;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Fault& fault : faults)
    if (marks.size() < k_max_marked_faults &&
        (fault.message.empty() || seen.insert({fault.actor, fault.message}).second))
      marks.push_back(&fault);
  return marks;
}

// All rows in order: each fault after the last pass that is not later than its event.
std::vector<Row> rows_of(std::span<const Event> events, std::span<const Fault> faults) {
  std::vector<const Fault*> marks = marked(faults);
  const auto place = [](const Fault* fault) {
    return fault->event < 0 ? std::numeric_limits<int>::max() : fault->event;
  };
  std::stable_sort(marks.begin(), marks.end(), [&](const Fault* a, const Fault* b) { return place(a) < place(b); });

  std::vector<Row> rows;
  auto mark = marks.begin();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const int index = event.index >= 0 ? event.index : static_cast<int>(i);
    for (; mark != marks.end() && place(*mark) < index; ++mark)
      rows.push_back(fault_row(**mark));
    if (event.kind == EventKind::pass)
      rows.push_back({event.actor, pass_text(event), false, event.step >= 0});
  }
  for (; mark != marks.end(); ++mark)
    rows.push_back(fault_row(**mark));
  return rows;
}

// The actors that get a column, in natural order: all if they are few, else those with a fault or a listed event, and
// as many as the width has room for.
std::vector<std::string> choose_actors(const std::vector<Row>& rows, int width) {
  std::set<std::string> all, involved;
  std::vector<std::string> order; // most important first
  for (const bool faults : {true, false})
    for (const Row& row : rows) {
      if (row.actor.empty())
        continue;
      all.insert(row.actor);
      if ((faults ? row.fault : row.listed) && involved.insert(row.actor).second)
        order.push_back(row.actor);
    }
  if (involved.empty() || all.size() <= k_few_actors)
    for (const std::string& actor : all)
      if (!involved.contains(actor))
        order.push_back(actor);
  const auto room = static_cast<std::size_t>(std::max(1, width / (k_min_column + k_column_gap)));
  order.resize(std::min(order.size(), room));
  std::sort(order.begin(), order.end(), [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  return order;
}

// Rows in the order in which one would give them up last: faults, listed events nearest to them, then their neighbours;
// the latest where there is neither.
std::vector<std::size_t> by_importance(const std::vector<Row>& rows) {
  const auto distance_to = [&](bool Row::*anchor) {
    const int far = static_cast<int>(rows.size());
    std::vector<int> distance(rows.size(), far);
    for (std::size_t i = 0; i < rows.size(); ++i)
      distance[i] = rows[i].*anchor ? 0 : i > 0 ? std::min(far, distance[i - 1] + 1) : far;
    for (std::size_t i = rows.size(); i-- > 1;)
      distance[i - 1] = std::min(distance[i - 1], distance[i] + 1);
    return distance;
  };
  const std::vector<int> from_fault = distance_to(&Row::fault), from_listed = distance_to(&Row::listed);
  const bool all_fit = rows.size() <= k_max_schedule_rows;
  const bool anchored = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.fault || row.listed; });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (all_fit || !anchored || std::min(from_fault[i], from_listed[i]) <= k_context)
      order.push_back(i);
  const auto key = [&](std::size_t i) {
    const int rank = rows[i].fault ? 0 : rows[i].listed ? 1 : 2;
    const int distance = rank == 2 ? std::min(from_fault[i], from_listed[i]) : from_fault[i];
    return std::tuple(rank, distance, rows.size() - i);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

int lines_needed(const std::vector<bool>& chosen) {
  int lines = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    lines += chosen[i] || i == 0 || chosen[i - 1] ? 1 : 0; // a row, or the first row of a gap
  return lines;
}

// As many rows as fit, counting a line for each gap.
std::vector<bool> choose_rows(const std::vector<Row>& rows) {
  const std::vector<std::size_t> order = by_importance(rows);
  for (std::size_t count = std::min<std::size_t>(order.size(), k_max_schedule_rows); count > 0; --count) {
    std::vector<bool> chosen(rows.size(), false);
    for (std::size_t i = 0; i < count; ++i)
      chosen[order[i]] = true;
    if (lines_needed(chosen) <= k_max_schedule_rows)
      return chosen;
  }
  return std::vector<bool>(rows.size(), false);
}

struct Columns {
  std::vector<std::string> actors;
  int number = 1; // width of the row numbers
  int each = k_min_column;
  int total = 100; // of the whole line

  int start_of(const std::string& actor) const {
    const auto found = std::find(actors.begin(), actors.end(), actor);
    const int column = found == actors.end() ? 0 : static_cast<int>(found - actors.begin());
    return k_indent + number + 3 + column * (each + k_column_gap);
  }
};

Columns columns_for(const std::vector<Row>& rows, const Style& style) {
  Columns columns;
  columns.total = width_of(style);
  columns.number = static_cast<int>(fmt::formatted_size("{}", rows.size()));
  const int room = columns.total - k_indent - columns.number - 3;
  columns.actors = choose_actors(rows, room);
  for (const Row& row : rows)
    columns.each = std::max({columns.each, columns_of(printable(row.actor)), row.fault ? 0 : columns_of(row.text)});
  const int share = columns.actors.empty() ? room : room / static_cast<int>(columns.actors.size()) - k_column_gap;
  columns.each = std::min({columns.each, k_max_column, std::max(share, k_min_column)});
  return columns;
}

std::string header_line(const Columns& columns, const Style& style) {
  std::string line = std::string(k_indent, ' ') + pad_left("#", columns.number) + "   ";
  for (const std::string& actor : columns.actors)
    line += pad_right(shorten(printable(actor), columns.each), columns.each + k_column_gap);
  return paint(style, Color::dim, without_trailing_blanks(line)) + "\n";
}

// The text may run on to the edge: the columns to its right are empty in this row.
std::string row_line(const Row& row, std::size_t number, const Columns& columns, const Style& style) {
  const int start = columns.start_of(row.actor);
  std::string line = std::string(k_indent, ' ') + pad_left(fmt::format("{}", number), columns.number);
  line = pad_right(line, start);
  const Color color = row.fault ? Color::red : row.listed ? Color::bold : Color::plain;
  return line + paint(style, color, shorten(row.text, columns.total - start)) + "\n";
}

std::string gap_line(std::size_t count, const Columns& columns, const Style& style) {
  const std::string text = fmt::format("{}   {} more", pad_left("…", columns.number), count);
  return std::string(k_indent, ' ') + paint(style, Color::dim, text) + "\n";
}

} // namespace

std::string render_schedule(std::span<const Event> events, std::span<const Fault> faults, Style style) {
  std::vector<Row> rows = rows_of(events, faults);
  const Columns columns = columns_for(rows, style);
  const auto has_column = [&](const Row& row) {
    return row.actor.empty() ||
           std::find(columns.actors.begin(), columns.actors.end(), row.actor) != columns.actors.end();
  };
  std::set<std::string> others;
  for (const Row& row : rows)
    if (!has_column(row))
      others.insert(row.actor);
  std::erase_if(rows, [&](const Row& row) { return !has_column(row); });
  if (rows.empty())
    return {};

  const std::vector<bool> chosen = choose_rows(rows);
  std::string text = header_line(columns, style);
  std::size_t gap = 0;
  for (std::size_t i = 0; i <= rows.size(); ++i) {
    if (i < rows.size() && !chosen[i]) {
      ++gap;
      continue;
    }
    if (gap > 0)
      text += gap_line(gap, columns, style);
    gap = 0;
    if (i < rows.size())
      text += row_line(rows[i], i + 1, columns, style);
  }
  if (!others.empty())
    text += std::string(k_indent, ' ') +
            paint(style, Color::dim,
                  fmt::format("not shown: {} other actor{}", others.size(), others.size() == 1 ? "" : "s")) +
            "\n";
  return text;
}

} // namespace racelab::report
