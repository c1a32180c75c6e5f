// The table of cells.
#include "report/cell_text.h"
#include "report/terminal.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace racelab::report {

using result::CellResult;
using result::RunResult;
using result::Verdict;

namespace {

constexpr std::size_t k_max_actor_columns = 4;
constexpr std::size_t k_max_reasons = 2;
constexpr int k_max_reason_lines = 3;
constexpr int k_indent = 2;
constexpr int k_deep_indent = 6;

// What the table gives up to fit a width; tried in the order of k_plans.
struct Plan {
  int gap;             // blanks between columns
  bool interval_below; // a fault's interval on a line of its own
  bool fold_actors;    // rates as least…most instead of one per actor
  bool stacked;        // the cell's name on a line of its own
};
constexpr std::array<Plan, 8> k_plans = {{{3, false, false, false},
                                          {2, false, false, false},
                                          {2, true, false, false},
                                          {2, false, true, false},
                                          {2, true, true, false},
                                          {3, false, false, true},
                                          {3, true, false, true},
                                          {2, true, true, true}}};

struct Line {
  std::string cell, realised, fault, rates, total, verdict;
};

struct Row {
  std::vector<Line> lines; // the first has everything, the others go on with the faults
  const CellResult* cell = nullptr;
};

std::vector<std::string> actors_of(const RunResult& run) {
  std::vector<std::string> actors;
  for (const CellResult& cell : run.cells)
    for (const auto& [actor, spread] : cell.tokens_per_s)
      if (std::find(actors.begin(), actors.end(), actor) == actors.end())
        actors.push_back(actor);
  std::sort(actors.begin(), actors.end(),
            [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  return actors;
}

bool has_total(const RunResult& run) {
  return std::any_of(run.cells.begin(), run.cells.end(),
                     [](const CellResult& cell) { return cell.total_tokens_per_s.n > 0; });
}

// "drafter" for drafter0, drafter1, …; empty if they share no such name.
std::string common_stem(const std::vector<std::string>& actors) {
  const auto stem_of = [](const std::string& actor) {
    return actor.substr(0, actor.find_last_not_of("0123456789") + 1);
  };
  const std::string stem = actors.empty() ? "" : stem_of(actors.front());
  const bool common =
      std::all_of(actors.begin(), actors.end(), [&](const auto& actor) { return stem_of(actor) == stem; });
  return common ? stem : "";
}

// The rates of one cell or the heading above them, a column for each actor.
class RateColumns {
public:
  RateColumns(const RunResult& run, bool fold) : m_actors(actors_of(run)), m_stem(printable(common_stem(m_actors))) {
    m_folded = m_actors.size() > 1 && (fold || m_actors.size() > k_max_actor_columns);
    m_named = m_stem.empty() && m_actors.size() > 1;
    for (const std::string& actor : m_actors) {
      int width = m_named ? columns_of(printable(actor)) : 5;
      for (const CellResult& cell : run.cells)
        width = std::max(width, columns_of(rate_of(cell, actor)));
      m_widths.push_back(width);
    }
  }

  bool any() const { return !m_actors.empty(); }

  std::string heading() const {
    if (m_actors.empty())
      return {};
    if (m_actors.size() == 1)
      return printable(m_actors.front()) + " tok/s";
    if (!m_named)
      return m_stem + (m_folded ? " tok/s" : " tok/s (each)");
    if (m_folded)
      return "tok/s (each)";
    return joined([](const std::string& actor) { return printable(actor); }) + " tok/s";
  }

  std::string of(const CellResult& cell) const {
    if (cell.trials == 0)
      return {};
    return m_folded ? folded_rates(cell) : joined([&](const std::string& actor) { return rate_of(cell, actor); });
  }

private:
  static std::string rate_of(const CellResult& cell, const std::string& actor) {
    for (const auto& [name, spread] : cell.tokens_per_s)
      if (name == actor)
        return rate_text(spread);
    return "–";
  }

  template <class Function> std::string joined(Function&& text_of) const {
    std::string text;
    for (std::size_t i = 0; i < m_actors.size(); ++i)
      text += (i > 0 ? "  " : "") + pad_left(text_of(m_actors[i]), m_widths[i]);
    return text;
  }

  std::vector<std::string> m_actors;
  std::string m_stem;
  std::vector<int> m_widths;
  bool m_folded = false, m_named = false;
};

// Names of cells with their parts below each other: "cold × free", "warm × free".
std::vector<std::string> aligned_names(const RunResult& run) {
  std::vector<std::vector<std::string>> parts;
  for (const CellResult& cell : run.cells)
    parts.push_back(cell_name_parts(cell));
  std::vector<int> widths;
  for (const auto& cell : parts)
    for (std::size_t i = 0; i + 1 < cell.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1), 0);
      widths[i] = std::max(widths[i], columns_of(cell[i]));
    }
  std::vector<std::string> names;
  for (const auto& cell : parts) {
    std::string& name = names.emplace_back();
    for (std::size_t i = 0; i < cell.size(); ++i)
      name += i + 1 < cell.size() ? pad_right(cell[i], widths[i]) + " × " : cell[i];
  }
  return names;
}

std::vector<std::string> fault_lines(const CellResult& cell, const Plan& plan, int kind_width) {
  std::vector<std::string> lines;
  for (const FaultText& text : fault_texts(cell)) {
    lines.push_back(pad_right(text.kind, kind_width) + " " + text.count);
    if (text.interval.empty())
      continue;
    if (plan.interval_below)
      lines.push_back("  " + text.interval);
    else
      lines.back() += " " + text.interval;
  }
  return lines;
}

std::vector<Row> rows_of(const RunResult& run, const Plan& plan, const RateColumns& rates) {
  int kind_width = 0;
  for (const CellResult& cell : run.cells)
    for (const FaultText& text : fault_texts(cell))
      kind_width = std::max(kind_width, columns_of(text.kind));
  const std::vector<std::string> names = aligned_names(run);
  const bool with_total = has_total(run);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    const CellResult& cell = run.cells[i];
    Row row{{{.cell = names[i],
              .realised = realised_text(cell),
              .fault = {},
              .rates = rates.of(cell),
              .total = with_total && cell.trials > 0 ? rate_text(cell.total_tokens_per_s) : "",
              .verdict = verdict_word(cell.verdict)}},
            &cell};
    const std::vector<std::string> faults = fault_lines(cell, plan, kind_width);
    for (std::size_t k = 0; k < faults.size(); ++k) {
      row.lines.resize(std::max(row.lines.size(), k + 1));
      row.lines[k].fault = faults[k];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Widths {
  int cell = 0, realised = 0, fault = 0, rates = 0, total = 0, verdict = 0;

  void fit(const Line& line) {
    cell = std::max(cell, columns_of(line.cell));
    realised = std::max(realised, columns_of(line.realised));
    fault = std::max(fault, columns_of(line.fault));
    rates = std::max(rates, columns_of(line.rates));
    total = std::max(total, columns_of(line.total));
    verdict = std::max(verdict, columns_of(line.verdict));
  }

  int sum(const Plan& plan) const {
    int columns = plan.stacked ? k_deep_indent - plan.gap : k_indent + cell;
    for (const int width : {realised, fault, rates, total, verdict})
      columns += width > 0 ? width + plan.gap : 0;
    return columns;
  }
};

struct Table {
  Plan plan;
  Line heading;
  std::vector<Row> rows;
  Widths widths;
};

Table lay_out(const RunResult& run, const Plan& plan) {
  const RateColumns rates(run, plan.fold_actors);
  Table table;
  table.plan = plan;
  table.heading = {"cell", "realised", "faults", rates.heading(), has_total(run) ? "total" : "", ""};
  table.rows = rows_of(run, plan, rates);
  table.widths.fit(table.heading);
  for (const Row& row : table.rows)
    for (const Line& line : row.lines)
      table.widths.fit(line);
  return table;
}

Color color_of(const CellResult& cell) {
  switch (cell.verdict) {
  case Verdict::expected:
  case Verdict::ok:
    return Color::green;
  case Verdict::failed:
  case Verdict::fixed:
    return Color::red;
  case Verdict::flaky:
    return has_unexpected_fault(cell) ? Color::red : Color::yellow;
  case Verdict::inconclusive:
    return Color::yellow;
  case Verdict::skipped:
    return Color::dim;
  }
  return Color::plain;
}

// `line` without its verdict.
std::string columns_text(const Table& table, const Line& line) {
  const Widths& widths = table.widths;
  std::string text = table.plan.stacked ? pad_right("", k_deep_indent - table.plan.gap)
                                        : std::string(k_indent, ' ') + pad_right(line.cell, widths.cell);
  const auto add = [&](const std::string& value, int width, bool right) {
    if (width > 0)
      text += pad_right("", table.plan.gap) + (right ? pad_left(value, width) : pad_right(value, width));
  };
  add(line.realised, widths.realised, false);
  add(line.fault, widths.fault, false);
  add(line.rates, widths.rates, false);
  add(line.total, widths.total, true);
  return text;
}

std::string reason_lines(const CellResult& cell, const Style& style) {
  std::string text;
  std::vector<std::string> reasons = telling_reasons(cell);
  const std::size_t more = reasons.size() > k_max_reasons ? reasons.size() - k_max_reasons : 0;
  reasons.resize(std::min(reasons.size(), k_max_reasons));
  if (more > 0)
    reasons.push_back(fmt::format("and {} more reason{}, see result.json", more, more == 1 ? "" : "s"));
  for (const std::string& reason : reasons)
    for (const std::string& line : wrap(reason, width_of(style) - k_deep_indent, k_max_reason_lines))
      text += std::string(k_deep_indent, ' ') + paint(style, Color::dim, line) + "\n";
  return text;
}

std::string name_lines(const CellResult& cell, const Style& style) {
  std::string text;
  for (const std::string& line : wrap(cell_name(cell), width_of(style) - 2 * k_indent, k_max_reason_lines))
    text += pad_right("", text.empty() ? k_indent : 2 * k_indent) + line + "\n";
  return text;
}

std::string row_text(const Table& table, const Row& row, const Style& style) {
  std::string text = table.plan.stacked ? name_lines(*row.cell, style) : "";
  for (const Line& line : row.lines) {
    const std::string columns = columns_text(table, line);
    if (line.verdict.empty())
      text += without_trailing_blanks(columns) + "\n";
    else
      text += columns + pad_right("", table.plan.gap) + paint(style, color_of(*row.cell), line.verdict) + "\n";
  }
  return text + reason_lines(*row.cell, style);
}

} // namespace

std::string render_table(const RunResult& run, Style style) {
  if (run.cells.empty())
    return "  no trial was finished\n";
  Table table;
  for (const Plan& plan : k_plans) {
    table = lay_out(run, plan);
    if (table.widths.sum(plan) <= width_of(style))
      break;
  }
  std::string text = paint(style, Color::dim, without_trailing_blanks(columns_text(table, table.heading))) + "\n";
  for (const Row& row : table.rows)
    text += row_text(table, row, style);
  return text;
}

} // namespace racelab::report
