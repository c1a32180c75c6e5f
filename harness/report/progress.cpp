#include "report/progress.h"

#include "base/assert.h"
#include "base/text.h"
#include "report/cell_text.h"
#include "report/display.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace racelab::report {

namespace {

using Clock = std::chrono::steady_clock;

std::string name_of_cell(const std::string& id) {
  result::CellResult cell;
  cell.id = id;
  return cell_name(cell);
}

std::string seconds_of(Clock::duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return seconds < std::chrono::minutes(2) ? fmt::format("{} s", seconds.count()) : base::format_duration(seconds);
}

// What both visible reporters keep count of.
struct Count {
  int total = 0, done = 0, faulty = 0;
  Clock::time_point begun;

  std::string fraction() const { return fmt::format("[{}/{}]", done, total); }

  // Elapsed time, and the time left if the rest takes as long each.
  std::string times(Clock::time_point now) const {
    const Clock::duration elapsed = now - begun;
    std::string text = seconds_of(elapsed);
    if (done > 0 && done < total)
      text += fmt::format(", about {} left", seconds_of(elapsed / done * (total - done)));
    return text;
  }

  std::string faults() const { return faulty == 0 ? "" : fmt::format(" · {} with faults", faulty); }
};

class NoProgress : public ProgressReporter {
public:
  void begin(int) override {}
  void note(const std::string&) override {}
  void trial_started(const std::string&, int) override {}
  void trial_done(const TrialDone&) override {}
  void end() override {}
};

class PlainProgress : public ProgressReporter {
public:
  explicit PlainProgress(ProgressOptions options) : m_options(std::move(options)) {}

  void begin(int total_trials) override {
    m_count = {.total = total_trials, .begun = m_options.now()};
    m_last_line = m_count.begun;
  }

  void note(const std::string& text) override { line(printable(text)); }

  void trial_started(const std::string& cell, int index) override {
    if (m_options.now() - m_last_line >= k_plain_interval)
      line(fmt::format("{} {}, trial {}{} · {}", m_count.fraction(), name_of_cell(cell), index, m_count.faults(),
                       m_count.times(m_options.now())));
  }

  void trial_done(const TrialDone& trial) override {
    ++m_count.done;
    m_count.faulty += trial.faults.empty() ? 0 : 1;
    Cell& cell = m_cells[trial.cell];
    ++cell.done;
    ++cell.statuses[to_string(trial.status)];
    std::vector<std::string> kinds = trial.faults;
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    for (const std::string& kind : kinds)
      ++cell.faults[kind];
    if (cell.done < trial.of)
      return;
    line(fmt::format("{} {}: {} · {}", m_count.fraction(), name_of_cell(trial.cell), summary(cell),
                     m_count.times(m_options.now())));
    m_cells.erase(trial.cell);
  }

  void end() override {}

private:
  struct Cell {
    int done = 0;
    std::map<std::string, int> statuses, faults;
  };

  static std::string summary(const Cell& cell) {
    std::vector<std::string> parts;
    for (const auto& [status, count] : cell.statuses)
      if (status != "free")
        parts.push_back(fmt::format("{} {}/{}", status, count, cell.done));
    for (const auto& [kind, count] : cell.faults)
      parts.push_back(fmt::format("{} {}/{}", printable(kind), count, cell.done));
    if (cell.faults.empty())
      parts.push_back(fmt::format("no faults in {}", cell.done));
    return base::join(parts, ", ");
  }

  void line(const std::string& text) {
    *m_options.out << text << '\n' << std::flush;
    m_last_line = m_options.now();
  }

  ProgressOptions m_options;
  Count m_count;
  std::map<std::string, Cell> m_cells; // those under way
  Clock::time_point m_last_line;
};

class BarProgress : public ProgressReporter {
public:
  explicit BarProgress(ProgressOptions options) : m_options(std::move(options)) {}
  BarProgress(const BarProgress&) = delete;
  BarProgress& operator=(const BarProgress&) = delete;
  ~BarProgress() override { clear(); }

  void begin(int total_trials) override {
    m_count = {.total = total_trials, .begun = m_options.now()};
    show("");
  }

  void note(const std::string& text) override {
    const std::string status = m_shown;
    clear();
    *m_options.out << printable(text) << '\n' << std::flush;
    if (!status.empty())
      draw(status);
  }

  void trial_started(const std::string& cell, int index) override {
    show(fmt::format("{}, trial {}", name_of_cell(cell), index));
  }

  void trial_done(const TrialDone& trial) override {
    ++m_count.done;
    m_count.faulty += trial.faults.empty() ? 0 : 1;
    show(fmt::format("{}, trial {}", name_of_cell(trial.cell), trial.index));
  }

  void end() override { clear(); }

private:
  // Where the line is too short, the cell's name gives way: the figures after it are what changes.
  void show(const std::string& what) {
    const std::string head = m_count.fraction() + " ";
    const std::string tail = m_count.faults() + " · " + m_count.times(m_options.now());
    // One column stays free: a full line makes some terminals scroll.
    const int room = std::max(m_options.width() - 1 - columns_of(head) - columns_of(tail), 0);
    draw(shorten(head + shorten(what, room) + tail, std::max(m_options.width() - 1, 1)));
  }

  void draw(const std::string& status) {
    *m_options.out << '\r' << status << "\x1b[K" << std::flush;
    m_shown = status;
  }

  void clear() {
    if (!m_shown.empty())
      *m_options.out << "\r\x1b[K" << std::flush;
    m_shown.clear();
  }

  ProgressOptions m_options;
  Count m_count;
  std::string m_shown; // what stands on the status line
};

} // namespace

TrialDone trial_done_of(const std::string& cell, int of, const result::TrialResult& trial) {
  TrialDone done{.cell = cell, .index = trial.index, .of = of, .status = trial.status, .faults = {}};
  for (const result::Fault& fault : trial.faults)
    done.faults.push_back(fault.kind);
  return done;
}

std::unique_ptr<ProgressReporter> make_progress(ProgressKind kind, ProgressOptions options) {
  if (kind == ProgressKind::none)
    return std::make_unique<NoProgress>();
  RACELAB_ASSERT(options.out != nullptr);
  if (kind == ProgressKind::plain || options.dumb_terminal)
    return std::make_unique<PlainProgress>(std::move(options));
  return std::make_unique<BarProgress>(std::move(options));
}

} // namespace racelab::report
